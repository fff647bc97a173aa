"""Links that lead to one page under many URLs, and pages that declare URLs which are not theirs."""

from __future__ import annotations

import pytest

from articles.models import Article
from tests.crawlers.conftest import CrawlCommand, Site
from tests.crawlers.pages import BRIDGE, FERRY, HERRING, LIBRARY, article_page, newspaper, rss

# Transactions that end, because the crawl is another process.
pytestmark = pytest.mark.django_db(transaction=True)


def test_one_page_is_fetched_once_and_no_declared_url_takes_a_story(site: Site, crawl: CrawlCommand) -> None:
    story = "/2024/05/ferry-sails-again-today"
    spellings = ["?utm_source=a", "?utm_source=b&utm_medium=c", "/", "#top", "?fbclid=1", ";jsessionid=AA11"]
    for spelling in spellings:
        site.add(story + spelling.partition("#")[0], article_page("Ferry sails again", FERRY))
    everywhere = f"{site.url}/2024/05/library"
    for name, text in (("herring", HERRING), ("bridge", BRIDGE), ("library", LIBRARY)):
        site.add(f"/2024/05/{name}", article_page(f"The {name} story", text, canonical=everywhere))
    others = [f"{site.url}/2024/05/{name}" for name in ("herring", "bridge", "library")]
    site.add("/feed", rss(*(site.url + story + each for each in spellings), *others), "application/rss+xml")
    newspaper(site, feed=["/feed"])

    assert crawl().summary == "Fjordbladet: 4 stored, 0 known, 0 failed\n"
    fetched = dict(site.article_requests())
    assert sum(fetched.values()) == 4
    assert set(Article.objects.values_list("headline", "url")) >= {
        (f"The {url.rpartition('/')[2]} story", url) for url in others
    }

    # A session is another one at each crawl.
    newer = [site.url + story + each for each in (";jsessionid=BB22", "?PHPSESSID=3a", "/?utm_source=d")]
    site.add("/feed", rss(*newer, *others), "application/rss+xml")
    assert crawl().summary == "Fjordbladet: 0 stored, 4 known, 0 failed\n"
    assert site.article_requests() == fetched
