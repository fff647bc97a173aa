"""The forms of the pages about crawls."""

from __future__ import annotations

import datetime
from typing import Any

from django import forms

from articles.models import Newspaper
from crawlers.models import CrawlSchedule

HOURS = (1, 2, 3, 4, 6, 8, 12, 24, 48, 168)
_NEVER, _DAILY = "", "daily"


def _label(hours: int) -> str:
    if hours == 1:
        return "every hour"
    return (
        f"every {hours} hours" if hours < 24 else {24: "every 24 hours", 48: "every two days", 168: "every week"}[hours]
    )


class NewspapersForm(forms.Form):
    """The newspapers to crawl."""

    newspaper = forms.ModelMultipleChoiceField(Newspaper.objects.in_use())


class ScheduleForm(forms.Form):
    """When the worker crawls a newspaper by itself."""

    when = forms.ChoiceField(
        label="Crawl this newspaper",
        required=False,
        choices=[
            (_NEVER, "only when asked to"),
            *((str(hours), _label(hours)) for hours in HOURS),
            (_DAILY, "every day at the time below"),
        ],
        widget=forms.Select(attrs={"class": "form-select"}),
    )
    daily_at = forms.TimeField(
        label="Time",
        required=False,
        help_text="Only for “every day at the time below”, in the time zone of this site.",
        widget=forms.TimeInput(format="%H:%M", attrs={"type": "time", "class": "form-control"}),
    )

    @classmethod
    def showing(cls, schedule: CrawlSchedule | None) -> ScheduleForm:
        """Return the form with the schedule of a newspaper."""
        if schedule is None:
            return cls()
        when = _DAILY if schedule.daily_at else str(schedule.every_hours)
        return cls(initial={"when": when, "daily_at": schedule.daily_at})

    def clean(self) -> dict[str, Any]:
        values = super().clean() or {}
        if values.get("when") == _DAILY and not values.get("daily_at") and "daily_at" not in self.errors:
            self.add_error("daily_at", "Enter a time, such as 06:30.")
        return values

    @property
    def chosen(self) -> tuple[int | None, datetime.time | None]:
        """The hours between two crawls, or the time of a daily one; both None: none."""
        when = self.cleaned_data["when"]
        if when == _DAILY:
            return None, self.cleaned_data["daily_at"]
        return (int(when) if when else None), None
