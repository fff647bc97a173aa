"""The check of a text: its copies among the stored articles, and pages that editors have fetched for it."""

import datetime
import re
from html import unescape
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from articles.extraction.extract import ExtractedArticle
from articles.extraction.rules import ExtractionRule
from articles.models import Article
from dedup.detection.runs import text_indexes
from dedup.detection.runs.text_indexes import update_shingles
from dedup.models import Decision, PageFetch, Pair, ShingleSample
from dedup.review.queries import check as checks
from dedup.review.queries.check import Pasted, check
from tests.conftest import StoreArticle
from tests.factories import make_cluster, make_run

pytestmark = pytest.mark.django_db

FERRY = (
    "The old ferry across the sound made its last crossing on Friday. Half of the island stood on the quay to wave. "
    "The captain has sailed her for thirty years and says that she will miss the gulls more than the passengers. "
    "A new boat, which runs on batteries, is to take her place before the herring season begins in the autumn. "
)
LIBRARY = (
    "The library in the harbour street keeps its doors open until ten at night, a trial that ends in September. "
    "Students had asked for it, and the town pays two guards who also lend out umbrellas when it rains. "
)


@pytest.fixture
def shelf(store: StoreArticle) -> list[Article]:
    """Two copies in a cluster, an excerpt, and other articles, all in the index as after a run."""
    kept = store(FERRY, newspaper="Harbour Post", date="2026-03-02", headline="The last ferry has sailed")
    copy = store(f"{FERRY} More soon.", newspaper="Inland Courier", date="2026-03-02")
    excerpt = store(f"{FERRY[:220]} Read on in print.", newspaper="Skerry Times", date="2026-03-04")
    others = [store(f"{LIBRARY} Number {number}.", date="2026-03-03") for number in range(3)]
    update_shingles()
    make_run(counts={"newest": max(Article.objects.values_list("revision", flat=True))})
    make_cluster(kept, copy)
    return [kept, copy, excerpt, *others]


def read(answer: object) -> str:
    return unescape(answer.content.decode())  # type: ignore[attr-defined]


def found(page: str) -> list[int]:
    return [int(number) for number in re.findall(r'class="copy-headline"><a href="/articles/(\d+)/"', page)]


def test_a_pasted_text_leads_to_its_copies_their_cluster_and_the_one_kept(
    visitor: Client, shelf: list[Article]
) -> None:
    kept, copy, excerpt, *_ = shelf
    text = f"{FERRY.upper()} The editors"
    page = read(visitor.post(reverse("check"), {"text": text, "headline": "", "day": "2026-03-20"}))
    assert set(found(page)) == {kept.pk, copy.pk, excerpt.pk}
    assert set(found(page)[:2]) == {kept.pk, copy.pk}
    cluster = kept.membership.cluster
    assert f'<a href="/clusters/{cluster.pk}/">Cluster {cluster.pk}</a>, 2 articles' in page
    assert f'Kept: <a href="/articles/{kept.pk}/"' in page
    assert "Too many days apart for Similar text (at most 3): a run" in page
    assert "Contained text (at most" not in page
    assert Pair.objects.count() == 1  # that of the cluster

    page = read(visitor.post(reverse("check"), {"text": "Nothing of the kind was ever printed here, nor will it be."}))
    assert found(page) == []
    assert "No stored article has much of this text." in page
    assert "This text has 200001 characters; at most 200000 are checked. Check a part of it." in read(
        visitor.post(reverse("check"), {"text": "a" * 200_001})
    )


def test_a_part_of_a_long_article_and_an_article_of_today_are_found(
    shelf: list[Article], store: StoreArticle, monkeypatch: pytest.MonkeyPatch
) -> None:
    today = store(f"{LIBRARY} It is quiet there.", headline="Open at night")
    known = {hit.article.pk for hit in check(Pasted(FERRY[100:330])).copies}
    assert known == {article.pk for article in shelf[:3]}
    checked = check(Pasted(LIBRARY, headline="open AT night"))
    assert checked.unread == 0
    assert {hit.article.pk for hit in checked.copies} == {today.pk, *(article.pk for article in shelf[3:])}
    # With too many new articles, those with the same text or headline are still found.
    store("A text that is like no other at all.")
    monkeypatch.setattr(checks, "_NEWEST", 1)
    checked = check(Pasted("A boat came by at noon and went away again at dusk. " * 6, headline="Open at night"))
    assert (checked.unread, [hit.article for hit in checked.copies]) == (1, [today])
    assert not checked.likely


def test_a_text_that_very_many_articles_have_is_found(store: StoreArticle, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks, "_MOST_HOLDERS", 3)
    for number in range(6):
        store(f"{LIBRARY} Number {number}.")
    update_shingles()
    make_run(counts={"newest": max(Article.objects.values_list("revision", flat=True))})
    assert len(check(Pasted(LIBRARY)).copies) == 3


def test_samples_are_made_where_they_are_missing_and_made_again_where_many_are_old(
    shelf: list[Article], monkeypatch: pytest.MonkeyPatch
) -> None:
    ShingleSample.objects.all().delete()  # as after the update of an older installation, before the next run
    for _ in range(2):
        assert {hit.article.pk for hit in check(Pasted(FERRY)).copies} == {article.pk for article in shelf[:3]}
        update_shingles()
        assert [row.count for row in ShingleSample.objects.all()] == [6]
    monkeypatch.setattr(text_indexes, "_MOST_OLDER", 0)
    for rows in (2, 3, 1):
        Article.objects.filter(pk=shelf[0].pk).update(normalized_text=f"{LIBRARY} {rows}")
        monkeypatch.setattr(text_indexes, "_MOST_ROWS", rows if rows > 1 else 3)
        update_shingles()
        assert ShingleSample.objects.count() == rows
    assert {hit.article.pk for hit in check(Pasted(FERRY)).copies} == {article.pk for article in shelf[1:3]}


def test_a_url_is_looked_up_and_only_an_editor_can_have_it_fetched(
    editor_client: Client, visitor: Client, shelf: list[Article], settings: Any
) -> None:
    kept, copy, excerpt, *_ = shelf
    page = read(visitor.get(reverse("check"), {"url": f"{kept.url}?utm_source=mail"}))
    assert set(found(page)) == {copy.pk, excerpt.pk}
    assert f"/compare/?left={kept.pk}&right={copy.pk}" in page

    url = "https://paper.example/unknown/story"
    assert reverse("check_fetch") not in read(visitor.get(reverse("check"), {"url": url}))
    assert visitor.post(reverse("check_fetch"), {"url": url}).status_code == 403
    assert reverse("check_fetch") in read(editor_client.get(reverse("check"), {"url": url}))
    settings.PAGE_FETCHER = f"{__name__}.fetch_made_up"
    page = read(editor_client.post(reverse("check_fetch"), {"url": url}))
    assert set(found(page)) == {kept.pk, copy.pk, excerpt.pk}
    assert 'value="2026-03-03"' in page
    assert "Open it and paste its text." in read(editor_client.post(reverse("check_fetch"), {"url": f"{url}/gone"}))
    assert Article.objects.count() == len(shelf)
    assert not Decision.objects.exists()

    # What is stored is not fetched, and neither is what is no address.
    for known in (kept.url, "ftp://paper.example/x", "javascript:alert(1)"):
        assert editor_client.post(reverse("check_fetch"), {"url": known}).status_code == 302
    assert "must begin with http:// or https://" in read(
        editor_client.get(reverse("check"), {"url": "ftp://a.example"})
    )
    assert PageFetch.objects.count() == 2


def fetch_made_up(url: str, _rule: ExtractionRule) -> ExtractedArticle:
    if url.endswith("gone"):
        raise ValueError("The page does not exist. Open it and paste its text.")
    return ExtractedArticle(FERRY, "The last ferry", datetime.date(2026, 3, 3), "meta", None)


def test_articles_are_searched_from_the_list(editor_client: Client, shelf: list[Article], store: StoreArticle) -> None:
    def listed(**query: Any) -> set[int]:
        page = read(editor_client.get(reverse("articles"), query))
        return {int(number) for number in re.findall(r'<td class="headline-cell"><a href="/articles/(\d+)/"', page)}

    kept = shelf[0]
    assert listed(q="ferry last") == {kept.pk}
    assert listed(q=kept.url) == {kept.pk}
    assert listed(q="paper.example/2026/03/02") == {article.pk for article in shelf[:2]}
    assert listed(q="paper.example/2026/03/02", newspaper=kept.newspaper_id) == {kept.pk}
    assert listed(q=kept.pk) == {kept.pk}
    assert listed(q="9" * 1_999) == set()
    assert len(listed(q="9" * 4_301)) == len(shelf)  # too long: said, and ignored
    page = read(editor_client.get(reverse("articles"), {"q": "paper.example/2027"}))
    assert 'href="/check/?url=paper.example/2027"' in page
