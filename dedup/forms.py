"""The forms of the pages."""

from __future__ import annotations

import dataclasses
from typing import Any

from django import forms
from django.http import QueryDict

from articles.models import Newspaper
from dedup.declarations import Setting, Settings, make_config, settings_of
from dedup.filters.base import DayInput
from dedup.models import Decision, Profile
from dedup.reports.base import Report
from dedup.review.decisions import MAX_NOTE_CHARACTERS
from dedup.runs.profiles import ProfileError, configs_of, enabled
from dedup.runs.scope import Scope

MAX_NUMBER = 2**63 - 1
PAIR_KINDS = (Decision.Kind.CONFIRM, Decision.Kind.REJECT, Decision.Kind.UNSURE)


class NoteForm(forms.Form):
    """What an editor wants to add to a decision."""

    note = forms.CharField(required=False, max_length=MAX_NOTE_CHARACTERS)


class PairDecisionForm(NoteForm):
    """A decision on a pair. `seen` is the number of the latest decision that the page showed, 0 for none."""

    seen = forms.IntegerField(
        min_value=0,
        max_value=MAX_NUMBER,
        error_messages={"required": "The form does not say what it showed; reload the page and decide anew."},
    )
    kind = forms.TypedChoiceField(choices=[(kind.value, kind.label) for kind in PAIR_KINDS], coerce=Decision.Kind)


class ClusterConfirmForm(NoteForm):
    """A decision on a whole cluster, with the articles that were in it when the page was shown: "3,17,21".

    One field, because Django refuses a form of more than 1,000.
    """

    articles = forms.CharField(
        error_messages={"required": "The form names no article; reload the page and decide anew."}
    )

    def clean_articles(self) -> list[int]:
        """Return the numbers. Whether they are the cluster's articles is for the decision to say."""
        named = self.cleaned_data["articles"].split(",")
        for each in named:
            if not (each.isascii() and each.isdigit() and len(each) < 20 and 0 < int(each) <= MAX_NUMBER):
                raise forms.ValidationError(f"“{each[:40]}” is no article number; reload the page and decide anew.")
        return [int(each) for each in named]


class MemberForm(NoteForm):
    """One article of a cluster: to take out, or to keep."""

    article = forms.IntegerField(min_value=1, max_value=MAX_NUMBER)


def setting_field(setting: str, field: dataclasses.Field[Any], declared: Setting, value: Any) -> forms.Field:
    """Return the form field of a declared setting."""
    label = setting.replace("_", " ").capitalize()
    common: dict[str, Any] = {"label": label, "initial": value}
    if isinstance(field.default, bool):
        return forms.BooleanField(required=False, help_text=declared.help, **common)
    bounds = f"{declared.minimum:g} to {declared.maximum:g} {declared.unit}; default {field.default:g}."
    common |= {
        "help_text": f"{declared.help} {bounds} Source: {declared.source}.",
        "min_value": declared.minimum,
        "max_value": declared.maximum,
    }
    if isinstance(field.default, int):
        return forms.IntegerField(**common)
    return forms.FloatField(widget=forms.NumberInput(attrs={"step": "0.01"}), **common)


class ScopeForm(forms.Form):
    """Which articles: days of publication, both included, and newspapers."""

    since = forms.DateField(
        required=False,
        label="Published from",
        widget=DayInput(),
        help_text="Empty: from the first one on.",
    )
    until = forms.DateField(
        required=False, label="Published to", widget=DayInput(), help_text="Both days are included. Empty: to the last."
    )
    newspapers = forms.ModelMultipleChoiceField(
        Newspaper.objects.all(),
        required=False,
        widget=forms.SelectMultiple(attrs={"size": 8}),
        help_text="None chosen: all of them.",
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for field in self.fields.values():
            field.widget.attrs["class"] = "form-select" if isinstance(field.widget, forms.Select) else "form-control"

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        since, until = cleaned.get("since"), cleaned.get("until")
        if since and until and since > until:
            self.add_error("until", f"{until} is before {since}; the last day must be the first one or later.")
        return cleaned


class RunForm(ScopeForm):
    """What a run is to compare, and how."""

    field_order = ("profile", "new")
    profile = forms.ModelChoiceField(
        Profile.objects.all(), empty_label=None, help_text="Which passes, with which windows and thresholds."
    )
    new = forms.BooleanField(
        required=False,
        label="Only what is new",
        help_text="Compare the articles that are new or have changed since the last run over all articles.",
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["profile"].initial = Profile.objects.filter(is_default=True).first()
        self.fields["new"].widget.attrs["class"] = "form-check-input"
        self.fields["since"].help_text = "The later article of a pair. Empty: from the first one on."

    def clean_profile(self) -> Profile:
        """Return the profile, if a run could use it."""
        profile: Profile = self.cleaned_data["profile"]
        try:
            configs = configs_of(profile.settings)
        except ProfileError as error:
            raise forms.ValidationError(f"{profile} cannot be used: {error}. Mend it in the settings.") from error
        if not enabled(configs):
            raise forms.ValidationError(f"{profile} has no pass enabled; enable one in the settings.")
        return profile


class ReportForm(ScopeForm):
    """Which articles a report counts, and its own options; a field left empty has the declared default."""

    def __init__(self, data: QueryDict, *, report: Report) -> None:
        self.report = report
        data = data.copy()
        super().__init__(data)
        self.fields["newspapers"].widget.attrs["size"] = 4
        for name, (field, declared) in settings_of(report.options_class).items():
            self.fields[name] = setting_field(name, field, declared, field.default)
            self.fields[name].required = False
            self.fields[name].widget.attrs["class"] = "form-control"
            if isinstance(field.default, bool):
                self.fields[name].widget.attrs["class"] = "form-check-input"
            else:
                data.setdefault(name, str(field.default))

    @property
    def scope(self) -> Scope:
        """The articles of a valid form."""
        newspapers = self.cleaned_data["newspapers"]
        ids = tuple(sorted(each.pk for each in newspapers)) or None
        return Scope(self.cleaned_data["since"], self.cleaned_data["until"], ids)

    @property
    def options(self) -> Settings:
        """The options of a valid form."""
        names = settings_of(self.report.options_class)
        given = {name: self.cleaned_data[name] for name in names if self.cleaned_data[name] is not None}
        return make_config(self.report.options_class, given)
