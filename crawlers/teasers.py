"""The articles of a teaser newspaper: the headlines and descriptions in its feeds, whose pages are never fetched."""

from __future__ import annotations

import datetime

from articles.extraction.extract import ExtractionError
from articles.normalization.language import detect_language
from articles.storage.incoming import Details, IncomingArticle, story_url
from articles.storage.publication_day import judge_day
from crawlers.items import ArticleLink


def teaser_article(link: ArticleLink, description: str, today: datetime.date) -> IncomingArticle:
    """Return the article of a feed's entry: its description, or its headline if it has none.

    An entry of a feed of alerts belongs to the newspaper that its host names. Raises ExtractionError if there is no
    possible day or no text.
    """
    text = description or link.headline
    if not text:
        raise ExtractionError("no article text")
    day, doubt = judge_day(None, link.published, today)
    details = Details(
        language=detect_language(f"{link.headline}\n{text}", link.language) or link.language,
        date_source=link.published.source if link.published else "",
        date_doubt=doubt,
    )
    return IncomingArticle(
        date=day,
        headline=link.headline,
        url=link.url,
        content=text,
        newspaper="" if story_url(link.url) != link.url else link.source.newspaper,
        kind=link.kind,
        details=details.with_time(link.published.time if link.published else None),
    )
