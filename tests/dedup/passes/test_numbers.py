"""The numbers pass: two long numbers one after the other."""

from functools import partial

import pytest

from dedup.detection.passes.numbers import NumbersPass
from tests.dedup.passes import finding

pytestmark = pytest.mark.django_db
EXPLAINED = ({}, {"largest_group": 2}, {"day_window": 40})


def alike(group: int, copy: int) -> dict[str, str]:
    """Return what an article of a group has for this pass: two numbers, and each copy another text around them."""
    return {"content": f"Count {copy} of votes: 289,64{group} for Holm, 5,944,286 for Lind."}


find = partial(finding.find, NumbersPass())


def test_numbers_are_equal_however_they_are_grouped(store) -> None:
    one = store("Holm (Harbour Party) 289,649; Lind (Free List) 5,944,286; turnout 71.2")
    other = store(
        "Lind had been first, but 289649 votes were for Holm and 5.944.286 for Lind", newspaper="Inland Courier"
    )
    store("Lind 5,944,286 and Holm 289,649")
    store("Holm 289,649 and Lind 1,289")
    store("289,649 and 289,649", date="2026-03-03")
    store("289,649 and again 289,649", date="2026-03-03")
    [found] = find()
    assert (found.left, found.right) == (one.pk, other.pk)
    assert found.evidence == {"shared": "289649 5944286", "articles": 2}
