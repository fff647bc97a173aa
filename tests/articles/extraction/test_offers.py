"""What is an offer, and that a text of millions of signs costs no more to look through than its letters."""

from __future__ import annotations

import re

import pytest

from articles.extraction import notices
from articles.extraction.notices import is_offer

OFFER = "Subscribe now to read on. Already a subscriber? Log in here."
# What a hostile text repeats.
UNITS = ["<", "&", "&#", "(", ".", " ", "\n", "\u0301", "\u200f", '"', "\u201c", "_", "-", "<>", "<.", "<!--", "&#;"]


class Counting:
    """Stands in for the pattern of notices, and counts the characters that it is given."""

    def __init__(self, pattern: re.Pattern[str]) -> None:
        self._pattern, self.characters = pattern, 0

    def search(self, text: str) -> re.Match[str] | None:
        self.characters += len(text)
        return self._pattern.search(text)


@pytest.mark.parametrize("unit", UNITS)
def test_signs_are_not_searched_for_notices(unit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    counting = Counting(notices._NOTICE)
    monkeypatch.setattr(notices, "_NOTICE", counting)
    signs = unit * (500_000 // len(unit))
    assert not is_offer(signs)
    assert is_offer(f"{signs} {OFFER} {signs}")
    assert not is_offer(f"{signs} The ferry sails at noon {signs}")
    assert counting.characters < 1_000


def test_runs_of_signs_change_nothing() -> None:
    for text, offer in (
        (OFFER, True),
        ("Sign *** in", False),
        ("Log - in", False),
        ("Free  trial", False),
    ):
        assert is_offer(text) is offer, text
