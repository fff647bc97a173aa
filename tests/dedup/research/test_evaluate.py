"""`manage.py evaluate`, as a command: what it measures, what it refuses, and that it leaves nothing."""

import gzip
import json
import os
import re

import pytest
from django.core.management import CommandError
from django.db import connection

from articles.management.commands import import_articles
from articles.models import Article, ArticleURL
from articles.storage.incoming import SeenURL
from articles.storage.ingest import attach_urls
from dedup.detection.passes import PASSES
from dedup.detection.runs import blocks, judging
from dedup.detection.verdicts.model import default_model, dump_model
from dedup.models import DetectionRun, FittedModel, Pair, Profile
from dedup.research import apart
from tests.articles.rows import json_lines
from tests.commands import called
from tests.dedup.real_news import DATA
from tests.dedup.research.small_corpus import (
    ARTICLES,
    LABELS,
    TRAM,
    WIRE,
    evaluate,
    measured,
    rates,
    refused,
    schemas,
    store_and_run,
)

# A schema cannot be used by half a transaction.
# In one test process, where the tables of scratch schemas are migrated once.
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.xdist_group("scratch")]


def test_verdicts_and_passes_are_measured_against_the_labels_and_leave_no_trace(files, store) -> None:
    stored = store(WIRE)
    before = dict(os.environ)
    result = measured(*files)
    assert list(Article.objects.values_list("pk", flat=True)) == [stored.pk]
    assert (DetectionRun.objects.count(), Pair.objects.count(), schemas()) == (0, 0, [])
    assert dict(os.environ) == before
    assert "search_path" not in str(connection.settings_dict["OPTIONS"])
    _check_error(result)
    verdict = result["verdict"]
    assert {name: verdict[name] for name in ("pairs", "duplicates", "called", "precision", "recall", "f1")} == {
        "pairs": 5,
        "duplicates": 2,
        "called": 1,
        "precision": 1.0,
        "recall": 0.75,
        "f1": 0.8571,
    }
    assert verdict["templates_called_duplicates"] == 0.0
    assert verdict["precision_interval"] == [0.0, 1.0]  # of some resamples nothing is called
    trigram = result["passes"]["trigram"]
    assert (trigram["precision"], trigram["recall"], trigram["templates_called_duplicates"]) == (0.2308, 0.75, 1.0)
    assert result["passes"]["exact"]["precision"] == 1.0
    assert result["passes"]["url"]["precision"] is None
    assert "stopword" not in result["passes"]
    assert result["within_3_days"]["verdict"]["pairs"] == 4
    _check_curves(result)
    assert result["strata"]["cross"]["recall"] == 0.75
    assert (result["strata"]["same"]["f1"], result["strata"]["same"]["pairs"]) == (None, 3)
    assert result["labels"] == {
        "read": 6,
        "bad": 0,
        "not_stored": 0,
        "evaluated": 6,
        "by_label": {"D": 2, "V": 1, "T": 2, "E": 0, "N": 1},
        "proposed": {"D": 1, "V": 0, "T": 2, "E": 0, "N": 0},
        "within_3_days": 5,
        "problems": [],
    }


def _check_curves(result: dict) -> None:
    """Each pass has its numbers at its own threshold, more pairs below it, and a curve although it was off."""
    passes = result["thresholds"]["passes"]
    assert list(passes) == list(PASSES)
    for name, numbers in result["passes"].items():
        (own,) = (row for row in passes[name]["all"] if row["threshold"] == passes[name]["used"])
        assert (own["called"], own["recall_interval"]) == (numbers["called"], numbers["recall_interval"])
    trigram = passes["trigram"]["all"]
    assert [row["threshold"] for row in trigram[:2]] == [0.3, 0.35]
    assert trigram[0]["called"] >= trigram[-1]["called"] == 1
    assert (passes["minhash"]["enabled"], passes["minhash"]["all"][-1]["precision"]) == (False, 1.0)
    assert (passes["exact"]["all"][0]["threshold"], len(passes["exact"]["all"])) == (1.0, 1)
    verdict = result["thresholds"]["verdict"]
    (own,) = (row for row in verdict["all"] if row["threshold"] == verdict["used"])
    assert (own["called"], own["f1"]) == (result["verdict"]["called"], result["verdict"]["f1"])


def _check_error(result: dict) -> None:
    """The error is listed with what is known of it."""
    (error,) = result["errors"]
    assert error == {
        "kind": "missed duplicate",
        "file": "labels.jsonl",
        "line": 4,
        "label": "D",
        "weight": 1.0,
        "stratum": "cross",
        "days": 2,
        "articles": [
            {"external_id": given["id"], **{name: given[name] for name in ("newspaper", "date", "headline", "url")}}
            for given in ARTICLES[2:4]
        ],
        "verdict": None,
        "probability": None,
        "duplicate_probability": None,
        "passes": [],
        "reasons": [],
    }


def test_the_text_has_the_tables_and_the_errors(files) -> None:
    printed, said = evaluate(*files)
    assert "6 labelled pairs: 2 D, 1 V, 2 T, 0 E, 1 N." in printed
    assert "11 articles of articles.jsonl" in printed
    assert "At most 3 days apart" in printed
    assert "All labelled pairs" in printed
    assert "│ cross   │     2 │          2 │     1.000 │  0.750 │ 0.857 │" in printed
    assert "The pass “Similar text, any time”, which did not take part in the run" in printed
    assert "> 0.6" in printed
    assert "0 false and 1 missed duplicates" in printed
    assert "missed duplicate (line 4, label D, weight 1): no pass proposed it\n" in printed
    assert "  2026-03-02  Harbour Post: Glass negatives on show\n" in printed
    assert "11 articles read: 11 stored" in said


@pytest.mark.slow
def test_worker_processes_work_in_the_schema_too(files, monkeypatch) -> None:
    alone = measured(*files)
    monkeypatch.setattr(blocks, "ARTICLES_PER_WORKER", 1)
    monkeypatch.setattr(judging, "PAIRS_PER_WORKER", 1)
    together = measured(*files, "--workers=2")
    assert alone["verdict"] == together["verdict"]
    assert alone["passes"] == together["passes"]
    assert (Article.objects.count(), schemas()) == (0, [])


def test_passes_may_be_chosen_and_the_profile_and_the_model_are_those_of_the_installation(files) -> None:
    assert list(measured(*files, "--passes=trigram,title")["passes"]) == ["title", "trigram"]
    Profile.objects.create(name="exact alone", settings={name: {"enabled": name == "exact"} for name in PASSES})
    content = json.loads(dump_model(default_model()))
    FittedModel.objects.create(content=json.dumps(content | {"threshold": 1.0}), decisions=40, in_use=True)
    result = measured(*files, "--profile=exact alone")
    assert (list(result["passes"]), result["run"]["profile"]) == (["exact"], "exact alone")
    assert result["passes"]["exact"]["called"] == 1
    assert result["verdict"]["called"] == 0  # nothing is as probable as that


@pytest.mark.parametrize(
    ("module", "step", "end"),
    [
        (import_articles, "import_rows", KeyboardInterrupt),
        pytest.param(apart, "run_detection", KeyboardInterrupt, marks=pytest.mark.slow),
        pytest.param(apart, "run_detection", RuntimeError, marks=pytest.mark.slow),
    ],
)
def test_the_schema_goes_however_the_import_or_the_run_ends(files, monkeypatch, module, step, end) -> None:
    def ended(*_args, **_options) -> None:
        assert len(schemas()) == 1
        raise end("here")

    monkeypatch.setattr(module, step, ended)
    with pytest.raises(SystemExit if end is KeyboardInterrupt else end) as raised:
        evaluate(*files)
    assert end is RuntimeError or raised.value.code == 130
    assert schemas() == []


@pytest.mark.slow
def test_schemas_of_killed_processes_are_dropped_and_those_in_use_are_not(files) -> None:
    user = connection.copy()
    try:
        with user.cursor() as cursor:
            cursor.execute("CREATE SCHEMA newsdedup_evaluate_1 CREATE TABLE articles_article (id int)")
            cursor.execute("CREATE SCHEMA newsdedup_evaluate_2")
            cursor.execute("SELECT pg_advisory_lock(5112004, 2)")
        measured(*files)
        assert schemas() == ["newsdedup_evaluate_2"]
    finally:
        user.close()
    measured(*files)
    assert schemas() == []


def test_a_role_that_may_make_no_schema_is_told_what_to_do(files, monkeypatch) -> None:
    with connection.cursor() as cursor:
        cursor.execute("CREATE ROLE evaluate_reader")
    try:
        options = {**connection.settings_dict["OPTIONS"], "assume_role": "evaluate_reader"}
        monkeypatch.setitem(connection.settings_dict, "OPTIONS", options)
        with pytest.raises(CommandError) as raised:
            evaluate(*files)
    finally:
        with connection.cursor() as cursor:
            cursor.execute("DROP ROLE evaluate_reader")
    database = connection.settings_dict["NAME"]
    assert f'GRANT CREATE ON DATABASE "{database}" TO "evaluate_reader"' in str(raised.value)
    assert "without --articles" in str(raised.value)


# ---- what is stored --------------------------------------------------------------------------------


@pytest.fixture
def stored(store) -> dict[str, Article]:
    return store_and_run(store)


def test_what_is_stored_is_measured_without_a_file_of_articles(stored, files) -> None:
    result = measured(files[1])
    run = DetectionRun.objects.get()
    assert (result["run"]["number"], result["run"]["articles"], result["run"]["pairs"]) == (run.pk, 10, 16)
    assert re.search(rf"\brun {run.pk}\b.* {run.finished_at:%Y-%m-%d %H:%M} UTC", result["about"])
    assert (result["verdict"]["precision"], result["verdict"]["recall"]) == (1.0, 0.75)
    reason = "no stored article has the id 'n20'; import it, or correct the label"
    assert result["labels"]["problems"] == [{"line": 6, "reason": reason, "stored": False, "file": "labels.jsonl"}]
    assert (result["labels"]["not_stored"], result["labels"]["bad"], result["labels"]["evaluated"]) == (1, 0, 5)


def test_articles_are_found_by_any_url_they_were_seen_under(stored, tmp_path) -> None:
    attach_urls(
        [SeenURL("https://feeds.example/breakwater", ArticleURL.Kind.FEED)], known_as="https://harbour.example/1"
    )
    labels = tmp_path / "labels.csv"
    labels.write_text("url_a;url_b;label\nhttps://inland.example/2;https://feeds.example/breakwater;d\n")
    result = measured(f"--labels={labels}")
    assert (result["verdict"]["pairs"], result["verdict"]["called"], result["errors"]) == (1, 1, [])


def test_rows_that_do_not_count_are_told_with_line_value_and_remedy(stored, store, tmp_path) -> None:
    store(TRAM + " Again.", external_id="n4", newspaper="Coast Echo")
    labels = tmp_path / "labels.jsonl"
    rows = [
        {"a": "n1", "b": "n2", "label": "X"},
        {"a": "n2", "b": "n1", "label": "D"},
        {"a": "n1", "b": "n2", "label": "T"},
        {"a": "n1", "b": "n4", "label": "N"},
        {"a": "n1", "b": "n1", "label": "D"},
        {"a": "n1", "b": "gone", "label": "D"},
    ]
    labels.write_bytes(json_lines(*rows))
    result = measured(f"--labels={labels}")
    problems = result["labels"]["problems"]
    assert [problem["line"] for problem in problems] == [1, 3, 4, 5, 6]
    for problem, reason in zip(
        problems,
        (
            r"label is 'X'; .*D, V, T, E, N",
            r"line 2 .*D; ",
            r"2 stored articles .*'n4'; .*URL",
            rf"stored article.* {stored['n1'].pk}; ",
            r"no stored article .*'gone'; import",
        ),
        strict=True,
    ):
        assert re.search(reason, problem["reason"])
    assert (result["labels"]["read"], result["labels"]["bad"], result["labels"]["not_stored"]) == (6, 3, 2)
    _, said = evaluate(f"--labels={labels}")
    assert said == "".join(f"line {problem['line']}: {problem['reason']}\n" for problem in result["labels"]["problems"])


@pytest.mark.parametrize(
    ("other", "reason"),
    [
        ({"a": "n3", "b": "n9", "label": "D"}, "label more pairs"),
        ({"a": "n2", "b": "n6", "label": "T"}, "too few days; label pairs"),
    ],
)
def test_too_few_labels_allow_no_cross_validation(stored, tmp_path, other, reason) -> None:
    labels = tmp_path / "labels.jsonl"
    labels.write_bytes(json_lines(LABELS[0], other))
    crossed = measured(f"--labels={labels}")["cross_validated"]
    assert (crossed["verdict"], crossed["within_3_days"], crossed["folds"]) == (None, None, 0)
    assert re.search(reason, crossed["reason"])
    assert f"No cross-validation: {crossed['reason']}." in evaluate(f"--labels={labels}")[0]
    assert measured(f"--labels={labels}", "--no-cross-validate")["cross_validated"] is None


def test_cross_validation_judges_by_models_of_other_dates(store, tmp_path) -> None:
    labels = []
    for day in range(1, 9):
        for number, paper in enumerate(("Harbour Post", "Inland Courier")):
            text = (
                f"{WIRE} Berth {day} of quay {'ABCDEFGH'[day - 1]} stays open to the boats of Mr {'XYZUVWST'[day - 1]}."
            )
            store(text, newspaper=paper, date=f"2026-0{day}-02", headline="Closed", external_id=f"d{day}{number}")
        labels.append({"a": f"d{day}0", "b": f"d{day}1", "label": "D"})
        for number in range(2):
            listing = rates(number, day + number)
            named = {"newspaper": "Inland Courier", "headline": listing["headline"]}
            store(listing["content"], date=f"2026-0{day}-{11 + number}", external_id=f"t{day}{number}", **named)
        labels.append({"a": f"t{day}0", "b": f"t{day}1", "label": "T"})
    called("find_duplicates", "--no-progress", "--workers=1")
    path = tmp_path / "labels.jsonl"
    path.write_bytes(json_lines(*labels))
    crossed = measured(f"--labels={path}")["cross_validated"]
    assert crossed["folds"] == 6
    assert crossed["verdict"] == crossed["within_3_days"]
    assert {name: crossed["verdict"][name] for name in ("pairs", "precision", "recall", "f1")} == {
        "pairs": 16,
        "precision": 1.0,
        "recall": 1.0,
        "f1": 1.0,
    }


# ---- clusters --------------------------------------------------------------------------------------


@pytest.mark.slow
def test_clusters_are_compared_with_those_of_a_file(stored, files, tmp_path) -> None:
    known = tmp_path / "known.csv"
    known.write_text("ID;URL;Cluster\nn1;;wire\n;https://inland.example/2;wire\nn3;;wire\nn4;;\nn6;;\nn1;;b\nn99;;b\n")
    result = measured(f"--clusters={known}")
    numbers = result["clusters"]
    reasons = [problem["reason"] for problem in numbers.pop("problems")]
    assert reasons == [
        "the id 'n1' is in the cluster 'wire' too; leave it in one cluster",
        "no stored article has the id 'n99'; import it, or correct the label",
    ]
    assert numbers == {
        "articles": 5,
        "not_stored": 1,
        "bad": 1,
        "clusters": 1,
        "clusters_in_file": 1,
        "pairs": 1,
        "pairs_in_file": 3,
        "pairs_in_both": 1,
        "pairwise": {"precision": 1.0, "recall": 0.3333, "f1": 0.5},
        "adjusted_rand_index": 0.4118,  # (1 - 3/10) / (2 - 3/10)
        "b_cubed": {"precision": 1.0, "recall": 0.7333, "f1": 0.8462},  # recall: (2/3 + 2/3 + 1/3 + 1 + 1) / 5
    }
    printed, said = evaluate(f"--clusters={known}")
    assert "5 articles of the file are stored, 1 are not." in printed
    assert "│ Adjusted Rand index │           │        │       │ 0.412 │" in printed
    assert "line 7: the id 'n1' is in the cluster" in said
    apart = measured(files[0], f"--clusters={known}")
    assert {**apart["clusters"], "problems": []} == {**numbers, "problems": []}
    assert apart["run"]["number"] is None
    known.write_text("id,cluster\nn77,a\n")
    assert refused(f"--clusters={known}").startswith(f"{known} names no stored article, for example line 2: no stored")
    assert refused(files[1], f"--clusters={known}").startswith("--clusters is compared alone; ")


# ---- options that are refused ----------------------------------------------------------------------


def test_options_and_files_that_cannot_be_used_are_refused(files, tmp_path) -> None:
    labels, empty = files[1], tmp_path / "empty.csv"
    empty.write_text("a,b,label\n")
    assert re.search(r"no run .*manage\.py find_duplicates.*--articles", refused(labels))
    assert re.search(r"--profile, --passes and --boilerplate .*; .*--articles", refused(labels, "--passes=trigram"))
    assert refused(*files, "--profile=night") == "no profile is named 'night'; known profiles: default."
    assert refused(*files, "--passes=tri").startswith("there is no pass 'tri'; the passes are url, ")
    for missing in ("none.jsonl", "none"):
        with pytest.raises(CommandError, match=f"{missing} cannot be opened: No such file or directory") as raised:
            evaluate(files[0], f"--labels={tmp_path}/{missing}")
        assert raised.value.returncode == 1
    assert refused(files[0], f"--labels={empty}") == f"{empty} has no labelled pair: the file is empty."
    with pytest.raises(CommandError, match=r"none\.jsonl cannot be opened: No such file or directory;"):
        evaluate(f"--articles={tmp_path}/none.jsonl", labels)
    assert schemas() == []


# ---- real news -------------------------------------------------------------------------------------


@pytest.mark.soak
@pytest.mark.real_data
def test_verdicts_on_real_news_are_as_good_as_the_documents_say(tmp_path) -> None:
    collection, labels = DATA / "lk_news_en.jsonl.gz", DATA / "labels" / "lk_pairs.jsonl"
    if not (collection.exists() and labels.exists()):
        pytest.skip("the collection lk_news_en or its labels are not beside the checkout")
    # The last labelled article is of July 2024. What follows is half of the collection.
    articles = tmp_path / "lk_news_en.jsonl"
    with gzip.open(collection, "rt", encoding="utf-8") as lines:
        articles.write_text("".join(line for line in lines if json.loads(line)["date"] < "2024-08"), encoding="utf-8")
    result = measured(f"--articles={articles}", f"--labels={labels}", "--workers=2")
    for scores in (result["within_3_days"]["verdict"], result["cross_validated"]["within_3_days"]):
        assert scores["precision"] >= 0.95
        assert scores["f1"] >= 0.94
        assert scores["templates_called_duplicates"] <= 0.01
