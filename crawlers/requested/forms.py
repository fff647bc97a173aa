"""The forms of the pages about crawls."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import forms
from django.contrib.auth.models import User
from django.http import QueryDict

from articles.forms import NewspaperForm, StyledForm
from articles.models import Newspaper
from articles.normalization.logins import without_login
from crawlers.discovery.found import FIELDS, TRIED, FoundNewspaper, FoundSource
from crawlers.fetching.sites import is_visitable
from crawlers.models import CrawlSchedule
from crawlers.requested.queue import set_schedule

MAX_URL_CHARACTERS = 2_000
MAX_SOURCES = 50  # of each kind
HOURS = (1, 2, 3, 4, 6, 8, 12, 24, 48, 168)
_DAILY = "daily"
_ONLY_WHEN_ASKED = "only when asked to"
_LABELS = {1: "every hour", 48: "every two days", 168: "every week"}


class NewspapersForm(forms.Form):
    newspaper = forms.ModelMultipleChoiceField(Newspaper.objects.in_use())


class ScheduleForm(StyledForm):
    """When the worker crawls a newspaper by itself."""

    when = forms.ChoiceField(
        label="Crawl this newspaper",
        required=False,
        choices=[
            ("", _ONLY_WHEN_ASKED),
            *((str(hours), _LABELS.get(hours, f"every {hours} hours")) for hours in HOURS),
            (_DAILY, "every day at the time below"),
        ],
    )
    daily_at = forms.TimeField(
        label="Time",
        required=False,
        help_text="Only for “every day at the time below”, in the time zone of this site.",
        widget=forms.TimeInput(format="%H:%M", attrs={"type": "time"}),
    )

    @classmethod
    def showing(cls, schedule: CrawlSchedule | None) -> ScheduleForm:
        if schedule is None:
            return cls()
        when = _DAILY if schedule.daily_at else str(schedule.every_hours)
        return cls(initial={"when": when, "daily_at": schedule.daily_at})

    def clean(self) -> dict[str, Any]:
        values = super().clean() or {}
        if values.get("when") == _DAILY and not values.get("daily_at") and "daily_at" not in self.errors:
            self.add_error("daily_at", "Enter a time, such as 06:30.")
        return values

    def set_for(self, newspaper: Newspaper, *, user: User) -> str:
        """Have a newspaper crawled then; return when that is, in words."""
        when = self.cleaned_data["when"]
        daily_at = self.cleaned_data["daily_at"] if when == _DAILY else None
        hours = int(when) if when not in {_DAILY, ""} else None
        return str(set_schedule(newspaper, every_hours=hours, daily_at=daily_at, user=user) or _ONLY_WHEN_ASKED)


class AddForm(NewspaperForm):
    """A newspaper to look for by its home page; or one to add at once that is not crawled, by its name."""

    class Meta(NewspaperForm.Meta):
        help_texts = {"name": "Only if you add it without crawling; otherwise the worker proposes one."}

    url = forms.CharField(
        label="Home page",
        required=False,
        max_length=MAX_URL_CHARACTERS,
        help_text="Such as https://www.example.com/. The address of a feed or sitemap works too.",
        widget=forms.TextInput(attrs={"inputmode": "url", "autocomplete": "off"}),
    )
    field_order = ("url", "name")

    def __init__(self, data: QueryDict | None = None) -> None:
        super().__init__(data)
        self.is_plain = data is not None and "plain" in data
        self.fields["name"].required = self.is_plain

    def clean_url(self) -> str:
        """Return the URL, with https if no scheme was entered."""
        url: str = self.cleaned_data["url"]
        if self.is_plain and not url:
            return ""
        url = without_login(url if "://" in url else f"https://{url}")
        if not is_visitable(url):
            raise forms.ValidationError("This is not a valid web address. Enter one such as https://www.example.com/.")
        return url


class DraftForm(ScheduleForm, NewspaperForm):
    """The fields of a newspaper that is tried and saved, with the sources that were ticked and entered."""

    class Meta(NewspaperForm.Meta):
        fields = TRIED
        labels = {"feed_urls": "Other feeds", "sitemap_urls": "Other sitemaps", "section_urls": "Other section pages"}

    def __init__(self, data: QueryDict | None = None, *, found: FoundNewspaper | None, **kwargs: Any) -> None:
        super().__init__(data, **kwargs)
        self.sources = found.sources if found else ()
        self.ticked = set(data.getlist("source")) if data is not None else set()
        self.fields["when"].label = "Crawl it"
        self.fields["host"].required = True

    @classmethod
    def of(cls, draft: Mapping[str, Any], found: FoundNewspaper | None) -> DraftForm:
        listed = {source.url for source in (found.sources if found else ())}
        initial = {"when": "6"} | dict(draft)
        for name in FIELDS.values():
            initial[name] = "\n".join(url for url in draft.get(name, []) if url not in listed)
        form = cls(initial=initial, found=found)
        form.ticked = {url for name in FIELDS.values() for url in draft.get(name, [])}
        return form

    @property
    def found_sources(self) -> list[tuple[FoundSource, bool]]:
        """Return the sources that discovery found, and whether each is ticked."""
        return [(source, source.url in self.ticked) for source in self.sources]

    def clean(self) -> dict[str, Any]:
        values = super().clean()
        for kind, name in FIELDS.items():
            found = [source.url for source in self.sources if source.kind == kind and source.url in self.ticked]
            values[name] = list(dict.fromkeys([*found, *values.get(name, [])]))
            if len(values[name]) > MAX_SOURCES:
                self.add_error(name, f"{len(values[name])} addresses are too many; enter up to {MAX_SOURCES}.")
        if not self.errors and not any(values[name] for name in FIELDS.values()):
            self.add_error(None, "Tick a source, or enter the address of one.")
        elif not self.errors and values["teasers"] and not values["feed_urls"]:
            self.add_error("teasers", "Without a feed there is nothing to store. Tick a feed, or enter its address.")
        return values

    @property
    def draft(self) -> dict[str, Any]:
        return {name: self.cleaned_data[name] for name in TRIED}
