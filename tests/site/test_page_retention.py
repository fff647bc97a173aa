"""How long fetched pages are kept: by the setting of a newspaper, by the command, and by a worker."""

from __future__ import annotations

import datetime
import gzip
import io
import re
import threading

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from articles.models import Article, ArticlePage, Newspaper
from newsdedup_site.privacy import retention
from tests.conftest import StoreArticle
from tests.site.test_rights import client_of, samples

pytestmark = pytest.mark.django_db


@pytest.fixture
def pages(store: StoreArticle) -> list[ArticlePage]:
    """Pages of three articles that were fetched 1, 40 and 400 days ago; the last one of another newspaper."""
    now, kept = timezone.now(), []
    for days, newspaper in ((1, "Harbour Post"), (40, "Harbour Post"), (400, "Inland Courier")):
        article = store(newspaper=newspaper)
        page = ArticlePage.objects.create(article=article, url=article.url, body=gzip.compress(b"<p>Ferry</p>"))
        ArticlePage.objects.filter(pk=page.pk).update(fetched_at=now - datetime.timedelta(days=days))
        kept.append(page)
    return kept


def removed(*options: str) -> str:
    output = io.StringIO()
    call_command("remove_pages", "--no-progress", *options, stdout=output)
    return output.getvalue()


def left() -> set[int]:
    return set(ArticlePage.objects.values_list("pk", flat=True))


def test_by_default_pages_are_kept_for_ever(pages: list[ArticlePage]) -> None:
    assert removed() == "0 pages were removed; their articles stay.\n"
    assert left() == {page.pk for page in pages}


def test_a_newspaper_keeps_its_pages_for_so_many_days(pages: list[ArticlePage]) -> None:
    Newspaper.objects.filter(name="Harbour Post").update(page_days=40)
    assert removed() == "1 page was removed; its article stays.\n"
    assert left() == {pages[0].pk, pages[2].pk}
    assert Article.objects.count() == 3
    call_command("reextract", "--no-progress", stdout=io.StringIO(), stderr=io.StringIO())


def test_the_command_overrides_the_setting(pages: list[ArticlePage]) -> None:
    Newspaper.objects.update(page_days=1000)
    assert removed("--days=30", "--newspaper=Inland Courier") == "1 page was removed; its article stays.\n"
    assert left() == {pages[0].pk, pages[1].pk}


@pytest.mark.parametrize("days", ["0", "-1", "x"])
def test_impossible_numbers_of_days_are_refused(days: str) -> None:
    with pytest.raises(CommandError, match=f"argument --days: '{days}' is not a number from 1"):
        removed(f"--days={days}")


def test_a_worker_removes_them_until_it_is_told_to_end(
    pages: list[ArticlePage], monkeypatch: pytest.MonkeyPatch
) -> None:
    Newspaper.objects.update(page_days=30)
    monkeypatch.setattr(retention, "AT_ONCE", 1)
    ended = threading.Event()
    ended.set()
    assert retention.remove_outdated_pages(ended) == 1
    assert retention.remove_outdated_pages(threading.Event()) == 1
    assert left() == {pages[0].pk}


def test_an_admin_sets_the_days_on_a_page_that_first_says_what_goes(pages: list[ArticlePage]) -> None:
    paper = pages[0].article.newspaper
    address, client = f"/newspapers/{paper.pk}/pages/", client_of("admin")
    assert f'href="{address}">Fetched pages: kept for ever<' in client.get(f"/crawls/{paper.pk}/").content.decode()

    shown = client.post(address, {"page_days": "30", "preview": "1"}).content.decode()
    assert "<strong>1</strong> of 2 pages would be deleted" in shown
    assert 'name="page_days" value="30"' in shown
    assert "No page would be deleted" in client.post(address, {"preview": "1"}).content.decode()
    assert Newspaper.objects.filter(page_days=None).count() == 2

    page = client.post(address, {"page_days": "30"}, follow=True).content.decode()
    assert "kept for 30 days" in page
    assert "(before: for ever)" in page
    assert list(Newspaper.objects.exclude(page_days=None).values_list("pk", "page_days")) == [(paper.pk, 30)]
    refused = client.post(address, {"page_days": "0"})
    assert (refused.status_code, "greater than or equal to 1" in refused.content.decode()) == (400, True)
    client.post(address, {"page_days": ""})
    assert not Newspaper.objects.exclude(page_days=None).exists()


def test_every_setting_of_a_newspaper_is_a_field_of_a_page_of_an_admin(store: StoreArticle) -> None:
    newspaper, client, fields = store().newspaper, client_of("admin"), set()
    for sample in samples():
        if (
            "newspaper" in sample.name or sample.name in ("crawl_schedule", "extraction_rule")
        ) and "987654321" in sample.url:
            answer = client.get(sample.url.replace("987654321", str(newspaper.pk)))
            if answer.status_code == 200:
                fields |= set(re.findall(r'<(?:input|select|textarea)[^>]* name="(\w+)"', answer.content.decode()))
    columns = {field.name for field in Newspaper._meta.concrete_fields if field.editable and not field.primary_key}
    assert "page_days" in columns
    assert columns - fields == set()
