"""Second readings: another editor answers a decided pair; and where editors disagree, and how well they agree."""

import datetime
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from django.conf import settings
from django.db.models import Count, F, OuterRef, Q, QuerySet, Subquery
from django.utils import timezone

from articles.grouping import by_key
from articles.querysets import texts_of
from dedup.answers import BUTTONS, OF_LINK, Answer
from dedup.models import Decision, Link, Pair, SecondReading, Verdict
from dedup.models.decisions import DRAWN_BY
from dedup.research.precision import Agreement, agreement
from dedup.research.sampling import hash_bound
from dedup.review.answers.decisions import (
    SENT_AGAIN_WITHIN,
    ReviewError,
    checked_note,
    decide_pair,
    decisions_on,
    locked_review,
)


def waiting_for(user: Any) -> QuerySet[Decision]:
    """Return the decisions whose pairs wait for this editor to read them again.

    Chosen are a share of all pairs, settings.SECOND_READINGS, the same ones every time. A pair waits if exactly one
    other editor decided it, and decided it by itself, and nobody has read it again.
    """
    drawn = Decision.objects.alias(drawn=DRAWN_BY).filter(
        pair__isnull=False, undoes=None, drawn__lt=hash_bound(settings.SECOND_READINGS), kind__in=list(Answer)
    )
    read = SecondReading.objects.filter(decision=OuterRef("pk"), pair=OuterRef("pair"))
    by_others = Decision.objects.in_force().filter(pair=OuterRef("pair"), kind__in=list(Answer))
    # A decision on a pair names its two articles in order.
    later = _links_after("pk", "articles__0", "articles__1")
    by_others = by_others.exclude(decided_by=OuterRef("decided_by"))
    # Looked up for each decision that was drawn: joined, all decisions would be read.
    return (
        drawn.exclude(decided_by=user)
        .alias(read=one_of(read), others=one_of(by_others), later=one_of(later))
        .filter(read=None, others=None, later=None)
        .in_force()
    )


def one_of(rows: QuerySet[Any]) -> Subquery:
    """Return the number of any of these rows, null if there is none, to be looked up row by row."""
    return Subquery(rows.order_by().values("pk")[:1])


def waits_for(pair_id: int, user: Any) -> bool:
    """Return whether a pair waits for this editor to read it again."""
    return waiting_for(user).filter(pair=pair_id).exists()


def read_again(pair_id: int, kind: str, *, user: Any, note: str = "") -> SecondReading:
    """Append the answer of a second editor, who has not seen the first. Raises ReviewError."""
    with locked_review():
        if before := _sent_before(pair_id, kind, user):
            return before
        first = waiting_for(user).filter(pair=pair_id).first()
        if first is None:
            raise ReviewError(f"Pair {pair_id} does not wait for a second reading any more. Nothing was stored.")
        return _append(first, Answer(first.kind), pair_id, kind, user=user, note=note, blind=True)


def _sent_before(pair_id: int, kind: str, user: Any) -> SecondReading | None:
    """Return the reading that this one repeats: the browser sent it again because it did not see the answer."""
    since = timezone.now() - SENT_AGAIN_WITHIN
    latest = SecondReading.objects.filter(pair=pair_id, user=user, blind=True, read_at__gte=since).first()
    return latest if latest and latest.kind == kind else None


def answer_collision(pair_id: int, decision: int, kind: str, *, user: Any, note: str = "") -> SecondReading:
    """Append that an editor agrees with a decision that another one made meanwhile, or contests it. Raises ReviewError.

    Whoever gives another answer than the decision contests it; the decision stays in force.
    """
    with locked_review():
        pair = Pair.objects.get(pk=pair_id)
        first = decisions_on(pair).filter(pk=decision, undone_by=None).first()
        said = said_about(first, pair) if first else None
        if first is None or said is None:
            raise ReviewError(f"Decision {decision} on this pair is no longer in force. Look again.")
        if first.decided_by_id == user.pk:
            raise ReviewError("This is your own decision; make a new one to change it.")
        before = SecondReading.objects.filter(decision=first, pair=pair, user=user).first()
        return before or _append(first, said, pair_id, kind, user=user, note=note, blind=False)


def _links_after(decision: str, left: str, right: str) -> QuerySet[Link]:
    """Return what editors said of two articles after a decision, given the columns that name them."""
    ends = {"left": OuterRef(left), "right": OuterRef(right)}
    return Link.objects.filter(**ends, decision__gt=OuterRef(decision), decision__undone_by=None)


# Of the pair of a reading, after the decision that it is about.
_LATER = _links_after("decision", "pair__left", "pair__right")


def in_dispute(*, is_open: bool | None = None) -> QuerySet[SecondReading]:
    """Return the readings that differ from the decision they are about, with `is_open`: nothing has settled them.

    Only those that are open, or settled, if `is_open` is given.
    """
    undo = Decision.objects.filter(undoes=OuterRef("decision"))
    # Without a pair, an article was removed: nothing can be settled.
    differing = SecondReading.objects.filter(pair__isnull=False).exclude(kind=F("first_kind"))
    looked_up = differing.alias(undo=one_of(undo), later=one_of(_LATER))
    found = looked_up.annotate(is_open=Q(undo=None) & Q(later=None))
    return found if is_open is None else found.filter(is_open=is_open)


def settle(reading_id: int, kind: str, *, user: Any, note: str = "") -> Decision:
    """Settle a disagreement by a new decision on its pair. Raises ReviewError."""
    with locked_review():
        reading = in_dispute().filter(pk=reading_id).first()
        if reading is None or reading.pair_id is None:
            raise ReviewError(f"There is no disagreement {reading_id}.")
        if not vars(reading)["is_open"]:
            raise ReviewError("Somebody settled this disagreement meanwhile. Look at the pair.")
        return decide_pair(reading.pair_id, kind, user=user, note=note)


def said_about(decision: Decision, pair: Pair) -> Answer | None:
    """Return what a decision says about a pair, None if it says nothing."""
    link = Link.objects.filter(decision=decision, left=pair.left_id, right=pair.right_id).first()
    # A tie that keeps a cluster together is no answer.
    return OF_LINK.get(link.kind) if link else None


def _append(
    first: Decision, said: Answer, pair_id: int, kind: str, *, user: Any, note: str, blind: bool
) -> SecondReading:
    if kind not in BUTTONS:
        raise ReviewError(f"A pair cannot be answered with {kind!r}; use one of {', '.join(BUTTONS)}.")
    about = {"pair_id": pair_id, "decision": first, "first_kind": said}
    return SecondReading.objects.create(**about, user=user, kind=kind, note=checked_note(note), blind=blind)


# Changes of an editor's answers that are listed, the latest ones.
CHANGES_SHOWN = 50
# Of an editor's own answers, so many are looked at, the latest ones.
ANSWERS_LOOKED_AT = 5_000


class Change(NamedTuple):
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
    readings = in_dispute().annotate(settled_by=Subquery(_LATER.order_by("-decision").values("decision")[:1]))
    return _with_pairs(readings.select_related("decision__decided_by", "user")).order_by("-is_open", "-id")


def with_outcomes(readings: Iterable[SecondReading]) -> list[tuple[SecondReading, Decision | None]]:
    """Return these rows of disagreements(), each with the decision that settled it, or None."""
    readings = list(readings)
    numbers: list[int | None] = [vars(reading)["settled_by"] for reading in readings]  # annotated
    found = Decision.objects.select_related("decided_by").in_bulk({number for number in numbers if number})
    return [(reading, found.get(number or 0)) for reading, number in zip(readings, numbers, strict=True)]


def changes_of(user: Any) -> list[Change]:
    """Return which of an editor's answers others changed, took back or contested; the latest first."""
    found = [*_contested(user), *_overridden(user), *_undone(user)]
    return sorted(found, key=lambda change: change.at, reverse=True)[:CHANGES_SHOWN]


def _contested(user: Any) -> list[Change]:
    found = _with_pairs(in_dispute().select_related("decision", "user")).filter(decision__decided_by=user)
    return [
        Change(row.pair, row.decision, row.user, row.read_at, row.get_kind_display(), row.note, row.is_open)
        for row in found.order_by("-id")[:CHANGES_SHOWN]
    ]


def _overridden(user: Any) -> list[Change]:
    answers = Decision.objects.filter(pair__isnull=False, kind__in=list(Answer))
    mine = answers.filter(decided_by=user).order_by("-decided_at")[:ANSWERS_LOOKED_AT]
    others = answers.in_force().filter(pair__in=mine.values("pair")).exclude(decided_by=user)
    found = list(_with_pairs(others.select_related("decided_by")).order_by("-id")[: CHANGES_SHOWN * 4])
    before = answers.in_force().filter(decided_by=user, pair__in=[decision.pair_id for decision in found])
    of_pair = by_key((decision.pair_id, decision) for decision in before.order_by("pk"))
    pairs = ((decision, [own for own in of_pair[decision.pair_id] if own.pk < decision.pk]) for decision in found)
    return [_change(decision, own[-1]) for decision, own in pairs if own and own[-1].kind != decision.kind]


def _undone(user: Any) -> list[Change]:
    undos = Decision.objects.filter(undoes__decided_by=user, undoes__kind__in=list(Answer)).exclude(decided_by=user)
    shown = _with_pairs(undos.select_related("decided_by", "undoes")).order_by("-id")[:CHANGES_SHOWN]
    return [_change(decision, decision.undoes) for decision in shown if decision.undoes]


def _change(later: Decision, mine: Decision) -> Change:
    said = Answer(later.kind).label if later.kind in list(Answer) else "undone"
    assert later.pair is not None  # noqa: S101 - both are on one pair
    return Change(later.pair, mine, later.decided_by, later.decided_at, said, later.note, is_open=False)


def _with_pairs(rows: QuerySet[Any]) -> QuerySet[Any]:
    full = rows.select_related("pair__left__newspaper", "pair__right__newspaper")
    return full.defer(*texts_of("pair__left", "pair__right"))


class Agreements(NamedTuple):
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
