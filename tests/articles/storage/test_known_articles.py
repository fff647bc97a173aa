"""Which stored article an incoming one is, and which pages need no fetching."""

import pytest
from django.db import transaction

from articles.models import Article, DeclaredURL, Newspaper
from articles.normalization.urls import url_key
from articles.storage.incoming import SeenURL
from articles.storage.ingest import Stored, attach_urls
from articles.storage.known_articles import known_keys, known_pages, known_urls, others_with_text
from articles.storage.newspapers import Naming, Paper
from articles.storage.preparing import prepare
from tests.articles.storage.test_ingest import FERRY, Kind, incoming, urls_of
from tests.factories import store_article

pytestmark = pytest.mark.django_db


def declared(*urls: str, kind: str = "canonical") -> list[SeenURL]:
    return [SeenURL(url, Kind(kind)) for url in urls]


def test_a_page_is_known_by_its_url_by_a_redirect_to_it_and_in_other_spellings() -> None:
    store_article(incoming(f"{FERRY}?sid=1"))
    known = [
        f"{FERRY}?sid=1",
        f"{FERRY}?sid=1#top",
        f"https://www.google.com/url?url={FERRY}?sid=1",
        f"{FERRY}?utm_source=feed&sid=1",
        "http://harbourpost.example/2026/ferry/?sid=1",
    ]
    unknown = [f"{FERRY}?sid=2", f"{FERRY}/2", "https://other.example/2026/ferry"]
    assert known_pages([*known, *unknown]) == set(known)
    assert known_pages([]) == set()
    assert known_urls([*known, *unknown]) == set(known[:3])
    assert known_urls([]) == set()
    assert known_keys([]) == set()
    assert known_keys([url_key(known[0]), url_key(unknown[0])]) == {url_key(known[0])}


def test_a_parameter_that_counts_makes_another_page() -> None:
    Newspaper.objects.create(name="Harbour Post", host="harbourpost.example", kept_url_parameters=["utm_id"])
    store_article(incoming(f"{FERRY}?utm_id=1"))
    same, other = f"{FERRY}?utm_id=1&utm_source=feed", f"{FERRY}?utm_id=2"
    assert known_pages([same, other], ("utm_id",)) == {same}


def test_a_declared_url_counts_within_the_newspaper_and_for_one_story() -> None:
    first = store_article(incoming(other_urls=declared(f"{FERRY}/canonical")))
    assert list(DeclaredURL.objects.values_list("article", "url", "kind")) == [
        (first.article_id, f"{FERRY}/canonical", "canonical")
    ]
    # The page that is declared comes: it is the same story if headline or text are.
    for changes, outcome in (
        ({}, "known"),
        ({"headline": "Another"}, "known"),
        ({"content": "Another text."}, "known"),
        ({"headline": "Another", "content": "Another text."}, "created"),
        ({"newspaper": "Skerry Times"}, "created"),
    ):
        with transaction.atomic():
            stored = store_article(incoming(f"{FERRY}/canonical", **changes))
            transaction.set_rollback(True)
        assert stored.outcome == outcome, changes
        assert (stored.article_id == first.article_id) == (outcome == "known")


@pytest.mark.parametrize(
    ("headline", "is_known"),
    [("Letters now", False), ("Ferry sails again", True), ("Fährverkehr", False), ("Fährverkehre", True), ("", False)],
)
def test_a_headline_proves_a_story_with_three_words_or_twelve_characters(headline: str, is_known: bool) -> None:
    store_article(incoming(headline=headline, other_urls=declared(f"{FERRY}/c")))
    stored = store_article(incoming(f"{FERRY}/c", headline=headline, content="Another text."))
    assert (stored.outcome == "known") == is_known


def test_nothing_is_added_to_an_article_that_is_withheld() -> None:
    first = store_article(incoming())
    Article.objects.update(withheld=True)
    more = declared("https://harbourpost.example/f/9", kind="redirect")
    assert store_article(incoming(headline="Another headline", other_urls=more)) == Stored("known", first.article_id)
    assert attach_urls(more, known_as=FERRY)
    assert urls_of(first.article_id) == [(FERRY, "page")]
    # It is known by what it declares, too, whatever the headline says.
    Article.objects.update(withheld=False)
    store_article(incoming(other_urls=declared(f"{FERRY}/c")))
    Article.objects.update(withheld=True)
    again = store_article(incoming(f"{FERRY}/c", headline="Other", content="Other."))
    assert again == Stored("known", first.article_id)


def test_another_article_with_the_same_headline_and_text_is_found() -> None:
    store_article(incoming())
    paper = Newspaper.objects.get()

    def others(of: Newspaper = paper, **changes: object) -> bool:
        new = incoming(**{"url": f"{FERRY}/2", **changes})  # type: ignore[arg-type]
        return others_with_text(of.pk, prepare(new, Naming.of(new.newspaper, new.url), Paper.of(paper)))

    assert others()
    assert not others(url=FERRY)  # itself
    assert not others(headline="Another")
    assert not others(content="Another text.")
    assert not others(content="…")
    assert not others(Newspaper.objects.create(name="Skerry Times", host="x.example"))
