"""Stories: each cluster once, by the article that represents it, and each article without a cluster."""

import datetime
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce, Left

from articles.boilerplate.mode import Mode
from articles.boilerplate.rules import without_boilerplate
from articles.grouping import by_key
from articles.models import Article
from articles.normalization.sentences import sentences_of
from dedup.models import Cluster, Membership
from dedup.models.base import read_rows
from dedup.review.queries.lists import IsAnyOf, ids_of

# A first sentence is looked for in so much of the text, and shown up to so many characters.
_LOOKED_AT = 2_000
SENTENCE_CHARACTERS = 300
# Shorter ones are bylines, places and dates.
_LEAST_CHARACTERS = 20
COPIES_SHOWN = 200
_SOURCES_SHOWN = 8

# The newspapers of each cluster, the first one first, and what changes when an article joins. Read by the index of
# memberships by cluster.
_SOURCES_SQL = """
SELECT cluster_id, newspaper.id, newspaper.name, count(*), min(article.id), max(article.stored_at),
       (array_agg(article.url ORDER BY article.date, article.published_at, article.id))[1]
FROM dedup_membership AS membership
JOIN articles_article AS article ON article.id = membership.article_id
JOIN articles_newspaper AS newspaper ON newspaper.id = article.newspaper_id
WHERE cluster_id = ANY(%(clusters)s)
GROUP BY cluster_id, newspaper.id
ORDER BY cluster_id, min(article.date), min(article.published_at), min(article.id)
"""


class Source(NamedTuple):
    """A newspaper that has a story: how many articles of it, and the URL of the first."""

    newspaper_id: int
    newspaper: str
    articles: int
    url: str


class Story(NamedTuple):
    """A story as a reader sees it: what the article that represents it says first, and which newspapers have it.

    `number` is the lowest id of its articles, which stays when articles join later. `changed_at`: when the last of
    them was stored.
    """

    number: int
    article: Article
    first_sentence: str
    articles: int
    sources: Sequence[Source]
    changed_at: datetime.datetime
    cluster_id: int | None

    @property
    def sources_shown(self) -> Sequence[Source]:
        """Return the newspapers that fit in a row."""
        return self.sources[:_SOURCES_SHOWN]

    @property
    def sources_left(self) -> int:
        """Return how many more there are."""
        return len(self.sources) - len(self.sources_shown)


def listed_stories() -> QuerySet[Article]:
    """Return the article that represents each story, the newest first; those of a day without a time come last.

    Served by the index article_date; PostgreSQL sorts each day that it reads.
    """
    one_each = Q(membership=None) | Q(kept_by__isnull=False)
    text = Article.objects.filter(text_of__kept=OuterRef("pk")).order_by()
    return (
        Article.objects.without_texts()
        .select_related("newspaper", "membership")
        .annotate(
            beginning=Left(Coalesce(Subquery(text.values("content")), "content"), _LOOKED_AT),
            marks=Coalesce(Subquery(text.values("boilerplate")), "boilerplate"),
        )
        .filter(one_each)
        .order_by("-date", F("published_at").desc(nulls_last=True), "-id")
    )


def having(stories: QuerySet[Article], articles: QuerySet[Article]) -> QuerySet[Article]:
    """Return the stories that have at least one of these articles."""
    shown_as = articles.annotate(shown_as=Coalesce("membership__cluster__kept", "pk"))
    if (numbers := ids_of(shown_as, "shown_as")) is not None:
        return stories.filter(IsAnyOf("pk", numbers))
    # Looked up story by story, until a page is full.
    itself = articles.filter(pk=OuterRef("pk")).order_by()
    others = articles.filter(membership__cluster__kept=OuterRef("pk")).order_by()
    return stories.filter(Exists(itself) | Exists(others))


def in_several_newspapers(stories: QuerySet[Article], least: int) -> QuerySet[Article]:
    """Return the stories that at least so many newspapers have.

    They are counted story by story, so that a page counts no more than it looks at.
    """
    members = Membership.objects.filter(cluster__kept=OuterRef("pk")).order_by()
    papers = members.values("cluster__kept").annotate(papers=Count("article__newspaper", distinct=True))
    return (
        stories.filter(kept_by__size__gte=least)
        .alias(papers=Subquery(papers.values("papers")))
        .filter(papers__gte=least)
    )


def stories_of(articles: Iterable[Article]) -> list[Story]:
    """Return the stories that these articles of `listed_stories` represent, in two queries however many they are."""
    rows = list(articles)
    clusters = {row.pk: row.membership.cluster_id for row in rows if hasattr(row, "membership")}
    found = _together(list(clusters.values()))
    stories = []
    for row in rows:
        cluster = clusters.get(row.pk)
        own = Source(row.newspaper_id, row.newspaper.name, 1, row.url)
        sources, number, changed_at = found.get(cluster or 0, ([own], row.pk, row.stored_at))
        copies = sum(source.articles for source in sources)
        stories.append(Story(number, row, first_sentence(row), copies, sources, changed_at, cluster))
    return stories


# What the articles of a cluster have together: the sources, the lowest number, and when the last of them was stored.
_Together = tuple[list[Source], int, datetime.datetime]


def _together(clusters: Sequence[int]) -> dict[int, _Together]:
    if not clusters:
        return {}
    rows = by_key((cluster, row) for cluster, *row in read_rows(_SOURCES_SQL, clusters=list(clusters)))
    return {
        cluster: (
            [Source(paper, name, count, url) for paper, name, count, _, _, url in some],
            min(first for _, _, _, first, _, _ in some),
            max(stored for _, _, _, _, stored, _ in some),
        )
        for cluster, some in rows.items()
    }


def first_sentence(article: Article) -> str:
    """Return the first sentence of an article's text that is more than a byline, without boilerplate and not too long.

    The article has its `beginning` and its `marks`, as those of `listed_stories`.
    """
    beginning: str = getattr(article, "beginning", "")
    marks = [mark for mark in getattr(article, "marks", ()) if mark[1] <= len(beginning)]
    sentences = sentences_of(without_boilerplate(beginning, marks, Mode.TOPIC) if marks else beginning)
    said = next((sentence for sentence in sentences if len(sentence) >= _LEAST_CHARACTERS), "")
    if len(said) <= SENTENCE_CHARACTERS:
        return said
    return f"{said[:SENTENCE_CHARACTERS].rsplit(' ', 1)[0]}…"


def story_numbered(number: int) -> tuple[Story, list[Article]] | None:
    """Return the story that has an article with this number, and its articles, the first one first; None if none has.

    At most COPIES_SHOWN articles are returned.
    """
    cluster = Cluster.objects.filter(memberships__article=number).first()
    kept = number if cluster is None else cluster.kept_id
    article = listed_stories().filter(pk=kept).first()
    if article is None:
        return None
    story = stories_of([article])[0]
    if cluster is None:
        return story, [article]
    members = Membership.objects.filter(cluster=cluster).values("article")
    copies = Article.objects.without_texts().select_related("newspaper").filter(pk__in=members)
    return story, list(copies.order_by("date", "published_at", "id")[:COPIES_SHOWN])
