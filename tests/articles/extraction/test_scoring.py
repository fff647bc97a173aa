"""The scores of an extraction, checked against sums by hand, and the command that prints them."""

import gzip
import json
import shutil
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError

from articles.management import page_sets
from articles.management.page_sets import PageScore, margins, score_page, score_pages
from tests.commands import called

TRUTH = "one two three four five six"  # three sequences of four words


@pytest.mark.parametrize(
    ("truth", "found", "expected"),
    [
        (TRUTH, TRUTH, PageScore(1, 0, 0)),
        (TRUTH, "one, two: three\n\nfour five-six!", PageScore(1, 0, 0)),
        # Two right, one wrong (three four five seven), one missed (three four five six).
        (TRUTH, "one two three four five seven", PageScore(0.5, 0.25, 0.25)),
        # Words in another case are other words.
        (TRUTH, "One two three four five six", PageScore(0.5, 0.25, 0.25)),
        (TRUTH, "", PageScore(0, 0, 1)),
        # Shorter than a sequence: the three words are the one sequence.
        (TRUTH, "one two three", PageScore(0, 0.25, 0.75)),
        # In scripts without blanks a character is a word, and a Latin word is one.
        ("港が再開した", "港が再開しだ", PageScore(0.5, 0.25, 0.25)),
        ("AFP港が再", "AFP港が再", PageScore(1, 0, 0)),
        ("항구가 다시 열렸다", "항구가 다시 열린다", PageScore(0, 0.5, 0.5)),
        # The same sequence once and twice.
        ("ho ho ho ho", "ho ho ho ho ho", PageScore(0.5, 0.5, 0)),
        ("", "", PageScore(0, 0, 0)),
    ],
)
def test_a_page_is_scored_by_its_sequences_of_four_words(truth: str, found: str, expected: PageScore) -> None:
    assert score_page(truth, found) == expected


def test_finding_no_text_on_a_page_without_text_is_right() -> None:
    assert (PageScore(0, 0, 0).precision, PageScore(0, 0, 0).recall) == (1, 1)


def test_the_score_is_of_the_mean_precision_and_the_mean_recall() -> None:
    pages = [PageScore(1, 0, 0), PageScore(0.5, 0.25, 0.25), PageScore(0, 0, 1), PageScore(0, 0, 0)]
    # Precision of the two where something was found: (1 + 2/3) / 2. Recall of the three that have a text.
    precision, recall = 5 / 6, 5 / 9
    assert score_pages(pages) == pytest.approx({
        "f1": 2 * precision * recall / (precision + recall),
        "precision": precision,
        "recall": recall,
        "accuracy": 0.5,
    })  # fmt: skip


def test_margins_are_confidence_intervals_over_the_pages() -> None:
    assert margins([PageScore(1, 0, 0)] * 9) == dict.fromkeys(("f1", "precision", "recall", "accuracy"), 0)
    mixed = margins([PageScore(1, 0, 0), PageScore(0.5, 0.25, 0.25)] * 20)
    # The deviation of a mean of 40 values that are 1 or 2/3 is 1/6 / sqrt(40); 1.96 of it are 0.0517.
    assert mixed["precision"] == pytest.approx(0.0517, abs=0.005)
    assert mixed == margins([PageScore(1, 0, 0), PageScore(0.5, 0.25, 0.25)] * 20)


FIRST = "The old ferry across the sound made its last crossing on Friday, and half the island stood on the quay."
SECOND = "Its captain rang the bell twice and said that after thirty-one years he would miss the fog most of all."


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder of two pages: one that is extracted correctly, and one with a different reference text."""
    (tmp_path / "html").mkdir()
    known = {
        "ferry": {"articleBody": f"{FIRST}\n\n{SECOND}", "url": "https://fjordbladet.example/ferry"},
        "other": {
            "articleBody": "Quite another text of seven words indeed",
            "url": "https://fjordbladet.example/other",
        },
    }
    for name in known:
        page = f"<article><h1>Last ferry</h1><p>{FIRST}</p><p>{SECOND}</p><p>Share this article</p></article>"
        (tmp_path / "html" / f"{name}.html.gz").write_bytes(gzip.compress(page.encode()))
    (tmp_path / "ground-truth.json").write_text(json.dumps(known))
    return tmp_path


def run(*arguments: Path | str) -> str:
    return called("evaluate_extraction", *arguments)[0]


def measured(*arguments: Path | str) -> list[dict[str, Any]]:
    return json.loads(run(*arguments, "--format", "json"))["folders"]


def test_the_command_measures_texts_and_lists_the_worst_pages(folder: Path) -> None:
    [report] = measured(folder, "--worst", "1")
    [ours] = report["programs"]
    assert (ours["f1"], ours["precision"], ours["recall"], ours["accuracy"]) == (0.5, 0.5, 0.5, 0.5)
    # The page with another text lost more than half of its own, and nothing doubts it.
    assert (report["pages"], ours["lost_half"], ours["lost_half_without_doubt"]) == (2, 1, 1)
    assert (ours["headline"], report["known"]) == (0, {"headline": 0, "day": 0, "authors": 0})
    assert report["worst"] == [
        {"page": "other", "url": "https://fjordbladet.example/other", "f1": 0, "precision": 0, "recall": 0}
    ]
    text = run(folder, shutil.copytree(folder, folder / "again"), "--worst", "2")
    assert (f"{folder}: 2 pages\n" in text, f"{folder / 'again'}: 2 pages\n" in text) == (True, True)
    assert "newsdedup   0.500 ±" in text
    assert text.index("other") < text.index("ferry")


def test_the_command_counts_facts_and_takes_the_text_that_fits_better(folder: Path) -> None:
    path = folder / "ground-truth.json"
    known = json.loads(path.read_text())
    known["ferry"] |= {"headline": "LAST ferry!", "date": "2024-05-03T10:00:00", "authors": ["liv dahl", "Tom Berg"]}
    known["other"] |= {"headline": "Another", "authors": None, "articleBodyWithSummary": f"{FIRST}\n\n{SECOND}"}
    path.write_text(json.dumps(known))
    facts = '<meta name="article:published_time" content="2024-05-03"><meta name="author" content="Tom Berg, Liv Dahl">'
    page = f"{facts}<article><h1>Last ferry</h1><p>{FIRST}</p><p>{SECOND}</p></article>"
    for name in known:
        (folder / "html" / f"{name}.html.gz").write_bytes(gzip.compress(page.encode()))
    [report] = measured(folder)
    [ours] = report["programs"]
    assert (ours["f1"], ours["lost_half"], report["known"]) == (1, 0, {"headline": 2, "day": 1, "authors": 1})
    assert (ours["headline"], ours["day"], ours["authors"]) == (1, 1, 1)
    assert "2 pages (known: headline 2, day 1, authors 1)" in run(folder)


def test_rivals_are_measured_too_or_their_extra_is_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    installed = {name: rival for name, rival in page_sets._RIVALS.items() if find_spec(rival[0])}
    monkeypatch.setattr(page_sets, "_RIVALS", installed)
    [report] = measured(folder, "--rivals")
    _, *others = report["programs"]
    assert [other["name"] for other in others] == list(installed)
    assert all(0.2 < other["f1"] < 1 and other["lost_half_without_doubt"] is None for other in others)
    monkeypatch.setattr(page_sets, "_RIVALS", {"sagaextract": ("sagaextract", page_sets.newsdedup)})
    with pytest.raises(CommandError, match=r"sagaextract is not installed\. Install newsdedup\[benchmarks\], or leave"):
        run(folder, "--rivals")


def test_missing_and_damaged_files_are_named(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match=r"nowhere/ground-truth\.json .*No such file or directory"):
        run(tmp_path / "nowhere")
    (folder / "html" / "other.html.gz").unlink()
    with pytest.raises(CommandError, match=r"other\.html\.gz .*No such file or directory.*ground-truth\.json"):
        run(folder)
    (folder / "html" / "other.html.gz").write_bytes(b"<p>not packed</p>")
    with pytest.raises(CommandError, match=r"other\.html\.gz .*Not a gzipped file"):
        run(folder)
    for damaged, words in (
        ("{", "JSON: .*column 2"),
        ("[]", "no pages.*articleBody"),
        ('{"a": {}}', "articleBody for a"),
    ):
        (folder / "ground-truth.json").write_text(damaged)
        with pytest.raises(CommandError, match=words):
            run(folder)


@pytest.mark.real_data
def test_the_public_benchmark_is_passed() -> None:
    folder = Path(__file__).parents[4] / "shared" / "data" / "extraction"
    if not folder.exists():
        pytest.skip(f"{folder} is not there")
    assert measured(folder)[0]["programs"][0]["f1"] >= 0.965
