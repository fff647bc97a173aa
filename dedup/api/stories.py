"""Stories: what a reader wants to see once."""

from __future__ import annotations

from functools import partial
from typing import Any

from django.http import HttpRequest
from ninja import Query, Router

from dedup.api.auth import READS
from dedup.api.cursors import Page, PageQuery, page_of
from dedup.api.shapes import StoryRow, filtered, filtering, story_row
from dedup.review.queries.stories import listed_stories, stories_of
from dedup.rows.stories import STORY

router = Router(tags=["stories"])


@partial(filtering, STORY)
class StoryQuery(PageQuery):
    """Which stories to list, by the day of the article that represents each."""


@router.get("", auth=READS, response=Page[StoryRow], summary="List stories")
def list_stories(request: HttpRequest, query: Query[StoryQuery]) -> Page[Any]:
    """List each cluster once, and each article that is in no cluster; the latest first."""
    page = page_of(request, filtered(listed_stories(), STORY, query), query, ("-date", "-id"), lambda article: article)
    return Page(data=[story_row(story) for story in stories_of(page.data)], next=page.next)
