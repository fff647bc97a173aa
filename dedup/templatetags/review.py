"""Filters and tags of the review pages: numbers, marked differences, clusters, last answers, jobs, saved views."""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any

from django import template
from django.http import HttpRequest
from django.template.defaultfilters import pluralize
from django.utils.dateformat import format as date_format
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe

from articles.models import Article
from articles.normalization.text import normalize_text
from articles.numbers import read_number
from dedup.answers import BUTTONS, LATER, Answer
from dedup.detection.clustering.doubts import doubts_of_article
from dedup.detection.comparison.shown_text import Moved, Segment
from dedup.detection.judging.judge import JudgedRow
from dedup.detection.runs.facts import label
from dedup.detection.verdicts import reasons
from dedup.detection.verdicts.model import DUPLICATE_FROM
from dedup.detection.verdicts.reasons import Share, Standing, percentage, shares_of
from dedup.models import Cluster, Decision, Evidence, Pair, SavedView, Series, Verdict
from dedup.review.answers.history import LastAnswer, last_answers, progress_of
from dedup.review.queries.cluster_ties import Row
from dedup.review.questions.routes import route_of
from dedup.review.questions.tabs import tab_named
from dedup.review.saved_views import view_query
from dedup.rows.clusters import CLUSTER
from dedup.rows.columns import Place
from dedup.rows.pairs import PAIR

register = template.Library()
register.filter("route", route_of)


@register.filter
def common_zone(articles: Iterable[Article]) -> str:
    """Return the zone of most times of publication of a list, to be said once above it; empty if none has one."""
    zones = Counter(article.publication_time.zone for article in articles if article.publication_time)
    return min(zones, key=lambda zone: (-zones[zone], zone), default="")


# So many neighbouring rows with the same headlines, or more, are shown as one that opens.
LEAST_FOLDED = 3


@register.filter
def folded(rows: Iterable[Any]) -> list[tuple[list[Any], list[Any]]]:
    """Return rows of articles, stories or questions as a list shows them: those in view, and those that one opens."""
    groups = [list(group) for _, group in groupby(rows, key=_headlines)]
    return [(group[:1], group[1:]) if len(group) >= LEAST_FOLDED else (group, []) for group in groups]


def _headlines(row: Any) -> object:
    """Return the normalised headlines of a row, or what no other row has if one of them is empty."""
    pair, cluster = getattr(row, "pair", None), getattr(row, "cluster", None)
    about = [pair.earlier, pair.later] if pair else [cluster.kept if cluster else getattr(row, "article", row)]
    headlines = [normalize_text(getattr(article, "headline", "")) for article in about]
    return (cluster is None, *headlines) if all(headlines) else id(row)


@register.filter
def facts(row: Pair | Cluster) -> list[str]:
    """Write the columns of a row that are declared to show in lists, each with its label."""
    rows = PAIR if isinstance(row, Pair) else CLUSTER
    return [f"{column.title}: {column.write(column.read(row))}" for column in rows.at(Place.PAGE)]


@register.filter
def score(value: float) -> str:
    """Write a score with three decimals, truncated, not rounded: only a full match reads 1.000."""
    # The tiny addend corrects binary fractions: 0.7 * 1000 is 699.999….
    return f"{math.floor(value * 1000 + 1e-6) / 1000:.3f}"


# A probability as a whole percentage, truncated, not rounded: only certainty reads 100%.
register.filter("chance", percentage)
# What is uncertain about an article, in two words each.
register.filter("doubts", doubts_of_article)
# The label of a pass for editors; a pass that is no longer registered keeps its name.
register.filter("pass_label", label)


@register.filter
def duplicate_chance(pair: Pair) -> str:
    """Write the one number of a verdict in lists: the chance that the two are duplicates, whatever the verdict is."""
    written = percentage(pair.duplicate_probability or 0.0)
    return written if pair.verdict == Verdict.DUPLICATE else f"{written} duplicate"


@register.filter
def relation_sentence(pair: Pair) -> str:
    """Say what the two articles of a pair are to each other; "" before they were compared."""
    left = Standing(pair.left_matched or 0.0, pair.left_own or 0)
    right = Standing(pair.right_matched or 0.0, pair.right_own or 0)
    sides = (left, right) if pair.earlier.pk == pair.left_id else (right, left)
    return reasons.relation_sentence(pair.relation, *sides, pair.quoted or 0.0)


@register.filter
def missed_threshold(pair: Pair) -> str:
    """Say why the verdict is not the largest share: "" if it is, else the percentage that a duplicate needs."""
    missed = pair.verdict and pair.verdict != Verdict.DUPLICATE
    return percentage(DUPLICATE_FROM) if missed and (pair.duplicate_probability or 0) > (pair.probability or 0) else ""


@register.filter
def shares(pair: Pair | JudgedRow) -> list[Share]:
    """Return how the certainty of a judged pair is shared out: duplicate, the verdict, and the other kinds together."""
    duplicate = pair.duplicate_probability or 0.0
    if pair.verdict == Verdict.DUPLICATE:
        return shares_of({Verdict.DUPLICATE: "duplicate", "other": "not"}, [duplicate, 1 - duplicate])
    own = pair.probability or 0.0
    labels = {Verdict.DUPLICATE: "duplicate", pair.verdict: Verdict(pair.verdict).label, "other": "other"}
    return shares_of(labels, [duplicate, own, max(1 - duplicate - own, 0.0)])


# Definitions: the page of any pair shows them above the reasons, so they say nothing of its texts or of its order.
GLOSSES = {
    Verdict.DUPLICATE: "A reader would call the two one article.",
    Verdict.VERSION: "Two versions of one article.",
    Verdict.TEMPLATE: "One form that is printed again and again: not duplicates, however alike they look.",
    Verdict.SIMILAR: "Neither duplicates nor versions of one article, nor one form that is printed again.",
}


@register.filter
def points(value: float) -> str:
    """Write points of a verdict with their sign and two decimals."""
    return f"{value:+.2f}".replace("-", "−")


@register.filter
def gloss(verdict: str) -> str:
    """Explain a verdict in a sentence."""
    return GLOSSES[Verdict(verdict)]


@register.filter
def extent(series: Series) -> str:
    """Write the number of articles and days of a series, and its first and last day."""
    articles = f"{series.articles:,} article{pluralize(series.articles)}"
    days = f"{series.days:,} day{pluralize(series.days)}"
    first, last = (date_format(day, "j M Y") for day in (series.first_day, series.last_day))
    return f"{articles} on {days}, {first} to {last}"


@register.filter
def bar(value: float) -> str:
    """Return the width of a score's bar, 0..100."""
    return f"{value * 100:.1f}"


@register.filter
def passes(pair: Pair) -> str:
    """List the labels of the passes that propose a pair."""
    return ", ".join(label(found.pass_name) for found in pair.evidence.all() if not found.stale)


@register.filter
def about(seconds: int) -> str:
    """Write an estimate, rounded as estimates are: "about 40 seconds", "about 3 minutes"."""
    if seconds < 90:
        return f"about {max(5, round(seconds, -1) if seconds > 10 else 5)} seconds"
    if seconds < 90 * 60:
        return f"about {round(seconds / 60)} minutes"
    return f"about {round(seconds / 3600)} hours"


@register.filter
def words(name: str) -> str:
    """Write the name of a setting or a count as words."""
    return name.replace("_", " ")


@register.filter
def fact(value: Any) -> str:
    """Write a value of a JSON field as readable text."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.3f}".rstrip("0").rstrip(".")
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, list):
        return ", ".join(fact(part) for part in value)
    return "—" if value is None else str(value)


@register.filter
def evidence(found: Evidence) -> str:
    """Write the details of a pass's evidence: how much it compared, what the two share, how many others share it."""
    texts = []
    prefix = found.run.config.get(found.pass_name, {}).get("prefix")
    if prefix:
        texts.append(f"first {prefix:,} characters")
    shared = found.details.get("shared")
    if isinstance(shared, str):
        texts.append(f"“{shared}”")
    for name, noun in _SHARED_OF.items():
        if name in found.details:
            texts.append(f"{fact(shared)} of {fact(found.details[name])} {noun} shared")
    texts += [f"{words(name)}: {fact(value)}" for name, value in found.details.items() if name not in _WORDED]
    articles, headlines = (found.details.get(name, usual) for name, usual in _GROUP.items())
    if (articles, headlines) != (2, 1):
        under = f", under {headlines:,} headlines in one newspaper" if headlines > 1 else ""
        texts.append(f"in {articles:,} articles{under}")
    return " · ".join(texts)


# How many articles share it, and under how many headlines in one newspaper; this is not worth a word.
_GROUP = {"articles": 2, "headlines": 1}
# Of how many things that the two articles have they share some; a phrase is what editors call a word shingle.
_SHARED_OF = {"sentences": "sentences", "shingles": "phrases"}
# A text that is left of a page is a reason for the verdict, which says it.
_WORDED = {"shared", "leftover", *_SHARED_OF, *_GROUP}


_MARKS = {"same": "{}", "deleted": "<del{}>{}</del>", "inserted": "<ins{}>{}</ins>"}
_MINOR = mark_safe(' class="minor"')
_MOVED = '<span class="moved">{}</span>'
# A link from one end of a moved passage to the other one.
_MOVED_NOTE = (
    '<a class="moved-note" id="{prefix}moved-{number}-{here}" href="#{prefix}moved-{number}-{there}">Moved'
    '<span class="visually-hidden">: also in the {there} text, further {way}.</span>'
    '<span aria-hidden="true"> {arrow}</span></a> '
)
_BOILERPLATE = '<span class="boilerplate">{}</span>'
_FOUND = '<mark class="found">{}</mark>'


@register.filter
def marked(segments: Sequence[Segment], prefix: object = "") -> SafeString:
    """Render the segments of a block of a difference as HTML; their texts are escaped.

    `prefix`: of the ids, for a page with several differences.
    """
    shown = list(segments)
    # A block begins on a new line anyway.
    while shown and shown[-1].kind == "same" and not shown[-1].text.strip():
        shown.pop()
    if shown:
        shown[-1] = shown[-1]._replace(text=shown[-1].text.rstrip())
    return format_html_join("", "{}", ((_rendered(passage, prefix),) for passage in shown))


@register.filter
def marked_passage(passage: Segment) -> SafeString:
    """Render a stretch of a text as HTML; its text is escaped."""
    return _wrapped(format_html("{}", passage.text), passage)


def _rendered(segment: Segment, prefix: object) -> SafeString:
    if segment.kind == "moved":
        return _moved_note(segment.moved, prefix) if segment.moved else SafeString("")
    minor = [] if segment.kind == "same" else [_MINOR if segment.minor else ""]
    rendered = format_html(_MARKS[segment.kind], *minor, segment.text)
    return _wrapped(format_html(_MOVED, rendered) if segment.moved else rendered, segment)


def _moved_note(moved: Moved, prefix: object) -> SafeString:
    here, there = ("first", "second") if moved.left else ("second", "first")
    way, arrow = ("down", "↓") if moved.first else ("up", "↑")
    return format_html(_MOVED_NOTE, prefix=prefix, number=moved.number, here=here, there=there, way=way, arrow=arrow)


def _wrapped(rendered: SafeString, stretch: Segment) -> SafeString:
    if stretch.boilerplate:
        rendered = format_html(_BOILERPLATE, rendered)
    return format_html(_FOUND, rendered) if stretch.found else rendered


_WORDS = {
    **{answer.value: answer.facts.button for answer in Answer},
    Decision.Kind.CONFIRM_CLUSTER: "All the same",
    Decision.Kind.REJECT_CLUSTER: "Dissolved",
    Decision.Kind.ALL_VERSIONS: "All versions",
    Decision.Kind.ALL_TEMPLATES: "All templates",
    Decision.Kind.SPLIT_CLUSTER: "Split",
    Decision.Kind.MERGE_CLUSTERS: "Merged",
    Decision.Kind.TAKE_OUT: "Taken out",
    Decision.Kind.KEEP: "Kept",
    Decision.Kind.KEEP_TEXT: "Text kept",
}


@register.filter
def answer(given: LastAnswer) -> str:
    """Write what an editor answered, in the words of the buttons."""
    return _WORDS.get(given.kind) or Decision.Kind(given.kind).label


@register.simple_tag
def answers() -> list[Answer]:
    """Return what can be answered about a pair, in the order of the buttons."""
    return BUTTONS


@register.simple_tag
def meaning(answer: str) -> SafeString:
    """Return the attributes of a button that say when to give its answer; pairs/_meanings.html shows the same."""
    text = LATER if answer == "later" else Answer(answer).meaning
    return format_html('title="{}" aria-describedby="means-{}"', text, answer)


@register.simple_tag
def meanings() -> list[tuple[str, str, str]]:
    """Return each answer, what its button says, and its meaning; at last those of Later."""
    return [*((answer.value, answer.facts.button, answer.meaning) for answer in BUTTONS), ("later", "Later", LATER)]


@register.inclusion_tag("questions/_left.html", takes_context=True)
def left(context: dict[str, Any]) -> dict[str, Any]:
    """Show how many questions are left in the tab, and how far the user is, after the answer that was just stored."""
    request = context["request"]
    number = tab_named(request.GET.get("tab")).count(request.user)
    return {"in_tab": f"{number:,}", "progress": progress_of(request.user, number)}


@register.inclusion_tag("pairs/_strip.html", takes_context=True)
def strip(context: dict[str, Any]) -> dict[str, Any]:
    """Show the last answers of the user, each with a way to change it."""
    request = context["request"]
    known = context.get("last_answers")
    return {"answers": last_answers(request.user) if known is None else known, "request": request}


@register.simple_tag(takes_context=True)
def came_from(context: dict[str, Any]) -> int | None:
    """Return the number of the cluster that the reader came from."""
    request: HttpRequest = context["request"]
    return read_number(request.GET.get("back", ""))


@register.filter
def spans(numbers: Iterable[int]) -> str:
    """Write row numbers in short: "1-3, 7"."""
    runs: list[list[int]] = []
    for number in sorted(numbers):
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ", ".join(str(first) if first == last else f"{first}–{last}" for first, last in runs)


@register.filter
def row_numbers(rows: list[Row]) -> str:
    """Name some rows: "row 4", "rows 1–3"."""
    return f"row{'' if len(rows) == 1 else 's'} {spans(row.number for row in rows)}"


@register.filter
def part_letter(_part: object, place: int) -> str:
    """Name a part of a cluster as the graph does: A, B, …"""
    return f"Part {chr(ord('A') + place - 1) if place <= 26 else place}"


@register.simple_tag(takes_context=True)
def views_of_page(context: dict[str, Any]) -> dict[str, Any]:
    """Return the user's saved views of this page, what it shows now, and which of the views that is."""
    request = context["request"]
    page, query = request.resolver_match.url_name, view_query(request.GET.urlencode())
    views = list(SavedView.objects.filter(user=request.user, page=page))
    current = next((view for view in views if view.query == query), None)
    return {"page": page, "query": query, "views": views, "current": current}
