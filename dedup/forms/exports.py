"""The forms of files: which corpus to export, and a file to import."""

from __future__ import annotations

import shlex
from typing import Any

from django import forms
from django.http import QueryDict

from articles.boilerplate.mode import Mode
from articles.files.uploads import ENDINGS
from articles.storage.incoming import MAX_NEWSPAPER_CHARACTERS
from dedup.detection.clustering.policies import RULES, Policy
from dedup.detection.runs.scope import Scope
from dedup.forms.base import ScopeForm
from dedup.rows.corpus.places import Asked

_FORMATS = (("parquet", "Parquet"), ("csv.gz", "CSV"), ("jsonl.gz", "JSON lines"))
_DEFAULTS = {"policy": Policy.KEEP_SYNDICATION.value, "boilerplate": Mode.KEEP.value, "format": "parquet"}


def query_of_corpus(stored: dict[str, Any]) -> QueryDict:
    """Return the query of the form that had these values."""
    given = QueryDict(mutable=True)
    for name, value in stored.items():
        given.setlist(name, [str(part) for part in (value if isinstance(value, list) else [value]) if part])
    return given


class CorpusForm(ScopeForm):
    """What becomes of copies, and which articles; a field that is not given has its default."""

    policy = forms.ChoiceField(
        choices=[(policy.value, f"{policy.value}: {rule}") for policy, rule in RULES.items()],
        widget=forms.RadioSelect,
        label="What becomes of copies",
    )
    confirmed = forms.BooleanField(
        required=False, label="Only clusters that decisions alone hold together count as copies"
    )
    boilerplate = forms.ChoiceField(
        choices=[
            (Mode.KEEP.value, "stays"),
            (Mode.STORY.value, "goes, except from the first article of a week"),
            (Mode.TOPIC.value, "goes from all articles"),
        ],
        label="Boilerplate",
    )
    format = forms.ChoiceField(choices=_FORMATS, label="File format")

    field_order = ("policy", "confirmed", "since", "until", "newspapers", "boilerplate", "format")

    def __init__(self, data: QueryDict) -> None:
        given = data.copy()
        for name, value in _DEFAULTS.items():
            given.setdefault(name, value)
        super().__init__(given)
        self.fields["newspapers"].widget.attrs["size"] = 4

    @property
    def asked(self) -> Asked:
        """The corpus that was chosen; the form must be valid."""
        chosen = self.cleaned_data
        ids = tuple(sorted(newspaper.pk for newspaper in chosen["newspapers"])) or None
        return Asked(
            Policy(chosen["policy"]),
            Scope(chosen["since"], chosen["until"], ids),
            Mode(chosen["boilerplate"]),
            confirmed_only=chosen["confirmed"],
        )

    @property
    def stored(self) -> dict[str, Any]:
        """The values as JSON; the form must be valid."""
        chosen = self.cleaned_data
        days = {name: chosen[name] and chosen[name].isoformat() for name in ("since", "until")}
        return chosen | days | {"newspapers": sorted(newspaper.pk for newspaper in chosen["newspapers"])}

    @property
    def command(self) -> str:
        """The command that exports it; the form must be valid."""
        chosen = self.cleaned_data
        words = ["manage.py", "export_corpus", "--policy", chosen["policy"]]
        if chosen["confirmed"]:
            words += ["--clusters", "confirmed"]
        for name in ("since", "until"):
            if chosen[name]:
                words += [f"--{name}", chosen[name].isoformat()]
        for newspaper in chosen["newspapers"]:
            # With "=", also a name that begins with a hyphen is a value.
            words.append(f"--newspaper={newspaper.name}")
        if chosen["boilerplate"] != Mode.KEEP.value:
            words += ["--boilerplate", chosen["boilerplate"]]
        return shlex.join([*words, "--output", f"corpus.{chosen['format']}"])


class ImportForm(forms.Form):
    """A file, and the newspaper of rows that name none."""

    file = forms.FileField(
        max_length=255,
        allow_empty_file=False,
        help_text="JSON lines or CSV, also compressed with gzip: .jsonl, .jsonl.gz, .csv or .csv.gz.",
        widget=forms.FileInput(attrs={"class": "form-control", "accept": ",".join((*ENDINGS, ".gz"))}),
    )
    newspaper = forms.CharField(
        required=False,
        max_length=MAX_NEWSPAPER_CHARACTERS,
        help_text="Of rows that do not name one. If empty: the newspaper of the URL’s host.",
        widget=forms.TextInput(attrs={"class": "form-control", "autocomplete": "off"}),
    )

    def clean_newspaper(self) -> str:
        """Return the name without superfluous blanks."""
        return " ".join(self.cleaned_data["newspaper"].replace("\0", "").split())
