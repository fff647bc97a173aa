"""Validation samples as files: drawn, filled in by hand or for Splink, and read back."""

import csv
import io
import json
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
import time_machine
from django.core.management import CommandError, call_command

from articles.files.records import UnreadableFileError
from articles.models import Article
from dedup.models import Decision, Pair, SampledPair, SampleLabel, ValidationSample
from dedup.research.labels import find_articles, read_labels
from dedup.research.sampling import Plan, draw, read_sample
from dedup.review.readings.label_files import Imported, LabelFileError, import_labels
from tests.commands import called
from tests.factories import make_pair

pytestmark = pytest.mark.django_db

COLUMNS = [
    *("position", "a", "b", "url_a", "url_b", "newspaper_a", "newspaper_b", "date_a", "date_b"),
    *("headline_a", "headline_b", "label", "note"),
]
SPLINK = ["unique_id_l", "source_dataset_l", "unique_id_r", "source_dataset_r", "clerical_match_score"]


def rows_of(file: Path) -> list[dict[str, Any]]:
    written = file.read_text()
    if file.suffix == ".csv":
        return list(csv.DictReader(io.StringIO(written)))
    return [json.loads(line) for line in written.splitlines()]


def write(file: Path, rows: list[dict[str, Any]]) -> None:
    text = io.StringIO()
    if file.suffix == ".csv":
        writer = csv.DictWriter(text, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    else:
        text.writelines(json.dumps(row) + "\n" for row in rows)
    file.write_text(text.getvalue())


@pytest.fixture
def sample(store) -> ValidationSample:
    """Draw 8 of 10 pairs of five articles: an id that spreadsheets run as a formula, one id twice, and two without."""
    articles = [
        store(external_id=external_id, headline="-A headline") for external_id in ("=1+2", "twice", "twice", "", "")
    ]
    for place, (one, other) in enumerate(combinations(articles, 2)):
        make_pair(one, other, trigram=0.55 + place / 25)
    _, said = called("export", "validation", "--per-stratum", 3, "--by", "band", "--seed", 4, "--name", "spring")
    drawn = ValidationSample.objects.get()
    assert said.splitlines() == [
        f"Drew 8 pairs as “spring” (number {drawn.pk}, seed 4).",
        "  0.90-1.00: 1 pair, 1 drawn of 3 asked for: it has no more",
        "  0.80-0.90: 2 pairs, 2 drawn of 3 asked for: it has no more",
        "  0.60-0.80: 5 pairs, 3 drawn",
        "  0.00-0.60: 2 pairs, 2 drawn of 3 asked for: it has no more",
    ]
    return drawn


@pytest.mark.parametrize("ending", ["csv", "jsonl"])
def test_labels_that_were_filled_in_come_back(sample: ValidationSample, tmp_path: Path, ending: str) -> None:
    before = [list(model.objects.order_by("pk").values()) for model in (Pair, Decision, Article)]
    sheet = tmp_path / f"sheet.{ending}"
    called("export", "validation", "--sample", "spring", "--output", sheet)
    assert list(rows_of(sheet)[0]) == [*COLUMNS, "days", "weight", "stratum"]
    called("export", "validation", "--sample", "spring", "--blind", "--texts", "--output", sheet)
    rows = rows_of(sheet)
    assert list(rows[0]) == [*COLUMNS[:-2], "text_a", "text_b", "label", "note"]
    assert [int(row["position"]) for row in rows] == list(range(1, 9))
    for row, label in zip(rows, ["D", "v", "T", "E", "N", "D", "N", ""], strict=True):
        row |= {"label": label, "note": "seen twice" if label == "v" else ""}
    write(sheet, rows)

    said, _ = called("import_labels", "spring", sheet, "--reader", "ines")
    assert said == "Labels of ines for “spring”: 7 new, 0 changed, 0 stored already; 1 row without a label.\n"
    stored = SampleLabel.objects.order_by("pair__position").values_list("label", "note", "reader", "imported")
    assert list(stored[:2]) == [("D", "", "ines", True), ("V", "seen twice", "ines", True)]
    moments = list(SampleLabel.objects.values_list("pk", "labelled_at"))
    said, _ = called("import_labels", sample.pk, sheet, "--reader", "ines")
    assert "0 new, 0 changed, 7 stored already" in said
    assert list(SampleLabel.objects.values_list("pk", "labelled_at")) == moments
    rows[0]["label"] = "N"
    write(sheet, rows)
    assert "0 new, 1 changed, 6 stored already" in called("import_labels", "spring", sheet, "--reader", "ines")[0]

    # evaluate reads the labelled pairs, and finds their articles, as read_sample gives them.
    called("export", "validation", "--sample", "spring", "--labels", "--output", sheet)
    labels, problems = read_labels(sheet)
    found, unknown = find_articles(labels)
    assert (problems, unknown) == ([], [])
    reading = read_sample(sample)
    key = lambda label: (label.left, label.right, label.label, label.weight, label.stratum)  # noqa: E731
    assert [key(pair) for pair in found] == [key(pair) for pair in reading.pairs]
    assert sum(label.weight for label in labels) == pytest.approx(10)
    # No label changes anything but labels.
    assert [list(model.objects.order_by("pk").values()) for model in (Pair, Decision, Article)] == before


@pytest.mark.parametrize("ending", ["csv", "jsonl"])
def test_splink_names_come_back_as_duplicate_or_not(sample: ValidationSample, tmp_path: Path, ending: str) -> None:
    sheet = tmp_path / f"splink.{ending}"
    called("export", "validation", "--sample", "spring", "--names", "splink", "--blind", "--output", sheet)
    rows = rows_of(sheet)
    assert list(rows[0]) == SPLINK
    assert {row["source_dataset_l"] for row in rows} == {"articles"}
    # Two articles have the id "twice"; only rows that name one of the two pairs can be read back.
    known = [row for row in rows if "twice" not in (row["unique_id_l"], row["unique_id_r"])]
    for place, row in enumerate(known):
        row["clerical_match_score"] = (1.0, "0")[place % 2]
    write(sheet, known)
    said, _ = called("import_labels", "spring", sheet, "--reader", "ines")
    assert f": {len(known)} new" in said
    given = SampleLabel.objects.order_by("pair__position").values_list("label", flat=True)
    assert list(given) == (["D", "N"] * 4)[: len(known)]
    called("export", "validation", "--sample", "spring", "--names", "splink", "--labels", "--output", sheet)
    again = rows_of(sheet)
    assert list(again[0]) == [*SPLINK, "weight", "stratum"]
    assert [float(row["clerical_match_score"]) for row in again] == ([1.0, 0.0] * 4)[: len(known)]


def test_one_wrong_row_and_nothing_is_imported(sample: ValidationSample, tmp_path: Path) -> None:
    sheet = tmp_path / "sheet.jsonl"
    called("export", "validation", "--sample", "spring", "--output", sheet)
    first, *rest = rows_of(sheet)
    write(sheet, [first | {"label": "D"}, *rest[1:], {**first, "label": "N"}])
    out, said = io.StringIO(), io.StringIO()
    with pytest.raises(CommandError, match=r"^1 row is wrong, so no label of .*sheet\.jsonl was imported\.$"):
        call_command("import_labels", "spring", str(sheet), reader="ines", stdout=out, stderr=said)
    assert said.getvalue() == "line 8: line 1 has the same pair; remove one of the two lines\n"
    assert (out.getvalue(), SampleLabel.objects.count()) == ("", 0)
    for arguments, message in (
        (("import_labels", "summer", str(sheet), "--reader", "ines"), "there is no validation sample 'summer'; the"),
        (("export", "validation", "--labels"), "--labels writes the labels of a stored sample; name it with --sample"),
        (("export", "validation", "--sample", "spring", "--seed", "1"), "leave out the options of drawing"),
        (("export", "validation", "--sample", "spring", "--labels", "--texts"), "leave out --blind and --texts"),
        (("export", "validation", "--names", "splink", "--texts"), "Splink's labels have no texts"),
        (("export", "validation", "--size", "1", "--name", "spring"), "a sample is called 'spring' already"),
    ):
        with pytest.raises(CommandError, match=message):
            call_command(*arguments)


# ---- what a row may say ----


@pytest.fixture
def two(store) -> tuple[ValidationSample, list[SampledPair]]:
    """Draw both pairs of two couples of articles: one with ids, one without."""
    for names in (("a-1", "b-1"), ("", "")):
        make_pair(*(store(external_id=external_id, date="2026-03-01") for external_id in names), trigram=0.9)
    drawn = draw(Plan(size=2, by=("verdict",)), seed=1, name="spring")
    pairs = list(drawn.pairs.order_by("left_id"))
    return drawn, pairs


def imported(sample: ValidationSample, file: Path, *rows: dict[str, Any], reader: str = "ines") -> Imported:
    write(file, list(rows))
    return import_labels(sample, str(file), reader=reader)


def faults(sample: ValidationSample, file: Path, *rows: dict[str, Any], reader: str = "ines") -> list[tuple[int, str]]:
    with pytest.raises(LabelFileError) as raised:
        imported(sample, file, *rows, reader=reader)
    found = list(raised.value.faults)
    many = "1 row is" if len(found) == 1 else f"{len(found)} rows are"
    assert str(raised.value) == f"{many} wrong, so no label of {file} was imported"
    assert not SampleLabel.objects.exists()
    return found


def labels() -> list[tuple[Any, ...]]:
    return list(
        SampleLabel.objects.order_by("pair__left_id").values_list("pair", "label", "note", "reader", "imported")
    )


def test_an_article_is_named_by_its_url_its_id_or_its_name_in_splink(two, tmp_path: Path) -> None:
    sample, (first, second) = two
    by_url = {"url_a": second.left.url, "url_b": second.right.url}
    file = tmp_path / "sheet.jsonl"
    # The columns are known in any spelling, the articles in any order, and the first column that is filled in counts.
    done = imported(
        sample,
        file,
        {"Unique ID-L": "b-1", " UNIQUE_ID_R ": "a-1", "Clerical-Match-Score": 1},
        {**by_url, "a": "a-1", "b": "b-1", "Label": " v "},
    )
    assert done == Imported(added=2, changed=0, same=0, empty=0)
    assert labels() == [(first.pk, "D", "", "ines", True), (second.pk, "V", "", "ines", True)]
    SampleLabel.objects.all().delete()
    # A label counts more than a score, and a row that has neither is passed over.
    done = imported(
        sample,
        file,
        {"url_a": "", "a": "a-1", "b": "b-1", "label": "T", "clerical_match_score": "1"},
        {**by_url, "label": None, "clerical_match_score": " "},
    )
    assert done == Imported(added=1, changed=0, same=0, empty=1)
    assert labels() == [(first.pk, "T", "", "ines", True)]


def test_a_note_is_replaced_only_by_a_file_that_has_notes(two, tmp_path: Path) -> None:
    sample, (first, _) = two
    file, row = tmp_path / "sheet.jsonl", {"a": "a-1", "b": "b-1", "label": "D"}
    with time_machine.travel("2026-03-02T09:00:00Z", tick=False) as clock:
        assert imported(sample, file, {**row, "note": " read \0twice "}) == Imported(1, 0, 0, 0)
        assert imported(sample, file, row) == Imported(0, 0, 1, 0)
        SampleLabel.objects.update(imported=False)
        clock.shift(60)
        assert imported(sample, file, {**row, "label": "N"}) == Imported(0, 1, 0, 0)
        assert labels() == [(first.pk, "N", "read twice", "ines", True)]
        assert f"{SampleLabel.objects.get().labelled_at:%H:%M}" == "09:01"
        clock.shift(60)
        assert imported(sample, file, {**row, "label": "N", "note": ""}) == Imported(0, 1, 0, 0)
        assert labels() == [(first.pk, "N", "", "ines", True)]
        assert f"{SampleLabel.objects.get().labelled_at:%H:%M}" == "09:02"
        # Each reader has labels of their own.
        assert imported(sample, file, row, reader=" otto ") == Imported(1, 0, 0, 0)
    assert {label[3] for label in labels()} == {"ines", "otto"}


def test_every_wrong_row_is_named_with_its_line_and_the_remedy(two, tmp_path: Path) -> None:
    sample, (_, second) = two
    file = tmp_path / "sheet.jsonl"
    good = {"a": "a-1", "b": "b-1", "label": "D"}
    long = "x" * 100
    shown = f"'{'x' * 78}…"
    url = second.left.url
    assert faults(
        sample,
        file,
        good,
        {**good, "label": "duplicate"},
        {**good, "label": True},
        {**good, "label": "", "clerical_match_score": "0.5"},
        {**good, "label": "", "clerical_match_score": long},
        {"a": "a-1", "b": "", "label": "D"},
        {"url_a": url, "a": "a-1", "b": "b-1", "label": "D"},
        {"a": long, "b": "b-1", "label": "D"},
        {**good, "note": "n" * 2_001},
        {**good, "label": "E"},
    ) == [
        (2, "label is 'DUPLICATE'; it must be one of D, V, T, E, N, or empty"),
        (3, "label is True; it must be text or a number"),
        (4, "clerical_match_score is '0.5'; it must be 1 for a duplicate, 0 for anything else, or empty"),
        (5, f"clerical_match_score is {shown}; it must be 1 for a duplicate, 0 for anything else, or empty"),
        (6, "no article is named by url_b, b, unique_id_r; keep the columns that were exported"),
        (7, f"the sample has no pair of {url!r} and 'b-1'; use the file that export validation wrote of this sample"),
        (8, f"the sample has no pair of {shown} and 'b-1'; use the file that export validation wrote of this sample"),
        (9, "the note has 2,001 characters; at most 2,000 are allowed"),
        (10, "line 1 has the same pair; remove one of the two lines"),
    ]
    assert faults(sample, file, {**good, "label": "Q"}) == [
        (1, "label is 'Q'; it must be one of D, V, T, E, N, or empty")
    ]
    assert imported(sample, file, {**good, "note": "n" * 2_000}) == Imported(1, 0, 0, 0)


def test_two_pairs_of_articles_with_one_id_are_told_apart_by_their_urls(store, tmp_path: Path) -> None:
    one, other, third = (store(external_id=external_id, date="2026-03-01") for external_id in ("one", "twice", "twice"))
    for article in (other, third):
        make_pair(one, article, trigram=0.9)
    sample = draw(Plan(size=2, by=("verdict",)), seed=1)
    file = tmp_path / "sheet.jsonl"
    assert faults(sample, file, {"a": "one", "b": "twice", "label": "D"}) == [
        (1, "2 pairs of the sample have 'one' and 'twice'; name the articles by url_a and url_b")
    ]
    row = {"url_a": one.url, "url_b": third.url, "a": "one", "b": "twice", "label": "D"}
    assert imported(sample, file, row) == Imported(1, 0, 0, 0)
    assert SampleLabel.objects.get().pair == sample.pairs.get(right=third)


def test_a_file_without_labels_or_a_reader_without_a_name_is_refused(two, tmp_path: Path) -> None:
    sample, _ = two
    file, row = tmp_path / "sheet.csv", {"a": "a-1", "b": "b-1", "label": ""}
    with pytest.raises(LabelFileError) as raised:
        imported(sample, file, row)
    assert str(raised.value) == (
        f"{file} has no label; fill in the column label, or clerical_match_score, and import it again"
    )
    with pytest.raises(UnreadableFileError) as unreadable:
        imported(sample, file, {"a": "a-1", "b": "b-1", "verdict": "D"})
    assert (
        "the header 'a, b, verdict' has neither label nor clerical_match_score; one of them holds the labels"
    ) in str(unreadable.value)
    for reader in ("", "  ", "x" * 151):
        with pytest.raises(LabelFileError) as raised:
            imported(sample, file, {**row, "label": "D"}, reader=reader)
        named = len(reader.strip())
        assert str(raised.value) == f"the reader's name has {named} characters; give one of 1 to 150"
    assert imported(sample, file, {**row, "label": "D"}, reader="x" * 150) == Imported(1, 0, 0, 0)
