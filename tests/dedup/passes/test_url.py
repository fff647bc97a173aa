"""The url pass: URLs that are the same once tracking parameters are removed."""

from functools import partial

import pytest

from articles.models import ArticleURL
from articles.storage.incoming import SeenURL
from articles.storage.ingest import attach_urls
from dedup.detection.passes.url import UrlPass
from tests.dedup.passes import finding

pytestmark = pytest.mark.django_db
EXPLAINED = ({}, {"largest_group": 2})


def alike(group: int, copy: int) -> dict[str, str]:
    """Return what an article of a group has for this pass: the URL, each copy with other tracking parameters."""
    return {"url": f"https://harbour.example/2026/03/breakwater-{group}-to-close?utm_source={copy}"}


pairs = partial(finding.pairs, UrlPass())


def test_url_finds_the_dozen_urls_of_one_story(store) -> None:
    tails = ("", "?utm_source=feed", "?fbclid=abc", "#comments", "?ga_campaign=x", "/", "/?ref=top")
    stored = [store(url=f"https://www.harbour.example/2026/03/02/breakwater-to-close{tail}") for tail in tails]
    ids = sorted({article.pk for article in stored})  # the fragment names the first one
    assert len(ids) == 6
    assert pairs() == {(left, right) for left in ids for right in ids if left < right}


def test_url_does_not_match_stories_that_differ_in_a_parameter(store) -> None:
    page = "https://harbour.example/council/minutes-of-little-skerry"
    ferry, oven = (" ".join(f"{word}{number}" for number in range(80)) for word in ("ferry", "oven"))
    one = store(ferry, url=f"{page}?sid=101", headline="Ferry sails again")
    store(oven, url=f"{page}?sid=102", headline="Pupils dig up an oven")
    again = store(ferry, url=f"{page}/?sid=101&utm_source=feed", headline="Ferry sails again")
    assert pairs() == {(one.pk, again.pk)}


def test_url_matches_only_within_one_newspaper(store) -> None:
    store(newspaper="Harbour Post", url="https://shared.example/2026/03/02/breakwater-to-close?utm_source=a")
    store(newspaper="Inland Courier", url="https://shared.example/2026/03/02/breakwater-to-close?utm_source=b")
    assert pairs() == set()


def test_url_compares_every_url_of_an_article(store) -> None:
    one = store(url="https://harbour.example/read/breakwater-to-close-in-spring")
    other = store(url="https://harbour.example/p/991122")
    attach_urls(
        [SeenURL("https://harbour.example/read/breakwater-to-close-in-spring?utm_source=x", ArticleURL.Kind.REDIRECT)],
        known_as=other.url,
    )
    assert pairs() == {(one.pk, other.pk)}


def test_url_matches_urls_that_are_all_query(store) -> None:
    one = store(url="https://blog.example/?p=123")
    other = store(url="https://blog.example/?p=123&utm_source=feed")
    store(url="https://blog.example/?p=124")
    store(url="https://blog.example/")
    store(url="https://www.blog.example/")
    assert pairs() == {(one.pk, other.pk)}
