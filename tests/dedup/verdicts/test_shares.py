"""Probabilities as percentages that add up to 100."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedup.detection.verdicts.contributions import Share, percentage, percentages, shares_of


@pytest.mark.parametrize(
    ("probabilities", "written"),
    [
        ([0.496, 0.45, 0.054], ["49%", "45%", "6%"]),
        ([0.494, 0.454, 0.049, 0.003], ["49%", "45%", "5%", "under 1%"]),
        ([0.5, 0.495, 0.005], ["50%", "49%", "under 1%"]),
        ([0.9999, 0.0001], ["99%", "under 1%"]),
        ([1.0, 0.0, 0.0], ["100%", "0%", "0%"]),
        ([0.29, 0.71], ["29%", "71%"]),
    ],
)
def test_percentages_add_up(probabilities: list[float], written: list[str]) -> None:
    assert percentages(probabilities) == written


@given(st.lists(st.integers(0, 1000), min_size=2, max_size=4).filter(any))
def test_whatever_they_are(weights: list[int]) -> None:
    probabilities = [weight / sum(weights) for weight in weights]
    written = percentages(probabilities)
    whole = sum(int(text[:-1]) for text in written if text != "under 1%")

    small = written.count("under 1%")
    assert 100 - small <= whole <= 100 - bool(small)
    assert written[0] == percentage(probabilities[0])
    for probability, text in zip(probabilities, written, strict=True):
        assert text == "under 1%" or abs(int(text[:-1]) - probability * 100) < 3


def test_the_parts_of_a_bar_touch_and_what_is_impossible_is_left_out() -> None:
    assert shares_of({"a": "duplicate", "b": "version", "c": "other"}, [0.25, 0.0, 0.75]) == [
        Share("a", "duplicate", "25%", "0.00", "25.00"),
        Share("c", "other", "75%", "25.00", "75.00"),
    ]
