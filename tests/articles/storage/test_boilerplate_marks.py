"""Boilerplate is marked week by week, again after changes, and always with the same result."""

import datetime
import hashlib
import io
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command

from articles.boilerplate.mode import Mode
from articles.fields import FIELDS, Kind
from articles.models import Article, BoilerplateWeek, Newspaper, RepeatedSentence, WhitelistedSentence
from articles.normalization.text import normalize_text, text_digest
from articles.storage import boilerplate_marks
from articles.storage.boilerplate_marks import (
    FoundWeek,
    MarkedWeek,
    NewspaperWeek,
    WhitelistError,
    end_whitelisting,
    find_weeks,
    history_of,
    mark_weeks,
    outdated_weeks,
    whitelist_sentence,
)
from articles.storage.fingerprints import fingerprint
from articles.storage.reextraction import reextract
from articles.storage.removed import MARKS
from tests.articles.boilerplate.test_rules import STORIES, SUBSCRIBE
from tests.articles.storage.test_renormalization import store_page
from tests.commands import called, meanwhile, refused
from tests.conftest import StoreArticle

pytestmark = pytest.mark.django_db
DIGEST = text_digest(normalize_text(SUBSCRIBE))
MONDAY = datetime.date(2026, 3, 2)


@pytest.fixture
def week(store: StoreArticle) -> list[Article]:
    """Store three different articles of one newspaper and week that share a line, the last day first."""
    days = ("2026-03-08", "2026-03-02", "2026-03-04")
    stored = [store(f"{story}\n\n{SUBSCRIBE}", date=day) for story, day in zip(STORIES, days, strict=False)]
    return sorted(stored, key=lambda article: article.date)


def find(*arguments: str) -> str:
    return called("find_boilerplate", *arguments)[0]


def rows() -> list[tuple[Any, ...]]:
    marks = Article.objects.order_by("pk").values_list(
        "pk", "boilerplate", "story_text", "story_digest", "topic_text", "topic_digest", "revision"
    )
    sentences = RepeatedSentence.objects.order_by("pk").values_list()
    return [*marks, *sentences, *BoilerplateWeek.objects.order_by("pk").values_list()]


def test_a_weeks_boilerplate_is_marked_and_the_content_stays(week: list[Article]) -> None:
    before = {article.pk: (article.content, article.normalized_text, article.text_digest) for article in week}
    assert find() == "Weeks: 1 with 3 articles; boilerplate sentences: 1; articles whose compared text changed: 3.\n"

    after = [Article.objects.get(pk=article.pk) for article in week]
    assert {article.pk: (article.content, article.normalized_text, article.text_digest) for article in after} == before
    starts = [article.content.index(SUBSCRIBE) for article in after]
    expected = [[[start, start + len(SUBSCRIBE), first]] for start, first in zip(starts, (1, 0, 0), strict=True)]
    assert [article.boilerplate for article in after] == expected
    stories = [normalize_text(article.content.partition("\n\n")[0]) for article in after]
    assert [article.story_text for article in after] == [None, *stories[1:]]
    assert [article.story_digest for article in after] == [None, *map(text_digest, stories[1:])]
    assert [(article.topic_text, article.topic_digest) for article in after] == [
        (story, text_digest(story)) for story in stories
    ]
    [sentence] = RepeatedSentence.objects.all()
    assert (sentence.week, sentence.sentence, sentence.kind, sentence.articles) == (MONDAY, SUBSCRIBE, "boilerplate", 3)
    assert (sentence.digest, sentence.article_ids) == (DIGEST, [article.pk for article in week])


def test_weeks_begin_on_monday_and_end_on_sunday(store: StoreArticle) -> None:
    days = ("2026-03-01", "2026-03-02", "2026-03-08", "2026-03-09", "2026-03-15")
    articles = [store(f"{story}\n\n{SUBSCRIBE}", date=day) for story, day in zip(STORIES, days, strict=True)]
    find()
    assert not BoilerplateWeek.objects.exists()  # two articles are too few to repeat anything
    articles.append(store(f"A sixth story. {SUBSCRIBE}", date="2026-03-04"))
    find()

    assert BoilerplateWeek.objects.get().week == MONDAY
    assert RepeatedSentence.objects.get().article_ids == [articles[1].pk, articles[5].pk, articles[2].pk]


def test_within_a_day_the_first_by_its_time_keeps_a_sentence(store: StoreArticle) -> None:
    clocks = ("18:30", "07:15", "12:00")
    late, early, noon = (
        store(f"{story}\n\n{SUBSCRIBE}", time=f"2026-03-02T{clock}Z")
        for story, clock in zip(STORIES, clocks, strict=False)
    )
    find()

    assert RepeatedSentence.objects.get().article_ids == [early.pk, noon.pk, late.pk]
    assert [article.pk for article in Article.objects.all() if article.boilerplate[0][2]] == [early.pk]


def test_a_newspaper_configures_how_many_articles_make_boilerplate(week: list[Article]) -> None:
    week[0].delete()
    assert outdated_weeks() == {}

    Newspaper.objects.update(boilerplate_articles=2)
    find()
    assert Article.objects.filter(topic_text__isnull=False).count() == 2

    Newspaper.objects.update(boilerplate_articles=3)
    find()
    assert Article.objects.filter(topic_text__isnull=False).count() == 0
    assert outdated_weeks() == {}


def test_newspapers_are_processed_separately(store: StoreArticle) -> None:
    for story, paper in zip(STORIES, ("Harbour Post", "Harbour Post", "Inland Courier"), strict=False):
        store(f"{story}\n\n{SUBSCRIBE}", newspaper=paper)
    find()

    assert not RepeatedSentence.objects.exists()


def test_marking_twice_gives_the_same_rows_and_the_second_time_costs_nothing(week: list[Article]) -> None:
    find()
    once = rows()

    assert find().startswith("Weeks: 0 with 0 articles;")
    assert outdated_weeks(every=True) == {NewspaperWeek(week[0].newspaper_id, MONDAY): 3}
    find("--all")
    assert rows() == once


def test_a_new_article_makes_only_its_week_outdated(week: list[Article], store: StoreArticle) -> None:
    store(f"{STORIES[3]}\n\n{SUBSCRIBE}", date="2026-03-10")
    find()
    revisions = dict(Article.objects.values_list("pk", "revision"))
    late = store(f"{STORIES[4]}\n\n{SUBSCRIBE}", date="2026-03-05")

    assert list(mark_weeks(outdated_weeks())) == [MarkedWeek(articles=4, changed=1, sentences=1)]
    assert outdated_weeks() == {}
    assert RepeatedSentence.objects.get().articles == 4
    # The compared texts of articles marked before are unchanged: no run compares them again.
    assert dict(Article.objects.exclude(pk=late.pk).values_list("pk", "revision")) == revisions


def test_a_new_article_may_become_the_first_of_its_week(week: list[Article], store: StoreArticle) -> None:
    find()
    early = store(f"{STORIES[3]}\n\n{SUBSCRIBE}", date="2026-03-02")
    Article.objects.filter(pk=week[0].pk).update(date="2026-03-03")
    find()

    assert RepeatedSentence.objects.get().article_ids[0] == early.pk
    assert [Article.objects.get(pk=pk).boilerplate[0][2] for pk in (early.pk, week[0].pk)] == [1, 0]


def test_a_changed_text_loses_its_marks_and_its_week_is_outdated(week: list[Article]) -> None:
    find()
    Article.objects.filter(pk=week[2].pk).update(content="Another extraction.", normalized_text="another extraction")

    assert Article.objects.values_list(*MARKS).get(pk=week[2].pk) == ([], None, None, None, None)
    find()
    assert not RepeatedSentence.objects.exists()
    assert Article.objects.get(pk=week[0].pk).boilerplate == []


def test_a_page_that_is_extracted_again_makes_its_week_outdated(week: list[Article], store: StoreArticle) -> None:
    page = "<html><head><meta property='article:published_time' content='2026-03-04'></head><body><article>"
    page += f"<h1>A choir sings</h1><p>{STORIES[3]}</p><p>{SUBSCRIBE}</p></article></body></html>"
    extracted = store_page(page, content=f"{STORIES[3]}\n\n{SUBSCRIBE}")
    find()
    assert RepeatedSentence.objects.get().articles == 3
    list(reextract())

    # Its page is from the week of the others.
    find()
    assert RepeatedSentence.objects.get().articles == 4
    [mark] = Article.objects.get(pk=extracted.pk).boilerplate
    assert Article.objects.get(pk=extracted.pk).content[mark[0] : mark[1]] == SUBSCRIBE


def test_an_article_that_moves_to_another_week_leaves_its_old_one(week: list[Article]) -> None:
    find()
    Article.objects.update(date="2026-04-01")
    assert list(outdated_weeks().items()) == [
        (NewspaperWeek(week[0].newspaper_id, MONDAY), 0),
        (NewspaperWeek(week[0].newspaper_id, datetime.date(2026, 3, 30)), 3),
    ]
    find()

    for found in (BoilerplateWeek.objects, RepeatedSentence.objects):
        assert list(found.values_list("week", flat=True)) == [datetime.date(2026, 3, 30)]


def test_newer_rules_make_all_weeks_outdated(week: list[Article], monkeypatch: pytest.MonkeyPatch) -> None:
    find()
    monkeypatch.setattr(boilerplate_marks, "RULE_VERSION", boilerplate_marks.RULE_VERSION + 1)

    assert list(outdated_weeks()) == [NewspaperWeek(week[0].newspaper_id, MONDAY)]


def test_fingerprints_which_are_stored_never_change() -> None:
    written = '[1, "caf\\u00e9", true, "keep", [["2026-03-01", [2, 3]]]]'
    found = fingerprint(1, "café", True, Mode.KEEP, [("2026-03-01", (2, 3))])
    assert found == hashlib.sha256(written.encode()).hexdigest()


def test_an_article_added_while_its_week_is_processed_is_part_of_it(
    week: list[Article], store: StoreArticle, monkeypatch: pytest.MonkeyPatch
) -> None:
    late = f"{STORIES[3]}\n\n{SUBSCRIBE}"
    meanwhile(monkeypatch, boilerplate_marks, "find_boilerplate", lambda: store(late, date="2026-03-05"))
    assert [marked.articles for marked in mark_weeks(outdated_weeks())] == [4]
    assert outdated_weeks() == {}


def test_days_at_both_ends_of_the_calendar_have_weeks() -> None:
    assert boilerplate_marks._sunday_of(datetime.date.max) == datetime.date.max
    assert boilerplate_marks.monday_of(datetime.date.min) == datetime.date.min


# ---- whitelist -------------------------------------------------------------------------------------


def test_a_whitelisted_sentence_is_kept_until_it_is_removed(week: list[Article]) -> None:
    mara = User.objects.create_user("mara")
    find()
    marked = rows()[:3]
    whitelist_sentence(week[0].newspaper_id, DIGEST, user=mara)
    find()

    assert RepeatedSentence.objects.get().kind == "whitelisted"
    assert not Article.objects.exclude(boilerplate=[]).exists()
    assert not Article.objects.filter(topic_text__isnull=False).exists()
    row = WhitelistedSentence.objects.get()
    assert (row.sentence, row.whitelisted_by) == (SUBSCRIBE, mara)

    end_whitelisting(week[0].newspaper_id, DIGEST, user=mara)
    find()
    assert [row[:-1] for row in rows()[:3]] == [row[:-1] for row in marked]
    history = [entry.change_message for entry in history_of(week[0].newspaper_id, DIGEST)]
    assert history == ["took it off the whitelist", "whitelisted it"]


def test_sentences_that_cannot_be_whitelisted_are_refused(week: list[Article]) -> None:
    mara = User.objects.create_user("mara")
    with pytest.raises(WhitelistError, match="nothing to whitelist"):
        whitelist_sentence(week[0].newspaper_id, DIGEST, user=mara)
    with pytest.raises(WhitelistError, match="not whitelisted"):
        end_whitelisting(week[0].newspaper_id, DIGEST, user=mara)
    find()
    whitelist_sentence(week[0].newspaper_id, DIGEST, user=mara)
    with pytest.raises(WhitelistError, match=r"mara .*on \d{4}-\d\d-\d\d"):
        whitelist_sentence(week[0].newspaper_id, DIGEST, user=mara)


# ---- commands --------------------------------------------------------------------------------------


def test_a_dry_run_counts_and_changes_nothing(week: list[Article]) -> None:
    assert re.findall(r"\d+", find("--dry-run")) == ["1", "3"]
    assert not BoilerplateWeek.objects.exists()


def test_newspapers_and_days_select_the_weeks(week: list[Article], store: StoreArticle) -> None:
    for story in STORIES[:3]:
        store(f"{story} {SUBSCRIBE}", newspaper="Inland Courier")
        later = store(f"{story} {SUBSCRIBE}", date="2026-03-19")
    assert list(outdated_weeks([later.newspaper_id], since=datetime.date(2026, 3, 20))) == [
        NewspaperWeek(later.newspaper_id, datetime.date(2026, 3, 16))
    ]
    find("Inland Courier")
    assert BoilerplateWeek.objects.get().newspaper.name == "Inland Courier"
    with pytest.raises(CommandError, match=r"--since: 'soon' .*YYYY-MM-DD"):
        find("--since", "soon")


def test_an_interrupted_run_resumes(week: list[Article], store: StoreArticle, monkeypatch: pytest.MonkeyPatch) -> None:
    for _ in range(3):
        store(date="2026-03-19")

    def interrupted(weeks: list[NewspaperWeek], on_progress: Callable[[int], None]) -> list[FoundWeek]:
        if weeks[0].monday > MONDAY:
            raise KeyboardInterrupt
        return find_weeks(weeks, on_progress)

    monkeypatch.setattr(boilerplate_marks, "ARTICLES_AT_ONCE", 3)
    monkeypatch.setattr(boilerplate_marks, "find_weeks", interrupted)
    out, err = io.StringIO(), io.StringIO()
    with pytest.raises(SystemExit) as ended:
        call_command("find_boilerplate", stdout=out, stderr=err)
    assert ended.value.code == 130
    assert out.getvalue().startswith("Weeks: 1 with 3 articles;")
    assert err.getvalue() == "Interrupted. Run the same command again to resume.\n"
    monkeypatch.setattr(boilerplate_marks, "find_weeks", find_weeks)
    assert find().startswith("Weeks: 1 with 3 articles;")


# ---- export ----------------------------------------------------------------------------------------


def export(*arguments: str) -> tuple[list[dict[str, Any]], str]:
    out, err = called("export_articles", *arguments)
    return [json.loads(line) for line in out.splitlines()], err


def test_articles_are_exported_by_day_as_they_were_stored(week: list[Article], store: StoreArticle) -> None:
    other = store(
        "Ein Text über die Fähre.", newspaper="Inland Courier", date="2026-03-01", headline="Fähre", external_id="a7"
    )
    found, printed = export()

    assert [row["id"] for row in found] == [article.pk for article in (other, *week)]
    assert found[0] == {
        **{field.name: False if field.kind == Kind.YES_NO else "" for field in FIELDS},
        "id": other.pk,
        "external_id": "a7",
        "date": "2026-03-01",
        "headline": "Fähre",
        "url": "https://paper.example/2026/03/01/story-number-4",
        "content": "Ein Text über die Fähre.",
        "newspaper": "Inland Courier",
        "urls": [{"url": "https://paper.example/2026/03/01/story-number-4", "kind": "page"}],
        "headlines": [],
    }
    assert [row["content"] for row in found[1:]] == [article.content for article in week]
    assert printed == "Articles written: 4.\n"


def test_an_export_without_boilerplate_marks_it_first(week: list[Article]) -> None:
    stories = [article.content.partition("\n\n")[0] for article in week]

    assert [row["content"] for row in export("--boilerplate", "story")[0]] == [week[0].content, *stories[1:]]
    assert [row["content"] for row in export("--boilerplate", "topic")[0]] == stories
    assert [row["content"] for row in export()[0]] == [article.content for article in week]


def test_an_article_of_nothing_but_boilerplate_is_skipped_and_counted(week: list[Article], store: StoreArticle) -> None:
    store(SUBSCRIBE, date="2026-03-08")
    found, printed = export("--boilerplate", "topic")

    assert [row["id"] for row in found] == [article.pk for article in week]
    assert re.findall(r"\d+", printed) == ["3", "1"]


def test_newspapers_and_days_select_the_exported_articles(week: list[Article], store: StoreArticle) -> None:
    store(newspaper="Inland Courier")

    assert [row["newspaper"] for row in export("--newspaper", "Inland Courier")[0]] == ["Inland Courier"]
    assert [row["id"] for row in export("--since", "2026-03-03", "--until", "2026-03-04")[0]] == [week[1].pk]


def test_an_interrupted_export_reports_that_there_is_no_file(
    week: list[Article], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_arguments: Any, **_bounds: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr("articles.management.commands.export_articles.exported_rows", interrupted)
    err = io.StringIO()
    with pytest.raises(SystemExit) as ended:
        call_command("export_articles", "--output", str(tmp_path / "a.jsonl"), stderr=err)
    assert ended.value.code == 130
    assert err.getvalue() == "Interrupted. No file was written.\n"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--output", "articles.txt"], r"--output articles\.txt .*\.jsonl, \.jsonl\.gz, \.csv or \.csv\.gz"),
        (["--output", "articles.csv", "--format", "jsonl"], "--format jsonl contradicts --output articles.csv; "),
        (["--output", "nowhere/articles.jsonl"], r"--output nowhere/articles\.jsonl.*folder.*create"),
        (["--since", "2026-03-02", "--until", "2026-03-01"], "since 2026-03-02 is after until 2026-03-01"),
        (["--newspaper", "Harbor Post"], "'Harbor Post'; .*: none"),
    ],
)
def test_invalid_export_options_are_refused(arguments: list[str], message: str) -> None:
    assert re.search(message, refused("export_articles", *arguments))
