"""Disagreements: pairs that two editors answered differently, and how well editors agree."""

from __future__ import annotations

import datetime
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, OuterRef, QuerySet, Subquery

from articles.querysets import LONG_TEXTS
from dedup.answers import Answer
from dedup.models import Decision, Link, Pair, SecondReading, Verdict
from dedup.research.agreement import Agreement, agreement
from dedup.review.second_readings import in_dispute

# Changes of an editor's answers that are listed, the latest ones.
CHANGES_SHOWN = 50
# Of an editor's own answers, so many are looked at, the latest ones.
ANSWERS_LOOKED_AT = 5_000
_ON_PAIRS = [f"pair__{side}__{name}" for side in ("left", "right") for name in LONG_TEXTS]


@dataclass(frozen=True, slots=True)
class Change:
    """An editor's decision on a pair, and who answered otherwise later."""

    pair: Pair
    mine: Decision
    by: Any
    at: datetime.datetime
    what: str
    note: str
    is_open: bool  # an answer that differs, and that nobody has settled


def disagreements() -> QuerySet[SecondReading]:
    """Return the disagreements as lists show them, the open ones first, each with `settled_by`, a decision's number."""
    later = Link.objects.filter(
        left=OuterRef("pair__left"),
        right=OuterRef("pair__right"),
        decision__gt=OuterRef("decision"),
        decision__undone_by=None,
    )
    readings = in_dispute().annotate(settled_by=Subquery(later.order_by("-decision").values("decision")[:1]))
    return _with_pairs(readings.select_related("decision__decided_by", "user")).order_by("-is_open", "-id")


def with_outcomes(readings: Iterable[SecondReading]) -> list[tuple[SecondReading, Decision | None]]:
    """Return these rows of disagreements(), each with the decision that settled it, or None."""
    readings = list(readings)
    numbers: list[int | None] = [vars(reading)["settled_by"] for reading in readings]  # annotated
    found = Decision.objects.select_related("decided_by").in_bulk({each for each in numbers if each})
    return [(each, found.get(number or 0)) for each, number in zip(readings, numbers, strict=True)]


def disputes_on(pair_id: int) -> list[tuple[SecondReading, Decision | None]]:
    """Return the disagreements on a pair, the open ones first, each with the decision that settled it, or None."""
    return with_outcomes(disagreements().filter(pair=pair_id))


def open_disagreements() -> QuerySet[SecondReading]:
    """Return the disagreements that nobody has settled."""
    return in_dispute(is_open=True)


def changes_of(user: Any) -> list[Change]:
    """Return which of an editor's answers others changed, took back or contested; the latest first."""
    found = [*_contested(user), *_overridden(user), *_undone(user)]
    return sorted(found, key=lambda each: each.at, reverse=True)[:CHANGES_SHOWN]


def _contested(user: Any) -> list[Change]:
    readings = _with_pairs(in_dispute().select_related("decision", "user")).filter(decision__decided_by=user)
    return [
        Change(
            reading.pair,
            reading.decision,
            reading.user,
            reading.read_at,
            reading.get_kind_display(),
            reading.note,
            vars(reading)["is_open"],
        )
        for reading in readings.order_by("-id")[:CHANGES_SHOWN]
    ]


def _overridden(user: Any) -> list[Change]:
    answers = Decision.objects.filter(pair__isnull=False, kind__in=list(Answer))
    mine = answers.filter(decided_by=user).order_by("-decided_at")[:ANSWERS_LOOKED_AT]
    others = answers.in_force().filter(pair__in=mine.values("pair")).exclude(decided_by=user)
    found = list(_with_pairs(others.select_related("decided_by")).order_by("-id")[: CHANGES_SHOWN * 4])
    before = answers.in_force().filter(decided_by=user, pair__in=[each.pair_id for each in found])
    of_pair: defaultdict[int | None, list[Decision]] = defaultdict(list)
    for each in before.order_by("pk"):
        of_pair[each.pair_id].append(each)
    pairs = ((each, [own for own in of_pair[each.pair_id] if own.pk < each.pk]) for each in found)
    return [_change(each, own[-1]) for each, own in pairs if own and own[-1].kind != each.kind]


def _undone(user: Any) -> list[Change]:
    undos = Decision.objects.filter(undoes__decided_by=user, undoes__kind__in=list(Answer)).exclude(decided_by=user)
    shown = _with_pairs(undos.select_related("decided_by", "undoes")).order_by("-id")[:CHANGES_SHOWN]
    return [_change(each, each.undoes) for each in shown if each.undoes]


def _change(later: Decision, mine: Decision) -> Change:
    said = Answer(later.kind).label if later.kind in list(Answer) else "undone"
    assert later.pair is not None  # noqa: S101 - both are on one pair
    return Change(later.pair, mine, later.decided_by, later.decided_at, said, later.note, is_open=False)


def _with_pairs(rows: QuerySet[Any]) -> QuerySet[Any]:
    return rows.select_related("pair__left__newspaper", "pair__right__newspaper").defer(*_ON_PAIRS)


@dataclass(frozen=True, slots=True)
class Agreements:
    """How well editors agree in all, and on the pairs of each verdict that blind readings were about."""

    all: Agreement
    by_verdict: Sequence[tuple[str, Agreement]]  # with the label of the verdict


def agreements(readings: QuerySet[SecondReading] | None = None) -> Agreements:
    """Return how well second editors, who did not see the first answer, agree with the first ones.

    Only those of these readings count that were made without seeing it; all, if none are given.
    """
    blind = (SecondReading.objects.all() if readings is None else readings).filter(blind=True).order_by()
    rows = blind.values_list("pair__verdict", "first_kind", "kind").annotate(Count("pk"))
    tables: defaultdict[str, dict[tuple[str, str], int]] = defaultdict(dict)
    whole: defaultdict[tuple[str, str], int] = defaultdict(int)
    for verdict, first, second, count in rows:
        tables[verdict][first, second] = count
        whole[first, second] += count
    labels = [("", "not yet judged"), *Verdict.choices]
    return Agreements(agreement(whole), [(label, agreement(tables[name])) for name, label in labels if name in tables])
