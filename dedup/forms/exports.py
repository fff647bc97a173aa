"""The forms of files and samples: a corpus to export, a file to import, a validation sample and its labels."""

import dataclasses
import shlex
from typing import Any

from django import forms
from django.http import QueryDict

from articles.boilerplate.mode import Mode
from articles.files.uploads import ENDINGS
from articles.forms import StyledForm
from articles.storage.incoming import MAX_NEWSPAPER_CHARACTERS
from dedup.answers import LABEL_CHOICES
from dedup.declarations import settings_of
from dedup.detection.clustering.policies import RULES, Policy
from dedup.detection.passes import PASSES
from dedup.detection.verdicts.same_as import RULES as RULES_OF_SAME
from dedup.forms.base import KindField, NoteForm, SearchedScopeForm
from dedup.research.sampling import DIMENSIONS, SEEDS, Plan
from dedup.rows.corpus.places import Asked

_FORMATS = (("parquet", "Parquet"), ("csv.gz", "CSV"), ("jsonl.gz", "JSON lines"))
_DEFAULTS = {"policy": Policy.KEEP_SYNDICATION.value, "boilerplate": Mode.KEEP.value, "format": "parquet"}


def query_of_corpus(stored: dict[str, Any]) -> QueryDict:
    """Return the query of the form that had these values."""
    given = QueryDict(mutable=True)
    for name, value in stored.items():
        given.setlist(name, [str(part) for part in (value if isinstance(value, list) else [value]) if part])
    return given


class CorpusForm(SearchedScopeForm):
    """What becomes of copies, and which articles; a field that is not given has its default."""

    policy = forms.ChoiceField(
        choices=[(policy.value, f"{policy.value}: {rule}") for policy, rule in RULES.items()],
        widget=forms.RadioSelect,
        label="What becomes of copies",
    )
    confirmed = forms.BooleanField(
        required=False, label="Only clusters that decisions alone hold together count as copies"
    )
    same = forms.ChoiceField(
        required=False,
        choices=[("", "as in the clusters"), *((same_as.value, rule) for same_as, rule in RULES_OF_SAME.items())],
        label="What counts as the same",
    )
    together = KindField(label="Collections that count as one newspaper")
    boilerplate = forms.ChoiceField(
        choices=[
            (Mode.KEEP.value, "stays"),
            (Mode.STORY.value, "goes, except from the first article of a week"),
            (Mode.TOPIC.value, "goes from all articles"),
        ],
        label="Boilerplate",
    )
    format = forms.ChoiceField(choices=_FORMATS, label="File format")

    field_order = (
        "policy",
        "together",
        "same",
        "confirmed",
        "since",
        "until",
        "newspapers",
        "search",
        "boilerplate",
        "format",
    )

    def __init__(self, data: QueryDict) -> None:
        given = data.copy()
        for name, value in _DEFAULTS.items():
            given.setdefault(name, value)
        super().__init__(given)
        self.fields["newspapers"].widget.attrs["size"] = 4

    @property
    def asked(self) -> Asked:
        """The corpus that was chosen; the form must be valid."""
        return Asked.of(self.scope, self.cleaned_data)

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
        options = {name: chosen[name] for name in ("policy", "together", "same", "since", "until")}
        options["clusters"] = "confirmed" if chosen["confirmed"] else None
        options["boilerplate"] = chosen["boilerplate"] if chosen["boilerplate"] != Mode.KEEP.value else None
        options["output"] = f"corpus.{chosen['format']}"
        words = [word for name, value in options.items() if value for word in (f"--{name}", str(value))]
        # With "=", also what begins with a hyphen is a value.
        words += [f"--search={chosen['search']}"] if chosen["search"] else []
        words += [f"--newspaper={newspaper.name}" for newspaper in chosen["newspapers"]]
        return shlex.join(["manage.py", "export_corpus", *words])


class ImportForm(StyledForm):
    """A file, and the newspaper of rows that name none."""

    file = forms.FileField(
        max_length=255,
        allow_empty_file=False,
        help_text="JSON lines or CSV, also compressed with gzip: .jsonl, .jsonl.gz, .csv or .csv.gz.",
        widget=forms.FileInput(attrs={"accept": ",".join((*ENDINGS, ".gz"))}),
    )
    newspaper = forms.CharField(
        required=False,
        max_length=MAX_NEWSPAPER_CHARACTERS,
        help_text="Of rows that do not name one. If empty: the newspaper of the URL’s host.",
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )

    def clean_newspaper(self) -> str:
        """Return the name without superfluous blanks."""
        return " ".join(self.cleaned_data["newspaper"].replace("\0", "").split())


class LabelForm(NoteForm):
    """What a reader says about a pair of a validation sample."""

    label = forms.ChoiceField(choices=LABEL_CHOICES)


_PLANNED = {name: declared for name, (_, declared) in settings_of(Plan).items()}
_USUAL = Plan()


def _number(name: str) -> forms.IntegerField:
    """Return the field of a number of a plan."""
    declared, required = _PLANNED[name], name not in {"size", "per_stratum"}
    bounds: dict[str, Any] = {"min_value": declared.minimum, "max_value": declared.maximum}
    words: dict[str, Any] = {"label": declared.label, "help_text": declared.help}
    return forms.IntegerField(initial=getattr(_USUAL, name), required=required, **words, **bounds)


class SampleForm(StyledForm):
    """How to draw a validation sample."""

    field_order = (
        *("name", "size", "per_stratum", "not_proposed", "window_days", "by", "pass_name", "bands"),
        *("near_days", "readers", "seed"),
    )
    name = forms.CharField(
        required=False,
        max_length=100,
        label="Name (optional)",
        help_text="If empty, the sample is called by its number.",
    )
    vars().update({name: _number(name) for name, declared in _PLANNED.items() if declared.minimum is not None})
    by = forms.MultipleChoiceField(
        required=False,
        choices=list(DIMENSIONS.items()),
        initial=list(DIMENSIONS),
        label=_PLANNED["by"].label,
        widget=forms.CheckboxSelectMultiple,
    )
    pass_name = forms.ChoiceField(
        required=False,
        choices=[("", "the best score of all passes"), *((name, found.label) for name, found in PASSES.items())],
        label=_PLANNED["pass_name"].label,
    )
    bands = forms.CharField(
        initial=", ".join(map(str, _USUAL.bands)), label=_PLANNED["bands"].label, help_text=_PLANNED["bands"].help
    )
    seed = forms.IntegerField(
        min_value=0,
        max_value=SEEDS - 1,
        required=False,
        label="Seed (optional)",
        help_text="The same archive and seed give the same pairs. If empty: a random one, which is stored.",
    )

    def clean_bands(self) -> tuple[float, ...]:
        """Return the bounds as numbers."""
        try:
            return tuple(float(band) for band in self.cleaned_data["bands"].split(",") if band.strip())
        except ValueError:
            raise forms.ValidationError("Write the bounds as numbers with commas between them: 0.6, 0.8.") from None

    @property
    def plan(self) -> Plan:
        """The plan of a valid form. Raises SampleError."""
        names = [field.name for field in dataclasses.fields(Plan)]
        return Plan(**{name: self.cleaned_data[name] for name in names} | {"by": tuple(self.cleaned_data["by"])})
