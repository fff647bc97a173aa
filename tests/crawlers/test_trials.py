"""Adding a newspaper in the browser: sources, ten articles that are not stored, and the newspaper that is saved."""

import datetime
import threading
from typing import Any

import pytest
from django.utils import timezone

from articles.jobs import work
from articles.models import Article, Job, Newspaper
from crawlers.discovery.found import FoundNewspaper, FoundSource
from crawlers.models import CrawlSchedule, PendingLink, Trial
from crawlers.requested import trials
from tests.crawlers.conftest import Site
from tests.crawlers.pages import BRIDGE, FERRY, article_page, item, rss_of, sitemap, sitemap_index
from tests.factories import client_of, make_user

FEED, SITEMAP = "https://fjordbladet.example/feed", "https://fjordbladet.example/sitemap.xml"
FOUND = FoundNewspaper(
    url="https://fjordbladet.example/",
    host="fjordbladet.example",
    name="Fjordbladet",
    language="nb",
    article_url_pattern=r"/\d{4}/",
    sources=(
        FoundSource(
            "feed",
            FEED,
            "News",
            "the home page",
            20,
            newest=datetime.date(2024, 5, 3),
            samples=("<b>Fergen</b>",),
            recommended=True,
        ),
        FoundSource("sitemap", SITEMAP, "", "robots.txt", problem="It cannot be read."),
    ),
)
ARTICLE = {
    "url": "https://fjordbladet.example/2024/1",
    "headline": "<i>Siste ferge",
    "day": "2024-05-03",
    "text": "Den gamle fergen.",
    "words": 3,
    "byline": "Kari Nes",
    "language": "nb",
    "paywalled": False,
    "date_doubt": "",
    "text_doubt": "it covers 40 % of the page's prose",
}
RESULTS = {
    "sources": [{"kind": "feed", "url": FEED, "links": 20, "reason": ""}],
    "articles": [ARTICLE, {"url": "https://fjordbladet.example/2024/2", "reason": "HTTP 404"}],
}  # fmt: skip


def test_a_trial_reads_each_kind_of_source_and_fetches_articles_as_a_crawl_would(site: Site, settings: Any) -> None:
    """Of a newspaper whose pages are never fetched, it reads feeds alone."""
    settings.CRAWL_PRIVATE_ADDRESSES = ["127.0.0.0/8"]
    day, more = "Fri, 03 May 2024 08:00:00 +0200", "<description>It sailed.</description>"
    items = (item(f"{site.url}/2024/05/{name}", day=day, more=more) for name in ("ferry", "gone"))
    site.add("/feed", rss_of(*items), "application/rss+xml")
    site.add("/2024/05/ferry", article_page("Last ferry", FERRY))
    site.add("/2024/05/bridge", article_page("Bridge closed", BRIDGE, day=""))
    site.add("/sitemap.xml", sitemap_index(f"{site.url}/named.xml"), "application/xml")
    site.add("/named.xml", sitemap(f"{site.url}/2024/05/ferry#top"), "application/xml")
    site.add("/news", "<a href='/2024/05/bridge'>Bridge</a><a href='/about'>About</a>")
    site.add("/private", "<a href='/2024/05/bridge'>Bridge</a>")
    site.add("/robots.txt", "User-agent: *\nDisallow: /private", "text/plain")
    sections = [f"{site.url}{path}" for path in ("/news", "/private", "/nothing")]
    sources = {"feed_urls": [f"{site.url}/feed"], "sitemap_urls": [f"{site.url}/sitemap.xml"], "section_urls": sections}
    draft = {"name": "Fjordbladet", "article_url_pattern": r"/\d{4}/"} | sources
    found = trials.try_newspaper(draft, pause=0)
    assert [(source["links"], source["reason"]) for source in found["sources"]] == [
        (2, ""),
        (1, ""),
        (1, ""),
        (0, "Forbidden by robots.txt"),
        (0, "HTTP 404"),
    ]
    articles = {article["url"].removeprefix(site.url): article for article in found["articles"]}
    assert list(articles) == ["/2024/05/ferry", "/2024/05/bridge", "/2024/05/gone"]
    assert (articles["/2024/05/ferry"]["headline"], articles["/2024/05/ferry"]["day"]) == ("Last ferry", "2024-05-03")
    assert articles["/2024/05/ferry"]["text"] == FERRY
    reasons = [articles[f"/2024/05/{name}"]["reason"] for name in ("bridge", "gone")]
    assert reasons == ["no publication date", "HTTP 404"]
    site.requests.clear()
    found = trials.try_newspaper(draft | {"teasers": True}, pause=0)
    told = [[article[name] for name in ("headline", "text", "day")] for article in found["articles"]]
    assert told == [["One", "It sailed.", "2024-05-03"]] * 2
    assert set(site.requests) == {"/robots.txt", "/feed"}
    with pytest.raises(work.JobError, match="not a regular expression: missing"):
        trials.try_newspaper({"name": "Fjordbladet", "article_url_pattern": "("})


def do_next() -> bool:
    """Do the trial that has waited longest, as a worker; return whether one waited."""
    return work.do_waiting(trials.JOBS, threading.Event())


@pytest.mark.django_db
def test_a_home_page_becomes_a_newspaper_with_a_schedule_and_nothing_is_stored_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[Any] = []

    def answer(asked_for: Any, _rule: Any = None) -> Any:
        asked.append(asked_for)
        return RESULTS if isinstance(asked_for, dict) else FOUND

    monkeypatch.setattr(trials, "discover", answer)
    monkeypatch.setattr(trials, "try_newspaper", answer)
    client, editor = client_of(make_user("ada", "admin")), client_of(make_user("mara", "editor"))
    assert [editor.get(path).status_code for path in ("/crawls/add/", "/crawls/trials/1/")] == [403, 403]
    assert "not a valid web address" in client.post("/crawls/add/", {"url": "ftp://x"}).content.decode()
    address = client.post("/crawls/add/", {"url": "fjordbladet.example"})["Location"]
    assert "No worker answers." in client.get(address).content.decode()
    assert do_next()
    page = client.get(address).content.decode()
    for text in (
        "20 articles, the newest of 3 May 2024",
        "&lt;b&gt;Fergen",
        "It cannot be read.",
        r"/\d{4}/",
        "Try this newspaper",
    ):
        assert text in page
    entered = {"name": "Fjordbladet", "host": "fjordbladet.example", "article_url_pattern": "/x(", "when": "6"}
    page = client.post(address, entered | {"source": FEED}).content.decode()
    assert "This is not a regular expression: missing )" in page
    assert "Tick a source" in client.post(address, entered | {"article_url_pattern": ""}).content.decode()
    entered |= {"article_url_pattern": "/2024/", "source": FEED, "section_urls": "https://fjordbladet.example/kultur"}
    client.post(address, entered)
    assert do_next()
    assert not do_next()
    urls = {"feed_urls": [FEED], "sitemap_urls": [], "section_urls": ["https://fjordbladet.example/kultur"]}
    fields = {"name": "Fjordbladet", "host": "fjordbladet.example", "article_url_pattern": "/2024/", "teasers": False}
    assert asked == ["https://fjordbladet.example", fields | urls]
    page = client.get(address).content.decode()
    for text in (
        "1 of 2 articles would be stored",
        'lang="nb">&lt;i&gt;Siste ferge',
        "Kari Nes",
        "40 %",
        "The page does not exist",
    ):
        assert text in page
    assert (Newspaper.objects.count(), Article.objects.count(), PendingLink.objects.count()) == (0, 0, 0)
    Newspaper.objects.create(name="Fjordbladet")
    said = client.post(address, entered | {"save": "1"}).content.decode()
    assert "There is a newspaper of this name already." in said
    saved = client.post(address, entered | {"name": "Fjorden", "save": "1"}, follow=True).content.decode()
    assert "Fjorden is saved. It is crawled every 6 hours." in saved
    assert "was added on the page Newspapers." in saved
    newspaper = Newspaper.objects.get(name="Fjorden")
    assert (newspaper.host, newspaper.feed_urls, newspaper.sitemap_urls) == ("fjordbladet.example", [FEED], [])
    assert CrawlSchedule.objects.get().due_at <= timezone.now()
    # Sent twice, it is saved once.
    client.post(address, entered | {"name": "Fjorden 2", "save": "1"})
    assert Newspaper.objects.count() == 2
    again = client.post(f"/crawls/{newspaper.pk}/try/")["Location"]
    assert do_next()
    assert "1 of 2 articles would be stored" in client.get(again).content.decode()


@pytest.mark.django_db
def test_a_newspaper_that_is_not_crawled_needs_only_a_name() -> None:
    client = client_of(make_user("ada", "admin"))
    assert "This field is required." in client.post("/crawls/add/", {"plain": "1", "url": "x.example"}).content.decode()
    Newspaper.objects.create(name="Fjordbladet")
    taken = client.post("/crawls/add/", {"plain": "1", "name": "Fjordbladet"}).content.decode()
    assert "There is a newspaper of this name already." in taken
    for name, url in (("Fjorden", "www.fjorden.example/nyheter"), ("Skjaeret", "")):
        page = client.post("/crawls/add/", {"plain": "1", "name": name, "url": url}, follow=True).content.decode()
        assert f"{name} is added. It is not crawled." in page
    added = Newspaper.objects.filter(crawl=False).values_list("name", "host", "feed_urls")
    assert list(added) == [("Fjorden", "fjorden.example", []), ("Skjaeret", "", [])]
    assert not Job.objects.exists()


@pytest.mark.django_db
def test_a_trial_that_fails_says_why_and_is_forgotten_after_a_week(monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing(_url: str) -> FoundNewspaper:
        raise ValueError("The host name does not resolve. (unknown host)")

    monkeypatch.setattr(trials, "discover", nothing)
    user = make_user("ada", "admin")
    client = client_of(user)
    failed = trials.look_for_sources("https://fjordbladet.example", user=user)
    do_next()
    page = client.get(f"/crawls/trials/{failed.pk}/").content.decode()
    assert "The host name does not resolve." in page
    assert "Enter another address" in page
    Job.objects.update(requested_at=timezone.now() - datetime.timedelta(days=8))
    kept = trials.look_for_sources("https://fjordbladet.example", user=user)
    do_next()
    assert Trial.objects.get() == kept
