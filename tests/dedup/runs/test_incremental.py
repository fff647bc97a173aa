"""Runs of a part: what is new, or from a day on, gives with what was there what one run of all would give."""

from __future__ import annotations

import datetime
import io
import json
import random
import re

import pytest
from django.core.management import call_command

from articles.models import Article, Newspaper
from articles.storage.incoming import IncomingArticle
from articles.storage.ingest import newest_revision, store_articles
from dedup.detection.clustering.questions import all_questions
from dedup.detection.passes import PASSES
from dedup.detection.passes.base import Reach
from dedup.detection.runs import pipeline
from dedup.detection.runs.facts import run_facts
from dedup.models import (
    ChangedArticle,
    Cluster,
    CrowdedArticle,
    DenseGroup,
    DetectionRun,
    Evidence,
    Membership,
    NewspaperMonth,
    OpenQuestion,
    Pair,
    Profile,
    RunBlock,
    Series,
    StoredReport,
    UpToDate,
)
from dedup.reports import computing

pytestmark = pytest.mark.django_db

EVERY = ",".join(PASSES)
# The passes that find something in the invented articles.
OF_THE_INVENTED = {"url", "title", "exact", "trigram", "minhash", "stopword", "sentence", "containment"}
OPENINGS = (
    "The harbour authority of Port Selby said on Monday that the northern breakwater will close for six weeks.",
    "A travelling exhibition of two hundred glass negatives opens in the old customs house at Carrack.",
    "The council of Inverlea has voted to repair the tramway and to sell what is left of the depot.",
    "Rain is expected on the western coast from noon, with gusts that may reach sixty knots at sea.",
)


def find_duplicates(*options: str) -> dict:
    output, errors = io.StringIO(), io.StringIO()
    call_command(
        "find_duplicates", *options, "--no-progress", "--format=json", "--workers=1", stdout=output, stderr=errors
    )
    return {**json.loads(output.getvalue()), "said": errors.getvalue()}


def rows(*, stale: bool = False) -> tuple:
    """Return the evidence, the best scores and the clusters by the articles' URLs: their numbers may differ."""
    url = dict(Article.objects.values_list("pk", "url"))
    evidence = Evidence.objects.filter(stale=stale).select_related("pair")
    return (
        sorted(
            (
                row.pass_name,
                *sorted((url[row.pair.left_id], url[row.pair.right_id])),
                row.score,
                str(row.details),
            )
            for row in evidence
        ),
        sorted(
            (*sorted((url[item_.left_id], url[item_.right_id])), item_.best_score, item_.verdict, item_.joins)
            for item_ in Pair.objects.all()
            if item_.best_score
        ),
        sorted(
            sorted(url[article] for article in cluster.memberships.values_list("article", flat=True))
            for cluster in Cluster.objects.all()
        ),
    )


def forget_runs() -> None:
    for model in (
        CrowdedArticle,
        DenseGroup,
        Membership,
        Cluster,
        Evidence,
        Pair,
        RunBlock,
        DetectionRun,
        NewspaperMonth,
        Series,
        UpToDate,
    ):
        model.objects.all().delete()


def invented(seed: int, count: int) -> list[IncomingArticle]:
    """Return articles of which many are near-copies of each other, by two newspapers, over twelve days."""
    dice = random.Random(seed)
    made = []
    for number in range(count):
        words = " ".join(dice.sample(OPENINGS, dice.choice([1, 2, 3]))).split()
        for _ in range(dice.choice([0, 0, 1, 4])):
            words[dice.randrange(len(words))] = f"otherwise{dice.randrange(30)}"
        made.append(
            IncomingArticle(
                date=datetime.date(2026, 3, 1) + datetime.timedelta(days=dice.randrange(12)),
                headline=dice.choice(["Breakwater to close for weeks", f"Notes from the coast, number {number}"]),
                url=f"https://paper.example/{dice.randrange(40)}?utm_source={number}",
                content=f"{' '.join(words)}\n\nNotice {dice.randrange(9)} was read aloud to all the members present.",
                newspaper=dice.choice(["Harbour Post", "Inland Courier"]),
            )
        )
    return made


@pytest.fixture
def dense(request) -> None:
    """Let groups of a few articles be dense, if asked."""
    if request.param:
        settings = {name: {"dense_from": 3, "kept_pairs": 1} for name in ("trigram", "stopword")}
        Profile.objects.filter(is_default=True).update(settings=settings)


def groups() -> list[list[str]]:
    url = dict(Article.objects.values_list("pk", "url"))
    return sorted(
        sorted(url[article] for article in group.members.values_list("article", flat=True))
        for group in DenseGroup.objects.all()
    )


@pytest.mark.parametrize("dense", [False, True], indirect=True)
@pytest.mark.parametrize("seed", [3, pytest.param(4, marks=pytest.mark.soak)])
def test_runs_of_what_is_new_end_where_a_run_of_all_ends(seed, dense) -> None:
    articles = invented(seed, 60)
    store_articles(articles[:25])
    find_duplicates("--passes", EVERY)
    for part in (articles[25:26], articles[26:45], articles[45:]):
        store_articles(part)
        summary = find_duplicates("--new", "--passes", EVERY)
        assert summary["said"] == ""
    step_by_step, dense_groups = rows(), groups()
    forget_runs()
    find_duplicates("--passes", EVERY)
    assert rows() == step_by_step
    assert groups() == dense_groups
    assert {step[0] for step in step_by_step[0]} >= OF_THE_INVENTED


@pytest.mark.slow
@pytest.mark.parametrize("step", ["update_clusters", "renew_questions"])
def test_a_run_that_was_killed_at_its_end_is_repaired_by_one_of_what_is_new(step, monkeypatch) -> None:
    articles = invented(9, 60)
    store_articles(articles[:40])
    find_duplicates("--passes", EVERY)
    store_articles(articles[40:50])
    with monkeypatch.context() as patched:
        patched.setattr(pipeline, step, lambda *_, **__: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            find_duplicates("--new", "--passes", EVERY)
    find_duplicates("--new", "--passes", EVERY)
    asked = all_questions()
    assert asked.stored == asked.expected
    store_articles(articles[50:])
    find_duplicates("--new", "--passes", EVERY)
    assert not ChangedArticle.objects.exists()
    repaired = rows()
    forget_runs()
    find_duplicates("--passes", EVERY)
    assert rows() == repaired


def test_a_run_with_nothing_new_keeps_clusters_questions_and_reports(store, monkeypatch) -> None:
    monkeypatch.setattr(computing, "LARGE_ARCHIVE", 1)
    one, _ = store(OPENINGS[0]), store(OPENINGS[0])
    find_duplicates("--passes=trigram")
    questions = set(OpenQuestion.objects.values_list("pk", flat=True))
    counted = dict(StoredReport.objects.values_list("report", "computed_at"))
    with monkeypatch.context() as patched:
        patched.setattr("dedup.detection.clustering.changes.rebuild_clusters", None)
        summary = find_duplicates("--passes=trigram", "--new")
    assert (summary["clusters"], summary["duplicate_articles"], summary["contradictions"]) == (1, 1, 0)
    assert set(OpenQuestion.objects.values_list("pk", flat=True)) == questions
    now = dict(StoredReport.objects.values_list("report", "computed_at"))
    assert {name for name in now if now[name] != counted[name]} == {"methods"}
    assert set(StoredReport.objects.values_list("run", flat=True)) == {summary["run"]}
    Newspaper.objects.filter(pk=one.newspaper_id).update(name="Renamed")
    find_duplicates("--passes=trigram", "--new")
    overview = StoredReport.objects.get(report="overview")
    assert overview.computed_at > now["overview"]
    StoredReport.objects.filter(report="exact").update(seconds=2.0)
    for few, waits in ((0.4, True), (0.3, False)):
        before = dict(StoredReport.objects.values_list("report", "computed_at"))
        monkeypatch.setattr(computing, "FEW_ARTICLES", few)
        store(OPENINGS[1])
        find_duplicates("--passes=trigram", "--new")
        now = dict(StoredReport.objects.values_list("report", "computed_at"))
        assert {name for name in now if now[name] == before[name]} == ({"exact"} if waits else set())


@pytest.mark.slow
@pytest.mark.parametrize("dense", [False, True], indirect=True)
@pytest.mark.parametrize("seed", [5, pytest.param(6, marks=pytest.mark.soak)])
def test_runs_from_a_day_on_end_where_a_run_of_all_ends(seed, dense) -> None:
    articles = sorted(invented(seed, 60), key=lambda each: each.date)
    day = articles[30].date
    store_articles([article for article in articles if article.date < day])
    find_duplicates("--passes", EVERY)
    store_articles([article for article in articles if article.date >= day])
    find_duplicates("--since", day.isoformat(), "--passes", EVERY)
    step_by_step, dense_groups = rows(), groups()
    forget_runs()
    find_duplicates("--passes", EVERY)
    assert rows() == step_by_step
    assert groups() == dense_groups


def test_an_article_that_changed_is_compared_anew_and_its_old_evidence_is_stale(store) -> None:
    one, other = store(OPENINGS[0] + OPENINGS[1]), store(OPENINGS[0] + OPENINGS[1])
    third = store(OPENINGS[2] + OPENINGS[3])
    find_duplicates("--passes=trigram")
    assert list(Pair.objects.values_list("left", "right")) == [(one.pk, other.pk)]
    other.normalized_text = third.normalized_text
    other.save()
    summary = find_duplicates("--passes=trigram", "--new")
    assert summary["passes"]["trigram"]["pairs"] == 1
    assert list(Pair.objects.proposed().values_list("left", "right")) == [(other.pk, third.pk)]
    assert summary["stale"] == 1


def test_what_is_not_compared_does_not_make_an_article_new(store) -> None:
    article = store()
    newest = newest_revision()
    article.external_id = "17"
    article.save(update_fields=["external_id"])
    article.refresh_from_db()
    assert article.revision == newest == newest_revision() > 0
    article.newspaper = Newspaper.objects.create(name="Inland Courier")
    article.save(update_fields=["newspaper"])
    assert newest_revision() > newest


def test_only_what_is_new_is_looked_at_and_told(store) -> None:
    for day in range(1, 29):
        store(OPENINGS[0], date=f"2026-03-{day:02}")
    assert find_duplicates("--passes=trigram")["passes"]["trigram"]["pairs"] == 27 + 26 + 25
    store(OPENINGS[0], date="2026-03-30")
    summary = find_duplicates("--passes=trigram,exact", "--new")
    assert summary["passes"]["trigram"]["pairs"] == summary["passes"]["trigram"]["verified"] == 2
    assert summary["scope"]["newer_than"].keys() == {"trigram"}
    assert re.fullmatch(r"No finished .* settings of exact: all .*\n", summary["said"])
    [mark] = RunBlock.objects.filter(run=summary["run"], pass_name="trigram")
    assert (str(mark.first_day), str(mark.last_day)) == ("2026-03-30", "2026-03-30")
    again = find_duplicates("--passes=trigram", "--new")
    assert not RunBlock.objects.filter(run=again["run"]).exists()
    assert Evidence.objects.filter(pass_name="trigram", stale=False).count() == 27 + 26 + 25 + 2


@pytest.mark.slow
@pytest.mark.parametrize(
    "between",
    [
        ["--passes=trigram", "--threshold=trigram=0.9"],
        ["--passes=trigram", "--threshold=trigram=0.9", "--since=2026-03-02"],
    ],
)
def test_after_a_run_with_other_settings_all_is_compared(store, between) -> None:
    store(OPENINGS[0] + OPENINGS[1])
    store(OPENINGS[0] + OPENINGS[1].upper() + OPENINGS[2][:60])
    find_duplicates("--passes=trigram")
    before = rows()
    assert find_duplicates(*between)["stale"] == 0
    summary = find_duplicates("--passes=trigram", "--new")
    assert summary["scope"]["newer_than"] == {}
    assert rows() == before


def test_a_run_of_a_part_is_no_ground_for_what_is_new(store) -> None:
    store(OPENINGS[0], newspaper="Harbour Post")
    store(OPENINGS[0], newspaper="Inland Courier")
    find_duplicates("--passes=exact", "--newspaper=Harbour Post")
    summary = find_duplicates("--passes=exact", "--new")
    assert (summary["scope"]["newer_than"], summary["passes"]["exact"]["pairs"]) == ({}, 1)


def test_with_nothing_new_no_pass_reads_the_store_and_a_removed_article_counts_as_new(store) -> None:
    for number in range(3):
        store(OPENINGS[0], newspaper=f"Paper {number}")
    alone = store(OPENINGS[1])
    find_duplicates("--passes", EVERY)
    before = rows()
    again = find_duplicates("--passes", EVERY, "--new")
    assert (again["passes"], again["stale"], rows()) == ({}, 0, before)
    assert set(find_duplicates("--passes", EVERY, "--new", "--newspaper=Paper 1")["passes"]) >= {"url", "sentence"}

    assert set(find_duplicates("--passes", EVERY, "--new")["passes"]) >= {"exact", "containment"}
    assert find_duplicates("--passes", EVERY, "--new")["passes"] == {}
    alone.delete()
    summary = find_duplicates("--passes", EVERY, "--new")
    assert set(summary["passes"]) == {name for name in PASSES if PASSES[name].reach is Reach.STORE}


def test_a_run_in_which_a_profile_retired_a_pass_is_no_ground_for_it_either(store) -> None:
    store(OPENINGS[0])
    store(OPENINGS[0])
    find_duplicates()
    usual = Profile.objects.get().settings
    Profile.objects.update(settings=usual | {"trigram": {"enabled": False, "retired": True}})
    find_duplicates()
    Profile.objects.update(settings=usual)
    summary = find_duplicates("--new")
    assert "trigram" not in summary["scope"]["newer_than"]
    assert "exact" in summary["scope"]["newer_than"]
    assert not Evidence.objects.filter(stale=True).exists()


def test_a_dry_run_tells_the_pairs_it_was_asked_for(store) -> None:
    for day in (1, 2, 5):
        store(OPENINGS[0], date=f"2026-03-{day:02}")
    dry = find_duplicates("--dry-run", "--passes=exact,trigram", "--since=2026-03-03")
    assert {name: numbers["pairs"] for name, numbers in dry["passes"].items()} == {
        "exact": 2,
        "trigram": 1,
    }
    stored = find_duplicates("--passes=exact,trigram", "--since=2026-03-03")
    assert {name: numbers["pairs"] for name, numbers in stored["passes"].items()} == {
        "exact": 2,
        "trigram": 1,
    }
    assert stored["pairs"] == 2
    assert Evidence.objects.filter(pass_name="exact").count() == 3


def test_a_run_over_outdated_forms_says_so(store) -> None:
    store(OPENINGS[0])
    article = store(OPENINGS[1])
    assert (find_duplicates()["outdated"], find_duplicates()["said"]) == (0, "")
    Article.objects.filter(pk=article.pk).update(normalizer_version=0)
    summary = find_duplicates()
    assert re.fullmatch(r"Articles .*: 1; run manage\.py renormalize.*\n", summary["said"])
    label, number = run_facts(DetectionRun.objects.get(pk=summary["run"]))[-1]
    assert ("outdated" in label, number) == (True, "1")


@pytest.mark.slow
@pytest.mark.parametrize("seed", [7, pytest.param(8, marks=pytest.mark.soak)])
def test_a_headline_that_turns_out_generic_ends_alike_step_by_step(seed) -> None:
    dice = random.Random(seed)
    articles = [
        IncomingArticle(
            date=datetime.date(2026, 3, 1) + datetime.timedelta(days=dice.randrange(4)),
            headline="Notes from the coast",
            url=f"https://paper.example/{number}",
            content=dice.choice(OPENINGS),
            newspaper="Harbour Post",
        )
        for number in range(20)
    ]
    found = []
    for part in (articles[:3], articles[3:5], articles[5:]):
        store_articles(part)
        found.append(find_duplicates("--new", "--passes", "title,exact")["passes"].get("title", {}).get("pairs", 0))
    step_by_step = rows()
    assert found[-1] == 0
    assert not [step for step in step_by_step[0] if step[0] == "title"]
    forget_runs()
    find_duplicates("--passes", "title,exact")
    assert rows() == step_by_step
