"""Agreement of two editors, and what a sample says about the rest, against published numbers."""

import pytest

from dedup.research.precision import LEAST_READINGS, agreement, kappa, upper_bound


def test_kappa_of_a_published_table() -> None:
    # Fleiss, Levin and Paik, Statistical Methods for Rates and Proportions, table 18.1: 100 patients, kappa 0.676 with
    # a standard error of 0.088.
    table = {
        ("psychotic", "psychotic"): 75, ("psychotic", "neurotic"): 1, ("psychotic", "organic"): 4,
        ("neurotic", "psychotic"): 5, ("neurotic", "neurotic"): 4, ("neurotic", "organic"): 1,
        ("organic", "organic"): 10,
    }  # fmt: skip
    found = kappa(table)
    assert found is not None
    assert found.value == pytest.approx(0.676, abs=0.0005)
    assert (found.high - found.value) / 1.959964 == pytest.approx(0.088, abs=0.0005)
    assert found.value - found.low == pytest.approx(found.high - found.value)


def test_kappa_of_a_table_computed_by_hand() -> None:
    # 50 readings: 35 agree (.7), by chance .5 * .6 + .5 * .4 = .5 would, so kappa is .4.
    found = kappa(
        {("confirm", "confirm"): 20, ("confirm", "reject"): 5, ("reject", "confirm"): 10, ("reject", "reject"): 15}
    )
    assert found is not None
    assert found.value == pytest.approx(0.4)
    # The two margins of each cell are crossed where the answers differ.
    same = 0.4 * (0.5 - 1.1 * 0.3) ** 2 + 0.3 * (0.5 - 0.9 * 0.3) ** 2
    other = 0.09 * (0.1 * (0.6 + 0.5) ** 2 + 0.2 * (0.4 + 0.5) ** 2)
    deviation = ((same + other - (0.35 - 1 + 0.7) ** 2) / 50) ** 0.5 / 0.25
    assert found.high - found.value == pytest.approx(1.959964 * deviation)


def test_agreement_says_when_it_knows_too_little() -> None:
    assert agreement({}).kappa is None
    few = agreement({("confirm", "confirm"): LEAST_READINGS - 1})
    assert (few.enough, few.kappa, few.share) == (False, None, 1.0)
    one_answer = agreement({("confirm", "confirm"): 40})
    assert (one_answer.enough, one_answer.kappa) == (True, None)
    perfect = agreement({("confirm", "confirm"): 20, ("reject", "reject"): 20})
    assert perfect.kappa is not None
    assert (perfect.kappa.value, perfect.kappa.low, perfect.kappa.high) == (1.0, 1.0, 1.0)
    chance = agreement(
        {("confirm", "confirm"): 10, ("confirm", "reject"): 10, ("reject", "confirm"): 10, ("reject", "reject"): 10}
    )
    assert chance.kappa is not None
    assert chance.kappa.value == pytest.approx(0)


@pytest.mark.parametrize(
    ("drawn", "wrong", "bound"),
    [
        # No error: the bound has a closed form. 59 prove 5%, and 149 prove 2%.
        *((drawn, 0, 1 - 0.05 ** (1 / drawn)) for drawn in (58, 59, 148, 149)),
        (20, 0, 0.13911),
        (20, 1, 0.21611),
        (10, 3, 0.60662),
        (100, 5, 0.10225),
        (2, 1, 0.95**0.5),  # 1 - p² = .05
        (7, 7, 1.0),
        (0, 0, 1.0),
    ],
)
def test_the_upper_bound_of_the_share_of_errors(drawn: int, wrong: int, bound: float) -> None:
    assert upper_bound(drawn, wrong) == pytest.approx(bound, abs=5e-5)


def test_no_more_than_were_drawn_can_be_wrong() -> None:
    with pytest.raises(ValueError, match="3 of 2 drawn"):
        upper_bound(2, 3)
