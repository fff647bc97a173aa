"""The learning curve on made-up corpora."""

from __future__ import annotations

import random

from dedup.research.corpora import Sample, learning_curve
from tests.dedup.research.made_up_rows import row


def corpus(count: int, least: float, seed: int) -> list[Sample]:
    """Return pairs of which those that contain at least `least` are duplicates; a twentieth is not proposed."""
    dice = random.Random(seed)
    contained = [dice.random() for _ in range(count)]
    return [
        Sample("D" if share >= least else "N", 1.0, 0, "similar", 0.2, row(share), asked=bool(place % 20))
        for place, share in enumerate(contained)
    ]


CORPORA = {"strict": corpus(160, 0.8, 1), "lenient": corpus(160, 0.4, 2)}


def test_decisions_help_where_the_others_are_stricter() -> None:
    curves = learning_curve(CORPORA)
    lenient = curves["lenient"]
    # 152 pairs are proposed; at most three quarters of them are drawn.
    assert [(point["decisions"], point["draws"]) for point in lenient] == [(0, 1), (20, 10), (50, 10), (100, 10)]
    start, *later = lenient
    assert start["f1"] == start["f1_without"]
    for point in later:
        assert point["f1_change"]["least"] >= 0
        assert point["worse"] == 0
        assert point["f1"]["mean"] > point["f1_without"]["mean"] + 0.02
        assert sum(point["adjusted"].values()) == 10
    assert later[0]["adjusted"]["all coefficients"] == 0


def test_the_draws_are_the_same_every_time() -> None:
    assert learning_curve(CORPORA) == learning_curve(CORPORA)


def test_a_corpus_without_usable_others_has_no_curve() -> None:
    unlabelled = [Sample("V", 1.0, 0, features=row(0.5))]
    assert list(learning_curve({"strict": CORPORA["strict"], "other": unlabelled})) == ["other"]
