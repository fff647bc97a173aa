"""How the review pages write numbers and the names of passes."""

import math
from collections.abc import Iterable
from datetime import datetime
from typing import Any

from babel import Locale
from django import template
from django.http import HttpRequest, QueryDict
from django.template.defaultfilters import pluralize
from django.utils.dateformat import format as date_format
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.timesince import timesince

from dedup.comparison.differences import Segment
from dedup.models import Evidence, Series, Verdict
from dedup.runs.facts import label

register = template.Library()


@register.filter
def score(value: float) -> str:
    """Write a score with three decimals, cut and not rounded: only a full match reads 1.000."""
    # The tiny addend takes back what binary fractions lose: 0.7 * 1000 is 699.999….
    return f"{math.floor(value * 1000 + 1e-6) / 1000:.3f}"


@register.filter
def percent(share: float) -> str:
    """Write a share of 0..1 as a percentage with one decimal."""
    return f"{share * 100:.1f} %"


@register.filter
def chance(probability: float) -> str:
    """Write a probability as a whole percentage, cut and not rounded: only what is certain reads 100 %."""
    if 0 < probability < 0.01:
        return "under 1 %"
    return f"{math.floor(probability * 100 + 1e-6)} %"


@register.filter
def language(code: str) -> str:
    """Write the name of a language, by its ISO 639 code; one that is not known keeps its code."""
    return Locale("en").languages.get(code, code)


_GLOSSES = {
    Verdict.DUPLICATE: "The same article, whole or cropped.",
    Verdict.VERSION: "A later state of the same article, with news of its own.",
    Verdict.TEMPLATE: "The same form filled with other facts: no duplicates, however alike they look.",
    Verdict.SIMILAR: "Two articles that have something in common.",
}


@register.filter
def gloss(verdict: str) -> str:
    """Say what a verdict means."""
    return _GLOSSES[Verdict(verdict)]


@register.filter
def extent(series: Series) -> str:
    """Write how large a series is and how long it runs."""
    articles = f"{series.articles:,} article{pluralize(series.articles)}"
    days = f"{series.days:,} day{pluralize(series.days)}"
    first, last = (date_format(day, "j M Y") for day in (series.first_day, series.last_day))
    return f"{articles} on {days}, {first} to {last}"


@register.filter
def bar(value: float) -> str:
    """Return the width of a score's bar, of 100."""
    return f"{value * 100:.1f}"


@register.filter
def pass_label(name: str) -> str:
    """Return what a pass is called for editors; one that is no longer registered keeps its name."""
    return label(name)


@register.filter
def words(name: str) -> str:
    """Write the name of a setting or a count as words."""
    return name.replace("_", " ")


@register.filter
def fact(value: Any) -> str:
    """Write a value of a JSON field for people."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.3f}".rstrip("0").rstrip(".")
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, list):
        return ", ".join(fact(each) for each in value)
    return "—" if value is None else str(value)


@register.filter
def evidence(found: Evidence) -> str:
    """Write what a pass noted about a pair: how much it compared, what the two share, and how many others do."""
    texts = []
    prefix = found.run.config.get(found.pass_name, {}).get("prefix")
    if prefix:
        texts.append(f"first {prefix:,} characters")
    for name, value in found.details.items():
        if name == "shared":
            texts.append(f"“{value}”")
        elif name not in _GROUP:
            texts.append(f"{words(name)}: {fact(value)}")
    return " · ".join([*texts, *_group(**{name: found.details[name] for name in _GROUP if name in found.details})])


_GROUP = ("articles", "headlines")


def _group(articles: int = 2, headlines: int = 1) -> list[str]:
    """Write how many articles share what the two do, and under how many headlines one newspaper has them."""
    if articles == 2 and headlines == 1:
        return []
    under = f", under {headlines:,} headlines in one newspaper" if headlines > 1 else ""
    return [f"in {articles:,} articles{under}"]


@register.filter
def took(started: datetime, finished: datetime) -> str:
    """Write how long something took: in seconds up to two minutes, else as two of days, hours and minutes."""
    seconds = round((finished - started).total_seconds())
    return f"{seconds} second{pluralize(seconds)}" if seconds < 120 else timesince(started, finished)


@register.filter
def entries(mapping: dict[str, Any]) -> list[tuple[str, Any]]:
    """Return the names and values of a mapping, whatever its names are: in a template, a key "items" hides .items."""
    return list(mapping.items())


_MARKS = {"same": "{}", "deleted": "<del>{}</del>", "inserted": "<ins>{}</ins>"}
_MUTED = '<span class="boilerplate">{}</span>'


@register.filter
def marked(segments: Iterable[Segment]) -> SafeString:
    """Draw the segments of a difference; their texts are escaped."""
    return format_html_join("", "{}", ((_drawn(each),) for each in segments))


def _drawn(segment: Segment) -> SafeString:
    drawn = format_html(_MARKS[segment.kind], segment.text)
    return format_html(_MUTED, drawn) if segment.boilerplate else drawn


@register.filter
def is_web_address(url: str) -> bool:
    """Tell whether a URL from outside may become a link: `javascript:` and its kin may not."""
    return url.lower().startswith(("http://", "https://"))


@register.simple_tag(takes_context=True)
def with_query(context: dict[str, Any], **changes: Any) -> str:
    """Return this page's query string, filled fields only, with these changes; None takes a field out."""
    request: HttpRequest = context["request"]
    query = QueryDict(mutable=True)
    for name, values in request.GET.lists():
        filled = [value for value in values if value]
        if filled:
            query.setlist(name, filled)
    for name, value in changes.items():
        if value is None:
            query.pop(name, None)
        else:
            query[name] = str(value)
    return f"?{query.urlencode()}" if query else ""
