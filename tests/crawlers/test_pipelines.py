"""What of an extracted page is stored."""

import datetime
import gzip
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from django.db import DataError

from articles.extraction.extract import ExtractedArticle
from articles.extraction.rules import ExtractionRule
from articles.jobs.attached_copies import store_separately
from articles.models import Article, ArticlePage, ArticleURL, AttachedCopy, Newspaper
from articles.normalization.times import possible_time
from articles.normalization.urls import url_key
from articles.storage.incoming import ListedDate
from articles.storage.ingest import Stored
from articles.storage.newspapers import Paper
from articles.storage.preparing import Prepared
from crawlers import article_store
from crawlers.frontier import save_links, sort_links, waiting_links
from crawlers.items import Entry, FetchedPage, Source
from crawlers.models import PendingLink
from crawlers.page_articles import incoming_article, ready_article
from tests.crawlers.pages import FERRY, article_page

URL = "https://fjordbladet.example/2024/05/ferry"
LISTED = Entry(URL, ListedDate(datetime.date(2024, 5, 20)))
LINK = LISTED.link(Source(1, "", Paper("Fjordbladet")), ArticleURL.Kind.FEED)
PAGE = FetchedPage(LINK, URL, (), "text/html", b"")


def extracted(**more: Any) -> ExtractedArticle:
    day = datetime.date(2024, 5, 3)
    values = {"text": FERRY, "headline": "Last ferry", "date": day, "date_source": "meta", "canonical_url": None}
    return ExtractedArticle(**(values | more))


def test_addresses_that_a_page_declares_are_attached_if_they_are_of_the_same_site() -> None:
    ours, foreign = f"{URL}.amp", "https://cache.example/fjordbladet/ferry"
    for amp in (ours, "https://amp.fjordbladet.example/2024/05/ferry", foreign, None):
        seen = [(seen.url, seen.kind) for seen in incoming_article(PAGE, extracted(amp_url=amp)).other_urls]
        assert seen == ([(amp, "amp")] if amp and amp != foreign else [])
    page = FetchedPage(LINK, ours, (), "text/html", b"")
    seen = [(seen.url, seen.kind) for seen in incoming_article(page, extracted(canonical_url=URL)).other_urls]
    assert (URL, "canonical") in seen


def test_doubts_of_the_page_and_of_the_crawl_are_both_kept_within_the_bound() -> None:
    assert incoming_article(PAGE, extracted(date_doubt="two days on the page")).details.date_doubt == (
        "two days on the page; the page says 2024-05-03, the feed 2024-05-20"
    )
    assert len(incoming_article(PAGE, extracted(date_doubt="x" * 190)).details.date_doubt) == 200


def test_the_own_rule_of_the_newspaper_extracts_the_page() -> None:
    html = f"<article><p>{FERRY}</p></article><div class=story><p>{FERRY[:80]}</p></div>".encode()
    rule = ExtractionRule(body=("div.story",), number=7)
    link = replace(LINK, source=replace(LINK.source, rule=rule))
    incoming = ready_article(FetchedPage(link, URL, (), "text/html", html)).incoming
    assert incoming.content == FERRY[:80].strip()
    assert incoming.page
    assert incoming.page.rule == 7


@pytest.mark.django_db
def test_a_link_that_waits_keeps_what_its_source_said() -> None:
    day = datetime.date(2024, 5, 7)
    listed = ListedDate(day, possible_time("2024-05-07T23:30:00-05:00", day))
    source = Source(Newspaper.objects.create(name="Fjordbladet").pk, "", LINK.source.paper)
    link = Entry(URL, listed, "Last ferry", "nb", feed_entry=b"packed").link(source, ArticleURL.Kind.FEED)
    save_links({link.key: link})
    assert [waiting for _, waiting in waiting_links(source)] == [replace(link, written_key=link.key)]


@pytest.mark.django_db
def test_an_article_that_the_database_refuses_fails_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    refused, store = url_key(f"{URL}2"), article_store.store_prepared

    def refusing(batch: Sequence[Prepared], again: Any) -> list[Stored]:
        if any(refused in prepared.own_keys for prepared in batch):
            raise DataError("out of range")
        return store(batch, again)

    monkeypatch.setattr(article_store, "store_prepared", refusing)
    paper = Newspaper.objects.create(name="Fjordbladet", host="fjordbladet.example", kept_url_parameters=["nr"])
    outdated = Paper(paper.name, paper.host)
    source = Source(paper.pk, "", outdated)
    links = [Entry(f"{URL}{number}").link(source, ArticleURL.Kind.FEED) for number in (1, 2, 3)]
    save_links(sort_links(source, links).new)
    waiting = []
    for link in links:
        html = article_page("Last ferry", f"{FERRY} {link.url} is where it was written.").encode()
        waiting.append((link, ready_article(FetchedPage(link, link.url, (), "text/html", html))))

    store_of_articles = article_store.ArticleStore()
    results = store_of_articles._written(waiting)

    assert [getattr(result, "outcome", str(result)) for result in results] == ["created", "out of range", "created"]
    assert [item_.url for item_ in PendingLink.objects.all()] == [f"{URL}2"]
    stored = Article.objects.order_by("url").values_list("url", "normalized_title", "newspaper")
    assert list(stored) == [(f"{URL}{number}", "last ferry", paper.pk) for number in (1, 3)]
    assert gzip.decompress(ArticlePage.objects.get(article__url=f"{URL}3").body) == html
    # By its policy, the newspaper may have a page attached: its link is settled like that of any other one.
    Newspaper.objects.update(attach=Newspaper.Attach.ADDRESS)
    link = Entry(f"{URL}3/amp").link(source, ArticleURL.Kind.FEED)
    save_links(sort_links(source, [link]).new)
    ready = ready_article(FetchedPage(link, link.url, (), "text/html", html))
    assert [getattr(result, "outcome", str(result)) for result in store_of_articles._written([(link, ready)])] == [
        "attached"
    ]
    assert [item_.url for item_ in PendingLink.objects.all()] == [f"{URL}2"]
    number = store_separately(AttachedCopy.objects.get(article__url=f"{URL}3").pk, user=None)
    assert gzip.decompress(ArticlePage.objects.get(article=number, article__url=link.url).body) == html
    # The next pages are prepared for the newspaper as the writer found it.
    assert store_of_articles._papers == {"Fjordbladet": Paper.of(paper)}
