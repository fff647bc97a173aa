"""The check of a text: which stored articles it may be a copy of. Nothing is stored, and nothing fetched."""

from typing import Any, Self

from django.http import Http404, HttpRequest
from ninja import Router
from pydantic import Field, model_validator

from articles.storage.incoming import url_fault
from dedup.api.auth import CHECKS
from dedup.api.requests import Body, Day, Text
from dedup.api.shapes import article_row, shape
from dedup.models import Verdict
from dedup.review.queries.articles import stored_under
from dedup.review.queries.check import MAX_CHARACTERS, MAX_HEADLINE_CHARACTERS, Pasted, check
from dedup.rows.articles import ARTICLE
from dedup.rows.columns import Column, ColumnType, Rows

router = Router(tags=["check"])


class NewCheck(Body):
    """A text, with its headline and its day if they are known; or the URL of a stored article."""

    text: Text | None = Field(None, min_length=1, max_length=MAX_CHARACTERS)
    headline: Text = Field("", max_length=MAX_HEADLINE_CHARACTERS)
    day: Day | None = Field(None, description="Without it, the text is compared as if it were of the same day.")
    url: Text | None = Field(None, max_length=2000, description="Instead of a text: the URL of a stored article.")

    @model_validator(mode="after")
    def one_of_both(self) -> Self:
        """Return the check if it has either a text or a URL."""
        if (self.text is None) == (self.url is None):
            raise ValueError("send either a text or a url")
        return self


COPY = Rows(
    "A stored article that may be a copy.",
    (
        Column("article", of=ARTICLE, source=lambda copy: article_row(copy.article, cluster=copy.cluster_id)),
        Column("likely", type=ColumnType.BOOLEAN, help="Whether it is worth an editor's look."),
        Column(
            "duplicate_probability",
            type=ColumnType.PROBABILITY,
            help="The probability that they are duplicates, 0 to 1.",
        ),
        Column("verdict", source="verdict.value", choices=tuple(Verdict.choices)),
        Column("of_text", type=ColumnType.SHARE, help="The share of the text that the article has, 0 to 1."),
        Column("of_article", type=ColumnType.SHARE, help="The share of the article that the text has, 0 to 1."),
        Column("same_text", type=ColumnType.BOOLEAN),
        Column(
            "too_far",
            type=ColumnType.TEXTS,
            help="Passes that do not look over so many days.",
            source=lambda copy: [name for name, _ in copy.too_far],
        ),
    ),
)
CopyRow, _ = shape(COPY, "CopyRow")
RESULT = Rows(
    "What was found, the most probable copies first.",
    (
        Column("words", type=ColumnType.COUNT),
        Column("lang", source="language"),
        Column("copies", of=COPY, many=True),
        Column(
            "unread",
            type=ColumnType.COUNT,
            help="New articles that only equal texts were looked for in, until the next run.",
        ),
    ),
)
CheckResult, _result = shape(RESULT, "CheckResult")


@router.post("", auth=CHECKS, response=CheckResult, summary="Check a text")
def check_text(request: HttpRequest, body: NewCheck) -> dict[str, Any]:
    """Return the stored articles that have much of a text, or its headline. A check counts as ten requests."""
    but = None
    if body.url is None:
        pasted = Pasted(body.text or "", body.headline, body.day)
    else:
        article = None if url_fault(body.url) else stored_under(body.url)
        if article is None:
            raise Http404("No article is stored under this URL. Send its text; the API fetches no pages.")
        pasted, but = Pasted(article.content[:MAX_CHARACTERS], article.headline, article.date), article.pk
    return _result(check(pasted, but=but))
