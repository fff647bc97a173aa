"""Every parser of the crawler and of the normaliser, on texts that are nearly right: only documented errors, in time."""

# ruff: noqa: E501 - a line is a check

import contextlib
import datetime
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import strategies as st
from protego import Protego

from articles.extraction.bylines import split_byline, text_bylines
from articles.extraction.extract import ExtractionError, extract_article
from articles.extraction.html import decode_page
from articles.extraction.page_series import next_page, page_number
from articles.extraction.rules import selector_fault
from articles.extraction.written_dates import place_of, written_days
from articles.normalization.language import detect_language
from articles.normalization.logins import without_login
from articles.normalization.sentences import sentences_of
from articles.normalization.text import normalize_text, plain_text, text_digest
from articles.normalization.times import ImpossibleTimeError, UnreadableDayError, parse_date, parse_day, written_time
from articles.normalization.titles import normalize_title
from articles.normalization.urls import (
    canonicalize_url,
    comparable_url,
    dropped_parameters,
    host_of,
    normalize_url,
    unwrap_url,
)
from crawlers.discovery.hints import propose_pattern, read_home_page, robots_sitemaps
from crawlers.fetching.pacing import retry_after
from crawlers.fetching.robots import meta_elements, pause_of, read_rules, reserved_by
from crawlers.fetching.sites import is_visitable, same_site, shared_site
from crawlers.listings.dates import changed_day, changed_moment, last_day, listed_date, periods
from crawlers.listings.sources import read_feed, read_sitemap
from crawlers.soft_404s import impossible_url
from tests.fuzz import texts
from tests.fuzz.effort import Found, timed, try_all

URL = "https://paper.example/2026/ferry"
NOW = datetime.datetime(2026, 3, 2, tzinfo=datetime.UTC)
# CPU seconds for up to a megabyte.
LONGEST = 5.0
EXAMPLES = 6

Check = tuple[str, st.SearchStrategy[Any], Callable[[Any], None]]


def idempotent(form: Callable[[str], str]) -> Callable[[str], None]:
    """Return a check that the form of a form is the same form."""

    def check(text: str) -> None:
        once = form(text)
        assert form(once) == once

    return check


def allowing(*errors: type[Exception]) -> Callable[[Callable[[Any], Any]], Callable[[Any], None]]:
    """Return what makes a check of a parser that may raise these errors and needs at most LONGEST CPU seconds."""

    def of(parse: Callable[[Any], Any]) -> Callable[[Any], None]:
        def check(drawn: Any) -> None:
            with contextlib.suppress(*errors):
                timed(LONGEST, lambda: parse(drawn))

        return check

    return of


def read_robots(body: bytes) -> None:
    text = decode_page(body)
    rules = Protego.parse(text)
    pause_of(rules, "newsdedup")
    rules.can_fetch(URL, "newsdedup")
    robots_sitemaps(text, URL)


def read_urls(url: str) -> None:
    for function in (host_of, unwrap_url, dropped_parameters, is_visitable, shared_site, last_day, impossible_url):
        with contextlib.suppress(ValueError if function is impossible_url else ()):
            function(url)
    same_site(url, URL)
    page_number(url, URL)
    periods([url, URL])
    propose_pattern([url, URL], [url])


def read_dates(text: str) -> None:
    listed_date(text)
    changed_day(text)
    changed_moment(text)
    retry_after(text, NOW)
    list(written_days(text, place_of("en", "paper.example")))


def one_page_is_one_article(url: str) -> None:
    left = without_login(url)
    assert canonicalize_url(left) == canonicalize_url(url)
    assert normalize_url(left) == normalize_url(url)


documents = texts.mutated(texts.PAGE)
feeds = texts.mutated(texts.RSS, texts.ATOM, texts.JSON_FEED, texts.LAUGHS + texts.RSS)
maps = texts.mutated(texts.SITEMAP, texts.INDEX, texts.LAUGHS + texts.SITEMAP) | texts.packed
words = st.one_of(
    st.text(max_size=300), st.sampled_from(texts.ODD), documents.map(lambda body: body.decode("utf-8", "replace"))
)
# What is stored has no half of a surrogate pair.
stored = words.map(lambda text: text.encode("utf-8", "replace").decode())
plainly = allowing()
CHECKS: list[Check] = [
    ("extract_article", documents, allowing(ExtractionError)(lambda body: extract_article(body, URL).text.strip()[0])),
    ("next_page", documents, plainly(lambda body: next_page(body, URL, "text/html", URL, 1))),
    ("read_home_page", documents, allowing(ValueError)(lambda body: read_home_page(body, URL, "text/html"))),
    ("decode_page", documents | st.binary(), plainly(lambda body: decode_page(body, "text/html; charset=x\xff"))),
    ("meta_elements", documents, plainly(lambda body: list(meta_elements(decode_page(body))))),
    ("read_feed", feeds, plainly(lambda body: read_feed(body, URL, "application/rss+xml"))),
    ("read_feed of JSON", feeds, plainly(lambda body: read_feed(body, URL, "application/feed+json"))),
    ("read_sitemap", maps, plainly(lambda body: read_sitemap(body, URL, 1_000_000))),
    ("robots.txt", texts.mutated(texts.ROBOTS), plainly(read_robots)),
    ("tdmrep.json", texts.mutated('[{"location": "/a*$", "tdm-reservation": 1}]'), plainly(lambda body: reserved_by(read_rules(body), "/a"))),
    ("dates", words, plainly(read_dates)),
    ("parse_day", words, allowing(UnreadableDayError)(parse_day)),
    ("parse_date", words, allowing(UnreadableDayError)(parse_date)),
    ("written_time", words, allowing(ImpossibleTimeError)(written_time)),
    ("bylines", words, plainly(lambda text: (text_bylines(text), split_byline(text)))),
    ("plain_text", words, plainly(plain_text)),
    ("sentences_of", stored, plainly(sentences_of)),
    ("detect_language", stored, plainly(detect_language)),
    ("selectors", words, plainly(lambda text: selector_fault(text[:300], elements=False))),
    ("normalize_text", words, idempotent(normalize_text)),
    ("text_digest", words, plainly(lambda text: text_digest(normalize_text(text)))),
    ("normalize_title", words, plainly(normalize_title)),
    ("urls", texts.urls, plainly(read_urls)),
    ("canonicalize_url", texts.urls, idempotent(canonicalize_url)),
    ("normalize_url", texts.urls, idempotent(normalize_url)),
    ("comparable_url", texts.urls, plainly(comparable_url)),
    ("logins", texts.urls, plainly(one_page_is_one_article)),
]  # fmt: skip


@pytest.mark.parametrize("check", CHECKS, ids=[name for name, _, _ in CHECKS])
def test_no_parser_fails_at_any_text(check: Check) -> None:
    found = Found()
    try_all([check], examples=EXAMPLES, found=found, sharing=len(CHECKS))
    print(f"{check[0]}: {found.tried.total():,} texts")
    found.check()
    assert found.tried.total() >= EXAMPLES // 2
