"""What is posted to the desk."""

from __future__ import annotations

from typing import Any, cast

from django import forms

from articles.models import Newspaper
from dedup.filters import DayInput
from dedup.models import Decision, Profile
from dedup.review import MAX_NOTE_CHARACTERS

PAIR_KINDS = (Decision.Kind.CONFIRM, Decision.Kind.REJECT, Decision.Kind.UNSURE)


class NoteForm(forms.Form):
    """What an editor wants to add to a decision."""

    note = forms.CharField(required=False, max_length=MAX_NOTE_CHARACTERS)


class PairDecisionForm(NoteForm):
    """A decision on a pair."""

    kind = forms.TypedChoiceField(choices=[(kind.value, kind.label) for kind in PAIR_KINDS], coerce=Decision.Kind)


class ClusterConfirmForm(NoteForm):
    """A confirmation of a cluster, with the articles that were shown on the page."""

    articles = forms.TypedMultipleChoiceField(coerce=int)

    def __init__(self, data: Any) -> None:
        super().__init__(data)
        shown = data.getlist("articles")
        # Whether they are the cluster's articles is for the decision to say; here they only have to be numbers.
        field = cast("forms.TypedMultipleChoiceField", self.fields["articles"])
        field.choices = [(each, each) for each in shown if each.isascii() and each.isdigit()]


class MemberForm(NoteForm):
    """One article of a cluster: to take out, or to keep."""

    article = forms.IntegerField(min_value=1, max_value=2**63 - 1)


class RunForm(forms.Form):
    """What a run is to compare, and how."""

    profile = forms.ModelChoiceField(
        Profile.objects.all(), empty_label=None, help_text="Which passes, with which windows and thresholds."
    )
    since = forms.DateField(
        required=False, label="Published from", widget=DayInput(), help_text="Empty: from the first article on."
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
        self.fields["profile"].initial = Profile.objects.filter(is_default=True).first()
        for name, field in self.fields.items():
            field.widget.attrs["class"] = "form-select" if name in {"profile", "newspapers"} else "form-control"

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        since, until = cleaned.get("since"), cleaned.get("until")
        if since and until and since > until:
            self.add_error("until", f"{until} is before {since}; the last day must be the first one or later.")
        return cleaned
