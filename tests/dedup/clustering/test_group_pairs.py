"""Which further pairs of dense groups are compared before clusters join parts of them."""

import datetime
from collections.abc import Mapping, Sequence

from dedup.detection.clustering.group_pairs import by_month, compared_in_groups
from dedup.detection.judging.judge import JudgedRow

IdPair = tuple[int, int]


def row(ends: IdPair, *, joins: bool, probability: float = 0.9, verdict: str = "duplicate") -> JudgedRow:
    return JudgedRow(ends[0], verdict, probability, probability if joins else 0.05, "[]", joins, 0.9, 0.9)


def asked_with(
    proposed: Mapping[IdPair, JudgedRow],
    *,
    joins: bool = True,
    must: Sequence[IdPair] = (),
    cannot: Sequence[IdPair] = (),
) -> list[list[IdPair]]:
    """Return the pairs that each round asks for, if all of them get this verdict."""
    rounds: list[list[IdPair]] = []

    def judge(_month: datetime.date, pairs: Sequence[IdPair]) -> list[JudgedRow]:
        rounds.append(list(pairs))
        return [row(ends, joins=joins) for ends in pairs]

    groups = dict.fromkeys({end for ends in proposed for end in ends}, 1)
    days = dict.fromkeys(groups, datetime.date(2026, 3, 2))
    found = compared_in_groups(proposed, groups, must, cannot, lambda _pairs: days, judge)
    assert list(found) == [ends for asked in rounds for ends in asked]
    assert all(found[ends].joins == joins for ends in found)
    return rounds


CHAIN = {(1, 2): row((1, 2), joins=True), (2, 3): row((2, 3), joins=True), (3, 4): row((3, 4), joins=True)}


def test_parts_of_a_group_meet_before_they_join_until_nothing_is_left_to_compare() -> None:
    rounds = asked_with(CHAIN)
    asked = [ends for round_ in rounds for ends in round_]
    assert sorted(asked) == [(1, 3), (1, 4), (2, 4)]
    assert all(round_ == sorted(round_) for round_ in rounds)
    assert asked_with({}) == []
    assert asked_with({(1, 2): row((1, 2), joins=True)}) == []


def test_what_is_proposed_or_decided_is_not_asked_for() -> None:
    proposed = CHAIN | {(1, 3): row((1, 3), joins=False, verdict="template")}
    assert (1, 3) not in [ends for round_ in asked_with(proposed, joins=False) for ends in round_]
    assert asked_with(CHAIN, cannot=[(1, 2), (2, 3), (3, 4)]) == []
    assert asked_with(CHAIN, must=[(1, 2), (2, 3), (3, 4)]) == []


def test_the_rounds_end_after_some() -> None:
    long = {(left, left + 1): row((left, left + 1), joins=True) for left in range(1, 40)}
    rounds = asked_with(long, joins=False)
    assert 1 < len(rounds) <= 5


def test_pairs_are_of_the_month_of_their_later_article() -> None:
    days = {1: datetime.date(2026, 3, 31), 2: datetime.date(2026, 4, 1), 3: datetime.date(2026, 3, 1)}
    assert by_month([(1, 2), (1, 3), (2, 3)], days) == [
        (datetime.date(2026, 3, 1), [(1, 3)]),
        (datetime.date(2026, 4, 1), [(1, 2), (2, 3)]),
    ]
    assert by_month([], days) == []
