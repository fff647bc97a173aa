"""What of an extracted page is stored."""

from __future__ import annotations

import asyncio
import datetime
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any

import pytest

from articles.extraction.extract import ExtractedArticle
from articles.models import ArticleURL
from articles.storage.incoming import ListedDate
from articles.storage.ingest import Stored
from crawlers import pipelines
from crawlers.items import ArticleLink, FetchedPage, Source
from crawlers.pipelines import ArticlePipeline, _incoming
from tests.crawlers.pages import FERRY

URL = "https://fjordbladet.example/2024/05/ferry"
LINK = ArticleLink(Source(1, "Fjordbladet", ""), URL, ArticleURL.Kind.FEED, ListedDate(datetime.date(2024, 5, 20)))
PAGE = FetchedPage(LINK, URL, (), "text/html", b"")


def extracted(**more: Any) -> ExtractedArticle:
    day = datetime.date(2024, 5, 3)
    values = {"text": FERRY, "headline": "Last ferry", "date": day, "date_source": "meta", "canonical_url": None}
    return ExtractedArticle(**(values | more))


@pytest.mark.parametrize(
    ("amp_url", "attached"),
    [
        (f"{URL}.amp", [(f"{URL}.amp", "amp")]),
        ("https://amp.fjordbladet.example/2024/05/ferry", [("https://amp.fjordbladet.example/2024/05/ferry", "amp")]),
        ("https://cache.example/fjordbladet/ferry", []),
        (None, []),
    ],
)
def test_the_amp_address_is_attached_if_it_is_of_the_same_site(amp_url: str | None, attached: list[Any]) -> None:
    incoming = _incoming(PAGE, extracted(amp_url=amp_url))
    assert [(seen.url, seen.kind) for seen in incoming.other_urls] == attached


def test_of_an_amp_page_the_canonical_address_is_attached() -> None:
    amp = FetchedPage(LINK, f"{URL}.amp", (), "text/html", b"")
    seen = _incoming(amp, extracted(canonical_url=URL)).other_urls
    assert (URL, "canonical") in [(each.url, each.kind) for each in seen]


def test_doubts_of_the_page_and_of_the_crawl_are_both_kept_within_the_bound() -> None:
    assert _incoming(PAGE, extracted(date_doubt="two days on the page")).details.date_doubt == (
        "two days on the page; the page says 2024-05-03, the feed 2024-05-20"
    )
    assert len(_incoming(PAGE, extracted(date_doubt="x" * 190)).details.date_doubt) == 200


def test_an_article_behind_a_paywall_is_stored_with_the_mark_and_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    counted, stored, settled = [], [], []

    def store(incoming: Any) -> Stored:
        stored.append(incoming.details.paywalled)
        return Stored("created", 1)

    async def settle(link: ArticleLink) -> None:
        settled.append(link)

    monkeypatch.setattr(pipelines, "extract_article", lambda *_args: extracted(paywalled=True))
    monkeypatch.setattr(pipelines.ingest, "store_article", store)
    spider: Any = SimpleNamespace(count=counted.append, settle=settle)
    with ThreadPoolExecutor(1) as pool:  # the browser of other tests leaves a loop in this thread
        pool.submit(asyncio.run, ArticlePipeline(spider).process_item(PAGE)).result()
    assert (stored, counted, settled) == ([True], ["stored", "paywalled"], [LINK])
