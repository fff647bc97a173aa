"""The confusion matrix: weighted shares of each label by verdict."""

from __future__ import annotations

import pytest

from dedup.research.answers import OUTCOMES, Cell, confusion
from dedup.research.precision import Estimate


def test_shares_are_those_of_each_label_by_weight() -> None:
    found = confusion(
        ["D", "D", "D", "V", "T", "T"],
        ["duplicate", "duplicate", "not_proposed", "version", "duplicate", "template"],
        [3.0, 1.0, 4.0, 7.0, 1.0, 9.0],
    )
    assert OUTCOMES == ("duplicate", "version", "template", "similar", "not_proposed")
    pairs = {label: [cells[outcome].pairs for outcome in OUTCOMES] for label, cells in found.items()}
    assert pairs == {
        "D": [2, 0, 0, 0, 1],
        "V": [0, 1, 0, 0, 0],
        "T": [1, 0, 1, 0, 0],
        "E": [0, 0, 0, 0, 0],
        "N": [0, 0, 0, 0, 0],
    }
    shares = {label: [cells[outcome].share.value for outcome in OUTCOMES] for label, cells in found.items()}
    assert shares["D"] == pytest.approx([0.5, 0, 0, 0, 0.5])
    assert shares["T"] == pytest.approx([0.1, 0, 0.9, 0, 0])
    assert found["N"]["similar"] == Cell(0, Estimate(0.0, 0.0, 0.0))


def test_intervals_narrow_with_more_pairs() -> None:
    few = confusion(["D"] * 20, ["duplicate", "version"] * 10, [1.0] * 20)["D"]["duplicate"].share
    many = confusion(["D"] * 500, ["duplicate", "version"] * 250, [1.0] * 500)["D"]["duplicate"].share
    assert few.low < many.low < 0.5 < many.high < few.high
