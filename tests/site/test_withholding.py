"""Withholding brings everything back byte for byte; the pages of removals, and how long fetched pages are kept."""

import datetime
import gzip
import re
import threading
from typing import Any

import pytest
from django.core.management import CommandError
from django.db import connection
from django.utils import timezone

from articles.boilerplate.mode import Mode
from articles.files.exporting import exported_rows
from articles.jobs.work import do_job
from articles.models import Article, ArticlePage, Job, Newspaper, Removal, WithheldRow, Withholding
from articles.storage.incoming import IncomingArticle
from articles.storage.ingest import store_articles
from articles.storage.renormalization import outdated_forms
from dedup.models import Cluster, Decision, OpenQuestion, Pair
from dedup.review.answers import decisions
from newsdedup_site.privacy import retention
from newsdedup_site.privacy.removal import RemovalError, begin_articles, carry_out, release, withhold
from tests.commands import called
from tests.conftest import StoreArticle
from tests.factories import make_cluster, make_pair, make_user, store_article
from tests.site.test_doctor_finds import found
from tests.site.test_removal import MARK, TEXT, URL, mark_everything, marked
from tests.site.test_rights import client_of, samples
from tests.stored_rows import columns_with

__all__ = ["marked"]

pytestmark = pytest.mark.django_db


def rows_of(article_id: int) -> dict[str, Any]:
    """Return all rows of an article that have texts of it, but its revision, which counts on."""
    tables = {
        "articles_article": "id", "articles_articleurl": "article_id", "articles_declaredurl": "article_id",
        "articles_headlinevariant": "article_id", "articles_articlepage": "article_id",
        "articles_attachedcopy": "article_id",
        "articles_followingpage": "article_page_id", "articles_articlerevision": "article_id",
    }  # fmt: skip
    rows = {}
    with connection.cursor() as cursor:
        for table, column in tables.items():
            query = f"SELECT to_jsonb(it) - 'revision' FROM {table} AS it WHERE {column} = %s ORDER BY 1"
            cursor.execute(query, [article_id])
            rows[table] = cursor.fetchall()
    return rows


def test_a_withheld_article_is_only_in_the_rows_that_are_kept_of_it_and_comes_back_unchanged(
    marked: Article, store: StoreArticle
) -> None:
    user = make_user("ada", "editor")
    others = [store(newspaper="Harbour Post"), store(newspaper="Selby Gazette")]
    mark_everything(marked, others, user)
    Article.objects.filter(pk=marked.pk).update(boilerplate=[[0, 10, False]], story_text="x", story_digest=None)
    before = rows_of(marked.pk)
    decided = Decision.objects.values_list("pk", "note", "pair")

    made = withhold(marked.pk, reason="A dispute", user=user)

    articles = {column for column in columns_with(MARK) if column.startswith(("articles_", "dedup_"))}
    # What users wrote, uploaded or asked for is not the article's, nor what a crawl printed.
    assert articles - {"articles_uploadedpart.data"} == {
        "articles_withheldrow.row", "articles_learntparameter.first_url", "articles_whitelistedsentence.sentence",
        "articles_fileimport.preview", "articles_rejectedrow.raw", "articles_rejectedrow.reason",
        "dedup_decision.note", "dedup_secondreading.note", "dedup_samplelabel.note",
        "dedup_sampledpair.settled_note", "dedup_savedview.query", "dedup_lesson.result", "articles_job.error",
        "articles_job.result", "dedup_delivery.body",
    }  # fmt: skip
    assert list(decided) == list(Decision.objects.values_list("pk", "note", "pair"))

    release(marked.pk, user=user)
    assert rows_of(marked.pk) == before
    assert not WithheldRow.objects.exists()
    made.refresh_from_db()
    assert (made.released_by, made.withheld_by, made.reason) == (user, user, "A dispute")


def test_it_is_in_no_page_export_or_question_and_represents_no_cluster(marked: Article, store: StoreArticle) -> None:
    viewer = client_of("viewer")
    later = store(newspaper="Harbour Post", date="2026-03-05")
    cluster = make_cluster(marked, later)
    user = make_user("ada", "editor")
    decisions.confirm_cluster(cluster.pk, decisions.seen_as([marked.pk, later.pk]), user=user)
    pair = Pair.objects.get()
    assert Cluster.objects.get().kept_id == marked.pk

    withhold(marked.pk, reason="A dispute")

    assert Cluster.objects.get().kept_id == later.pk
    pages = [
        *("/", "/articles/", f"/articles/{marked.pk}/", "/articles/?q=Zwinkelmoor", "/queue/", f"/pairs/{pair.pk}/"),
        *("/clusters/", f"/clusters/{cluster.pk}/", "/history/", "/stories/", "/series/", "/boilerplate/"),
        *(f"/compare/?left={marked.pk}&right={later.pk}", "/exports/pairs.csv", "/exports/clusters.csv"),
        *("/exports/decisions.jsonl", f"/articles/{later.pk}/", f"/pairs/{pair.pk}/why/"),
    ]
    shown = {}
    for url in pages:
        answer = viewer.get(url, follow=True)
        body = b"".join(answer.streaming_content) if answer.streaming else answer.content
        shown[url] = (answer.status_code, MARK.lower() in body.decode().replace("q=Zwinkelmoor", "").lower())
    wrong = {url: (status, has) for url, (status, has) in shown.items() if status != 200 or (has and "?q=" not in url)}
    assert wrong == {}
    assert "Withheld" in viewer.get(f"/articles/{marked.pk}/").content.decode()
    assert [row.values["id"] for row in exported_rows(Mode.KEEP)] == [later.pk]
    assert not OpenQuestion.objects.exists()


def test_what_brings_it_again_changes_nothing(marked: Article) -> None:
    withhold(marked.pk, reason="A dispute")
    before = rows_of(marked.pk)
    stored = store_article(IncomingArticle(marked.date, f"{MARK} has a bridge", URL, TEXT, "Selby Gazette"))
    assert (stored.outcome, stored.article_id, stored.headline) == ("known", marked.pk, "")
    assert rows_of(marked.pk) == before
    Article.objects.update(normalizer_version=0)
    assert not outdated_forms().exists()


def test_refusals_name_the_reason(marked: Article) -> None:
    with pytest.raises(RemovalError, match="a reason is required"):
        withhold(marked.pk, reason=" ")
    with pytest.raises(RemovalError, match="there is no article 987654321"):
        withhold(987654321, reason="x")
    with pytest.raises(RemovalError, match="is not withheld"):
        release(marked.pk)
    withhold(marked.pk, reason="x")
    with pytest.raises(RemovalError, match="is withheld or being removed already"):
        withhold(marked.pk, reason="x")


def test_a_withheld_article_can_be_removed_with_all_that_is_kept_of_it(marked: Article) -> None:
    withhold(marked.pk, reason="A dispute")
    assert columns_with(MARK) == {"articles_withheldrow.row"}
    carry_out(begin_articles([marked.pk], reason="Order of a court"))
    assert columns_with(MARK) == set()
    assert not Withholding.objects.exists()
    came = IncomingArticle(marked.date, "Again", f"{URL}?utm_source=feed", "A text that is new.", "Selby Gazette")
    [stored] = store_articles([came])
    assert stored.reason.startswith("an admin removed this article")


def test_the_doctor_finds_nothing_after_either(marked: Article, store: StoreArticle) -> None:
    others = [store(newspaper="Harbour Post", date=f"2026-03-0{day}") for day in (3, 4, 5)]
    cluster = make_cluster(marked, *others)
    user = make_user("ada", "editor")
    decisions.confirm_cluster(cluster.pk, decisions.seen_as([marked.pk, *(other.pk for other in others)]), user=user)
    make_pair(others[0], others[1], trigram=0.9)
    before = found()  # of pairs that no run has found
    withhold(marked.pk, reason="A dispute")
    assert found() <= before
    carry_out(begin_articles([marked.pk, others[0].pk], reason="Order of a court"))
    assert found() <= before


def test_the_command_withholds_and_releases(marked: Article) -> None:
    said = [called("withhold_article", marked.pk, option)[0] for option in ("--reason=A dispute", "--release")]
    assert said == [
        f"Article {marked.pk} is withheld. --release shows it again.\n",
        f"Article {marked.pk} is shown again. The next run finds its pairs.\n",
    ]
    assert Article.objects.get().headline == f"{MARK} opens its bridge"


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
    said, _ = called("remove_newspaper", "Selby Gazette")
    assert said.startswith("articles: 1\n")
    assert said.endswith("add --confirm 'Selby Gazette' and --reason.\n")
    with pytest.raises(CommandError, match="--confirm is 'Selby', not 'Selby Gazette'; nothing was removed"):
        called("remove_newspaper", "Selby Gazette", "--confirm=Selby", "--reason=x")
    with pytest.raises(CommandError, match="a reason is required"):
        called("remove_newspaper", "Selby Gazette", "--confirm=Selby Gazette")
    assert Article.objects.count() == 2
    done = called("remove_newspaper", "Selby Gazette", "--confirm=Selby Gazette", "--reason=x", "--no-progress")
    assert "is done: " in done[0]
    left = Article.objects.get()
    called("remove_article", left.pk, f"--confirm={left.pk}", "--reason=x", "--no-progress")
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
    return called("remove_pages", "--no-progress", *options)[0]


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
    called("reextract", "--no-progress")


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
