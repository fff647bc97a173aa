"""Traces the lineage of clusters, and what the page of one shows: its articles in order, and what each changed."""

from collections.abc import Iterator, Mapping, Sequence
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np
from django.db import transaction
from django.db.models import Case, F, QuerySet, When

from articles.boilerplate.mode import Mode
from articles.boilerplate.rules import without_boilerplate
from articles.models import Article, Newspaper
from articles.normalization.times import Precision, PublicationTime
from articles.paging import page_of_list
from articles.processes import in_batches
from articles.storage.collections import OWNER, names_by
from dedup.detection.comparison.prepared import ArticleText, Preparer, shown_sentences
from dedup.detection.lineage.articles import KIND_LABELS, Edge, Lineage, LineageArticle, Text
from dedup.detection.lineage.direction import gap_words
from dedup.detection.lineage.trace import texts_to_read, trace
from dedup.models import Cluster, Membership
from dedup.review.pictures.lineage import draw_lineage

# Clusters are read together until they have so many articles.
ARTICLES_AT_ONCE = 2_000


class TracedCluster(NamedTuple):
    """The lineage of a cluster, and its texts as they were compared, without boilerplate, by their keys."""

    cluster_id: int
    lineage: Lineage
    compared: dict[str, str]


def traced_clusters(
    clusters: QuerySet[Cluster], articles_of: QuerySet[Article] | None = None
) -> Iterator[TracedCluster]:
    """Yield the lineage of each cluster, by number; memory holds the texts of one batch.

    Of `articles_of`, only these articles are traced, and clusters with fewer than two of them are left out.
    """
    owners = names_by(OWNER)
    newspapers = {paper.pk: (paper, owners.get(paper.pk, "")) for paper in Newspaper.objects.all()}
    with transaction.atomic():
        sizes = clusters.order_by("pk").values_list("pk", "size").iterator()
        for batch in in_batches(sizes, itemgetter(1), ARTICLES_AT_ONCE):
            yield from _traced([number for number, _ in batch], newspapers, articles_of)


_FACTS = (
    *("cluster_id", "article_id", "article__newspaper_id", "article__date", "article__published_at"),
    *("article__published_offset", "article__published_precision", "article__date_doubt", "article__agency"),
    *("article__byline", "text_key"),
)
# Shared phrases are not counted here.
_NO_SHINGLES = np.empty(0, dtype=np.uint32)
# What is compared: the text without boilerplate.
_DIGEST = Case(When(article__topic_text=None, then=F("article__text_digest")), default=F("article__topic_digest"))


def _traced(
    numbers: Sequence[int], newspapers: dict[int, tuple[Newspaper, str]], articles_of: QuerySet[Article] | None
) -> Iterator[TracedCluster]:
    members: dict[int, list[LineageArticle]] = {number: [] for number in numbers}
    facts = Membership.objects.filter(cluster__in=numbers).annotate(text_key=_DIGEST).order_by()
    if articles_of is not None:
        facts = facts.filter(article__in=articles_of)
    for row in facts.values_list(*_FACTS):
        members[row[0]].append(_article(row, newspapers))
    members = {number: articles for number, articles in members.items() if len(articles) > 1}
    wanted = {number: texts_to_read(articles) for number, articles in members.items()}
    read = Article.objects.filter(pk__in=[article for texts in wanted.values() for article in texts.values()])
    rows = read.order_by().values_list("pk", "content", "boilerplate")
    contents = {pk: (content, without_boilerplate(content, marks, Mode.TOPIC)) for pk, content, marks in rows}
    preparer = Preparer()
    for number, articles in members.items():
        texts: dict[str, Text] = {}
        compared: dict[str, str] = {}
        by_number = {article.number: article for article in articles}
        for key, article in wanted[number].items():
            content, compared[key] = contents[article]
            of = by_number[article]
            prepared = preparer.prepare(ArticleText(of.newspaper, of.date, "", compared[key], masked=_NO_SHINGLES))
            texts[key] = Text(content, prepared)
        yield TracedCluster(number, trace(articles, texts), compared)


def _article(row: Sequence[Any], newspapers: dict[int, tuple[Newspaper, str]]) -> LineageArticle:
    _, number, newspaper_id, date, at, offset, precision, doubt, agency, byline, digest = row
    newspaper, owner = newspapers[newspaper_id]
    return LineageArticle(
        number=number,
        newspaper=newspaper_id,
        name=newspaper.name,
        host=newspaper.host,
        owner=owner,
        date=date,
        time=PublicationTime(at, offset, Precision(precision)) if at is not None else None,
        date_doubt=doubt,
        agency=agency,
        byline=byline,
        text_key=str(digest or ""),
    )


ARTICLES_A_PAGE = 50


class LineageRow(NamedTuple):
    """An article, its likely source if it has one, and the sentences that it added, dropped or changed."""

    article: Article
    first: bool
    edge: Edge | None = None
    source: Article | None = None
    added: Sequence[str] = ()
    dropped: Sequence[str] = ()
    changed: Sequence[tuple[str, str]] = ()

    @property
    def after(self) -> str:
        """How long after its source it ran, in words; empty if unknown."""
        if self.edge is None or (self.edge.hours is None and not self.edge.days):
            return ""
        if self.edge.hours is None:
            days = abs(self.edge.days)
            return f"{'a day' if days == 1 else f'{days} days'} {'later' if self.edge.days > 0 else 'earlier'}"
        return f"{gap_words(abs(self.edge.hours))} {'later' if self.edge.hours >= 0 else 'earlier'}"

    @property
    def kind(self) -> str:
        """The kind of reuse in words."""
        return KIND_LABELS[self.edge.kind] if self.edge else ""

    @property
    def has_changes(self) -> bool:
        """Whether any sentence differs from the source's."""
        return bool(self.added or self.dropped or self.changed)


def lineage_details(cluster: Cluster, page: str | None = None) -> dict[str, Any]:
    """Return what the page of a cluster's lineage shows."""
    (traced,) = traced_clusters(Cluster.objects.filter(pk=cluster.pk))
    lineage = traced.lineage
    shown = page_of_list([article.number for article in lineage.articles], page, ARTICLES_A_PAGE)
    edges = {edge.follower: edge for edge in lineage.edges}
    leader = lineage.leader
    wanted = {*shown.rows, *(edges[number].source for number in shown.rows if number in edges)}
    wanted |= {leader.number} if leader else set()
    articles = Article.objects.without_texts().select_related("newspaper").in_bulk(wanted)
    keys = {article.number: article.text_key for article in lineage.articles if article.number in wanted}
    sentences = {key: shown_sentences(traced.compared[key]) for key in set(keys.values()) if key in traced.compared}
    rows = [_row(number, edges.get(number), articles, keys, sentences, lineage) for number in shown.rows]
    return {
        "lineage": lineage,
        "kind": KIND_LABELS[lineage.kind],
        "rows": rows,
        "page": shown,
        "picture": draw_lineage(lineage),
        "leader": articles[leader.number] if leader else None,
    }


def _row(
    number: int,
    edge: Edge | None,
    articles: Mapping[int, Article],
    keys: Mapping[int, str],
    sentences: Mapping[str, Sequence[str]],
    lineage: Lineage,
) -> LineageRow:
    first = lineage.first == (number,)
    if edge is None:
        return LineageRow(articles[number], first)
    own, source = sentences[keys[number]], sentences[keys[edge.source]]
    return LineageRow(
        articles[number],
        first,
        edge,
        articles[edge.source],
        [own[place] for place in edge.added],
        [source[place] for place in edge.dropped],
        [(source[left], own[right]) for left, right in edge.changed],
    )
