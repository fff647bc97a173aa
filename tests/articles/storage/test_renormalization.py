"""`renormalize` and `reextract` bring stored articles up to date and write only what changed."""

import datetime
import pickle
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest
from django.core.management import CommandError

from articles.extraction.extract import EXTRACTOR_VERSION
from articles.models import Article, ArticlePage, ArticleURL, Newspaper
from articles.normalization import NORMALIZER_VERSION
from articles.normalization.text import normalize_text, text_digest
from articles.normalization.times import possible_time, written_time
from articles.normalization.urls import url_key
from articles.storage import reextraction, renormalization
from articles.storage.incoming import Details, IncomingArticle, ListedDate, PageCopy
from articles.storage.known_articles import known_urls
from articles.storage.renormalization import FoundForms
from tests.articles.test_processes import end_this_process
from tests.commands import called, meanwhile
from tests.conftest import StoreArticle
from tests.factories import store_article

pytestmark = pytest.mark.django_db
TEXT = "The ferry to Little Skerry sails again after forty days, with a new engine and the old captain on the bridge."
PAGE = (
    "<html><head><title>Ferry sails</title><meta property='article:published_time' content='2026-03-02'></head>"
    f"<body><article><h1>Ferry sails</h1><p>{TEXT}</p></article></body></html>"
)


def make_outdated(*articles: Article, **fields: object) -> None:
    Article.objects.filter(pk__in=[article.pk for article in articles]).update(normalizer_version=0, **fields)


def store_page(
    page: str = PAGE, *, number: int = 1, content: str = "An older extraction.", published: ListedDate | None = None
) -> Article:
    url, body = f"https://paper.example/{number}", page.encode()
    stored = store_article(
        IncomingArticle(
            date=datetime.date(2026, 3, 1),
            headline="Ferry",
            url=url,
            content=content,
            newspaper="Harbour Post",
            details=Details(date_source=Article.DateSource.FEED),
            page=PageCopy(url, "text/html; charset=utf-8", body, 0, published),
        )
    )
    return Article.objects.get(pk=stored.article_id)


def test_renormalize_writes_only_what_changed(store: StoreArticle) -> None:
    right, wrong = store(), store()
    make_outdated(right)
    make_outdated(wrong, normalized_title="an older form")
    ArticleURL.objects.filter(article=wrong).update(normalized_url="an older form")

    out, err = called("renormalize")

    assert (out, err) == ("Articles: 2 checked, 1 changed.\n", "")
    unchanged, changed = Article.objects.order_by("pk")
    assert unchanged.revision == right.revision
    assert changed.revision > wrong.revision
    assert changed.normalized_title == wrong.normalized_title
    assert changed.urls.get().normalized_url == wrong.urls.get().normalized_url.replace("an older form", "")
    assert {unchanged.normalizer_version, changed.normalizer_version} == {NORMALIZER_VERSION}
    assert called("renormalize")[0] == "Articles: 0 checked, 0 changed.\n"


def test_renormalize_brings_keys_up_to_date_and_takes_none_from_another_article(store: StoreArticle) -> None:
    site = "https://paper.example/"
    first, second, third = (store(url=f"{site}#/news/{number}") for number in (1, 2, 3))
    old = {first.pk: url_key(site), second.pk: url_key(f"{site}2"), third.pk: url_key(f"{site}3")}
    for pk, key in old.items():  # as they were before such fragments counted
        ArticleURL.objects.filter(article=pk).update(key=key)
    copy = store(url=f"{site}#/news/2")
    make_outdated(first, second, third, copy)

    called("renormalize")

    assert dict(ArticleURL.objects.values_list("article_id", "key")) == {
        first.pk: url_key(f"{site}#/news/1"),
        second.pk: old[second.pk],
        third.pk: url_key(f"{site}#/news/3"),
        copy.pk: url_key(f"{site}#/news/2"),
    }
    assert Article.objects.count() == 4
    urls = [f"{site}#/news/{number}" for number in (1, 2, 3, 4)]
    assert known_urls(urls) == set(urls[:3])


def test_an_interrupted_renormalize_resumes(store: StoreArticle, monkeypatch: pytest.MonkeyPatch) -> None:
    make_outdated(*[store() for _ in range(5)], normalized_title="an older form")
    whole = renormalization.renormalize

    def interrupted(*args: Any, **kwargs: Any) -> Iterator[renormalization.UpdatedBatch]:
        yield next(whole(*args, **kwargs))
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(renormalization, "renormalize", interrupted)
        with pytest.raises(SystemExit) as exit_:
            called("renormalize", "--batch-size", "2")

    assert exit_.value.code == 130
    assert called("renormalize", "--dry-run")[0] == "Outdated articles: 3.\n"
    assert called("renormalize", "--batch-size", "2")[0] == "Articles: 3 checked, 3 changed.\n"


@pytest.mark.parametrize(
    ("change", "title"),
    [
        (lambda: Newspaper.objects.update(learnt_affixes=["Skerry Online"]), "ferry sails to little skerry once again"),
        (lambda: Article.objects.update(headline="Ferry", revision=99, extractor_version=7), "ferry"),
    ],
)
def test_renormalize_computes_again_what_changes_meanwhile(
    store: StoreArticle, monkeypatch: pytest.MonkeyPatch, change: Callable[[], object], title: str
) -> None:
    article = store(headline="Ferry sails to Little Skerry once again | Skerry Online", content=TEXT)
    make_outdated(article, normalized_title="an older form", normalized_text="another")
    find = renormalization.find_forms

    def found_before_the_change(ids: Sequence[int], *rest: Any) -> FoundForms:
        found: FoundForms = pickle.loads(pickle.dumps(find(ids, *rest)))  # noqa: S301 - as from another process
        change()
        return found

    monkeypatch.setattr(renormalization, "find_forms", found_before_the_change)
    assert called("renormalize")[0] == "Articles: 1 checked, 1 changed.\n"

    article.refresh_from_db()
    assert (article.normalized_title, article.normalized_text) == (title, normalize_text(TEXT))
    assert article.text_digest == text_digest(article.normalized_text)


def test_renormalize_leaves_alone_what_another_process_has_updated(
    store: StoreArticle, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine, theirs = store(), store()
    make_outdated(mine, theirs, normalized_title="an older form")
    updated = {"normalizer_version": NORMALIZER_VERSION, "normalized_title": "theirs"}
    meanwhile(
        monkeypatch, renormalization, "find_forms", lambda: Article.objects.filter(pk=theirs.pk).update(**updated)
    )
    assert called("renormalize")[0] == "Articles: 1 checked, 1 changed.\n"
    assert Article.objects.get(pk=theirs.pk).normalized_title == "theirs"


def test_reextract_takes_text_and_details_from_the_kept_page() -> None:
    article = store_page()

    assert called("reextract") == ("Articles: 1 checked, 1 changed.\n", "")

    updated = Article.objects.get()
    assert (updated.headline, updated.content) == ("Ferry sails", TEXT)
    assert (updated.date, updated.date_source) == (datetime.date(2026, 3, 2), Article.DateSource.META)
    assert updated.normalized_text.startswith("the ferry to little skerry")
    assert updated.text_digest != article.text_digest
    assert updated.revision > article.revision
    assert updated.extractor_version == EXTRACTOR_VERSION
    assert called("reextract")[0] == "Articles: 0 checked, 0 changed.\n"


MISREAD = "a meta element says 2026-03-30, which is impossible"


@pytest.mark.parametrize(
    ("page", "feed", "in_sitemap", "time", "source", "doubt"),
    [
        ("2026-03-02", "2026-03-09", False, "2026-03-02", "meta", "the page says 2026-03-02, the feed 2026-03-09"),
        ("2026-03-30", "2026-03-09", False, "2026-03-09", "feed", MISREAD),
        ("2026-03-02", "", False, "2026-03-02", "meta", ""),
        ("2026-03-02T08:00+02:00", "2026-03-02T09:00:05Z", False, "2026-03-02T08:00+02:00", "meta", ""),
        ("none", "2026-03-02T09:00:05-05:30", True, "2026-03-02T09:00:05-05:30", "sitemap", ""),
    ],
)
def test_reextract_judges_the_day_and_the_time_as_the_crawl_did(
    page: str, feed: str, in_sitemap: bool, time: str, source: str, doubt: str
) -> None:
    """Also if a day that was in the future when the page was fetched is past now."""
    day = datetime.date.fromisoformat(feed[:10]) if feed else None
    published = ListedDate(day, possible_time(feed, day), in_sitemap) if day else None
    assert store_page(PAGE.replace("2026-03-02", page), published=published).publication_time is None
    ArticlePage.objects.update(fetched_at=datetime.datetime(2026, 3, 10, 12, tzinfo=datetime.UTC))

    called("reextract", "--workers", "1")

    article = Article.objects.get()
    assert (article.date.isoformat(), article.date_source, article.date_doubt) == (time[:10], source, doubt)
    assert article.publication_time == written_time(time)


def test_reextract_keeps_the_day_and_the_time_if_page_and_feed_have_no_date() -> None:
    time = written_time("2026-03-01T18:30+01:00")
    store_page(PAGE.replace("article:published_time", "no:time"))
    assert time
    Article.objects.update(published_at=time.at, published_offset=time.offset, published_precision=time.precision)

    called("reextract")

    article = Article.objects.get()
    assert (article.content, article.publication_time) == (TEXT, time)
    assert (article.date, article.date_source) == (datetime.date(2026, 3, 1), Article.DateSource.FEED)


def test_reextract_skips_articles_that_another_process_has_extracted(monkeypatch: pytest.MonkeyPatch) -> None:
    article = store_page()
    theirs = {"content": "By another process.", "extractor_version": EXTRACTOR_VERSION}
    meanwhile(monkeypatch, reextraction, "extract_kept", lambda: Article.objects.update(**theirs))

    assert called("reextract", "--workers", "1")[0] == "Articles: 0 checked, 0 changed.\n"
    article.refresh_from_db()
    assert article.content == "By another process."


def test_reextract_uses_affixes_learnt_while_it_extracted(monkeypatch: pytest.MonkeyPatch) -> None:
    store_page(PAGE.replace("Ferry sails", "Ferry sails | Skerry"))
    meanwhile(monkeypatch, reextraction, "extract_kept", lambda: Newspaper.objects.update(learnt_affixes=["Skerry"]))

    called("reextract", "--workers", "1")

    assert Article.objects.values_list("headline", "normalized_title").get() == ("Ferry sails | Skerry", "ferry sails")


def test_an_article_is_left_unchanged_if_its_page_yields_none() -> None:
    store_page("<html><body><p>Gone.</p></body></html>", number=1)
    damaged = store_page(number=2)
    ArticlePage.objects.filter(article=damaged).update(body=b"no gzip")

    out, err = called("reextract")

    assert out == "Articles: 2 checked, 0 changed, 2 failed and left unchanged.\n"
    assert err == (f"article {damaged.pk - 1}: no article text\narticle {damaged.pk}: Not a gzipped file (b'no')\n")
    assert set(Article.objects.values_list("content", flat=True)) == {"An older extraction."}
    assert called("reextract")[0] == "Articles: 0 checked, 0 changed.\n"


def test_imported_articles_have_no_page_to_extract(store: StoreArticle) -> None:
    store()

    assert called("reextract", "--dry-run")[0] == "Outdated articles: 0.\n"


def test_a_killed_worker_is_reported_and_nothing_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    store_page()
    store_page(number=2)

    with monkeypatch.context() as patched:
        patched.setattr(reextraction, "extract_kept", end_this_process)
        with pytest.raises(CommandError, match=r"worker process was killed.*--workers 1"):
            called("reextract", "--workers", "2")

    assert called("reextract", "--workers", "2")[0] == "Articles: 2 checked, 2 changed.\n"
    assert [article.content for article in Article.objects.all()] == [TEXT, TEXT]
