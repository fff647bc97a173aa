"""How the review pages write numbers and the names of passes."""

import math
from collections.abc import Iterable
from typing import Any

from django import template
from django.template.defaultfilters import pluralize
from django.utils.dateformat import format as date_format
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

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
def chance(probability: float) -> str:
    """Write a probability as a whole percentage, cut and not rounded: only what is certain reads 100 %."""
    if 0 < probability < 0.01:
        return "under 1 %"
    return f"{math.floor(probability * 100 + 1e-6)} %"


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
        if name == "shared" and isinstance(value, str):
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


_MARKS = {"same": "{}", "deleted": "<del>{}</del>", "inserted": "<ins>{}</ins>"}
_MUTED = '<span class="boilerplate">{}</span>'


@register.filter
def marked(segments: Iterable[Segment]) -> SafeString:
    """Draw the segments of a difference; their texts are escaped."""
    return format_html_join("", "{}", ((_drawn(each),) for each in segments))


def _drawn(segment: Segment) -> SafeString:
    drawn = format_html(_MARKS[segment.kind], segment.text)
    return format_html(_MUTED, drawn) if segment.boilerplate else drawn
