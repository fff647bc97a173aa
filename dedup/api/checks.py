"""The check of a text: which stored articles it may be a copy of. Nothing is stored, and nothing fetched."""

from __future__ import annotations

from typing import Self

from django.http import Http404, HttpRequest
from ninja import Router, Schema
from pydantic import ConfigDict, Field, model_validator

from articles.storage.incoming import url_fault
from dedup.api.auth import CHECKS
from dedup.api.shapes import ArticleRow, row_in
from dedup.api.values import Day, Text
from dedup.review.queries.articles import stored_under
from dedup.review.queries.check import MAX_CHARACTERS, MAX_HEADLINE_CHARACTERS, Copy, Pasted, check

router = Router(tags=["check"])


class NewCheck(Schema):
    """A text, with its headline and its day if they are known; or the URL of a stored article."""

    model_config = ConfigDict(extra="forbid")

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


class CopyRow(Schema):
    """A stored article that may be a copy."""

    article: ArticleRow
    likely: bool = Field(description="Whether it is worth an editor's look.")
    duplicate_probability: float = Field(description="The probability that they are duplicates, 0 to 1.")
    verdict: str
    of_text: float = Field(description="The share of the text that the article has, 0 to 1.")
    of_article: float = Field(description="The share of the article that the text has, 0 to 1.")
    same_text: bool
    too_far: list[str] = Field(description="Passes that do not look over so many days.")


class CheckResult(Schema):
    """What was found, the most probable copies first."""

    words: int
    lang: str
    copies: list[CopyRow]
    unread: int = Field(description="New articles that only equal texts were looked for in, until the next run.")


@router.post("", auth=CHECKS, response=CheckResult, summary="Check a text")
def check_text(request: HttpRequest, body: NewCheck) -> CheckResult:
    """Return the stored articles that have much of a text, or its headline. A check counts as ten requests."""
    but = None
    if body.url is None:
        pasted = Pasted(body.text or "", body.headline, body.day)
    else:
        article = None if url_fault(body.url) else stored_under(body.url)
        if article is None:
            raise Http404("No article is stored under this URL. Send its text; the API fetches no pages.")
        pasted, but = Pasted(article.content[:MAX_CHARACTERS], article.headline, article.date), article.pk
    found = check(pasted, but=but)
    return CheckResult(
        words=found.words, lang=found.language, copies=[_row(hit) for hit in found.copies], unread=found.unread
    )


def _row(copy: Copy) -> CopyRow:
    return CopyRow(
        article=row_in(copy.article, copy.cluster_id),
        likely=copy.likely,
        duplicate_probability=copy.duplicate_probability,
        verdict=copy.verdict.value,
        of_text=copy.of_text,
        of_article=copy.of_article,
        same_text=copy.same_text,
        too_far=[name for name, _ in copy.too_far],
    )
