"""Whether the states of pairs follow from the decisions in force, and decisions say what they are about."""

from __future__ import annotations

from collections.abc import Iterator
from typing import LiteralString

from dedup.answers import LINKS_BY_PROFILE, Answer
from dedup.detection.clustering.changes import changed_since_rebuilt
from dedup.detection.clustering.constraints import with_pair_state
from dedup.detection.clustering.implications import expected_implications
from dedup.models import ConfirmedArticle, Link, SeparateArticles
from dedup.models.decisions import NEVER_UNDONE
from newsdedup_site.doctor.invariant import RESTORE, Found, Invariant, Sample, by, listed, rows

_STATES_SQL = with_pair_state(
    """
SELECT count(*) OVER (), format('pair %s is %s%s, and by the decisions in force %s%s', pair.id,
    pair.state, CASE WHEN pair.implied THEN ' (implied)' ELSE '' END,
    {state}, CASE WHEN {implied} THEN ' (implied)' ELSE '' END)
FROM dedup_pair AS pair
{state_joins}
WHERE (pair.state, pair.implied) IS DISTINCT FROM ({state}, {implied})
LIMIT 10
""",
    of="pair",
)
# An undo, and a decision that repeats what others say, need no link of their own.
_LINKS_SQL: LiteralString = """
WITH said (kind, link) AS (
    SELECT * FROM unnest(%(answers)s::text[], %(links)s::text[])
)
SELECT count(*) OVER (), format('decision %%s (%%s) on pair %%s has no link that says so', decision.id, decision.kind,
    decision.pair_id)
FROM dedup_decision AS decision
JOIN said ON said.kind = decision.kind
JOIN dedup_pair AS pair ON pair.id = decision.pair_id
WHERE NOT EXISTS (
    SELECT FROM dedup_link AS link
    WHERE link.decision_id = decision.id AND link.kind = said.link
        AND link.left_id = pair.left_id AND link.right_id = pair.right_id
)
LIMIT 10
"""
_ANSWERS = {"answers": list(Answer), "links": [answer.link for answer in Answer]}
_LINKED_SQL: LiteralString = """
SELECT count(*) OVER (), format('decision %s links articles %s and %s, and is not about both', link.decision_id,
    link.left_id, link.right_id)
FROM dedup_link AS link
JOIN dedup_decision AS decision ON decision.id = link.decision_id
WHERE decision.undoes_id IS NOT NULL
    OR cardinality(decision.articles) > 0 AND NOT decision.articles @> ARRAY[link.left_id, link.right_id]
LIMIT 10
"""
_UNDONE_SQL: LiteralString = """
SELECT count(*) OVER (), format('decision %%s undoes decision %%s, which %%s', undo.id, undone.id,
    CASE WHEN undone.kind = 'undo' THEN 'is an undo' WHEN undone.id > undo.id THEN 'is a later one'
    ELSE 'is of a kind that is never undone' END)
FROM dedup_decision AS undo
JOIN dedup_decision AS undone ON undone.id = undo.undoes_id
WHERE undo.kind <> 'undo' OR undone.kind = ANY (%(never_undone)s::text[]) OR undone.id > undo.id
LIMIT 10
"""
_BATCHES_SQL: LiteralString = """
SELECT count(*) OVER (), format('batch %s has %s questions, and %s are stored', batch.id, batch.size, count(item.id))
FROM dedup_batch AS batch
LEFT JOIN dedup_batchitem AS item ON item.batch_id = batch.id
GROUP BY batch.id
HAVING count(item.id) <> batch.size OR count(item.place) <> batch.drawn
LIMIT 10
"""
_NOT_SETTLED = "Settings of the default profile have changed; the next run renews what they imply."


def _states(_sample: Sample) -> Found:
    return rows(_STATES_SQL)


def _implications(_sample: Sample) -> Found:
    if _versions_undecided():
        return Found(waiting=_NOT_SETTLED)
    expected = expected_implications()
    firsts = dict(ConfirmedArticle.objects.values_list("article", "first"))
    separate = set(SeparateArticles.objects.values_list("one", "other"))
    return listed(
        [*_tied_otherwise(firsts, expected.firsts)]
        + [
            f"articles {one} and {other} are separate, and it is not stored"
            for one, other in expected.separate - separate
        ]
        + [
            f"articles {one} and {other} are stored as separate, and are not"
            for one, other in separate - expected.separate
        ]
    )


def _tied_otherwise(stored: dict[int, int], expected: dict[int, int]) -> Iterator[str]:
    for article in sorted(stored.keys() | expected.keys()):
        if stored.get(article) != expected.get(article):
            now, then = (ties.get(article) or "nothing" for ties in (stored, expected))
            yield f"article {article} is tied to {now}, and by the decisions in force to {then}"


def _versions_undecided() -> bool:
    """Return whether it may have changed since the last run what answers of "version" imply."""
    return Link.objects.filter(kind__in=LINKS_BY_PROFILE).exists() and changed_since_rebuilt() is None


_STATES_REPAIR = (
    "Undo a decision on one of its articles and make it again, or call "
    "dedup.detection.clustering.implications.update_implications with these articles."
)

INVARIANTS = (
    Invariant("pair-states", "The state of a pair is its last decision in force.", _STATES_REPAIR, _states),
    Invariant("implications", "What decisions imply is stored, and nothing else.", _STATES_REPAIR, _implications),
    Invariant(
        "decisions-linked", "Each decision on a pair says what its articles are.", RESTORE, by(_LINKS_SQL, _ANSWERS)
    ),
    Invariant("links-decided", "Each link is of a decision about both of its articles.", RESTORE, by(_LINKED_SQL)),
    Invariant(
        "undone",
        "Only decisions that can be undone are undone, and by later ones.",
        RESTORE,
        by(_UNDONE_SQL, {"never_undone": list(NEVER_UNDONE)}),
    ),
    Invariant("batches", "A batch has as many questions as it was begun with.", RESTORE, by(_BATCHES_SQL)),
)
