"""The writer of pairs that an editor declares: no pass proposed them.

Such a pair has no evidence, and so a best score of 0: it is never in the queue, and only the decision on it joins its
articles. Runs leave it as it is, unless a pass finds it later.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from django.db import transaction

from articles.models import Article
from dedup.detection.clustering.constraints import lock_review
from dedup.detection.judging.judge import JudgedRow
from dedup.models import Decision, Link, Pair
from dedup.review import decisions


def declare_pair(
    left: Article, right: Article, kind: str, *, judged: JudgedRow, user: Any, note: str = "", seen: int | None = None
) -> Decision:
    """Append an editor's decision on two articles, and make them a pair with this verdict if they are none.

    `kind`, `note` and `seen` as for decide_pair. Raises ReviewError, and then there is no new pair.
    """
    if left.pk == right.pk:
        raise decisions.ReviewError(f"Both are article {left.pk}; choose two articles.")
    first, second = sorted((left, right), key=lambda article: article.pk)
    with transaction.atomic():
        lock_review()
        pair, _ = Pair.objects.get_or_create(
            left=first,
            right=second,
            defaults={
                "verdict": judged.verdict,
                "probability": judged.probability,
                "duplicate_probability": judged.duplicate_probability,
                "reasons": json.loads(judged.reasons),
                "left_matched": judged.left_matched,
                "right_matched": judged.right_matched,
                "joins": judged.joins,
                "days_apart": abs((first.date - second.date).days),
                "same_newspaper": first.newspaper_id == second.newspaper_id,
            },
        )
        return decisions.decide_pair(pair.pk, kind, user=user, note=note, seen=seen)


def latest_decision(left_id: int, right_id: int) -> int:
    """Return the id of the latest decision on two articles, given in order of id; 0 for none."""
    said = Link.objects.filter(left=left_id, right=right_id).order_by("-decision").values_list("decision", flat=True)
    return said.first() or 0


def declaration_among(decisions_on_pair: Sequence[Decision], pair: Pair) -> Decision | None:
    """Return the decision that declared a pair without evidence, of all decisions on it with the latest first."""
    own = [decision for decision in decisions_on_pair if decision.pair_id == pair.pk]
    return own[-1] if own else None
