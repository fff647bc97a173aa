"""The index of words, and what a search finds by it."""

import datetime
from contextlib import suppress
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from articles.models import Article, ArticleWords
from articles.normalization.searches import read_search
from articles.storage import search_index
from articles.storage.search_index import index_words, not_indexed, snippets
from dedup.reports import REPORTS
from dedup.review.queries.articles import matching
from tests.commands import called
from tests.conftest import StoreArticle
from tests.factories import client_of, make_cluster, make_user

pytestmark = pytest.mark.django_db


def found(text: str) -> set[int]:
    return set(matching(Article.objects.all(), text).values_list("pk", flat=True))


def test_each_language_finds_its_own_forms_of_a_word(store: StoreArticle) -> None:
    english = store("The ferries were sailing past the old harbours.", language="en")
    german = store("Die Fähren fuhren an den alten Häfen vorbei.", language="de")
    french = store("Les ferries longeaient les anciens ports.", language="fr")
    sinhala = store("පැරණි වරාය අසලින් නැව් ගමන් කළේය.", language="si")
    japanese = store("船は古い港を過ぎて東京湾へ進んだ。", language="ja")
    arabic = store("مرت العبّارات بالموانئ القديمة.", language="ar")
    assert found("sailing") == set()  # nothing is indexed yet: only headlines are looked at
    call_command("index_search", stdout=(said := StringIO()))
    assert "Articles indexed: 6." in said.getvalue()
    assert not not_indexed().exists()
    assert found("sail harbour") == {english.pk}
    assert found("ferry") == {english.pk}
    assert found("hafen fähre") == {german.pk}
    assert found("ancien port") == {french.pk}
    assert found("වරාය") == {sinhala.pk}
    assert found("東京") == {japanese.pk}
    assert found("京東") == set()
    assert found("العبارات") == {arabic.pk}
    assert found("ferries") == {english.pk, french.pk}
    passage = snippets(read_search("東京"), [japanese.pk])[japanese.pk]
    assert "".join(stretch for stretch, _ in passage) == japanese.content.rstrip("。")
    assert "".join(stretch for stretch, searched in passage if searched) == "東京"


def test_words_phrases_headlines_newspapers_and_days(store: StoreArticle, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search_index, "_AT_ONCE", 2)
    common = {"language": "en", "headline": "News of the day"}
    one = store("The ferry line to Skerry closes.", newspaper="Harbour Post", date="2026-03-02", **common)
    two = store("A line of people at the ferry to Skerry.", newspaper="Inland Courier", date="2026-04-02", **common)
    three = store("Bread prices rise.", newspaper="Harbour Post", language="en", headline="Ferry line fares")
    assert list(index_words()) == [2, 1, 0]
    assert found('"ferry line"') == {one.pk, three.pk}
    assert found('"ferry line" -headline:ferry') == {one.pk}
    assert found("headline:fares OR people") == {two.pk, three.pk}
    assert found("ferry NOT (closes OR bread)") == {two.pk}
    assert found("sker*") == {one.pk, two.pk}
    assert found("ferry newspaper:courier") == {two.pk}
    assert found("ferry -newspaper:courier before:2026-03-02") == set()
    assert found("after:2026-04") == {two.pk}
    assert found("the") == found("!!!") == set()
    assert found("line ferry") == {one.pk, two.pk, three.pk}
    monkeypatch.setattr("dedup.review.queries.articles.COUNT_CEILING", 1)
    assert found("line ferry") == {one.pk, two.pk, three.pk}


def test_a_changed_article_is_found_by_its_new_words_only(store: StoreArticle) -> None:
    article = store("The ferry stays in port.", language="en")
    kept = store("Bread " * 150_000, language="en")
    list(index_words())
    Article.objects.filter(pk=article.pk).update(normalized_text="the bridge opens", date=datetime.date(2026, 3, 3))
    assert not_indexed().count() == 1
    list(index_words())
    assert found("ferry") == set()
    assert found("bridges") == {article.pk}
    assert found("bread") == {kept.pk}
    assert ArticleWords.objects.count() == 2


def test_reports_and_exports_take_what_a_search_finds(store: StoreArticle, tmp_path: Path) -> None:
    editor_client = client_of(make_user("mara", "editor"))
    ferries = [store(f"The ferry sails at {hour}.", language="en", newspaper="Harbour Post") for hour in (6, 7)]
    store("Bread prices rise.", language="en", newspaper="Inland Courier")
    make_cluster(*ferries)
    for command in (["report", "newspapers"], ["export_corpus", "--policy", "keep-all", "--output", "c.csv"]):
        with pytest.raises(CommandError, match=r"No words are indexed yet\..*index_search"):
            called(*command, "--search", "ferry")
    assert "No words are indexed yet" in editor_client.get("/reports/newspapers/?search=ferry").content.decode()
    list(index_words())
    said, _ = called(
        *("export_corpus", "--policy", "one-per-cluster", "--search", "ferries", "--no-progress"),
        *("--output", tmp_path / "c.csv"),
    )
    assert "Articles: 2. Kept: 1. Removed: 1." in said
    for name, report in REPORTS.items():
        with suppress(CommandError):  # some need a run or labels
            called("report", name, "--search", "ferry", "--format", "json")
        assert editor_client.get(f"/reports/{name}/?search=ferry").status_code in (200, 400), report
    page = editor_client.get("/reports/newspapers/?search=ferry -newspaper:courier").content.decode()
    assert "Harbour Post" in page
    assert "Inland Courier" not in page.partition("<table")[2]
    with pytest.raises(CommandError, match='A bracket "\\("'):
        called("report", "newspapers", "--search", "(ferry")
