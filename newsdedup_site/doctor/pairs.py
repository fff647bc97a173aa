"""Whether pairs have what their evidence and articles give them, and evidence is of blocks that runs finished."""

from __future__ import annotations

from typing import LiteralString

from newsdedup_site.doctor.invariant import FULL_RUN, RESTORE, Invariant, by

# Runs raise scores with the evidence, and lower them near their end. So a score may be too high while a run is active
# or was stopped; the next run lowers it.
_SCORES_SQL: LiteralString = """
WITH best AS (
    SELECT pair.id, pair.best_score, coalesce(max(evidence.score) FILTER (WHERE NOT evidence.stale), 0) AS score
    FROM dedup_pair AS pair
    LEFT JOIN dedup_evidence AS evidence ON evidence.pair_id = pair.id
    GROUP BY pair.id
), last_run AS (
    SELECT state FROM dedup_detectionrun ORDER BY id DESC LIMIT 1
)
SELECT count(*) OVER (), format('pair %s has the score %s, and its evidence %s', id, best_score, score)
FROM best
WHERE best_score < score OR best_score > score AND (SELECT state FROM last_run) = 'done'
LIMIT 10
"""
# The next run corrects what has changed since the mark.
_FACTS_SQL: LiteralString = """
SELECT count(*) OVER (), format('pair %s: %s days apart%s, and its articles %s%s', pair.id, pair.days_apart,
    CASE WHEN pair.same_newspaper THEN ' in one newspaper' ELSE '' END, abs(one.date - other.date),
    CASE WHEN one.newspaper_id = other.newspaper_id THEN ' in one newspaper' ELSE '' END)
FROM dedup_pair AS pair
JOIN articles_article AS one ON one.id = pair.left_id
JOIN articles_article AS other ON other.id = pair.right_id
WHERE (pair.days_apart, pair.same_newspaper)
        IS DISTINCT FROM (abs(one.date - other.date), one.newspaper_id = other.newspaper_id)
    AND greatest(one.revision, other.revision)
        <= coalesce((SELECT revision FROM dedup_uptodate WHERE name = 'article facts'), 0)
LIMIT 10
"""
_VERDICTS_SQL: LiteralString = """
SELECT count(*) OVER (), format('pair %s: verdict "%s", probability %s, of duplicates %s, joins: %s', id, verdict,
    coalesce(probability::text, 'none'), coalesce(duplicate_probability::text, 'none'), joins)
FROM dedup_pair
WHERE (verdict = '') <> (probability IS NULL)
    OR (verdict = '') <> (duplicate_probability IS NULL)
    OR verdict = '' AND rests_on IS NOT NULL
    OR joins AND verdict NOT IN ('duplicate', 'version')
    OR verdict NOT IN ('', 'duplicate', 'version', 'template', 'similar')
    OR probability NOT BETWEEN 0 AND 1 OR duplicate_probability NOT BETWEEN 0 AND 1
    OR left_matched NOT BETWEEN 0 AND 1 OR right_matched NOT BETWEEN 0 AND 1
LIMIT 10
"""
# A block's evidence and its mark are one transaction. Checks of dense groups belong to no block. Later runs take
# evidence over that they find again, so an earlier run may have less than its blocks say, and never more.
_MARKS_SQL: LiteralString = """
WITH found AS (
    SELECT run_id, pass_name, count(*) AS pairs
    FROM dedup_evidence
    WHERE pass_name <> 'dense group'
    GROUP BY run_id, pass_name
), marked AS (
    SELECT run_id, pass_name, sum(pairs) AS pairs FROM dedup_runblock GROUP BY run_id, pass_name
)
SELECT count(*) OVER (), format('run %s has %s pairs of the pass %s, and its blocks %s', found.run_id, found.pairs,
    found.pass_name, coalesce(marked.pairs, 0))
FROM found
LEFT JOIN marked USING (run_id, pass_name)
WHERE found.pairs > coalesce(marked.pairs, 0)
LIMIT 10
"""
# Of the last run alone, whose evidence no later run has taken over, and only if it ended. An admin's removal takes
# evidence with it, and counts it.
_LAST_MARKS_SQL: LiteralString = """
WITH last_run AS (
    SELECT id, started_at FROM (SELECT * FROM dedup_detectionrun ORDER BY id DESC LIMIT 1) AS latest
    WHERE state = 'done'
), removed AS (
    SELECT coalesce(sum((removal.counts ->> 'evidence')::bigint), 0) AS evidence,
        coalesce(bool_or(removal.state <> 'done'), false) AS under_way
    FROM articles_removal AS removal
    JOIN last_run ON removal.seen_at > last_run.started_at
), marked AS (
    SELECT block.run_id, block.pass_name, sum(block.pairs) AS pairs
    FROM dedup_runblock AS block
    JOIN last_run ON last_run.id = block.run_id
    GROUP BY block.run_id, block.pass_name
)
SELECT count(*) OVER (), format('run %s has %s pairs of the pass %s, and its blocks %s', marked.run_id, found.pairs,
    marked.pass_name, marked.pairs)
FROM marked
CROSS JOIN removed
CROSS JOIN LATERAL (
    SELECT count(*) AS pairs FROM dedup_evidence AS evidence
    WHERE evidence.run_id = marked.run_id AND evidence.pass_name = marked.pass_name
) AS found
WHERE found.pairs > marked.pairs
    OR found.pairs < marked.pairs - removed.evidence AND NOT removed.under_way
LIMIT 10
"""
_RUNS_SQL: LiteralString = """
SELECT count(*) OVER (), format('run %s is %s, %s', id, state,
    CASE WHEN finished_at IS NULL THEN 'and has no end'
        WHEN state = 'running' THEN 'and has an end' ELSE 'and ended before it started' END)
FROM dedup_detectionrun
WHERE (state = 'running') <> (finished_at IS NULL) OR finished_at < started_at
LIMIT 10
"""

INVARIANTS = (
    Invariant("scores", "The score of a pair is the highest one of its current evidence.", FULL_RUN, by(_SCORES_SQL)),
    Invariant("pair-facts", "A pair has the days and newspapers of its articles.", FULL_RUN, by(_FACTS_SQL)),
    Invariant(
        "verdicts",
        "A verdict is whole: its kind, its probabilities, and whether it joins.",
        FULL_RUN,
        by(_VERDICTS_SQL),
    ),
    Invariant(
        "evidence-marked", "All evidence is of a block that its run has marked as done.", FULL_RUN, by(_MARKS_SQL)
    ),
    Invariant(
        "marks-with-evidence",
        "Each block of the last run has the evidence that its mark counts.",
        FULL_RUN,
        by(_LAST_MARKS_SQL),
    ),
    Invariant("runs-ended", "A run that is not active has an end.", RESTORE, by(_RUNS_SQL)),
)
