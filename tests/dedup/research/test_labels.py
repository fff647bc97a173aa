"""Files of labelled pairs: every form of them, and what is said of rows and files that cannot be used."""

import gzip
import re

import pytest

from articles.files.records import UnreadableFileError
from dedup.research.labels import Label, Named, read_labels
from tests.articles.rows import json_lines


def test_every_form_of_file_gives_the_same_labels(tmp_path) -> None:
    wanted = [
        Label(2, (Named("7"), Named("x y")), "T", 2.5, "low, far", 4),
        Label(4, (Named(url="https://a.example/1"), Named("9")), "D"),
    ]
    table = 'A;B;URL a;label;Weight;stratum;days\n7;x y;;t;2.5;"low, far";4\n\n;9;https://a.example/1;D;;;\n'
    plain, zipped = tmp_path / "labels.csv", tmp_path / "labels.CSV.gz"
    plain.write_text("\ufeff" + table, encoding="utf-8")
    zipped.write_bytes(gzip.compress(table.encode()))
    rows = [
        {"a": 7, "b": "x y", "label": "T", "weight": 2.5, "stratum": "low, far", "days": 4, "sure": 3},
        {"a": None, "url_a": "https://a.example/1", "b": 9, "label": "D"},
    ]
    described = tmp_path / "labels.jsonl.gz"
    described.write_bytes(gzip.compress(b"\n" + json_lines(*rows).replace(b"\n", b"\n\n", 1)))
    for path in (plain, zipped, described):
        assert read_labels(path) == (wanted, [])


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ('{"a": "1", "label": "D"}', r"b .*url_b .*; .*external id .*URL"),
        ('{"a": "1", "b": "2"}', r"label is None; .*D, V, T, E, N"),
        ('{"a": "1", "b": "2", "label": "D", "weight": 0}', r"weight is 0; .*above 0"),
        ('{"a": "1", "b": "2", "label": "D", "weight": "much"}', r"weight is 'much'; .*number above 0"),
        ('{"a": "1", "b": "2", "label": "D", "days": -1}', r"days is -1; .*whole number.* 0"),
        ('{"a": ["1"], "b": "2", "label": "D"}', r"a is \['1'\]; .*text or a number"),
        ("a and b", r"JSON.*character 1; .*one object per line"),
    ],
)
def test_a_bad_row_names_value_and_remedy(tmp_path, line, reason) -> None:
    path = tmp_path / "labels.jsonl"
    path.write_text(f'{line}\n{{"a": "1", "b": "2", "label": "D"}}\n')
    labels, problems = read_labels(path)
    assert [label.line for label in labels] == [2]
    [problem] = problems
    assert problem.line == 1
    assert re.search(reason, problem.reason)


def test_a_file_without_a_column_of_labels_is_refused(tmp_path) -> None:
    path = tmp_path / "labels.csv"
    path.write_text("a,b\n")
    with pytest.raises(UnreadableFileError) as raised:
        read_labels(path)
    needed = "the header 'a, b' has no label column; it needs label, and a and b or url_a and url_b"
    assert str(raised.value) == f"{path} cannot be read: {needed}"
