"""The page of a cluster's lineage: its articles in the order of their times, and what each changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from articles.models import Article
from articles.paging import Page, page_of_list
from dedup.detection.comparison.prepared import shown_sentences
from dedup.detection.lineage.articles import KIND_LABELS, Edge, Lineage
from dedup.detection.lineage.times import gap_words
from dedup.models import Cluster
from dedup.review.pictures.lineage import LineagePicture, draw_lineage
from dedup.review.queries.lineage import traced_clusters

ARTICLES_A_PAGE = 50


@dataclass(frozen=True)
class LineageRow:
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


@dataclass(frozen=True)
class LineageDetails:
    """What the page shows."""

    lineage: Lineage
    kind: str
    rows: list[LineageRow]
    page: Page[int]
    picture: LineagePicture
    leader: Article | None


def lineage_details(cluster: Cluster, page: str | None = None) -> LineageDetails:
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
    return LineageDetails(
        lineage,
        KIND_LABELS[lineage.kind],
        rows,
        shown,
        draw_lineage(lineage),
        articles[leader.number] if leader else None,
    )


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
