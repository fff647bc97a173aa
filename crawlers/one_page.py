"""One page, fetched for an editor as crawls fetch; it is not stored."""

import dataclasses
import datetime

from scrapy.http import HtmlResponse

from articles.extraction.extract import ExtractedArticle, ExtractionError, extract_article
from articles.extraction.rules import NO_RULE, ExtractionRule
from crawlers.fetching.bare_spiders import BareSpider
from crawlers.fetching.elsewhere import ask_spider
from crawlers.fetching.sites import content_type
from crawlers.reasons import find_reason

# Seconds, for which a thread of the pages waits.
LONGEST = 22
_PASTE = "Open it in your browser and paste its text instead."


def fetch_article(url: str, rule: ExtractionRule = NO_RULE) -> ExtractedArticle:
    """Return the article on a page, extracted by its newspaper's own rule.

    Raises ValueError, which says for editors why there is none and what helps.
    """
    found = ask_spider("crawlers.one_page.OnePage", LONGEST, url=url, rule=rule)
    if reason := found.get("reason"):
        raise ValueError(f"{find_reason(reason).meaning} ({reason}) {_PASTE}")
    found["date"] = found["date"] and datetime.date.fromisoformat(found["date"])
    return ExtractedArticle(**found)


class OnePage(BareSpider):
    """Fetches one page and keeps its article, or the reason why there is none."""

    name = "one_page"
    url: str
    rule: ExtractionRule

    async def look(self) -> None:
        response = await self.ask(self.url)
        if not isinstance(response, HtmlResponse):
            self.found.update(reason=response if isinstance(response, str) else "no HTML page")
            return
        try:
            article = extract_article(response.body, response.url, content_type(response), rule=self.rule)
        except ExtractionError as error:
            self.found.update(reason=error.reason)
            return
        self.found.update(dataclasses.asdict(article) | {"time": None, "date": article.date and str(article.date)})
