"""The writer of the questions that editors are asked: no more than are needed to cover every waiting pair.

A pair waits if it is undecided and proposed, and it is doubtful whether it is the same: its chance is neither below the
default profile's `asked_from` nor above one less that. What that profile leaves apart although it is a duplicate does
not wait. The pairs inside a proposed cluster of three or more articles are one question, on the cluster.
The pairs between the same two clusters, or between a cluster and an article, are one question, on the most probable of
them. docs/reviewing.md explains the order.
"""

from collections.abc import Collection
from typing import Any, LiteralString, NamedTuple, TypeAlias

from django.db import transaction
from psycopg.sql import SQL, Identifier, Literal

from dedup.detection.clustering.constraints import lock_review
from dedup.detection.clustering.doubts import cluster_is_doubted, pair_is_doubted
from dedup.detection.verdicts.same_as import JOINS_FROM
from dedup.models.base import Asked, read_each, read_rows
from dedup.models.runs import ASKED_FROM

# From this probability on, articles are nearly certain to be the same, unless there is a doubt (doubts.py). Nobody has
# to answer, but somebody may confirm them.
CERTAIN_FROM = 0.9
_BOUNDS = {"certain_from": CERTAIN_FROM, "joins_from": JOINS_FROM}
# The clusters of so many articles are looked up one by one.
FEW = 200
# The stored counts.
COUNTED = ("informative", "certain", "clusters", "conflicts")

# Articles of clusters that are gone by now are among these articles too: by `article`, their questions are found. As
# arrays, the ids are looked up one by one; a join of a few of them would read all questions.
_DELETE_SQL = """
WITH touched AS MATERIALIZED (
    SELECT id FROM dedup_pair WHERE left_id = ANY (%(articles)s::bigint[])
    UNION
    SELECT id FROM dedup_pair WHERE right_id = ANY (%(articles)s::bigint[])
), concerned AS MATERIALIZED (
    SELECT id FROM dedup_openquestion WHERE article = ANY (%(articles)s::bigint[])
    UNION ALL
    SELECT id FROM dedup_openquestion WHERE pair_id = ANY (ARRAY(SELECT id FROM touched))
)
DELETE FROM dedup_openquestion
WHERE id = ANY (ARRAY(SELECT id FROM concerned))
"""

# The clusters of the articles of a few pairs are looked up one by one, as an array; a join would read all memberships.
# A part is a cluster, by its number with a minus, or an article that is in none. `chance`: that both articles belong in
# one cluster, by the verdict; its distance from even odds says whether the pair is asked about. A duplicate that could
# join and does not is left apart by what counts as the same.
_QUESTIONS_SQL = SQL("""
WITH open_pair AS MATERIALIZED (
    SELECT id, left_id, right_id, joins, chance, (joins OR verdict <> 'duplicate' OR chance < %(joins_from)s)
        AND abs(chance - 0.5) <= 0.5 - coalesce((SELECT asked_from FROM dedup_profile WHERE is_default), {asked_from})
        AS asked
    FROM dedup_pair
    CROSS JOIN LATERAL (SELECT CASE WHEN joins THEN probability ELSE duplicate_probability END AS chance) AS same
    WHERE state = 'undecided' AND best_score > 0 AND verdict <> ''
        AND probability IS NOT NULL AND duplicate_probability IS NOT NULL
        AND (%(articles)s::bigint[] IS NULL
            OR left_id = ANY (%(articles)s::bigint[]) OR right_id = ANY (%(articles)s::bigint[]))
), member AS MATERIALIZED (
    SELECT member.article_id, cluster.id AS cluster_id, cluster.size
    FROM dedup_membership AS member
    JOIN dedup_cluster AS cluster ON cluster.id = member.cluster_id
    WHERE NOT %(few)s
        OR member.article_id = ANY (ARRAY(SELECT left_id FROM open_pair UNION SELECT right_id FROM open_pair))
), waiting AS MATERIALIZED (
    SELECT pair.id, pair.joins, pair.chance, pair.asked, left_member.cluster_id,
        coalesce(-left_member.cluster_id, pair.left_id) AS left_part,
        coalesce(-right_member.cluster_id, pair.right_id) AS right_part,
        coalesce(left_member.size, 1) AS left_size,
        coalesce(right_member.size, 1) AS right_size
    FROM open_pair AS pair
    LEFT JOIN member AS left_member ON left_member.article_id = pair.left_id
    LEFT JOIN member AS right_member ON right_member.article_id = pair.right_id
), card AS (
    SELECT cluster_id, bool_or(asked) AS asked
    FROM waiting
    WHERE left_part = right_part AND left_size > 2 AND (asked OR joins)
    GROUP BY cluster_id
), parted AS (
    SELECT DISTINCT one.cluster_id
    FROM dedup_standing_link AS link
    JOIN dedup_membership AS one ON one.article_id = link.left_id
    JOIN dedup_membership AS other ON other.article_id = link.right_id AND other.cluster_id = one.cluster_id
    WHERE link.effect = 'cannot' AND (%(articles)s::bigint[] IS NULL OR link.left_id = ANY (%(articles)s::bigint[]))
), about_cluster AS (
    SELECT NULL::bigint AS pair_id, cluster.id AS cluster_id, cluster.id AS number, cluster.kept_id AS article,
        cluster.size, coalesce(card.asked, false) AS asked,
        CASE WHEN NOT card.asked AND parted.cluster_id IS NULL
            AND cluster.lowest_score >= %(certain_from)s THEN NOT {cluster_is_doubted} ELSE false END AS certain,
        parted.cluster_id IS NOT NULL AS conflict,
        (cluster.size - 1) * CASE WHEN parted.cluster_id IS NULL THEN 1 - cluster.lowest_score ELSE 1 END AS change,
        abs(cluster.lowest_score - 0.5) AS doubt
    FROM card
    FULL JOIN parted ON parted.cluster_id = card.cluster_id
    JOIN dedup_cluster AS cluster ON cluster.id = coalesce(card.cluster_id, parted.cluster_id)
), about_pair AS (
    SELECT DISTINCT ON (least(left_part, right_part), greatest(left_part, right_part))
        id AS pair_id, NULL::bigint AS cluster_id, id AS number, NULL::bigint AS article, 2 AS size,
        asked OR left_part <> right_part AS asked,
        CASE WHEN left_part = right_part AND NOT asked AND chance >= %(certain_from)s
            THEN (SELECT NOT {pair_is_doubted} FROM dedup_pair AS pair WHERE pair.id = waiting.id)
            ELSE false END AS certain,
        left_part <> right_part AND joins AS conflict,
        CASE WHEN left_part = right_part THEN 1 - chance ELSE chance * left_size * right_size END AS change,
        abs(chance - 0.5) AS doubt
    FROM waiting
    WHERE (asked OR joins) AND (left_part <> right_part OR left_size = 2)
    ORDER BY least(left_part, right_part), greatest(left_part, right_part), chance DESC, id
)
SELECT * FROM (SELECT * FROM about_cluster UNION ALL SELECT * FROM about_pair) AS question
WHERE asked OR certain OR conflict
-- So that the same questions get the same ids, whatever plan PostgreSQL chooses.
ORDER BY cluster_id, pair_id
""").format(cluster_is_doubted=cluster_is_doubted(), pair_is_doubted=pair_is_doubted(), asked_from=Literal(ASKED_FROM))
_INSERT_SQL = """
INSERT INTO dedup_openquestion
    (pair_id, cluster_id, number, article, size, asked, certain, conflict, change, doubt)
{questions}
"""
# The stored questions, and how many of them each tab has.
_STORED_SQL: LiteralString = """
SELECT pair_id, cluster_id, number, article, size, asked, certain, conflict, change, doubt FROM dedup_openquestion
"""
_COUNTED = SQL("""
SELECT tab, count(*) AS number
FROM {questions} AS question
CROSS JOIN LATERAL (VALUES
    ('informative', asked), ('certain', certain), ('conflicts', conflict),
    ('clusters', (asked OR certain) AND cluster_id IS NOT NULL)
) AS counted (tab, counts)
WHERE counts GROUP BY tab
""")
_COUNTED_SQL = _COUNTED.format(questions=Identifier("dedup_openquestion")).as_string()


def _counting(change: LiteralString, sign: LiteralString) -> str:
    """Return the statement that deletes or inserts questions, and changes the counts of the tabs by them."""
    statement = SQL("""
WITH changed AS ({change} RETURNING asked, certain, cluster_id, conflict)
INSERT INTO dedup_questioncount AS stored (tab, number)
SELECT tab, {sign} number FROM ({counted}) AS counted
ON CONFLICT (tab) DO UPDATE SET number = stored.number + excluded.number
""")
    filled = SQL(change).format(questions=_QUESTIONS_SQL)
    counted = _COUNTED.format(questions=Identifier("changed"))
    return statement.format(change=filled, sign=SQL(sign), counted=counted).as_string()


_REMOVE_SQL, _ADD_SQL = _counting(_DELETE_SQL, "-"), _counting(_INSERT_SQL, "+")


# The number of a pair, or else that of a cluster.
Subject: TypeAlias = tuple[int | None, int | None]


class Questions(NamedTuple):
    """All questions, by the pair or else the cluster that they are about: the columns of each, apart from its id."""

    stored: dict[Subject, tuple[Any, ...]]
    expected: dict[Subject, tuple[Any, ...]]


def all_questions() -> Questions:
    """Return all questions as they are stored, and as update_questions(None) would store them; nothing is stored."""
    asked = {"articles": None, "few": False, **_BOUNDS}
    found = read_each((_STORED_SQL, {}), (_QUESTIONS_SQL.as_string(), asked))
    return Questions(*({row[:2]: row for row in rows} for rows in found))


def expected_counts() -> dict[str, int]:
    """Return how many of the stored questions count for each of COUNTED."""
    return {**dict.fromkeys(COUNTED, 0), **dict(read_rows(_COUNTED_SQL))}


def update_questions(concerned: Collection[int] | None) -> None:
    """Bring the questions on these articles, and their counts, up to date; None: all questions."""
    with transaction.atomic(savepoint=False):
        lock_review()
        read_each(*renewed_questions(concerned))


def renewed_questions(concerned: Collection[int] | None) -> list[Asked]:
    """Return what does the same in a transaction that has the lock of reviews.

    Run it after the clusters were rebuilt and the pairs have their states, in the same transaction, with the articles
    that `rebuild_clusters` returns. With an article, they have all others of its cluster.
    """
    if concerned is None:
        none = "DELETE FROM dedup_openquestion", "DELETE FROM dedup_questioncount"
        return [*((statement, {}) for statement in none), (_ADD_SQL, {"articles": None, "few": False, **_BOUNDS})]
    articles = list(concerned)
    return [
        (_REMOVE_SQL, {"articles": articles}),
        (_ADD_SQL, {"articles": articles, "few": len(articles) <= FEW, **_BOUNDS}),
    ]
