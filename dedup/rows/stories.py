"""Stories: their columns and the filter of their list."""

from __future__ import annotations

import django_filters as filters
from django.db.models import QuerySet

from articles.models import Article, Newspaper
from articles.paging import COUNT_CEILING, DEAR_CEILING
from dedup.review.queries.articles import matching
from dedup.review.queries.stories import having, in_several_newspapers
from dedup.rows.articles import ARTICLE, PUBLISHED
from dedup.rows.columns import Column, ColumnType, Place, Rows
from dedup.rows.filtering import SearchedFilter, filters_of, newspaper_filter

_article = ARTICLE.api_values()
STORY = Rows(
    "A cluster, or an article that is in none.",
    (
        Column(
            "number",
            type=ColumnType.INTEGER,
            help="The lowest id of its articles, which stays when articles join later.",
        ),
        Column(
            "article",
            of=ARTICLE,
            help="The article, or the one that represents the cluster.",
            source=lambda story: _article(story.article, cluster=story.cluster_id),
        ),
        Column("date", type=ColumnType.DAY, filters=PUBLISHED, places=Place(0)),
        Column("first_sentence"),
        Column("articles", type=ColumnType.COUNT, help="The number of its articles, 1 or more."),
        Column(
            "newspapers",
            type=ColumnType.TEXTS,
            help="Those that have it, the first one first.",
            source=lambda story: [source.newspaper for source in story.sources],
        ),
        Column("changed_at", type=ColumnType.MOMENT, help="When the last of its articles was stored."),
    ),
)


@filters_of(STORY, after="newspaper")
class StoryFilter(SearchedFilter):
    """Filters stories by words of a headline, newspaper, day and number of newspapers; any of their articles counts."""

    newspaper = newspaper_filter(method="by_newspaper")
    papers = filters.ChoiceFilter(
        choices=[("2", "two or more"), ("3", "three or more"), ("5", "five or more")],
        method="by_papers",
        label="Newspapers that have it",
        empty_label="any number",
    )

    @property
    def ceiling(self) -> int:
        """Up to how many stories are counted: fewer if their articles or newspapers have to be looked up."""
        values = self._values()
        return DEAR_CEILING if any(values.get(name) for name in ("q", "newspaper", "papers")) else COUNT_CEILING

    def by_words(self, queryset: QuerySet[Article], _name: str, value: str) -> QuerySet[Article]:
        """Return the stories with an article that has these words in its headline, or this number or URL."""
        return having(queryset, matching(Article.objects.all(), value))

    def by_newspaper(self, queryset: QuerySet[Article], _name: str, value: Newspaper) -> QuerySet[Article]:
        """Return the stories that this newspaper has."""
        return having(queryset, Article.objects.filter(newspaper=value))

    def by_papers(self, queryset: QuerySet[Article], _name: str, value: str) -> QuerySet[Article]:
        """Return the stories that so many newspapers have."""
        return in_several_newspapers(queryset, int(value))
