"""Which replacements are changes of a number, a date or a name, and how they are shown."""

import pytest

from dedup.comparison.alignment import Change, Replacement
from dedup.comparison.plain_changes import plain_change


@pytest.mark.parametrize(
    ("change", "left", "right", "shown"),
    [
        (Change.NUMBER, "120", "95", "120 → 95"),
        (Change.NUMBER, "saw 1,896 million", "had 9.74 billion", "1,896 million → 9.74 billion"),
        (Change.NUMBER, "8.10 Monday unchanged", "8.15 percent down", "8.10 → 8.15"),
        (Change.NUMBER, "the mayor met the council today 3", "on Friday 16 held talks with", ""),
        (Change.NUMBER, "5 large ships", "5 small boats", ""),
        (Change.NUMBER, "20 30", "40", ""),
        (Change.DATE, "Tuesday", "Friday", "Tuesday → Friday"),
        (Change.DATE, "will begin today March", "two days on Tuesday", ""),
        (Change.DATE, "Friday", "on Friday", ""),
        (Change.UNIT, "dollars", "euros", "dollars → euros"),
        (Change.UNIT, "million", "mn", "million → mn"),
        (Change.UNIT, "dollar", "of", ""),
        (Change.UNIT, "th", "January", ""),
        (Change.UNIT, "will hand in their lists", "have to come", ""),
        (Change.NAME, "Ana Kovač", "Ivo Barić", "Ana Kovač → Ivo Barić"),
        (Change.NAME, "in Zadar", "Osijek county", "Zadar → Osijek"),
        (Change.NAME, "Zadar county", "Osijek county", "Zadar county → Osijek county"),
        (Change.NAME, "the Parliament", "Parliament and", ""),
        (Change.NAME, "T", "Tomislav", ""),
        (Change.NAME, "by the Harbour Office", "Kovač coming up top", ""),
        (Change.SPELLING, "centre", "center", "centre → center"),
        (Change.WORDING, "wind", "union", ""),
    ],
)
def test_what_is_replaced_one_for_one(change: Change, left: str, right: str, shown: str) -> None:
    plain = plain_change(Replacement(change, left, right))

    assert (f"{plain.left} → {plain.right}" if plain else "") == shown
    assert plain is None or plain.change == change


def test_a_name_in_a_larger_change_is_not_replaced_and_an_amount_is_a_number() -> None:
    assert plain_change(Replacement(Change.NAME, "Mayor", "Officer", alone=False)) is None
    assert plain_change(Replacement(Change.NUMBER, "120", "95", alone=False)) is not None
    assert plain_change(Replacement(Change.NAME, "Rs175bn", "Rs206bn")) == Replacement(
        Change.NUMBER, "Rs175bn", "Rs206bn"
    )
