"""What a crawl remembers: what it need not read again, what it leaves alone, and where it was killed."""

import datetime
import math
from collections import Counter
from itertools import chain

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from articles.models import Article, ArticleURL, ExtractionRule, Newspaper
from articles.normalization.urls import url_key
from articles.storage.newspaper_merges import merge_newspapers
from crawlers import frontier
from crawlers.models import PendingLink, SourceValidator, Visit
from tests.crawlers.conftest import CrawlCommand, Site
from tests.crawlers.pages import FERRY, HERRING, article_page, fed, newspaper, rss, sitemap


def paths(number: int) -> list[str]:
    return [f"/2024/05/{place}" for place in range(number)]


def kill(site: Site, crawl: CrawlCommand, after: int) -> list[str]:
    """Kill a crawl when so many pages of articles were asked for; return those whose outcome was not written down."""
    site.arrived.clear()
    site.release.clear()
    site.held_after = after
    before = Counter(site.requests)
    # In worker processes from the first article on, which end with the crawl.
    process = crawl.start("--set", "EXTRACTION_FEW=0")
    assert site.arrived.wait(60)
    process.kill()
    process.communicate()
    site.held_after = math.inf
    site.release.set()
    waiting = PendingLink.objects.filter(refused_until=None).values_list("url", flat=True)
    return [path for path in (url.removeprefix(site.url) for url in waiting) if (site.requests - before)[path]]


@pytest.mark.slow
@pytest.mark.parametrize("killed_after", [(0,), (2, 6, 10)])
def test_a_killed_crawl_goes_on_and_fetches_nothing_twice(
    site: Site, crawl: CrawlCommand, killed_after: tuple[int, ...]
) -> None:
    for path in paths(12):
        site.add(path, article_page(f"Story {path}", f"{FERRY} That was story {path}."))
    del site.pages["/2024/05/4"], site.pages["/2024/05/7"]  # answered with 404
    site.feed(*paths(6))
    site.add("/sitemap.xml", sitemap(*(site.url + path for path in paths(12))), "application/xml")
    newspaper(site, feed=["/feed"], sitemap=["/sitemap.xml"])
    in_flight = [kill(site, crawl, after) for after in killed_after]
    assert [len(pages) for pages in in_flight] == [1] * len(killed_after)

    last = crawl()

    assert last.returncode == 0
    assert site.article_requests() == Counter(paths(12)) + Counter(chain(*in_flight))
    assert Article.objects.count() == 10
    failed = [f"{site.url}/2024/05/{number}" for number in (4, 7)]
    assert dict(PendingLink.objects.values_list("url", "reason")) == dict.fromkeys(failed, "HTTP 404")
    states = Visit.objects.order_by("pk").values_list("state", flat=True)
    assert Counter(states) == {"broken off": len(killed_after), "finished": len(states) - len(killed_after)}


@pytest.mark.slow
def test_of_two_links_that_differ_in_their_order_none_waits_for_ever(site: Site, crawl: CrawlCommand) -> None:
    page = article_page("Last ferry", FERRY, canonical=f"{site.url}/2024/05/ferry")
    site.add("/2024/05/ferry?a=1&b=2", page)
    site.add("/2024/05/ferry?b=2&a=1", page)
    links = (f"{site.url}/2024/05/ferry?a=1&amp;b=2", f"{site.url}/2024/05/ferry?b=2&amp;a=1")
    fed(site, *links)
    assert crawl().summary == "Fjordbladet: 1 stored, 0 known, 0 failed\n"
    assert sum(site.article_requests().values()) == 1
    assert not PendingLink.objects.exists()


def test_a_refused_link_is_left_alone_until_it_is_forgotten(site: Site, crawl: CrawlCommand) -> None:
    fed(site, "/2024/05/gone")
    assert crawl().summary == "Fjordbladet: 0 stored, 0 known, 1 failed (HTTP 404: 1)\n"
    assert crawl().summary == "Fjordbladet: 0 stored, 0 known, 1 refused earlier, 0 failed\n"
    assert site.requests["/2024/05/gone"] == 1
    assert crawl("--fresh").summary == "Fjordbladet: 0 stored, 0 known, 1 failed (HTTP 404: 1)\n"
    site.add("/2024/05/gone", article_page("Back", FERRY))
    assert crawl("--set", "REFUSED_DAYS=0").summary == "Fjordbladet: 0 stored, 0 known, 1 refused earlier, 0 failed\n"
    PendingLink.objects.update(refused_until="2026-01-01T00:00Z")
    assert crawl().summary == "Fjordbladet: 1 stored, 0 known, 0 failed\n"
    assert not PendingLink.objects.exists()


@pytest.mark.slow
def test_a_link_that_fails_for_the_moment_waits_and_is_given_up_at_last(site: Site, crawl: CrawlCommand) -> None:
    site.add("/2024/05/trouble", "trouble", status=503)
    fed(site, "/2024/05/trouble")
    once = "Fjordbladet: 0 stored, 0 known, 1 failed (HTTP 503: 1)\n"
    last = "Fjordbladet: 0 stored, 0 known, 1 refused earlier, 0 failed\n"
    assert [crawl("--set", "MAX_TRIES=2").summary for _ in range(3)] == [once, once, last]
    assert site.requests["/2024/05/trouble"] == 2


def test_sources_that_have_not_changed_are_not_read_again(three_sources: Site, crawl: CrawlCommand) -> None:
    site = three_sources
    site.feed("/2024/05/ferry")
    for path in ("/news.xml.gz", "/news", "/news?p=2"):
        site.pages[path].etag = f'"{path}"'
    site.pages["/feed"].last_modified = "Fri, 03 May 2024 08:00:00 GMT"
    site.pages["/sitemap.xml"].etag = '"index"'
    assert crawl().summary == "Fjordbladet: 4 stored, 0 known, 0 failed\n"
    # The index is read to find its sitemap, and the second section page is not asked for.
    assert crawl().summary == "Fjordbladet: 0 stored, 0 known, 3 unchanged, 0 failed\n"
    assert (site.requests["/sitemap.xml"], site.requests["/news.xml.gz"], site.requests["/news?p=2"]) == (2, 2, 1)
    assert crawl("--fresh").summary == "Fjordbladet: 0 stored, 4 known, 0 failed\n"
    site.add("/2024/05/new", article_page("New", HERRING))
    site.feed("/2024/05/new", "/2024/05/ferry")
    assert crawl().summary == "Fjordbladet: 1 stored, 1 known, 2 unchanged, 0 failed\n"
    # With another pattern, the same pages may have other articles.
    Newspaper.objects.update(article_url_pattern="/about")
    assert crawl().summary.startswith("Fjordbladet: 1 stored, ")


@pytest.mark.slow
def test_a_source_that_was_not_read_to_its_end_is_read_again(site: Site, crawl: CrawlCommand) -> None:
    site.add("/broken", rss("http://127.0.0.1/2024/05/x").partition("</channel>")[0] + "<item><title>Ha")
    site.add("/next", "<a href='/2024/05/ferry'>One</a><a rel='next' href='/no-page'>2</a>")
    for path in ("/broken", "/next"):
        site.pages[path].etag = '"same"'
    newspaper(site, feed=["/broken"], section=["/next"])
    crawl()
    crawl()
    assert (site.requests["/broken"], site.requests["/next"]) == (2, 2)
    assert not SourceValidator.objects.exists()


@pytest.mark.slow
def test_a_source_behind_a_passing_redirect_is_read_each_time(site: Site, crawl: CrawlCommand) -> None:
    site.redirect("/feed", "/today")
    site.add("/today", rss(), "application/rss+xml")
    site.pages["/today"].etag = '"today"'
    newspaper(site, feed=["/feed"])
    crawl()
    assert not SourceValidator.objects.exists()
    site.pages["/feed"].status = 301
    crawl()
    assert SourceValidator.objects.get().url == f"{site.url}/feed"


@pytest.mark.django_db
def test_links_that_wait_follow_a_merged_newspaper() -> None:
    old, main = Newspaper.objects.create(name="harbour-prod-2"), Newspaper.objects.create(name="Harbour Post")
    for paper, path in ((old, "1"), (old, "2"), (main, "2")):
        url = f"https://harbourpost.example/{path}"
        PendingLink.objects.create(newspaper=paper, key=url_key(url), url=url, kind=ArticleURL.Kind.FEED)
    merge_newspapers(old, main)
    frontier.tidy_links()
    links = PendingLink.objects.filter(newspaper=main).values_list("url", flat=True)
    assert sorted(links) == ["https://harbourpost.example/1", "https://harbourpost.example/2"]


@pytest.mark.django_db
def test_a_new_extraction_rule_lets_links_wait_again_whose_pages_had_no_article() -> None:
    paper, now = Newspaper.objects.create(name="Harbour Post"), timezone.now()
    user = User.objects.create(username="ada")
    paper.extraction_rule = ExtractionRule.objects.create(newspaper=paper, body=["main"], saved_by=user)
    for days, reason in ((-1, "no article text"), (1, "no article text"), (-1, "HTTP 404")):
        url = f"https://harbourpost.example/{reason}/{days}"
        until = now + datetime.timedelta(days=7 + days)
        PendingLink.objects.create(newspaper=paper, key=url_key(url), url=url, reason=reason, refused_until=until)
    frontier.try_new_rule(paper, days=7)
    assert [row.url.rpartition("/")[2] for row in PendingLink.objects.filter(refused_until=None)] == ["-1"]
    assert PendingLink.objects.get(refused_until=None).reason == "no article text"
