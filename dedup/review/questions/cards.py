"""The rows of a tab of the queue, and the card of a cluster: its copies, and how each differs from the kept article."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from django.db.models import Count, Max

from articles.models import Article
from articles.normalization.times import publication_order
from articles.querysets import TIME_COLUMNS
from dedup.detection.clustering.doubts import Doubt, doubts_of_cluster
from dedup.detection.comparison.differences import Differences, compare_headlines, compare_texts
from dedup.detection.comparison.shown_text import Segment
from dedup.models import Cluster, Decision, Membership, Pair
from dedup.review.answers.decisions import seen_as
from dedup.review.queries.articles import compared_texts
from dedup.review.queries.lists import rows_of_queue
from dedup.review.questions.tabs import Question, question_of


class Row(NamedTuple):
    """A question in a list, with its pair or its cluster."""

    question: Question
    pair: Pair | None = None
    cluster: Cluster | None = None
    newspapers: int = 0

    def as_undecided(self) -> Row:
        """Return the row as if nobody had decided its pair."""
        if self.pair is not None:
            self.pair.state, self.pair.implied = Pair.State.UNDECIDED, False
        return self


def rows_of_tab(rows: Iterable[Any]) -> list[Row]:
    """Return the rows as the list shows them, in the same order."""
    questions = [question_of(row) for row in rows]
    pairs = {pair.pk: pair for pair in rows_of_queue(_of_kind("pair", questions))}
    numbers = list(_of_kind("cluster", questions))
    clusters = Cluster.objects.with_kept().in_bulk(numbers)
    counted = Membership.objects.filter(cluster__in=numbers).order_by().values_list("cluster")
    newspapers = dict(counted.annotate(Count("article__newspaper", distinct=True)))
    return [
        Row(question, pair=pairs.get(question.number))
        if question.kind == "pair"
        else Row(question, cluster=clusters.get(question.number), newspapers=newspapers.get(question.number, 0))
        for question in questions
    ]


def _of_kind(kind: str, questions: Iterable[Question]) -> Iterator[int]:
    return (question.number for question in questions if question.kind == kind)


# Comparing two long texts takes milliseconds, and nobody reads more: the page of the cluster lists all articles.
TEXTS_SHOWN = 6
COPIES_SHOWN = 8


class Copy(NamedTuple):
    """One article of a cluster; `headline` marks in what it differs from the kept one's."""

    article: Article
    headline: Sequence[Segment]
    same_headline: bool


class Text(NamedTuple):
    """Copies with the same text, the earliest first, and how it differs from that of the kept article."""

    copies: list[Copy]
    more: int  # copies that are not shown
    words: int
    differences: Differences

    @property
    def number(self) -> int:
        """How many articles have this text."""
        return len(self.copies) + self.more


class Card(NamedTuple):
    """What the card of a cluster shows."""

    seen: str  # of its articles, as the form sends it
    newspapers: int
    kept: Text
    others: list[Text]
    left_out: int  # articles whose texts are not shown
    doubts: list[Doubt]  # with any, an editor should look inside before confirming


def card_of(cluster: Cluster) -> Card | None:
    """Return the card of a cluster; None if somebody has changed or dissolved it since it was read."""
    after = Decision.objects.aggregate(latest=Max("pk"))["latest"] or 0
    articles = _articles(cluster)
    if cluster.kept_id not in articles:
        return None
    order = publication_order((article.pk, article.date, article.published_at) for article in articles.values())
    kept = articles[cluster.kept_id]
    by_text: dict[str, list[Article]] = {kept.content: []}
    for pk in order:
        by_text.setdefault(articles[pk].content, []).append(articles[pk])
    texts = list(by_text.items())
    same, others = texts[0], texts[1 : TEXTS_SHOWN + 1]
    same[1].sort(key=lambda article: article.pk != kept.pk)  # the kept one first, the others as they were
    return Card(
        seen=seen_as(articles, after),
        newspapers=len({article.newspaper_id for article in articles.values()}),
        kept=_text(kept, same[1]),
        others=[_text(kept, copies) for _, copies in others],
        left_out=sum(len(found) for _, found in texts[TEXTS_SHOWN + 1 :]),
        doubts=doubts_of_cluster(cluster.pk),
    )


def _articles(cluster: Cluster) -> dict[int, Article]:
    rows = Article.objects.filter(membership__cluster=cluster).select_related("newspaper")
    wanted = ("date", *TIME_COLUMNS, "headline", "content", "boilerplate", "language", "newspaper__name")
    return rows.only(*wanted).in_bulk()


def _text(kept: Article, found: Sequence[Article]) -> Text:
    differences = compare_texts(*compared_texts((kept, found[0])))
    copies = []
    for article in found[:COPIES_SHOWN]:
        compared = compare_headlines(kept.headline, article.headline)
        headline = [segment for block in compared.blocks for segment in block.right]
        copies.append(Copy(article, headline, compared.identical))
    return Text(
        copies=copies, more=max(len(found) - COPIES_SHOWN, 0), words=differences.right_words, differences=differences
    )
