"""Which replacements are changes of a number, a date or a name, and how they are shown."""

import pytest

from dedup.detection.comparison.alignment import Change, Replacement
from dedup.detection.comparison.plain_changes import plain_changes


@pytest.mark.parametrize(
    ("change", "left", "right", "shown"),
    [
        (Change.NUMBER, "120", "95", "120 → 95"),
        (Change.NUMBER, "saw 1,896 million", "had 9.74 billion", "1,896 million → 9.74 billion"),
        (Change.NUMBER, "8.10 Monday unchanged", "8.15 percent down", "8.10 → 8.15"),
        (Change.NUMBER, "the mayor met the council today 3", "on Friday 16 held talks with", ""),
        (Change.NUMBER, "5 large ships", "5 small boats", ""),
        (Change.NUMBER, "20 30", "40", ""),
        (Change.NUMBER, "40 50", "30 50", "40 → 30"),
        (Change.DATE, "Tuesday", "Friday", "Tuesday → Friday"),
        (Change.DATE, "will begin today March", "two days on Tuesday", ""),
        (Change.DATE, "Friday", "on Friday", ""),
        (Change.UNIT, "dollars", "euros", "dollars → euros"),
        (Change.UNIT, "million", "billion", "million → billion"),
        (Change.UNIT, "dollar", "of", ""),
        (Change.UNIT, "th", "January", ""),
        (Change.UNIT, "will hand in their lists", "have to come", ""),
        (Change.NAME, "Ana Kovač", "Ivo Barić", "Ana Kovač → Ivo Barić"),
        (Change.NAME, "in Zadar", "Osijek county", "Zadar → Osijek"),
        (Change.NAME, "Zadar county", "Osijek county", "Zadar → Osijek"),
        (Change.NAME, "the Parliament", "Parliament and", ""),
        (Change.NAME, "T", "Tomislav", ""),
        (Change.NAME, "by the Harbour Office", "Kovač coming up top", ""),
        (Change.SPELLING, "centre", "center", ""),
        (Change.SPELLING, "million", "billion", "million → billion"),
        (Change.WORDING, "wind", "union", ""),
    ],
)
def test_what_is_replaced_one_for_one(change: Change, left: str, right: str, shown: str) -> None:
    assert said(Replacement(change, left, right)) == shown


def said(replacement: Replacement, left: str = "", right: str = "") -> str:
    """Return what is said to be replaced, between two articles that have these words, too."""
    found = plain_changes([replacement], (frozenset(left.casefold().split()), frozenset(right.casefold().split())))
    return ", ".join(f"{pair.left} → {pair.right}" for pair in found if pair and pair.change is not Change.SPELLING)


def test_a_name_in_a_larger_change_is_not_replaced_and_an_amount_is_a_number() -> None:
    assert not said(Replacement(Change.NAME, "Mayor", "Officer", alone=False))
    assert said(Replacement(Change.NUMBER, "120", "95", alone=False)) == "120 → 95"
    assert plain_changes([Replacement(Change.NAME, "Rs175bn", "Rs206bn")], (frozenset(), frozenset())) == [
        Replacement(Change.NUMBER, "Rs175bn", "Rs206bn")
    ]


def test_what_both_articles_have_is_not_replaced() -> None:
    names = Replacement(Change.NAME, "Ana Kovač", "Harbour Board")
    assert said(names, "Ana Kovač chairs the board", "the Harbour Board chose her") == "Ana Kovač → Harbour Board"
    assert not said(names, "Ana Kovač of the Harbour Board", "the Harbour Board chose her")
    assert not said(names, "Ana Kovač chairs the board", "the Harbour Board chose Ana Kovač")
    # The day before yesterday is in both articles of a daily report, as another day.
    assert said(Replacement(Change.DATE, "Tuesday", "Wednesday"), "Monday Tuesday", "Tuesday Wednesday")
    assert not said(Replacement(Change.NUMBER, "9", "8"), "8 of 09", "9 of 08.0")
