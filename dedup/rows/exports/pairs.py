"""The export of pairs: both articles, the verdict, what the passes found, and what was decided."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

from django.db import connection
from django.db.models import QuerySet

from articles.querysets import LONG_TEXTS
from dedup.models import Evidence, Pair
from dedup.rows.exports.base import Export, article_columns, article_values, in_batches

# What editors said last about these pairs themselves, from the index link_latest.
_DECIDED_SQL = """
SELECT asked.id, decision.id, editor.username, decision.decided_at
FROM dedup_pair AS asked
CROSS JOIN LATERAL (
    SELECT standing.decision_id FROM dedup_standing_link AS standing
    WHERE standing.left_id = asked.left_id AND standing.right_id = asked.right_id AND standing.state IS NOT NULL
) AS link
JOIN dedup_decision AS decision ON decision.id = link.decision_id
JOIN auth_user AS editor ON editor.id = decision.decided_by_id
WHERE asked.id = ANY (%(pairs)s)
"""

_COLUMNS = {
    "pair": "number of the pair",
    **article_columns("left_"),
    **article_columns("right_"),
    "days_apart": "days between the two",
    "verdict": "what the full comparison calls the pair; empty if it was not compared yet",
    "probability": "how sure the verdict is, 0 to 1",
    "duplicate_probability": "chance that the two are duplicates, 0 to 1",
    "scores": "score of each pass that proposes the pair, 0 to 1",
    "state": "what editors decided, or what their decisions imply",
    "implied": "whether the state follows from decisions on other pairs alone",
    "decision": "number of the decision on this pair that is in force",
    "decided_by": "who made it",
    "decided_at": "when",
}


def _rows(pairs: QuerySet[Any]) -> Iterator[dict[str, Any]]:
    texts = [f"{side}__{name}" for side in ("left", "right") for name in LONG_TEXTS]
    full = Pair.objects.select_related("left__newspaper", "right__newspaper").defer("reasons", *texts)
    # By subquery: what only the list needs, such as how doubtful a pair is, is not computed for every row.
    for batch in in_batches(full.filter(pk__in=pairs.order_by().values("pk")).order_by("pk")):
        scores, decided = _scores(batch), _decided(batch)
        for pair in batch:
            yield _row(pair, scores[pair.pk], decided.get(pair.pk, (None, None, None)))


def _row(pair: Any, scores: dict[str, float], decided: tuple[Any, Any, Any]) -> dict[str, Any]:
    decision, editor, moment = decided
    return {
        "pair": pair.pk,
        **article_values(pair.earlier, "left_"),
        **article_values(pair.later, "right_"),
        "days_apart": pair.days_apart,
        "verdict": pair.verdict,
        "probability": pair.probability,
        "duplicate_probability": pair.duplicate_probability,
        "scores": scores,
        "state": pair.state,
        "implied": pair.implied,
        "decision": decision,
        "decided_by": editor,
        "decided_at": moment,
    }


def _scores(batch: Sequence[Any]) -> dict[int, dict[str, float]]:
    """Return the scores of each pair, by pass."""
    found: defaultdict[int, dict[str, float]] = defaultdict(dict)
    current = Evidence.objects.filter(pair__in=[pair.pk for pair in batch], stale=False).order_by("pass_name")
    for pair, name, score in current.values_list("pair", "pass_name", "score"):
        found[pair][name] = score
    return found


def _decided(batch: Sequence[Any]) -> dict[int, tuple[Any, Any, Any]]:
    """Return the decision in force on each pair that has one, with its editor and its moment."""
    undecided = {Pair.State.UNDECIDED}
    asked = [pair.pk for pair in batch if pair.state not in undecided and not pair.implied]
    if not asked:
        return {}
    with connection.cursor() as cursor:
        cursor.execute(_DECIDED_SQL, {"pairs": asked})
        return {pair: (decision, editor, moment) for pair, decision, editor, moment in cursor.fetchall()}


PAIRS = Export("pairs", _COLUMNS, _rows)
