"""The writer of second readings: another editor answers a pair that is decided, and changes nothing by it."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import F, OuterRef, Q, QuerySet, Subquery
from django.utils import timezone

from dedup.answers import BUTTONS, OF_LINK, Answer
from dedup.detection.clustering.constraints import lock_review
from dedup.models import Decision, Link, Pair, SecondReading
from dedup.models.decisions import DRAWN_BY
from dedup.review.decisions import MAX_NOTE_CHARACTERS, SENT_AGAIN_WITHIN, ReviewError, decide_pair, decisions_on


def waiting_for(user: Any) -> QuerySet[Decision]:
    """Return the decisions whose pairs wait for this editor to read them again.

    Chosen are a share of all pairs, settings.SECOND_READINGS, the same ones every time. A pair waits if exactly one
    other editor decided it, and decided it by itself, and nobody has read it again.
    """
    drawn = Decision.objects.alias(drawn=DRAWN_BY).filter(
        pair__isnull=False, undoes=None, drawn__lt=_bound(settings.SECOND_READINGS), kind__in=list(Answer)
    )
    read = SecondReading.objects.filter(decision=OuterRef("pk"), pair=OuterRef("pair"))
    by_others = Decision.objects.in_force().filter(pair=OuterRef("pair"), kind__in=list(Answer))
    # A decision on a pair names its two articles in order.
    later = Link.objects.filter(
        left=OuterRef("articles__0"),
        right=OuterRef("articles__1"),
        decision__gt=OuterRef("pk"),
        decision__undone_by=None,
    )
    by_others = by_others.exclude(decided_by=OuterRef("decided_by"))
    # Looked up for each decision that was drawn: joined, all decisions would be read.
    return (
        drawn.exclude(decided_by=user)
        .alias(read=_one_of(read), others=_one_of(by_others), later=_one_of(later))
        .filter(read=None, others=None, later=None)
        .in_force()
    )


def _one_of(rows: QuerySet[Any]) -> Subquery:
    return Subquery(rows.order_by().values("pk")[:1])


def waits_for(pair_id: int, user: Any) -> bool:
    """Return whether a pair waits for this editor to read it again."""
    return waiting_for(user).filter(pair=pair_id).exists()


def read_again(pair_id: int, kind: str, *, user: Any, note: str = "") -> SecondReading:
    """Append the answer of a second editor, who has not seen the first. Raises ReviewError."""
    with transaction.atomic():
        lock_review()
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


def answer_collision(pair_id: int, decision_id: int, kind: str, *, user: Any, note: str = "") -> SecondReading:
    """Append that an editor agrees with a decision that another one made meanwhile, or contests it. Raises ReviewError.

    Whoever gives another answer than the decision contests it; the decision stays in force.
    """
    with transaction.atomic():
        lock_review()
        pair = Pair.objects.get(pk=pair_id)
        first = decisions_on(pair).filter(pk=decision_id, undone_by=None).first()
        said = _answer_of(first, pair) if first else None
        if first is None or said is None:
            raise ReviewError(f"Decision {decision_id} on this pair is no longer in force. Look again.")
        if first.decided_by_id == user.pk:
            raise ReviewError("This is your own decision; make a new one to change it.")
        before = SecondReading.objects.filter(decision=first, pair=pair, user=user).first()
        return before or _append(first, said, pair_id, kind, user=user, note=note, blind=False)


def in_dispute(*, is_open: bool | None = None) -> QuerySet[SecondReading]:
    """Return the readings that differ from the decision they are about, with `is_open`: nothing has settled them.

    Only those that are open, or settled, if `is_open` is given.
    """
    later = Link.objects.filter(
        left=OuterRef("pair__left"),
        right=OuterRef("pair__right"),
        decision__gt=OuterRef("decision"),
        decision__undone_by=None,
    )
    undo = Decision.objects.filter(undoes=OuterRef("decision"))
    # Without a pair, an article was removed: nothing can be settled.
    differing = SecondReading.objects.filter(pair__isnull=False).exclude(kind=F("first_kind"))
    looked_up = differing.alias(undo=_one_of(undo), later=_one_of(later))
    found = looked_up.annotate(is_open=Q(undo=None) & Q(later=None))
    return found if is_open is None else found.filter(is_open=is_open)


def settle(reading_id: int, kind: str, *, user: Any, note: str = "") -> Decision:
    """Settle a disagreement by a new decision on its pair. Raises ReviewError."""
    with transaction.atomic():
        lock_review()
        reading = in_dispute().filter(pk=reading_id).first()
        if reading is None or reading.pair_id is None:
            raise ReviewError(f"There is no disagreement {reading_id}.")
        if not vars(reading)["is_open"]:
            raise ReviewError("Somebody settled this disagreement meanwhile. Look at the pair.")
        return decide_pair(reading.pair_id, kind, user=user, note=note)


def said_about(decision: Decision, pair_id: int) -> Answer | None:
    """Return what a decision says about a pair, None if it says nothing."""
    pair = Pair.objects.filter(pk=pair_id).first()
    return _answer_of(decision, pair) if pair else None


def _answer_of(decision: Decision, pair: Pair) -> Answer | None:
    """Return what a decision says about a pair."""
    link = Link.objects.filter(decision=decision, left=pair.left_id, right=pair.right_id).first()
    # A tie that keeps a cluster together is no answer.
    return OF_LINK.get(link.kind) if link else None


def _append(
    first: Decision, said: Answer, pair_id: int, kind: str, *, user: Any, note: str, blind: bool
) -> SecondReading:
    if kind not in BUTTONS:
        raise ReviewError(f"A pair cannot be answered with {kind!r}; use one of {', '.join(BUTTONS)}.")
    if len(note) > MAX_NOTE_CHARACTERS:
        raise ReviewError(f"The note has {len(note):,} characters; at most {MAX_NOTE_CHARACTERS:,} are allowed.")
    return SecondReading.objects.create(
        pair_id=pair_id,
        decision=first,
        first_kind=said,
        user=user,
        kind=kind,
        note=note.replace("\0", "").strip(),
        blind=blind,
    )


def _bound(share: float) -> str:
    """Return the text below which this share of all MD5 sums is: the first eight hexadecimal digits."""
    return f"{round(share * 2**32):08x}" if share < 1 else "g"
