"""Stories: what a reader wants to see once."""

from __future__ import annotations

import datetime

from django.http import HttpRequest
from ninja import Query, Router, Schema
from pydantic import Field

from articles.querysets import given
from dedup.api.auth import READS
from dedup.api.cursors import Page, PageQuery, page_of
from dedup.api.shapes import ArticleRow, row_in
from dedup.api.values import Day
from dedup.review.queries.stories import Story, listed_stories, stories_of

router = Router(tags=["stories"])


class StoryQuery(PageQuery):
    """Which stories to list, by the day of the article that represents each."""

    since: Day | None = Field(None, description="From this day on.")
    until: Day | None = Field(None, description="Up to this day.")


class StoryRow(Schema):
    """A cluster, or an article that is in none."""

    number: int = Field(description="The lowest id of its articles, which stays when articles join later.")
    article: ArticleRow = Field(description="The article, or the one that represents the cluster.")
    first_sentence: str
    articles: int = Field(description="The number of its articles, 1 or more.")
    newspapers: list[str] = Field(description="Those that have it, the first one first.")
    changed_at: datetime.datetime = Field(description="When the last of its articles was stored.")


@router.get("", auth=READS, response=Page[StoryRow], summary="List stories")
def list_stories(request: HttpRequest, query: Query[StoryQuery]) -> Page[StoryRow]:
    """List each cluster once, and each article that is in no cluster; the latest first."""
    rows = listed_stories().filter(given(date__gte=query.since, date__lte=query.until))
    page = page_of(request, rows, query, ("-date", "-id"), lambda article: article)
    return Page(data=[_row(story) for story in stories_of(page.data)], next=page.next)


def _row(story: Story) -> StoryRow:
    return StoryRow(
        number=story.number,
        article=row_in(story.article, story.cluster_id),
        first_sentence=story.first_sentence,
        articles=story.articles,
        newspapers=[source.newspaper for source in story.sources],
        changed_at=story.changed_at,
    )
