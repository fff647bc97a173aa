"""What commands are asked for, as it is used, and the statuses with which they end."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from datetime import date

from django.core.management.base import CommandError

from articles.models import Newspaper

USAGE_STATUS = 2
INTERRUPTED_STATUS = 130  # 128 + SIGINT, as shells report it


def day(text: str) -> date:
    """Return the day; for argparse."""
    return date.fromisoformat(text)


day.__name__ = "day (YYYY-MM-DD)"  # argparse names it in its message


def newspapers_named(names: Sequence[str]) -> list[Newspaper] | None:
    """Return the newspapers of these names; None, which is all of them, for none. Raises CommandError."""
    if not names:
        return None
    found = list(Newspaper.objects.filter(name__in=names))
    if unknown := sorted(set(names) - {newspaper.name for newspaper in found}):
        raise CommandError(f"No newspaper is named {', '.join(map(repr, unknown))}.", returncode=USAGE_STATUS)
    return found


def number_up_to(bound: int) -> Callable[[str], int]:
    """Return what reads a number from 1 to this bound; for argparse."""

    def number(value: str) -> int:
        if not value.isdecimal() or not 1 <= int(value) <= bound:
            raise argparse.ArgumentTypeError(f"{value!r} is not a number from 1 to {bound:,}")
        return int(value)

    return number
