"""The parts of the benchmarks that do not measure: corpora, stored pages, arithmetic, tables."""

import datetime
import gzip
import io
import itertools
import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from django.core.management import call_command
from django.db import connection, transaction
from django.test import Client

from articles.models import Article
from articles.normalization.text import normalize_text
from benchmarks import archive, dense, pages, spark
from benchmarks.contestants import CONFIG, CONTESTANTS, brute_force
from benchmarks.corpus import (
    CorpusError,
    Source,
    Spelling,
    articles,
    corpus,
    exchanges,
    load,
    pairs_in_window,
    read_sources,
    write_files,
)
from benchmarks.measuring import CHECKOUT, Usage
from benchmarks.report import BEGIN, END, between_marks, markdown
from benchmarks.results import (
    EXACT,
    IMPORT,
    LSH,
    NEW,
    NOTHING_NEW,
    RUN,
    WINDOW,
    PageTime,
    Results,
    ShingleResult,
    Step,
    ThresholdResult,
    WholeResult,
    WindowResult,
    other_rows,
    page_rows,
    phase_rows,
    sheet,
    shingle_columns,
    whole_sheets,
)
from dedup.detection.passes.minhash import MinhashConfig
from dedup.detection.spark.manifest import Plan
from dedup.models import Cluster, Decision, DenseGroup, Evidence, OpenQuestion, Pair, SecondReading, Series
from tests.factories import make_user

SOURCES = [
    Source(datetime.date(2026, 3, day), "Harbour Post", f"Ferry {day}", f"https://paper.example/{day}", text)
    for day, text in ((3, "the ferry sails at noon"), (1, "the bridge is closed"), (2, "the market opens at six"))
]
USAGE = Usage(wall=2.5, command_cpu=3.0, server_cpu=1.0, command_memory=210.4, server_memory=95.0)
RESULT = WindowResult(
    articles=10_000,
    per_day=500,
    threshold=0.5,
    pairs=16_000_000,
    slice_pairs=60_000,
    slice_cpu=9.0,
    slice_wall=9.5,
    slice_found=7,
    slice_agreed=7,
    slice_extra=0,
    found=4_010,
    usage=USAGE,
)


def shingle_result(
    name: str, *, cpu: float, core: float | None, shingles: float | None, startup: float | None = None
) -> ShingleResult:
    return ShingleResult(
        corpus=20_000,
        articles=10_000,
        name=name,
        prefix=1_000,
        found=221,
        recall=0.9005,
        recall_in_window=0.95,
        usage=Usage(wall=cpu, command_cpu=cpu, server_cpu=0.0, command_memory=245.0, server_memory=95.0),
        startup_cpu=startup,
        core_cpu=core,
        shingles_cpu=shingles,
        signatures_cpu=None if shingles is None else shingles / 2,
    )


def shingle_rows(results: list[ShingleResult], *, near: bool = False) -> list[tuple[str, ...]]:
    return sheet("", shingle_columns(results, near=near), results).rows


def test_sources_are_normalised_and_those_without_text_or_date_left_out(tmp_path: Path) -> None:
    lines = [
        {"date": "2026-03-02", "newspaper": "Harbour Post", "headline": "Ferry", "url": "u", "content": "The FERRY!"},
        {"date": "2026-03-02", "content": "?!"},
        {"date": "soon", "content": "The bridge"},
    ]
    path = tmp_path / "news.jsonl.gz"
    path.write_bytes(gzip.compress("\n".join(map(json.dumps, lines)).encode()))
    day = datetime.date(2026, 3, 2)
    assert read_sources(path) == [Source(day, "Harbour Post", "Ferry", "u", "the ferry", "The FERRY!")]


def test_a_file_without_articles_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "news.jsonl.gz"
    path.write_bytes(gzip.compress(b"{}"))
    with pytest.raises(CorpusError, match="no article with a date"):
        read_sources(path)


def test_a_corpus_has_the_given_articles_per_day_and_is_the_same_each_time() -> None:
    rows = list(corpus(SOURCES, 7, per_day=3))
    assert [row.date.isoformat() for row in rows] == ["2000-01-01"] * 3 + ["2000-01-02"] * 3 + ["2000-01-03"]
    assert [row.round for row in rows] == [0, 0, 0, 1, 1, 1, 2]
    assert {row.text for row in rows[:3]} == {source.text for source in SOURCES}
    assert rows == list(corpus(SOURCES, 7, per_day=3))


def test_articles_on_their_own_days_are_the_last_ones_and_never_copies() -> None:
    rows = list(corpus(SOURCES, 2, per_day=None))
    assert [(row.date.day, row.round) for row in rows] == [(2, 0), (3, 0)]
    assert len(list(corpus(SOURCES, 7, per_day=None))) == 3


def test_words_are_replaced_by_each_other_and_none_by_itself() -> None:
    words = [f"word{number}" for number in range(500)]
    exchanged = exchanges(words, 1)
    assert 200 < len(exchanged) < 400
    assert sorted(exchanged.values()) == sorted(exchanged)
    assert all(word != other for word, other in exchanged.items())
    assert exchanged == exchanges(words, 1) != exchanges(words, 2)


def test_words_are_replaced_with_their_capitals_punctuation_and_lines() -> None:
    spelling = Spelling({"ferry": "bridge", "harbour": "opera"})
    assert (
        spelling.of("HARBOUR: the “Ferry,”\n\nferry-harbour -- at 6") == "OPERA: the “Bridge,”\n\nbridge opera -- at 6"
    )


@pytest.mark.django_db
def test_a_file_has_the_articles_of_the_corpus_and_imports_as_its_normalised_texts(tmp_path: Path) -> None:
    words = [f"Word{number}" for number in range(200)]
    texts = [" ".join(words[place:]) + f". Ends {place}!\n\nDone" for place in (0, 40, 80)]
    sources = [
        source._replace(text=normalize_text(text), content=text) for source, text in zip(SOURCES, texts, strict=True)
    ]
    paths = [tmp_path / "articles.jsonl.gz", tmp_path / "new.jsonl.gz"]
    write_files(articles(sources, 7, per_day=2), [(paths[0], 5), (paths[1], 2)])
    call_command("import_articles", *map(str, paths), no_progress=True, stdout=io.StringIO())
    stored = Article.objects.order_by("pk").values_list("date", "normalized_text")
    assert list(stored) == [(row.date, row.text) for row in corpus(sources, 7, per_day=2)]


@pytest.mark.django_db
def test_a_corpus_is_loaded_with_the_columns_that_ingest_would_write() -> None:
    with transaction.atomic():
        assert load(corpus(SOURCES, 4, per_day=2), connection) == 4
    article = Article.objects.select_related("newspaper").get(url="https://paper.example/3")
    assert (article.newspaper.name, article.headline) == ("Harbour Post", "Ferry 3")
    assert (article.normalized_title, article.normalized_text) == ("ferry 3", "the ferry sails at noon")
    assert article.text_digest is not None
    assert Article.objects.filter(url__endswith="#copy-1").count() == 1


@pytest.mark.django_db
@pytest.mark.parametrize("name", ["exact-join", "minhash-kernel", "minhash-core"])
def test_our_contestants_find_the_pair_of_equal_texts(name: str) -> None:
    with transaction.atomic():
        load(corpus([*SOURCES, SOURCES[0]._replace(url="https://paper.example/4")], 4, per_day=2), connection)
    pair = Article.objects.filter(normalized_text=SOURCES[0].text).order_by("pk").values_list("pk", flat=True)
    found = CONTESTANTS[name](None, CONFIG)
    assert (found.left.tolist(), found.right.tolist(), found.scores.tolist()) == ([pair[0]], [pair[1]], [1.0])


@pytest.mark.parametrize("days", [0, 1, 3])
def test_pairs_in_the_window_are_counted(days: int) -> None:
    by_day = {1: 4, 2: 1, 5: 3}
    day_of_each = [day for day, count in by_day.items() for _ in range(count)]
    expected = sum(1 for one, other in itertools.combinations(day_of_each, 2) if abs(one - other) <= days)
    assert pairs_in_window(by_day, days) == expected


def test_brute_force_compares_every_pair() -> None:
    texts = ["harbours", "harbour", "", "ferry", "harbours"]
    # harbours has 4 shingles of 5 characters and shares 3 of them with harbour
    assert brute_force(texts, MinhashConfig(threshold=0.75)) == {(0, 1), (0, 4), (1, 4)}
    assert brute_force(texts, MinhashConfig(threshold=0.76)) == {(0, 4)}


def test_the_plain_join_is_extrapolated_by_its_number_of_pairs() -> None:
    assert RESULT.plain_cpu == 2400.0
    assert RESULT.ratio == 600.0
    cells = ("10,000", "500", "16,000,000", "≈ 2,400", "4.00 (1.00)", "210 (95)", "4,010", "7 of 7", "600 ×")
    assert sheet("", WINDOW, [RESULT]).rows == [cells]


def test_contestants_are_compared_by_cost_per_article() -> None:
    rival = replace(shingle_result("datasketch", cpu=8.0, core=6.0, shingles=1.0), signatures_cpu=None)
    own = shingle_result("minhash-kernel", cpu=2.0, core=1.5, shingles=1.0)
    command = shingle_result("minhash", cpu=4.0, core=None, shingles=None, startup=1.0)
    assert [row[9] for row in shingle_rows([rival, own, command])] == [
        "1.0, 1.0, 1.0, –",
        "4.0, 4.0, 10.0, –",
        "2.0, 2.0, –, –",
    ]
    assert shingle_rows([own])[0][0] == "10,000 of 20,000"


def test_within_the_window_the_exact_join_is_compared_with_rensa_on_texts_of_the_same_length() -> None:
    rival = shingle_result("rensa", cpu=3.0, core=2.0, shingles=1.0)
    longer = replace(rival, prefix=10_000, usage=replace(rival.usage, command_cpu=9.0))
    own = shingle_result("exact-join", cpu=2.0, core=1.5, shingles=1.0)
    cells = ("10,000 of 20,000", "exact join", "221", "0.9500", "2.00 (0.00)", "1.50", "1.00", "0.50")
    assert shingle_rows([longer, rival, own], near=True)[2] == ("1,000", *cells, "1.5, 1.3, 2.0, 1.0", "245")


def whole_result() -> WholeResult:
    found = Usage(wall=40.0, command_cpu=60.0, server_cpu=10.0, command_memory=700.0, server_memory=300.0)
    steps = [
        Step(IMPORT, 9_000, replace(USAGE, wall=4.5), {}),
        Step(RUN, 0, found, {"Same text": 1.25, "Clusters": 38.0}),
        Step(NOTHING_NEW, 0, USAGE, {"Same text": 0.25}),
        Step(NEW, 0, USAGE, {"Same text": 0.5, "Clusters": 1.0, "Counting": 0.4}),
    ]
    pages = [PageTime("queue", 61.4, 21)]
    rival = shingle_result("rensa", cpu=3.0, core=2.0, shingles=1.0)
    return WholeResult(9_000, 4_500, 300, steps, pages, [RESULT], [rival])


def test_a_whole_run_is_shown_command_by_command_phase_by_phase_and_page_by_page() -> None:
    result = whole_result()
    assert whole_sheets([result])[0].rows[:3] == [
        ("9,000", IMPORT, "4.50", "4.00 (1.00)", "210 (95)", "2,000 articles/s"),
        ("9,000", RUN, "40.0", "70.0 (10.0)", "700 (300)", "4,500 pairs, 300 clusters"),
        ("9,000", NOTHING_NEW, "2.50", "4.00 (1.00)", "210 (95)", ""),
    ]
    assert phase_rows([result]) == [
        ("Same text", "1.2", "0.2", "0.5"),
        ("Clusters", "38.0", "", "1.0"),
        ("All", "39.2", "0.2", "1.9"),
    ]
    assert page_rows([result, WholeResult(33_000)]) == [("queue", "61 (21)", "")]
    assert [row[:2] + row[3:] for row in other_rows(result)] == [
        ("9,000", "newsdedup, the whole run", "4,500", "", "40.0", "70.0 (10.0)", "77.8", "700"),
        ("10,000", "newsdedup, trigram pass", "4,010", "", "2.50", "4.00 (1.00)", "4.00", "210"),
        ("10,000", "plain SQL self-join", "4,010", "", "", "≈ 2,400", "≈ 2,400", ""),
        ("10,000 of 20,000", "rensa, hashed shingles", "221", "0.9005", "3.00", "3.00 (0.00)", "3.00", "245"),
    ]


def test_results_survive_their_file_and_are_written_between_the_marks_of_the_page() -> None:
    near = [shingle_result("rensa", cpu=3.0, core=2.0, shingles=1.0)]
    exact = ThresholdResult(10_000, 3, 0.5, EXACT, 9_000, 100, 1.0, core_cpu=1.5, memory=160.0)
    lsh = ThresholdResult(10_000, 3, 0.5, LSH, 4_000, 98, 0.98, core_cpu=2.5, memory=245.0)
    results = Results({"cores": "2"}, {"repeat": 1}, [RESULT], [], near, [whole_result()], [exact, lsh])
    assert Results.from_json(results.to_json()) == results
    parts = results.sheets()
    assert list(parts) == ["whole run", "trigram", "shingles", "thresholds"]
    cells = ("10,000", "±3", "0.5", "100", "0.9800", "9,000; 4,000", "1.50; 2.50", "160; 245")
    assert parts["thresholds"][0].rows == [cells]
    assert "| 7 of 7 | 600 × |" in markdown(results, parts["trigram"])
    begin, end = BEGIN.format("shingles"), END.format("shingles")
    page = between_marks(f"Before\n\n{begin}\nold\n{end}\nAfter\n", "shingles", markdown(results, parts["shingles"]))
    assert page.startswith(f"Before\n\n{begin}\n\nMachine: cores 2.\n\nRun: repeat 1.\n\n### Character shingles")
    assert "old" not in page
    assert page.endswith(f"| 2.00 | 1.00 | 0.50 | 1.0, 1.0, 1.0, 1.0 | 245 |\n\n{end}\nAfter\n")


def test_a_page_without_marks_is_refused() -> None:
    with pytest.raises(ValueError, match="<!-- whole run: written by"):
        between_marks("A page", "whole run", "tables")


@pytest.mark.parametrize("name", list(dense.INPUTS))
def test_the_texts_are_the_same_every_time(name: str) -> None:
    make = dense.INPUTS[name].texts
    assert list(make(20)) == list(make(20))


@pytest.mark.parametrize(("name", "distinct"), [("near-5000", 20), ("equal-20000", 1), ("lines-100000", 20)])
def test_texts_are_equal_or_different_as_the_name_says(name: str, distinct: int) -> None:
    assert len(set(dense.INPUTS[name].texts(20))) == distinct


def test_the_articles_of_an_input_are_of_one_day_and_of_several_newspapers() -> None:
    rows = list(dense.rows(dense.INPUTS["near-1000"]._replace(articles=25)))
    assert {row.date for row in rows} == {dense.DAY}
    assert len({row.newspaper for row in rows}) == dense.NEWSPAPERS
    assert len({row.url for row in rows}) == 25


def event(name: str, written: int) -> str:
    return json.dumps({"Event": name, "Task Metrics": {"Shuffle Write Metrics": {"Shuffle Bytes Written": written}}})


def test_shuffled_bytes_are_those_of_finished_tasks() -> None:
    lines = [event("SparkListenerTaskEnd", 700), event("SparkListenerTaskStart", 9), event("SparkListenerTaskEnd", 50)]
    assert spark.shuffle_bytes(lines) == 750


def test_the_table_relates_a_run_to_one_machine_and_to_its_plan() -> None:
    plan = Plan(2_000, 4, 500, {}, 1, 40.0, 0.0, 0)
    run = spark.SparkRun(Usage(30.0, 45.0, 5.0, 900.0, 10.0), 410.0, 3_000_000, {})
    found, small = Usage(20.0, 20.0, 5.0, 1.0, 1.0), Usage(1.0, 1.0, 1.0, 1.0, 1.0)
    shown = spark.table([spark.Measured(2_000, 700, found, small, small, {"local[2]": run}, plan)])
    cells = dict(zip(shown.head, zip(*shown.rows, strict=True), strict=True))
    assert cells["Spark / find_duplicates"] == ("2.00",)
    assert cells["ms an article"] == ("25.00",)
    assert cells["shuffle, kB an article"] == ("1.50",)
    assert cells["Spark / plan"] == ("1.25",)


def test_processes_that_outlive_a_command_are_waited_for(tmp_path: Path) -> None:
    left = tmp_path / "left"
    outlives = f"import os; os.fork() or open({str(left)!r}, 'w').close()"
    command = [sys.executable, "-m", "benchmarks.measuring", sys.executable, "-c", outlives]
    assert subprocess.run(command, cwd=CHECKOUT, check=False).returncode == 0
    assert left.exists()


@pytest.mark.django_db
@pytest.mark.slow
def test_the_pages_of_a_filled_archive_are_measured() -> None:
    archive.fill(120, 1_200)
    assert Pair.objects.count() == 110 * archive.NEAREST + sum(range(archive.NEAREST))
    assert Evidence.objects.count() == Pair.objects.count() * 3 // 2
    decided = Pair.objects.count() // archive.PAIRS_A_DECISION
    assert (Decision.objects.count(), SecondReading.objects.count()) == (decided, decided // 20)
    assert 15 < Cluster.objects.count() < 25
    assert OpenQuestion.objects.exists()
    assert (Series.objects.count(), DenseGroup.objects.count()) == (3, 1)
    client = Client()
    client.force_login(make_user("mara", "editor"))
    for name, address in (pages.addresses() | pages.filtered_addresses()).items():
        assert pages.of_address(client, name, address, repeat=1).queries > 0, name
    assert len(pages.decisions(client, 3).milliseconds) == 3
    assert Decision.objects.count() == decided + 3
