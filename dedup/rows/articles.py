"""Articles: their columns and the filter of their list."""

import django_filters as filters
from django.db.models import F, Q, QuerySet

from articles.fields import FOUND
from articles.models import Article
from articles.querysets import ArticleQuerySet
from dedup.review.queries.articles import is_address, matching
from dedup.rows.columns import Column, ColumnType, Filter, Place, Rows
from dedup.rows.filtering import SearchedFilter, filters_of, newspaper_filter

# Of articles and of stories.
PUBLISHED = (
    Filter("date_from", "gte", "Published from", places=Place.PAGE),
    Filter("date_to", "lte", "Published to", places=Place.PAGE),
    Filter("since", "gte", help="From this day on.", places=Place.ROW),
    Filter("until", "lte", help="Up to this day.", places=Place.ROW),
)


# What is found on pages and in files, as articles/fields.py declares it. Lists have the language alone.
_LANGUAGE, *_DETAILS = (
    Column(
        field.api, help=field.api_help, source=field.name, places=Place.ROW if field.name == "language" else Place.FULL
    )
    for field in FOUND
    if field.api
)
ARTICLE = Rows(
    "An article without its text.",
    (
        Column("id", "number of the article", ColumnType.INTEGER, file="article"),
        Column("url", "URL"),
        Column("newspaper", source="newspaper.name"),
        Column("date", "day", ColumnType.DAY, help="The day of publication.", filters=PUBLISHED),
        Column(
            "published_at",
            help="The time of publication in ISO 8601; null if only the day is known.",
            source=lambda article: (time := article.publication_time) and str(time),
            optional=True,
            places=Place.ROW,
        ),
        Column("headline"),
        _LANGUAGE,
        Column("external_id", help="Its id in the collection that it came from."),
        Column(
            "cluster",
            type=ColumnType.INTEGER,
            help="The cluster that it is in.",
            source=lambda article: getattr(getattr(article, "membership", None), "cluster_id", None),
            optional=True,
            places=Place.ROW,
        ),
        Column("content", places=Place.FULL),
        *_DETAILS,
        Column(
            "urls",
            type=ColumnType.TEXTS,
            help="Every URL that it was seen under.",
            source=lambda article: [address.url for address in article.urls.all()],
            places=Place.FULL,
        ),
        Column(
            "other_headlines",
            type=ColumnType.TEXTS,
            help="Other headlines under which it came again.",
            source=lambda article: [variant.headline for variant in article.headline_variants.all()],
            places=Place.FULL,
        ),
        Column("stored_at", type=ColumnType.MOMENT, places=Place.FULL),
    ),
    file_first=("id", "external_id"),
)

# Groups of articles that an editor may want to check.
LOOK_AT = {
    "day": ("uncertain date", ~Q(date_doubt="")),
    "text": ("uncertain text", ~Q(text_doubt="")),
    "paywall": ("behind a paywall", Q(paywalled=True)),
    "agency": ("from a news agency", ~Q(agency="")),
    "duplicate": (
        "duplicates: in a cluster that another article represents",
        Q(membership__isnull=False) & ~Q(membership__cluster__kept=F("pk")),
    ),
}


@filters_of(ARTICLE, after="newspaper")
class ArticleFilter(SearchedFilter):
    """Filters articles by what was typed into the search box, newspaper, day and group."""

    newspaper = newspaper_filter()
    look = filters.ChoiceFilter(
        choices=[(name, label) for name, (label, _) in LOOK_AT.items()],
        method=lambda articles, _name, look: articles.filter(LOOK_AT[look][1]),
        label="Show",
        empty_label="all articles",
    )

    @property
    def searched_url(self) -> str:
        """The same if it is a URL or a part of one, else empty."""
        return self.searched if is_address(self.searched) else ""

    def by_words(self, queryset: ArticleQuerySet, _name: str, value: str) -> QuerySet[Article]:
        """Return the articles with this number, URL or part of one, or with these words."""
        return matching(queryset, value)
