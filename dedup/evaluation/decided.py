"""The pairs that editors have decided, as far as a model learns from them.

One decision on a cluster or a dense group decides up to thousands of pairs, which are nearly the same pair again and
again. So a model learns from every pair that was decided by itself, and from at most MOST_OF_ONE of those that were
decided together.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from django.db.models import F, OuterRef, Subquery

from dedup.models import Decision, Link, Pair

# Twenty decisions on pairs can already adjust a model, so one decision should not count for more than that. A cluster
# of six articles has fewer pairs.
MOST_OF_ONE = 20
# An editor who rejects a pair says that it is not a duplicate, but not what it is instead. So the answers about
# templates and versions are not learnt from decisions.
_LABELS = {Pair.State.CONFIRMED: "D", Pair.State.REJECTED: "N"}
_BY_ITSELF = {Pair.State.CONFIRMED: Decision.Kind.CONFIRM, Pair.State.REJECTED: Decision.Kind.REJECT}
_ON_A_PAIR = (*_BY_ITSELF.values(), Decision.Kind.UNSURE)

Ends = tuple[int, int]
Together = tuple[Pair.State, int | None]


@dataclass(frozen=True, slots=True)
class DecidedPairs:
    """The labels of the pairs to learn from, D or N, ordered by article ids; and the decided pairs left out."""

    labels: dict[Ends, str]
    left_out: set[Ends]


def decided_pairs() -> DecidedPairs:
    """Return the pairs that are confirmed or rejected now.

    Every pair that was decided by itself is among the labels. Of the others, at most MOST_OF_ONE are for each confirmed
    cluster, however many decisions confirmed it, and for each decision that dissolved a cluster or took an article out.
    Rules leave pairs undecided, so they bring none.
    """
    labels: dict[Ends, str] = {}
    together: defaultdict[Together, list[Ends]] = defaultdict(list)
    for ends, state, by_itself, shared in _in_force():
        labels[ends] = _LABELS[state]
        if not by_itself:
            together[state, shared].append(ends)
    left_out = {ends for each in together.values() for ends in set(each).difference(spread(each, MOST_OF_ONE))}
    return DecidedPairs({ends: label for ends, label in labels.items() if ends not in left_out}, left_out)


def spread(pairs: Sequence[Ends], most: int) -> list[Ends]:
    """Return `most` of the pairs, evenly spread over their order; all if there are no more."""
    count = min(most, len(pairs))
    return [pairs[place * len(pairs) // count] for place in range(count)]


def _in_force() -> Iterator[tuple[Ends, Pair.State, bool, int | None]]:
    """Yield each decided pair by article ids: its state, whether it was decided by itself, and what it shares.

    Confirmed pairs share their cluster, which may confirm a pair without a link; rejected ones share a decision.
    """
    by_itself = Decision.objects.filter(pair=OuterRef("pk"), kind__in=_ON_A_PAIR, undone_by=None)
    links = Link.objects.filter(left=OuterRef("left"), right=OuterRef("right"), decision__undone_by=None)
    decided = Pair.objects.filter(state__in=_LABELS).annotate(
        last=Subquery(by_itself.order_by("-pk").values("kind")[:1]),
        decision=Subquery(links.order_by("-decision").values("decision")[:1]),
        cluster=F("left__membership__cluster"),
    )
    rows = decided.order_by("left", "right").values_list("left", "right", "state", "last", "decision", "cluster")
    for left, right, name, last, decision, cluster in rows.iterator():
        state = Pair.State(name)
        shared = cluster if state is Pair.State.CONFIRMED else decision
        yield (left, right), state, last == _BY_ITSELF[state], shared
