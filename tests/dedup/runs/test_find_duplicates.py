"""`manage.py find_duplicates`, as a command."""

import json

import psycopg
import pytest
from django.core.management import CommandError

from articles.storage.locks import Lock
from dedup.declarations import settings_of
from dedup.detection.passes import PASSES
from dedup.detection.passes.trigram import TrigramConfig
from dedup.detection.runs import blocks, evidence, pipeline, scope
from dedup.models import Cluster, DetectionRun, Evidence, Membership, Pair, Profile, RunBlock
from tests.databases import database_url
from tests.dedup.runs.running import EVERYTHING, WIRE, command, live_rows, pairs_by_pass

pytestmark = pytest.mark.django_db

OTHER = (
    "A travelling exhibition of two hundred glass negatives opens in the old customs house at Carrack, where visitors "
    "can look at the fairs, regattas and floods of a century ago through restored magic lanterns."
)


def find_duplicates(*options: str) -> str:
    return command("find_duplicates", *options)[0]


def without_seconds(pairs: list[tuple[str, object]]) -> dict:
    return {name: value for name, value in pairs if name != "seconds"}


NAMES = ", ".join(PASSES)
# What these tests count is found by four passes; the others are held to the contract of every pass.
OTHERS = {name: {"enabled": False} for name in PASSES if name not in ("url", "title", "exact", "trigram")}


@pytest.fixture
def corpus(store):
    """A wire story in two papers with an edited copy, the next day's reprint, and something else."""
    Profile.objects.update(settings=OTHERS)
    return {
        "first": store(WIRE, newspaper="Harbour Post", headline="Northern breakwater to close"),
        "copy": store(WIRE.upper(), newspaper="Inland Courier", headline="Breakwater closes"),
        "edited": store(WIRE + " Ferries are not affected.", date="2026-03-03", headline="Breakwater works begin"),
        "far": store(WIRE, date="2026-03-20", headline="From the archive"),
        "other": store(OTHER, headline="Glass negatives on show"),
    }


def test_a_run_prints_a_table_an_object_or_lines_and_running_again_changes_nothing(corpus) -> None:
    printed = find_duplicates().replace(" ", "")
    for line in (
        "│Sametext│3│",
        "│Similartext│3│",
        "│All,eachpaironce│5│",
        "Articlescompared│5│",
        "Clusters│1│",
        "Articlesthatareduplicates│3│",
        "│60.0%│",
    ):
        assert line in printed
    before = live_rows()
    [cluster] = Cluster.objects.all()
    assert set(cluster.memberships.values_list("article", flat=True)) == {
        corpus[name].pk for name in ("first", "copy", "edited", "far")
    }
    assert (cluster.kept, cluster.size, cluster.state) == (corpus["first"], 4, "proposed")
    assert (str(cluster.first_day), str(cluster.last_day)) == ("2026-03-02", "2026-03-20")

    summary = json.loads(find_duplicates("--format", "json"))
    assert (summary["state"], pairs_by_pass(summary)) == ("done", {"url": 0, "title": 0, "exact": 3, "trigram": 3})
    assert (summary["articles"], summary["pairs"], summary["clusters"], summary["duplicate_articles"]) == (5, 5, 1, 3)
    assert (summary["scope"], summary["config"]["trigram"]["threshold"]) == (EVERYTHING, 0.6)

    lines = [json.loads(line) for line in find_duplicates("--format", "jsonl").splitlines()]
    assert [(line["left"]["id"], line["right"]["id"]) for line in lines] == sorted(
        Pair.objects.values_list("left", "right")
    )
    [first] = [line for line in lines if line["right"]["id"] == corpus["copy"].pk]
    assert first["scores"] == {"exact": 1.0, "trigram": 1.0}
    assert first["left"] == {
        "id": corpus["first"].pk,
        "external_id": "",
        "newspaper": "Harbour Post",
        "date": "2026-03-02",
        "headline": "Northern breakwater to close",
        "url": corpus["first"].url,
    }
    assert (live_rows(), list(Cluster.objects.all())) == (before, [cluster])
    assert DetectionRun.objects.filter(state="done").count() == 3


def test_a_dry_run_stores_nothing_and_counts_the_same(corpus) -> None:
    dry = json.loads(find_duplicates("--dry-run", "--format", "json"), object_pairs_hook=without_seconds)
    lines = find_duplicates("--dry-run", "--format", "jsonl").splitlines()
    table = find_duplicates("--dry-run")
    assert (DetectionRun.objects.count(), Pair.objects.count(), Cluster.objects.count()) == (0, 0, 0)
    run = json.loads(find_duplicates("--format", "json"), object_pairs_hook=without_seconds)
    assert pairs_by_pass(dry) == {"url": 0, "title": 0, "exact": 3, "trigram": 3}
    assert (list(dry), dry["run"], dry["state"]) == (list(run), None, "dry run")
    of_the_store = [name for name, value in dry.items() if value is None and name != "run"]
    assert of_the_store == [
        "stale", "verdicts", "clusters", "clustered_articles", "duplicate_articles", "duplicate_share",
        "contradictions",
    ]  # fmt: skip
    alike = dry.keys() - {"run", "state", "phases", *of_the_store}
    assert {name: dry[name] for name in alike} == {name: run[name] for name in alike}
    assert list(dry["config"]) == list(run["config"]) == list(PASSES)
    assert list(dry["config"]["trigram"]) == list(settings_of(TrigramConfig))
    assert len(lines) == 5
    assert "Dry run, nothing stored" in table


def test_evidence_that_a_newer_run_no_longer_finds_is_stale_and_comes_back(corpus) -> None:
    find_duplicates()
    edited = Evidence.objects.filter(pass_name="trigram", score__lt=1)
    assert edited.count() == 2
    Profile.objects.update(settings=OTHERS | {"trigram": {"retired": True}})
    find_duplicates("--threshold", "trigram=0.99")
    assert list(edited.values_list("stale", flat=True)) == [True, True]
    assert list(Pair.objects.filter(evidence__in=edited).values_list("best_score", flat=True)) == [0.0, 0.0]
    assert Pair.objects.count() == 5
    assert Membership.objects.count() == 3
    find_duplicates()
    assert not Evidence.objects.filter(stale=True).exists()
    assert Membership.objects.count() == 4


def test_a_run_says_nothing_about_passes_and_articles_outside_its_scope(corpus) -> None:
    find_duplicates()
    before = live_rows()
    find_duplicates("--passes", "url,title", "--since", "2026-03-03")
    find_duplicates("--newspaper", "Inland Courier")
    assert live_rows() == before


def test_a_pass_that_a_profile_retires_no_longer_holds_clusters_together(corpus) -> None:
    find_duplicates()
    Profile.objects.update(settings=OTHERS | {"exact": {"enabled": False, "retired": True}})
    find_duplicates()
    assert set(Evidence.objects.filter(pass_name="exact").values_list("stale", flat=True)) == {True}
    assert corpus["far"].pk not in Membership.objects.values_list("article", flat=True)
    find_duplicates("--passes", "exact")
    assert not Evidence.objects.filter(stale=True).exists()
    assert Membership.objects.count() == 4


def test_options_reach_the_passes_and_the_run(corpus) -> None:
    summary = json.loads(
        find_duplicates(
            "--passes=exact,trigram", "--since=2026-03-01", "--until=2026-03-04", "--newspaper=Harbour Post",
            "--day-window=1", "--prefix=60", "--threshold=trigram=0.9", "--format=json",
        )
    )  # fmt: skip
    days = {"since": "2026-03-01", "until": "2026-03-04"}
    assert summary["scope"] == {
        **EVERYTHING, **days, "newspapers": ["Harbour Post"], "passes": ["exact", "trigram"],
    }  # fmt: skip
    trigram = summary["config"]["trigram"]
    assert (trigram["day_window"], trigram["prefix"], trigram["threshold"]) == (1, 60, 0.9)
    assert summary["config"]["url"]["enabled"] is False
    assert (summary["articles"], pairs_by_pass(summary)) == (3, {"exact": 0, "trigram": 1})


def test_options_may_name_the_pass_whose_setting_they_change_and_win_over_the_profile(corpus) -> None:
    options = ["--passes=trigram,minhash", "--day-window=9", "--day-window=trigram=1", "--prefix=minhash=90"]
    config = json.loads(find_duplicates(*options, "--format=json"))["config"]
    assert {name: (config[name]["day_window"], config[name]["prefix"]) for name in ("trigram", "minhash")} == {
        "trigram": (1, 1000), "minhash": (9, 90)
    }  # fmt: skip
    config = json.loads(find_duplicates("--passes=exact,minhash", "--threshold=0.9", "--format=json"))["config"]
    assert (config["minhash"]["threshold"], config["trigram"]["threshold"]) == (0.9, 0.6)
    # A profile gives the settings that no option gives.
    Profile.objects.create(name="strict", settings={"trigram": {"threshold": 0.95}, "exact": {"enabled": False}})
    summary = json.loads(find_duplicates("--profile", "strict", "--threshold", "trigram=0.9", "--format", "json"))
    assert summary["config"]["trigram"]["threshold"] == 0.9
    assert summary["config"]["exact"]["enabled"] is False
    assert DetectionRun.objects.latest("pk").profile_name == "strict"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--passes", "url,trigramm"], rf"'trigramm'; .*{NAMES}"),
        (["--threshold", "trigram"], r"--threshold 'trigram' .*PASS=SCORE"),
        (["--threshold", "trigram=high"], r"--threshold 'trigram=high' .*PASS=SCORE"),
        (["--threshold", "trigram=7"], r"trigram: threshold is 7\.0; .*0\.3 .*\b1\b"),
        (["--threshold=0.7"], r"--threshold 0\.7 .*PASS=0\.7 .*trigram, containment"),
        (["--passes=exact", "--threshold=0.7"], r"\bthreshold; .*exact"),
        (["--prefix=trigram=x"], r"--prefix 'trigram=x' .*PASS=N"),
        (["--day-window=trigram=500"], r"trigram: day_window is 500; .*\b0 .*365"),
        (["--threshold=url=0.7"], r"'url' .*threshold; .*trigram, minhash, stopword, sentence"),
        (["--passes=exact", "--day-window=5"], r"\bday_window; .*exact"),
        (["--passes=exact", "--threshold=trigram=0.5"], r"'trigram' .*exact"),
        (["--day-window", "-1"], r"numbers: day_window is -1; .*\b0 .*365"),
        (["--prefix", "0"], r"trigram: prefix is 0; .*\b50 .*100000"),
        (["--profile", "none such"], r"'none such'; .*default"),
        (["--newspaper", "Nobody's News"], r"\"Nobody's News\"; .*none"),
        (["--since=2026-03-05", "--until=2026-03-01"], r"2026-03-05 .*2026-03-01; "),
        (["--passes", ""], rf"''; .*{NAMES}"),
    ],
)  # fmt: skip
def test_what_cannot_be_used_is_named_with_the_remedy(options: list[str], message: str) -> None:
    with pytest.raises(CommandError, match=message) as raised:
        find_duplicates(*options)
    assert raised.value.returncode == 2


def test_a_profile_with_every_pass_off_is_refused() -> None:
    off = {name: {"enabled": False} for name in PASSES}
    Profile.objects.create(name="off", settings=off)
    with pytest.raises(CommandError, match="no pass is enabled; enable one in the profile or name some with --passes"):
        find_duplicates("--profile", "off")


def test_an_empty_store_is_no_error() -> None:
    summary = json.loads(find_duplicates("--format", "json"))
    assert (summary["articles"], summary["pairs"], summary["clusters"], summary["duplicate_share"]) == (0, 0, 0, 0.0)


def test_another_active_run_is_exit_code_3(corpus) -> None:
    with psycopg.connect(database_url(), application_name="newsdedup db_worker") as other:
        other.execute("SELECT pg_advisory_lock(%s)", [Lock.RUN])
        holder = rf"newsdedup db_worker, database process {other.info.backend_pid}, connected since [0-9: -]+ UTC"
        refused = rf"another run is active on this database \({holder}\); wait for it or stop it"
        with pytest.raises(CommandError, match=refused) as raised:
            find_duplicates()
    assert raised.value.returncode == 3
    assert json.loads(find_duplicates("--format", "json"))["state"] == "done"


def test_an_error_is_stored_with_the_run_and_the_next_one_goes_on(corpus, monkeypatch) -> None:
    def fail(*_args: object) -> None:
        raise RuntimeError("the disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(pipeline, "mark_stale", fail)
        with pytest.raises(RuntimeError, match="the disk is full"):
            find_duplicates()
    run = DetectionRun.objects.get()
    assert (run.state, run.error) == ("failed", "RuntimeError: the disk is full")
    marks = set(run.blocks.values_list("pk", flat=True))
    find_duplicates()
    run.refresh_from_db()
    assert (run.state, run.error) == ("done", "")
    assert set(run.blocks.values_list("pk", flat=True)) == marks
    assert Membership.objects.count() == 4


def test_blocks_that_are_done_are_not_repeated(corpus, monkeypatch) -> None:
    monkeypatch.setattr(scope, "BLOCK_ARTICLES", 1)
    written: list[str] = []

    def interrupted(run_id, name, candidates, window, tally):
        if len(written) == 4:
            raise KeyboardInterrupt
        written.append(f"{name} {window.first_day}")
        return evidence.write_block(run_id, name, candidates, window, tally)

    monkeypatch.setattr(blocks, "write_block", interrupted)
    with pytest.raises(SystemExit) as ended:
        find_duplicates()
    monkeypatch.setattr(blocks, "write_block", evidence.write_block)
    assert ended.value.code == 130
    run = DetectionRun.objects.get()
    assert run.state == "interrupted"
    assert written == ["url 2026-03-02", "title 2026-03-02", "exact 2026-03-02", "trigram 2026-03-02"]
    find_duplicates()
    run.refresh_from_db()
    assert run.state == "done"
    assert RunBlock.objects.count() == 1 + 1 + 1 + 3
    assert list(Cluster.objects.values_list("size", flat=True)) == [4]


def test_a_stopped_run_is_not_taken_up_when_articles_have_come(corpus, store, monkeypatch) -> None:
    DetectionRun.objects.create(config={}, scope={}, state="running")
    find_duplicates()
    first, second = DetectionRun.objects.order_by("pk")
    assert (first.state, "killed" in first.error) == ("interrupted", True)
    second.state = "interrupted"
    second.save()
    store(WIRE, newspaper="Third Paper")
    find_duplicates()
    assert DetectionRun.objects.count() == 3
    assert list(Cluster.objects.values_list("size", flat=True)) == [5]
