"""The pairs that editors have decided, as far as a model learns from them.

One decision on a cluster or a dense group decides up to thousands of pairs, which are nearly the same pair again and
again. So a model learns from every pair that was decided by itself, and from at most MOST_OF_ONE of those that were
decided together.
"""

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from django.db.models import F, Min, OuterRef, Subquery

from dedup.answers import OF_STATE, Answer
from dedup.models import Decision, Link, Pair
from dedup.models.decisions import OF_CLUSTERS

# Twenty decisions on pairs can already adjust a model, so one decision should not count for more than that. A cluster
# of six articles has fewer pairs.
MOST_OF_ONE = 20
# An editor who rejects a pair says that it is not a duplicate, but not always what it is instead: N. One who has
# answered "version" or "template" before knows these answers, and says that it is neither: E.
_BY_ITSELF = {state: answer for state, answer in OF_STATE.items() if answer.facts.teaches}
_LABELS = {state: answer.facts.teaches for state, answer in _BY_ITSELF.items()}

IdPair = tuple[int, int]


@dataclass(frozen=True, slots=True)
class DecidedPairs:
    """The labels of the pairs to learn from (D, N, E, V, T), ordered by article ids; and the decided pairs left out."""

    labels: dict[IdPair, str]
    left_out: set[IdPair]


def decided_pairs() -> DecidedPairs:
    """Return the pairs that are decided now, unless editors left them open.

    Every pair that was decided by itself is among the labels. Of the others, at most MOST_OF_ONE are for each confirmed
    cluster, however many decisions confirmed it, and for each batch and each decision that answered otherwise for a
    whole cluster or took an article out.
    Pairs that are not duplicates only because decisions on other pairs imply it bring nothing new; rules leave pairs
    undecided, so they bring none either.
    """
    labels: dict[IdPair, str] = {}
    together: defaultdict[tuple[str, int | None], list[IdPair]] = defaultdict(list)
    for ends, label, state, shared in _in_force():
        labels[ends] = label
        if shared is not None:
            together[state, shared].append(ends)
    left_out = {
        ends
        for pairs_together in together.values()
        for ends in set(pairs_together).difference(spread(pairs_together, MOST_OF_ONE))
    }
    return DecidedPairs({ends: label for ends, label in labels.items() if ends not in left_out}, left_out)


def spread(pairs: Sequence[IdPair], most: int) -> list[IdPair]:
    """Return `most` of the pairs, evenly spread over their order; all if there are no more."""
    count = min(most, len(pairs))
    return [pairs[place * len(pairs) // count] for place in range(count)]


def labels_of(pairs: Collection[int]) -> dict[int, str]:
    """Return the labels of those of these pairs that are decided, by pair."""
    found = {ends: label for ends, label, _, _ in _in_force(pairs)}
    among = Pair.objects.filter(pk__in=pairs).values_list("pk", "left", "right")
    return {pk: found[left, right] for pk, left, right in among if (left, right) in found}


def _in_force(pairs: Collection[int] | None = None) -> Iterator[tuple[IdPair, str, str, int | None]]:
    """Yield each decided pair by article ids: its label, its state, and what it shares; None if decided by itself.

    Confirmed pairs share their cluster, which may confirm a pair without a link; others share a decision, and so do all
    pairs of a batch: its number is negative, so that it is no cluster. `pairs`: only these.
    """
    by_itself = Decision.objects.filter(pair=OuterRef("pk"), kind__in=list(Answer), undone_by=None).order_by("-pk")
    links = Link.objects.filter(left=OuterRef("left"), right=OuterRef("right"), decision__undone_by=None)
    decided = (
        Pair.objects.filter(state__in=_LABELS)
        .exclude(state=Pair.State.REJECTED, implied=True)
        .annotate(
            last=Subquery(by_itself.values("kind")[:1]),
            editor=Subquery(by_itself.values("decided_by")[:1]),
            decision=Subquery(links.order_by("-decision").values("decision")[:1]),
            kind=Subquery(links.order_by("-decision").values("decision__kind")[:1]),
            cluster=F("left__membership__cluster"),
        )
    )
    if pairs is not None:
        decided = decided.filter(pk__in=pairs)
    columns = ("left", "right", "state", "last", "editor", "decision", "kind", "cluster")
    # The first decision of each editor that called pairs versions or templates.
    kinds = [kind for answer in (Answer.VERSION, Answer.TEMPLATE) for kind in (answer, OF_CLUSTERS[answer])]
    told_apart = Decision.objects.filter(kind__in=kinds).order_by()
    known = dict(told_apart.values_list("decided_by").annotate(Min("pk")))
    for left, right, state, last, editor, decision, kind, cluster in (
        decided.order_by("left", "right").values_list(*columns).iterator()
    ):
        if kind == Decision.Kind.BATCH:
            yield (left, right), _LABELS[state], state, -decision
        elif last != _BY_ITSELF[state]:
            yield (left, right), _LABELS[state], state, cluster if state == Pair.State.CONFIRMED else decision
        elif state == Pair.State.REJECTED and known.get(editor, decision) < decision:
            yield (left, right), "E", state, None
        else:
            yield (left, right), _LABELS[state], state, None
