"""Pages that list articles, such as the front page of a section."""

from collections.abc import AsyncIterator

from scrapy import Request
from scrapy.http import HtmlResponse, Response
from scrapy.linkextractors import LinkExtractor

from articles.models import ArticleURL
from crawlers.items import ArticleLink, Source
from crawlers.sites import is_front_page, same_site
from crawlers.spiders.base import NewspaperSpider

NEXT_PAGE = "link[rel~=next]::attr(href), a[rel~=next]::attr(href)"


class SectionSpider(NewspaperSpider):
    """Follows links of the same site that match the newspaper's pattern, and rel=next to further pages."""

    name = "section"
    sources_field = "section_urls"

    async def parse_source(self, response: Response, source: Source, page: int = 1) -> AsyncIterator[Request]:
        if not isinstance(response, HtmlResponse):
            self.count_failure(response.url, "section is no HTML page")
            return
        next_page = response.css(NEXT_PAGE).get()
        next_url = response.urljoin(next_page) if next_page else ""
        links = [
            ArticleLink(source, url, ArticleURL.Kind.PAGE)
            for url in _urls(response, source.article_url_pattern)
            if url not in {response.url, next_url}
        ]
        async for request in self.article_requests(links):
            yield request
        if same_site(next_url, response.url) and page < self.settings.getint("SECTION_MAX_PAGES"):
            yield self.source_request(source, next_url, page=page + 1)


def _urls(response: HtmlResponse, pattern: str) -> list[str]:
    links = LinkExtractor(allow=pattern).extract_links(response)
    urls = (link.url.partition("#")[0] for link in links)
    return [url for url in urls if same_site(url, response.url) and not is_front_page(url)]
