"""Section pages: pages that list articles."""

from __future__ import annotations

from collections.abc import AsyncIterator

from scrapy import Request
from scrapy.http import HtmlResponse, Response
from scrapy.linkextractors import LinkExtractor
from scrapy.utils.response import get_base_url

from articles.models import ArticleURL
from articles.normalization.url_patterns import finds
from crawlers.fetching.sites import absolute, is_front_page, same_site
from crawlers.items import ArticleLink, Source, Validator
from crawlers.spiders.base import NewspaperSpider

NEXT_PAGE = "link[rel~=next]::attr(href), a[rel~=next]::attr(href)"


class SectionSpider(NewspaperSpider):
    """Follows links of the same site that match the newspaper's pattern, and rel=next to further pages.

    An unchanged page hides the pages after it, so the states of all are stored only when the last one was read.
    """

    name = "section"
    sources_field = "section_urls"

    async def parse_source(
        self, response: Response, source: Source, read: tuple[Validator, ...] = ()
    ) -> AsyncIterator[Request]:
        if not isinstance(response, HtmlResponse):
            self.count_failure(response.url, "section is no HTML page")
            return
        href = response.css(NEXT_PAGE).get(default="").strip()
        next_url = absolute(get_base_url(response), href).partition("#")[0]
        links = [
            ArticleLink(url=url, source=source, kind=ArticleURL.Kind.PAGE)
            for url in article_urls(response, source.article_url_pattern)
            if url not in {response.url, next_url}
        ]
        async for request in self.article_requests(source, links):
            yield request
        read = (*read, self.validator_of(response))
        new = next_url not in {validator.url for validator in read}
        more = new and not self.full and len(read) < self.settings.getint("SECTION_MAX_PAGES")
        if more and same_site(next_url, response.url):
            yield self.source_request(source, next_url, read=read)
        else:
            await self.store_states(source, read)


def article_urls(response: HtmlResponse, pattern: str) -> list[str]:
    """Return the URLs of the same site that a page links to and that match the pattern. Raises SlowPatternError."""
    links = [link for link in LinkExtractor().extract_links(response) if finds(pattern, link.url)]
    urls = (link.url.partition("#")[0] for link in links)
    return [url for url in urls if same_site(url, response.url) and not is_front_page(url)]
