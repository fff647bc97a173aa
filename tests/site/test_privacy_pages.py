"""The pages of removals: what must be typed, and what a worker then does; how long fetched pages are kept."""

from __future__ import annotations

import datetime
import gzip
import io
import re
import threading

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from articles.jobs.work import do_job
from articles.models import Article, ArticlePage, Job, Newspaper, Removal
from newsdedup_site.privacy import retention
from tests.conftest import StoreArticle
from tests.factories import make_pair
from tests.site.test_rights import client_of, samples

pytestmark = pytest.mark.django_db
REASON = "The contract has ended"


@pytest.fixture
def paper(store: StoreArticle) -> Newspaper:
    """Return a newspaper with one article, which has a pair with one of another newspaper."""
    make_pair(store(newspaper="Selby Gazette"), store(newspaper="Harbour Post"), trigram=0.9)
    return Newspaper.objects.get(name="Selby Gazette")


def test_the_first_page_counts_what_would_go(paper: Newspaper) -> None:
    page = " ".join(client_of("admin").get(f"/newspapers/{paper.pk}/remove/").content.decode().split())
    for label, number in (("Articles", 1), ("Pairs", 1), ("Evidence", 1)):
        assert f'<tr><th scope="row">{label}</th><td class="number">{number}</td></tr>' in page
    # What is not touched is not listed.
    assert "tombstones</th>" not in page


@pytest.mark.parametrize(
    ("typed", "why"),
    [*((name, REASON) for name in ("", "selby gazette", "Selby", "Harbour Post")), ("Selby Gazette", " ")],
)
def test_nothing_is_removed_unless_the_name_is_typed_exactly_and_with_a_reason(
    paper: Newspaper, typed: str, why: str
) -> None:
    answer = client_of("admin").post(f"/newspapers/{paper.pk}/remove/", {"confirm": typed, "reason": why})
    assert (answer.status_code, Removal.objects.count()) == (400, 0)
    assert Article.objects.filter(withheld=False).count() == 2


def test_a_confirmed_removal_hides_at_once_and_a_worker_does_the_rest(paper: Newspaper) -> None:
    client = client_of("admin")
    answer = client.post(f"/newspapers/{paper.pk}/remove/", {"confirm": "Selby Gazette", "reason": REASON})
    assert (answer.status_code, answer["Location"]) == (302, "/removals/")
    hidden = Article.objects.get(newspaper=paper)
    assert (hidden.headline, hidden.content, hidden.withheld) == ("Removed", "", True)
    assert "Selby Gazette" not in client.get("/crawls/").content.decode()
    removal = Removal.objects.get()
    job = Job.objects.get(kind="removal")
    assert client.post(f"/jobs/{job.pk}/cancel/").status_code == 403  # it must come to its end
    do_job(job.pk)
    removal.refresh_from_db()
    assert (removal.state, removal.counts["articles"], str(removal.requested_by)) == ("done", 1, "admin")
    page = client.get("/removals/").content.decode()
    for said in ("Selby Gazette", "The contract has ended", "articles: 1", "Allow again"):
        assert said in page
    client.post(f"/removals/{removal.pk}/lift/")
    assert "Allow again" not in client.get("/removals/").content.decode()


def test_the_commands_count_refuse_and_remove(paper: Newspaper) -> None:
    out = io.StringIO()
    call_command("remove_newspaper", "Selby Gazette", stdout=out)
    assert out.getvalue().startswith("articles: 1\n")
    assert out.getvalue().endswith("add --confirm 'Selby Gazette' and --reason.\n")
    with pytest.raises(CommandError, match="--confirm is 'Selby', not 'Selby Gazette'; nothing was removed"):
        call_command("remove_newspaper", "Selby Gazette", "--confirm=Selby", "--reason=x")
    with pytest.raises(CommandError, match="a reason is required"):
        call_command("remove_newspaper", "Selby Gazette", "--confirm=Selby Gazette")
    assert Article.objects.count() == 2
    done = io.StringIO()
    call_command(
        "remove_newspaper", "Selby Gazette", "--confirm=Selby Gazette", "--reason=x", "--no-progress", stdout=done
    )
    assert "is done: " in done.getvalue()
    left = Article.objects.get()
    call_command("remove_article", str(left.pk), f"--confirm={left.pk}", "--reason=x", "--no-progress", stdout=done)
    assert not Article.objects.exists()


def test_an_article_is_withheld_and_released_on_its_page(paper: Newspaper) -> None:
    client, article = client_of("admin"), Article.objects.get(newspaper=paper)
    assert client.post(f"/articles/{article.pk}/withhold/", {"reason": ""}).status_code == 400
    client.post(f"/articles/{article.pk}/withhold/", {"reason": "A dispute"})
    assert "Release" in client.get(f"/articles/{article.pk}/").content.decode()
    assert "A dispute" in client.get("/removals/").content.decode()
    client.post(f"/articles/{article.pk}/release/")
    assert article.headline in client.get(f"/articles/{article.pk}/").content.decode()


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


def test_pages_are_kept_for_ever_or_as_long_as_their_newspaper_or_the_command_says(pages: list[ArticlePage]) -> None:
    assert removed() == "0 pages were removed; their articles stay.\n"
    Newspaper.objects.filter(name="Harbour Post").update(page_days=40)
    assert removed() == "1 page was removed; its article stays.\n"
    assert left() == {pages[0].pk, pages[2].pk}
    Newspaper.objects.update(page_days=1000)
    assert removed("--days=30", "--newspaper=Inland Courier") == "1 page was removed; its article stays.\n"
    assert left() == {pages[0].pk}
    assert Article.objects.count() == 3
    call_command("reextract", "--no-progress", stdout=io.StringIO(), stderr=io.StringIO())


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
        ) and "987654321" in sample.url():
            answer = client.get(sample.url().replace("987654321", str(newspaper.pk)))
            if answer.status_code == 200:
                fields |= set(re.findall(r'<(?:input|select|textarea)[^>]* name="(\w+)"', answer.content.decode()))
    columns = {field.name for field in Newspaper._meta.concrete_fields if field.editable and not field.primary_key}
    assert "page_days" in columns
    assert columns - fields == set()
