"""Withholding an article: nobody can read it anywhere, and releasing it brings everything back byte for byte."""

from __future__ import annotations

import io
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection
from django.test import Client

from articles.boilerplate.mode import Mode
from articles.files.exporting import exported_rows
from articles.models import Article, WithheldRow, Withholding
from articles.storage.incoming import IncomingArticle
from articles.storage.ingest import store_articles
from articles.storage.renormalization import outdated_forms
from dedup.models import Cluster, Decision, OpenQuestion, Pair
from dedup.review.answers import decisions
from newsdedup_site.doctor.examining import examine
from newsdedup_site.privacy.removal import RemovalError, begin_articles, carry_out, release, withhold
from tests.conftest import StoreArticle
from tests.factories import make_cluster, make_pair, make_user, store_article
from tests.site.test_removal import MARK, TEXT, URL, mark_everything, marked
from tests.stored_rows import columns_with

__all__ = ["marked"]

pytestmark = pytest.mark.django_db


def rows_of(article_id: int) -> dict[str, Any]:
    """Return all rows of an article that have texts of it, but its revision, which counts on."""
    tables = {
        "articles_article": "id", "articles_articleurl": "article_id", "articles_declaredurl": "article_id",
        "articles_headlinevariant": "article_id", "articles_articlepage": "article_id",
        "articles_followingpage": "article_page_id", "articles_articlerevision": "article_id",
    }  # fmt: skip
    found = {}
    with connection.cursor() as cursor:
        for table, column in tables.items():
            query = f"SELECT to_jsonb(it) - 'revision' FROM {table} AS it WHERE {column} = %s ORDER BY 1"
            cursor.execute(query, [article_id])
            found[table] = cursor.fetchall()
    return found


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
    viewer = Client()
    viewer.force_login(make_user("vera", "viewer"))
    later = store(newspaper="Harbour Post", date="2026-03-05")
    cluster = make_cluster(marked, later)
    user = make_user("ada", "editor")
    decisions.confirm_cluster(cluster.pk, [marked.pk, later.pk], user=user)
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
    assert {
        url: shown_page
        for url, shown_page in shown.items()
        if shown_page[0] != 200 or (shown_page[1] and "?q=" not in url)
    } == {}
    assert "Withheld" in viewer.get(f"/articles/{marked.pk}/").content.decode()
    assert [row.values["id"] for row in exported_rows(Mode.KEEP)] == [later.pk]
    assert not OpenQuestion.objects.exists()


def test_what_brings_it_again_changes_nothing(marked: Article) -> None:
    withhold(marked.pk, reason="A dispute")
    before = rows_of(marked.pk)
    came = IncomingArticle(marked.date, f"{MARK} has a bridge", URL, TEXT, "Selby Gazette")
    stored = store_article(came)
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
    decisions.confirm_cluster(cluster.pk, [marked.pk, *(other.pk for other in others)], user=user)
    make_pair(others[0], others[1], trigram=0.9)
    before = faults()  # of pairs that no run has found
    withhold(marked.pk, reason="A dispute")
    assert faults() <= before
    carry_out(begin_articles([marked.pk, others[0].pk], reason="Order of a court"))
    assert faults() <= before


def faults() -> set[str]:
    return {check.invariant.name for check in examine() if not check.is_healthy}


def test_the_command_withholds_and_releases(marked: Article) -> None:
    out = io.StringIO()
    call_command("withhold_article", str(marked.pk), "--reason=A dispute", stdout=out)
    call_command("withhold_article", str(marked.pk), "--release", stdout=out)
    assert out.getvalue().splitlines() == [
        f"Article {marked.pk} is withheld. --release shows it again.",
        f"Article {marked.pk} is shown again. The next run finds its pairs.",
    ]
    assert Article.objects.get().headline == f"{MARK} opens its bridge"
