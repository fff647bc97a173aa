"""Articles: listed, found by number or URL, and stored."""

from functools import partial
from typing import Annotated, Any, Literal, TypeVar

from django.http import Http404, HttpRequest
from django.shortcuts import get_object_or_404
from ninja import Query, Router, Schema
from pydantic import Field, create_model

from articles.fields import FROM_FILES
from articles.models import Article, ArticleURL, Newspaper
from articles.normalization.searches import MAX_CHARACTERS, SearchError
from articles.normalization.times import UnreadableDayError, parse_date
from articles.storage.incoming import Details, IncomingArticle, url_fault
from articles.storage.ingest import Stored, store_articles
from dedup.api.auth import READS, STORES
from dedup.api.problems import refused
from dedup.api.requests import Body, Number, Page, PageQuery, Text, page_of, refuse_unknown
from dedup.api.shapes import ArticleFull, ArticleRow, article_full, article_row, filtered, filtering, in_collections
from dedup.review.queries.articles import matching, stored_under
from dedup.rows.articles import ARTICLE

AnySchema = TypeVar("AnySchema", bound=Schema)
router = Router(tags=["articles"])
MOST_STORED = 100


@partial(filtering, ARTICLE)
class ArticleQuery(PageQuery):
    """Which articles to list."""

    newspaper: Text | None = Field(None, max_length=200, description="The name of a newspaper.")
    collection: Text | None = Field(None, max_length=260, description="The name of a collection of newspapers.")
    q: Text | None = Field(None, max_length=MAX_CHARACTERS, description="A search, as on the page of articles.")


def _with_details(shape: type[AnySchema]) -> type[AnySchema]:
    """Return a shape with the further details that come with an article, as articles/fields.py declares them."""
    details: Any = {field.api: (Text, "") for field in FROM_FILES if field.api not in shape.model_fields}
    return create_model(shape.__name__, __base__=shape, __doc__=shape.__doc__, **details)


@_with_details
class NewArticle(Body):
    """An article to store. What ingest refuses is in the result of its row, with the reason."""

    url: Text
    date: Text = Field(description="The day or time of publication, such as 2026-03-31 or 2026-03-31T18:30+02:00.")
    content: Text
    headline: Text = ""
    newspaper: Text = Field("", description="Its name; without it, the newspaper of the URL's host.")
    external_id: Text = ""
    lang: Text = Field("", description="An ISO 639 code; without it, it is detected.")


class NewArticles(Body):
    """Articles to store, in their order."""

    articles: list[NewArticle] = Field(min_length=1, max_length=MOST_STORED)


class StoredRow(Schema):
    """The result for an article: created, attached to a stored one, known already, or rejected for a reason."""

    outcome: Literal["created", "attached", "known", "rejected"]
    article: int | None
    reason: str


class StoredRows(Schema):
    """The result for each article, in the order of the request."""

    results: list[StoredRow]


@router.get("", auth=READS, response=Page[ArticleRow], summary="List articles by day")
def list_articles(request: HttpRequest, query: Query[ArticleQuery]) -> Page[Any]:
    """List articles, the earliest first."""
    rows = filtered(Article.objects.without_texts().select_related("newspaper", "membership"), ARTICLE, query)
    if query.newspaper is not None:
        named = Newspaper.objects.in_use().filter(name=query.newspaper)
        rows = rows.filter(newspaper_id__in=list(named.values_list("pk", flat=True)))
    if query.collection is not None:
        rows = rows.filter(newspaper__in=[paper.pk for paper in in_collections("query/collection", [query.collection])])
    if query.q is not None:
        try:
            rows = matching(rows, query.q)
        except SearchError as error:
            raise refused("query/q", str(error)) from error
    return page_of(request, rows, query, ("date", "id"), article_row)


@router.get("/by-url", auth=READS, response=ArticleFull, summary="Find an article by its URL")
def find_article(request: HttpRequest, url: Annotated[Text, Query(max_length=2000)]) -> dict[str, Any]:
    """Return the article with this URL, or with the same URL but for tracking parameters."""
    refuse_unknown(request, ["url"])
    found = None if url_fault(url) else stored_under(url)
    if found is None:
        raise Http404("No article is stored under this URL.")
    return article_full(found)


@router.get("/{int:article_id}", auth=READS, response=ArticleFull, summary="Read an article")
def read_article(request: HttpRequest, article_id: Number) -> dict[str, Any]:
    """Return an article with its text."""
    full = Article.objects.select_related("newspaper", "membership").prefetch_related("urls", "headline_variants")
    return article_full(get_object_or_404(full, pk=article_id))


@router.post("", auth=STORES, response=StoredRows, summary="Store articles", url_name="list_articles")
def store(request: HttpRequest, body: NewArticles) -> StoredRows:
    """Store up to 100 articles. An article whose URL is known is not stored again; invalid ones are rejected."""
    incoming: list[IncomingArticle] = []
    results: dict[int, Stored] = {}
    for position, article in enumerate(body.articles):
        try:
            incoming.append(_incoming(article))
        except UnreadableDayError as error:
            results[position] = Stored("rejected", reason=str(error))
    valid = [position for position in range(len(body.articles)) if position not in results]
    results |= dict(zip(valid, store_articles(incoming), strict=True))
    in_order = (results[position] for position in range(len(body.articles)))
    rows = [StoredRow(outcome=row.outcome, article=row.article_id, reason=row.reason) for row in in_order]
    return StoredRows(results=rows)


def _incoming(new: NewArticle) -> IncomingArticle:
    day, time = parse_date(new.date)
    found = {field.name: getattr(new, field.api) for field in FROM_FILES}
    details = Details(date_source=Article.DateSource.IMPORT, **found)
    return IncomingArticle(
        date=day,
        headline=new.headline,
        url=new.url,
        content=new.content,
        newspaper=" ".join(new.newspaper.split()),
        external_id=new.external_id,
        kind=ArticleURL.Kind.IMPORT,
        details=details.with_time(time),
    )
