"""The forms of validation samples: how to draw one, and the label of a pair."""

from __future__ import annotations

import dataclasses
from typing import Any

from django import forms

from dedup.answers import LABEL_CHOICES
from dedup.detection.passes import PASSES
from dedup.forms.base import NoteForm, StyledForm
from dedup.research.sampling import BANDS, DIMENSIONS, MOST_DAYS, MOST_PAIRS, MOST_READERS, NEAR_DAYS, SEEDS, SIZE, Plan


class LabelForm(NoteForm):
    """What a reader says about a pair of a validation sample."""

    label = forms.ChoiceField(choices=LABEL_CHOICES)


def _number(label: str, help_text: str, least: int, most: int, **options: Any) -> forms.IntegerField:
    return forms.IntegerField(label=label, help_text=help_text, min_value=least, max_value=most, **options)


class SampleForm(StyledForm):
    """How to draw a validation sample."""

    name = forms.CharField(
        required=False,
        max_length=100,
        label="Name (optional)",
        help_text="If empty, the sample is called by its number.",
    )
    size = _number(
        "Pairs in all", "As evenly from all strata as their sizes allow.", 1, MOST_PAIRS, initial=SIZE, required=False
    )
    per_stratum = _number(
        "Or pairs from each stratum", "If you fill this in, leave “Pairs in all” empty.", 1, MOST_PAIRS, required=False
    )
    not_proposed = _number(
        "Pairs that no pass proposes",
        "Drawn in addition, at random. Without them you can estimate precision, but not recall.",
        0,
        MOST_PAIRS,
        initial=0,
    )
    window_days = _number(
        "Their window", "Pairs that no pass proposes are at most so many days apart.", 0, MOST_DAYS, initial=NEAR_DAYS
    )
    by = forms.MultipleChoiceField(
        required=False,
        choices=[
            ("band", "the band of the score"),
            ("verdict", "the verdict"),
            ("newspaper", "same newspaper or two"),
            ("days", "near or far in days"),
        ],
        initial=list(DIMENSIONS),
        label="Strata differ in",
        widget=forms.CheckboxSelectMultiple,
    )
    pass_name = forms.ChoiceField(
        required=False,
        choices=[
            ("", "the best score of all passes"),
            *((name, detection_pass.label) for name, detection_pass in PASSES.items()),
        ],
        label="Score",
    )
    bands = forms.CharField(
        initial=", ".join(map(str, BANDS)),
        label="Lower bounds of the score bands",
        help_text="Above 0 and below 1, rising, separated by commas.",
    )
    near_days = _number("Near means", "At most so many days apart.", 0, MOST_DAYS, initial=NEAR_DAYS)
    readers = _number(
        "Readers of each pair", "With two or more, the results say how well they agree.", 1, MOST_READERS, initial=1
    )
    seed = _number(
        "Seed (optional)",
        "The same archive and seed give the same pairs. If empty: a random one, which is stored.",
        0,
        SEEDS - 1,
        required=False,
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
