"""Pairs of articles that share a key: the same URL, headline or text."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import date, timedelta
from itertools import combinations, groupby
from operator import itemgetter
from typing import Any, NamedTuple

from dedup.detection.types import Candidate, Tally, Window


class GroupedArticle(NamedTuple):
    """An article in its group. Rows come ordered by key, then day and id."""

    key: Any
    text: str
    article: int
    day: date


def shared_text(texts: Sequence[str]) -> dict[str, Any]:
    """Return the text that the articles of a group share, and the number of articles."""
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

    `evidence` turns the texts of a group into the evidence of its pairs. A group of more than `largest` articles would
    give too many pairs: with `star`, each article is paired only with the first one; otherwise the group is
    left out.
    """
    for members in _groups(rows):
        details = evidence([member.text for member in members])
        crowded = len(members) > largest
        if crowded and not star:
            continue
        pairs = ((members[0], member) for member in members[1:]) if crowded else combinations(members, 2)
        for first, second in pairs:
            if second.day >= window.first_day:
                yield _candidate(first, second, pass_name, details)


def near_candidates(
    pass_name: str, rows: Iterable[tuple[Any, str, int, date]], *, window: Window, largest: int, days_apart: int
) -> Iterator[Candidate]:
    """Yield the pairs of each group that are at most `days_apart` days apart, with score 1.

    A pair is left out if its group has more than `largest` articles on the later article's day and the `days_apart`
    days before it.
    """
    for members in _groups(rows):
        begin = 0
        for _, those_of_day in groupby(enumerate(members), key=lambda numbered: numbered[1].day):
            today = list(those_of_day)
            day, end = today[0][1].day, today[-1][0] + 1
            while members[begin].day < day - timedelta(days=days_apart):
                begin += 1
            if day < window.first_day or end - begin > largest:
                continue
            details = shared_text([member.text for member in members[begin:end]])
            for position, second in today:
                for first in members[begin:position]:
                    yield _candidate(first, second, pass_name, details)


def counted(candidates: Iterator[Candidate], tally: Tally | None) -> Iterator[Candidate]:
    """Yield the candidates and count them; comparing their keys has verified them already."""
    for candidate in candidates:
        if tally is not None:
            tally.candidates += 1
            tally.verified += 1
        yield candidate


def _groups(rows: Iterable[tuple[Any, str, int, date]]) -> Iterator[list[GroupedArticle]]:
    for _, group in groupby(rows, key=itemgetter(0)):
        yield [GroupedArticle(*row) for row in group]


def _candidate(first: GroupedArticle, second: GroupedArticle, pass_name: str, details: dict[str, Any]) -> Candidate:
    left, right = sorted((first.article, second.article))
    return Candidate(left, right, pass_name, 1.0, details)
