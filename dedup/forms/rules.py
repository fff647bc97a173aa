"""The form of a newspaper's own extraction rule."""

from __future__ import annotations

from typing import Any

from django import forms

from articles.extraction.rules import FIELDS, ExtractionRule, rule_faults
from articles.models import ExtractionRule as SavedRule
from articles.normalization.logins import without_login
from articles.storage.incoming import url_fault

MAX_NOTE_CHARACTERS = 200
_LABELS = {
    "body": ("Text", "What holds the article’s text. If several elements match, all are joined."),
    "headline": ("Headline", "What holds the headline."),
    "day": ("Day", "What holds the day of publication: an element, or its attribute as in //time/@datetime."),
    "authors": ("Authors", "What holds the names of the authors, one element for each."),
    "drop": ("Remove", "What is removed from the page before anything is read, such as div.advert. All lines apply."),
}


class Selectors(forms.CharField):
    """Selectors, one per line; empty lines are ignored."""

    def to_python(self, value: Any) -> Any:
        lines = (line.strip() for line in (super().to_python(value) or "").splitlines())
        return list(dict.fromkeys(filter(None, lines)))

    def prepare_value(self, value: Any) -> Any:
        return "\n".join(value) if isinstance(value, list | tuple) else value


def _selectors(label: str, help_text: str) -> Selectors:
    area = forms.Textarea(attrs={"rows": 2, "class": "form-control selectors", "spellcheck": "false"})
    return Selectors(required=False, label=label, help_text=help_text, widget=area)


class RuleForm(forms.Form):
    """A rule to try or to save, why, and a page to try it on that is not stored."""

    vars().update({name: _selectors(*words) for name, words in _LABELS.items()})
    note = forms.CharField(
        required=False, max_length=MAX_NOTE_CHARACTERS, label="Why", help_text="For the history below the form."
    )
    url = forms.CharField(
        required=False,
        label="Also try it on this page",
        help_text="The URL of an article that is not stored, such as one that was refused. It is fetched once.",
    )
    restores = forms.ModelChoiceField(SavedRule.objects.none(), required=False, widget=forms.HiddenInput)

    def __init__(self, *args: Any, saved: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["restores"].queryset = saved  # type: ignore[attr-defined]
        for name in ("note", "url"):
            self.fields[name].widget.attrs["class"] = "form-control"

    def clean_url(self) -> str:
        """Return the URL if it can be an article's."""
        url: str = without_login(self.cleaned_data["url"].replace("\0", "").strip())
        if url and (fault := url_fault(url)):
            raise forms.ValidationError(f"This is not the URL of an article: {fault}.")
        return url

    def clean(self) -> dict[str, Any]:
        """Check the selectors."""
        for field, faults in rule_faults(self.rule).items():
            for fault in faults:
                self.add_error(field, fault)
        return self.cleaned_data

    @property
    def rule(self) -> ExtractionRule:
        """The rule of a form that was cleaned."""
        return ExtractionRule.of({field: self.cleaned_data.get(field) for field in FIELDS})
