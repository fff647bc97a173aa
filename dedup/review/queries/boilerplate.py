"""Repeated sentences: the list, the page of a sentence, and their places in an article."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple
from uuid import UUID

from django.db.models import Count, Max, Min, QuerySet, Sum

from articles.boilerplate.mode import Mode
from articles.boilerplate.rules import monday_of
from articles.models import Article, RepeatedSentence, WhitelistedSentence
from articles.normalization.text import normalize_text, text_digest
from articles.storage.boilerplate_marks import history_of
from dedup.detection.comparison.shown_text import MarkedText, passages
from dedup.detection.runs.judging import boilerplate_of_last_run

# Articles shown for each week.
EXAMPLES = 3


def by_sentence(rows: QuerySet[RepeatedSentence]) -> QuerySet[Any]:
    """Return a row for each sentence of these weeks, the most frequent first; `add_texts` completes those shown."""
    grouped = rows.order_by().values("newspaper", "digest")
    counted = grouped.annotate(total=Sum("articles"), weeks=Count("pk"), first_week=Min("week"), last_week=Max("week"))
    return counted.order_by("-total", "newspaper", "digest")


def add_texts(rows: Sequence[Any]) -> None:
    """Add to the rows of by_sentence the text of the sentence and the name of its newspaper."""
    shown = {name: {row[name] for row in rows} for name in ("newspaper", "digest")}
    found = RepeatedSentence.objects.filter(newspaper__in=shown["newspaper"], digest__in=shown["digest"]).order_by()
    grouped = found.values_list("newspaper", "newspaper__name", "digest").annotate(Min("sentence"))
    texts = {(newspaper, digest): (name, text) for newspaper, name, digest, text in grouped}
    for row in rows:
        row["newspaper__name"], row["text"] = texts[row["newspaper"], row["digest"]]


def mark_whitelisted(rows: Sequence[Any]) -> None:
    """Add to the rows of by_sentence whether their sentence is whitelisted."""
    found = WhitelistedSentence.objects.filter(digest__in={row["digest"] for row in rows})
    whitelisted = set(found.order_by().values_list("newspaper", "digest"))
    for row in rows:
        row["whitelisted"] = (row["newspaper"], row["digest"]) in whitelisted


def compared_texts(articles: Sequence[Article]) -> list[MarkedText]:
    """Return the texts of articles with their boilerplate, and whether verdicts leave it out, for their differences."""
    mode = boilerplate_of_last_run() if any(article.boilerplate for article in articles) else Mode.KEEP
    return [MarkedText(article.content, article.boilerplate, date=article.date, mode=mode) for article in articles]


def weeks_of(newspaper_id: int, digest: UUID) -> QuerySet[RepeatedSentence]:
    """Return the weeks in which a newspaper repeats a sentence, the latest first."""
    return RepeatedSentence.objects.filter(newspaper=newspaper_id, digest=digest).order_by("-week")


def sentence_details(newspaper_id: int, digest: UUID) -> dict[str, Any] | None:
    """Return what the page of a sentence shows; None if it is neither repeated nor whitelisted."""
    weeks = weeks_of(newspaper_id, digest)
    latest = weeks.first()
    kept = WhitelistedSentence.objects.select_related("whitelisted_by")
    whitelisted = kept.filter(newspaper=newspaper_id, digest=digest).first()
    known = latest or whitelisted
    if known is None:
        return None
    marked = latest is not None and latest.kind == RepeatedSentence.Kind.WHITELISTED
    return {
        "text": known.sentence,
        "total": weeks.aggregate(total=Sum("articles"))["total"] or 0,
        "latest": latest,
        "whitelisted": whitelisted,
        # Whether the whitelist has changed since the weeks were updated.
        "pending": latest is not None and marked != (whitelisted is not None),
        "history": history_of(newspaper_id, digest),
    }


def with_examples(weeks: Iterable[RepeatedSentence]) -> list[tuple[RepeatedSentence, list[Article]]]:
    """Return these weeks of a sentence, each with the first EXAMPLES articles that have it."""
    named = [(week, week.article_ids[:EXAMPLES]) for week in weeks]
    articles = Article.objects.without_texts().in_bulk({pk for _, ids in named for pk in ids})
    return [(week, [articles[pk] for pk in ids if pk in articles]) for week, ids in named]


class Explained(NamedTuple):
    """A stretch of an article; `repeated` is the repeated sentence to show after it."""

    text: str
    boilerplate: bool
    repeated: RepeatedSentence | None = None


def explained(article: Article) -> list[Explained]:
    """Return the article's content in stretches, with the repeated sentence of each that is boilerplate.

    Among neighbouring sentences with the same number of articles, only the last has it.
    """
    found = RepeatedSentence.objects.filter(newspaper=article.newspaper_id, week=monday_of(article.date))
    inside = found.filter(article_ids__contains=[article.pk]) if article.boilerplate else ()
    rows: dict[UUID | None, RepeatedSentence] = {row.digest: row for row in inside}
    stretches: list[Explained] = []
    said = 0
    for passage in reversed(list(passages(MarkedText(article.content, article.boilerplate)))):
        row = rows.get(text_digest(normalize_text(passage.text))) if passage.boilerplate else None
        stretches.append(Explained(passage.text, passage.boilerplate, row if row and row.articles != said else None))
        if passage.text.strip():
            said = row.articles if row else 0
    return stretches[::-1]
