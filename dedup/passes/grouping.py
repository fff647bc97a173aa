"""Pairs of the articles that share a key: an equal URL, title or text."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import date
from itertools import combinations, groupby
from operator import itemgetter
from typing import Any

from dedup.types import Candidate, Window


def scope_parameters(window: Window) -> dict[str, Any]:
    """Return the parameters of a statement over the articles of a window's scope.

    `first_day` and `last_day` bound the day of the earlier article of a pair.
    """
    return {
        "first_day": window.first_day,
        "last_day": window.last_day,
        "since": window.since,
        "until": window.until,
        "newspaper_ids": list(window.newspaper_ids) if window.newspaper_ids is not None else None,
    }


def shared_text(texts: Sequence[str]) -> dict[str, Any]:
    """Note the text that the articles of a group share, and how many they are."""
    return {"shared": texts[0], "articles": len(texts)}


def grouped_candidates(
    pass_name: str,
    rows: Iterable[tuple[Any, str, int, date]],
    *,
    window: Window,
    largest: int,
    star: bool,
    evidence: Callable[[Sequence[str]], dict[str, Any]],
) -> Iterator[Candidate]:
    """Yield the pairs of each group, with score 1.

    Rows are (key, text, article id, day) and come ordered by key, then day and id; `evidence` makes of the texts of
    a group what is noted with its pairs. A group of
    more than `largest` articles would be a flood of pairs: with `star`, each of its articles is paired with its
    first one alone, otherwise the group is left out.
    """
    for _, group in groupby(rows, key=itemgetter(0)):
        members = list(group)
        details = evidence([text for _, text, _, _ in members])
        crowded = len(members) > largest
        if crowded and not star:
            continue
        pairs = ((members[0], each) for each in members[1:]) if crowded else combinations(members, 2)
        for (_, _, first, day), (_, _, second, _) in pairs:
            if window.first_day <= day <= window.last_day:
                yield Candidate(min(first, second), max(first, second), pass_name, 1.0, details)
