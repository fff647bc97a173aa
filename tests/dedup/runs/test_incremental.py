"""Runs of a part: what is new, or from a day on, gives with what was there what one run of all would give."""

import datetime
import random
import re
from collections.abc import Callable

import pytest

from articles.models import Article, Newspaper
from articles.storage.incoming import IncomingArticle
from articles.storage.ingest import store_articles
from dedup.detection.clustering.questions import all_questions
from dedup.detection.passes import PASSES
from dedup.detection.passes.base import Reach
from dedup.detection.runs import pipeline
from dedup.detection.runs.facts import run_facts
from dedup.models import ChangedArticle, DetectionRun, Evidence, OpenQuestion, Pair, Profile, RunBlock, StoredReport
from dedup.reports import computing
from tests.dedup.runs.running import find_duplicates, forget_runs, live_rows, pairs_by_pass

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


def as_they_come(articles: list[IncomingArticle]) -> None:
    """Find duplicates of the first articles, then of each further part alone."""
    store_articles(articles[:25])
    find_duplicates("--passes", EVERY)
    for part in (articles[25:26], articles[26:45], articles[45:]):
        store_articles(part)
        assert find_duplicates("--new", "--passes", EVERY)["said"] == ""


def from_a_day_on(articles: list[IncomingArticle]) -> None:
    articles.sort(key=lambda article: article.date)
    day = articles[30].date
    store_articles([article for article in articles if article.date < day])
    find_duplicates("--passes", EVERY)
    store_articles([article for article in articles if article.date >= day])
    find_duplicates("--since", day.isoformat(), "--passes", EVERY)


def killed_at(step: str) -> Callable[[list[IncomingArticle]], None]:
    """Return what ends a run of new articles at one of its last steps, and repairs it with the next."""

    def run(articles: list[IncomingArticle]) -> None:
        store_articles(articles[:40])
        find_duplicates("--passes", EVERY)
        store_articles(articles[40:50])
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(pipeline, step, lambda *_, **__: 1 / 0)
            with pytest.raises(ZeroDivisionError):
                find_duplicates("--new", "--passes", EVERY)
        find_duplicates("--new", "--passes", EVERY)
        asked = all_questions()
        assert asked.stored == asked.expected
        store_articles(articles[50:])
        find_duplicates("--new", "--passes", EVERY)
        assert not ChangedArticle.objects.exists()

    return run


WAYS = [
    pytest.param(as_they_come, False, 3, marks=pytest.mark.slow),
    pytest.param(as_they_come, True, 3),
    pytest.param(killed_at("update_clusters"), False, 9, marks=pytest.mark.slow),
    pytest.param(killed_at("renew_questions"), False, 9, marks=pytest.mark.slow),
    *(pytest.param(from_a_day_on, dense, 5, marks=pytest.mark.slow) for dense in (False, True)),
    *(pytest.param(as_they_come, dense, 4, marks=pytest.mark.soak) for dense in (False, True)),
    *(pytest.param(from_a_day_on, dense, 6, marks=pytest.mark.soak) for dense in (False, True)),
]


@pytest.mark.parametrize(("way", "dense", "seed"), WAYS)
def test_runs_of_parts_end_where_a_run_of_all_ends(way, dense, seed) -> None:
    if dense:  # groups of a few articles
        settings = {name: {"dense_from": 3, "kept_pairs": 1} for name in ("trigram", "stopword")}
        Profile.objects.filter(is_default=True).update(settings=settings)
    way(invented(seed, 60))
    by_parts = live_rows()
    forget_runs()
    find_duplicates("--passes", EVERY)
    assert live_rows() == by_parts
    assert bool(by_parts["groups"]) is dense
    if way is as_they_come:
        assert {row[2] for row in by_parts["evidence"]} >= OF_THE_INVENTED


def test_a_run_with_nothing_new_keeps_clusters_questions_and_reports(store, monkeypatch) -> None:
    monkeypatch.setattr(computing, "LARGE", 1)
    one, _ = store(OPENINGS[0]), store(OPENINGS[0])
    find_duplicates("--passes=trigram")
    questions = set(OpenQuestion.objects.values_list("pk", flat=True))
    counted = dict(StoredReport.objects.values_list("report", "computed_at"))
    with monkeypatch.context() as patched:
        patched.setattr("dedup.detection.clustering.rebuild.rebuild_clusters", None)
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
    before = live_rows()
    assert find_duplicates(*between)["stale"] == 0
    summary = find_duplicates("--passes=trigram", "--new")
    assert summary["scope"]["newer_than"] == {}
    assert live_rows() == before


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
    before = live_rows()
    again = find_duplicates("--passes", EVERY, "--new")
    assert (again["passes"], again["stale"], live_rows()) == ({}, 0, before)
    assert set(find_duplicates("--passes", EVERY, "--new", "--newspaper=Paper 1")["passes"]) >= {"url", "sentence"}

    assert set(find_duplicates("--passes", EVERY, "--new")["passes"]) >= {"exact", "containment"}
    assert find_duplicates("--passes", EVERY, "--new")["passes"] == {}
    alone.delete()
    summary = find_duplicates("--passes", EVERY, "--new")
    assert set(summary["passes"]) == {name for name in PASSES if PASSES[name].reach is not Reach.PAIR}


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
    stored = find_duplicates("--passes=exact,trigram", "--since=2026-03-03")
    assert pairs_by_pass(dry) == pairs_by_pass(stored) == {"exact": 2, "trigram": 1}
    assert stored["pairs"] == 2
    assert Evidence.objects.filter(pass_name="exact").count() == 3


def test_a_run_over_outdated_forms_says_so(store) -> None:
    store(OPENINGS[0])
    article = store(OPENINGS[1])
    assert (find_duplicates()["outdated"], find_duplicates()["said"]) == (0, "")
    # Of another version. A run renews by itself what was only marked.
    Article.objects.filter(pk=article.pk).update(normalizer_version=1)
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
    step_by_step = live_rows()
    assert found[-1] == 0
    assert "title" not in {row[2] for row in step_by_step["evidence"]}
    forget_runs()
    find_duplicates("--passes", "title,exact")
    assert live_rows() == step_by_step


def test_what_is_not_compared_does_not_make_an_article_new(store) -> None:
    article = store()
    Article.objects.update(external_id="17")
    assert Article.objects.get().revision == article.revision
