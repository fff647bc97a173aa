"""What the results of the detection lose with an article: all of it if it is removed, what shows it if it is withheld.

Whatever is left is as if the article had never been compared: clusters are rebuilt, the states of pairs and the
questions follow, and the decisions on other articles stay in force.
"""

from collections.abc import Collection, Iterable
from itertools import pairwise
from typing import Any, LiteralString

from django.db.models import Q

from articles.grouping import by_key
from articles.querysets import executed
from dedup.detection.clustering.components import Tie, parts_of
from dedup.detection.clustering.constraints import KnownConstraints, implications, lock_review
from dedup.detection.clustering.questions import renewed_questions
from dedup.detection.clustering.rebuild import rebuild_clusters
from dedup.models import Link, Pair, SampledPair
from dedup.models.base import read_each, read_rows

_NEAR_SQL: LiteralString = """
SELECT right_id FROM dedup_pair WHERE left_id = ANY (%(articles)s::bigint[])
UNION SELECT left_id FROM dedup_pair WHERE right_id = ANY (%(articles)s::bigint[])
UNION SELECT right_id FROM dedup_link WHERE left_id = ANY (%(articles)s::bigint[])
UNION SELECT left_id FROM dedup_link WHERE right_id = ANY (%(articles)s::bigint[])
"""
# A pair that no pass proposes any more, without a word of the texts.
_UNPROPOSE_SQL: LiteralString = """
WITH concerned AS MATERIALIZED (
    SELECT id FROM dedup_pair WHERE left_id = ANY (%(articles)s::bigint[])
    UNION SELECT id FROM dedup_pair WHERE right_id = ANY (%(articles)s::bigint[])
), hidden AS (
    UPDATE dedup_evidence AS evidence SET stale = true, details = '{}'
    FROM concerned WHERE evidence.pair_id = concerned.id
)
UPDATE dedup_pair AS pair
SET best_score = 0, verdict = '', probability = NULL, duplicate_probability = NULL, reasons = '[]', joins = false,
    left_matched = NULL, right_matched = NULL, relation = '', relation_probability = NULL, left_own = NULL,
    right_own = NULL, new_text = '', quoted = NULL, input_digest = NULL
FROM concerned WHERE pair.id = concerned.id
"""
# What is kept of texts; runs make it again.
_CACHES_SQL: tuple[LiteralString, ...] = (
    "DELETE FROM dedup_articleshingles WHERE article_id = ANY (%(articles)s::bigint[])",
    "DELETE FROM articles_articlewords WHERE article_id = ANY (%(articles)s::bigint[])",
    "DELETE FROM dedup_articlesentences WHERE article_id = ANY (%(articles)s::bigint[])",
    "UPDATE dedup_headlineform SET form = '' WHERE article_id = ANY (%(articles)s::bigint[])",
)
# The decisions keep who, when, what and the ids. Their pairs are still there.
_TOMBSTONES_SQL: LiteralString = """
UPDATE dedup_decision
SET tombstone = true, note = '',
    pair_id = CASE WHEN pair_id = ANY (%(pairs)s::bigint[]) THEN NULL ELSE pair_id END,
    article_id = CASE WHEN article_id = ANY (%(articles)s::bigint[]) THEN NULL ELSE article_id END
WHERE articles && %(articles)s::bigint[] OR article_id = ANY (%(articles)s::bigint[])
    OR pair_id = ANY (%(pairs)s::bigint[])
"""
_READINGS_SQL: LiteralString = """
UPDATE dedup_secondreading SET pair_id = NULL, note = '' WHERE pair_id = ANY (%(pairs)s::bigint[])
"""
# A batch then has as many questions, and as many of them drawn, as are left.
_BATCHES_SQL: LiteralString = """
WITH gone AS (
    DELETE FROM dedup_batchitem
    WHERE pair_id = ANY (%(pairs)s::bigint[]) OR articles && %(articles)s::bigint[]
    RETURNING batch_id, place
), counted AS (
    SELECT batch_id, count(*) AS items, count(place) AS drawn FROM gone GROUP BY batch_id
)
UPDATE dedup_batch AS batch SET size = batch.size - counted.items, drawn = batch.drawn - counted.drawn
FROM counted WHERE counted.batch_id = batch.id
"""
_LINKS_SQL: LiteralString = """
DELETE FROM dedup_link WHERE left_id = ANY (%(articles)s::bigint[]) OR right_id = ANY (%(articles)s::bigint[])
"""
_MEMBERS_SQL: LiteralString = "DELETE FROM dedup_groupmember WHERE article_id = ANY (%(articles)s::bigint[])"
# A dense group is named by its earliest article.
_EMPTY_GROUPS_SQL: LiteralString = """
DELETE FROM dedup_densegroup AS dense WHERE NOT EXISTS (SELECT FROM dedup_groupmember WHERE group_id = dense.id)
"""
_FIRSTS_SQL: LiteralString = """
UPDATE dedup_densegroup AS dense SET first_id = (
    SELECT article.id
    FROM dedup_groupmember AS member JOIN articles_article AS article ON article.id = member.article_id
    WHERE member.group_id = dense.id ORDER BY article.date, article.id LIMIT 1
)
WHERE first_id = ANY (%(articles)s::bigint[])
"""


def unpropose(articles: Collection[int]) -> None:
    """Take all proposals away from the pairs of these articles, and bring clusters and questions up to date.

    Decisions stay, also in force. Call it in a transaction, after `lock_review`, before the articles go.
    """
    concerned = _around(articles)
    _execute((_UNPROPOSE_SQL, *_CACHES_SQL), articles=list(articles))
    _follow(concerned)


def _around(articles: Collection[int]) -> set[int]:
    """Return these articles, and those with a pair or a link with one of them."""
    return {*articles, *(article for (article,) in read_rows(_NEAR_SQL, articles=list(articles)))}


def _execute(statements: Iterable[LiteralString], **values: Any) -> list[int]:
    """Execute these statements one after the other; return how many rows each has changed."""
    return [executed(statement, values) for statement in statements]


def _follow(concerned: Collection[int]) -> None:
    """Bring clusters, what decisions imply and questions up to date after the pairs of these articles changed."""
    known = KnownConstraints()
    rebuilt = rebuild_clusters(concerned, known)
    read_each(*implications(concerned, known), *renewed_questions({*concerned, *(rebuilt.articles or ())}))


def forget(articles: Collection[int]) -> dict[str, int]:
    """Delete all results on these articles; return how many rows of each kind went, or became tombstones.

    Call it in the transaction of the removal that names them (dedup/models/base.py); the articles go after it.
    """
    lock_review()
    named, touching = list(articles), Q(left__in=articles) | Q(right__in=articles)
    concerned = _around(articles)
    _execute([_UNPROPOSE_SQL], articles=named)
    _bridge(articles)
    _execute([_LINKS_SQL], articles=named)
    _follow(concerned)
    # Locked, so that no editor who opens one meanwhile leaves a lease behind that its deletion does not see.
    pairs = list(Pair.objects.filter(touching).order_by().select_for_update().values_list("pk", flat=True))
    tombstones, *_ = _execute([_TOMBSTONES_SQL, _READINGS_SQL, _BATCHES_SQL], articles=named, pairs=pairs)
    counts = {"tombstones": tombstones}
    counts["sampled pairs"] = SampledPair.objects.filter(touching).delete()[1].get("dedup.SampledPair", 0)
    gone = Pair.objects.filter(pk__in=pairs).delete()[1]
    counts |= {"pairs": gone.get("dedup.Pair", 0), "evidence": gone.get("dedup.Evidence", 0)}
    _execute([_MEMBERS_SQL, _EMPTY_GROUPS_SQL, _FIRSTS_SQL], articles=named)
    return counts


def _bridge(articles: Collection[int]) -> None:
    """Link what editors tied together through these articles, so that it stays together without them.

    An editor who confirms a cluster says that each two of its articles are duplicates, but only some of the pairs get a
    link. The new links belong to the same decision. Two articles of which another link says anything get none.
    """
    inside = set(articles)
    touching = Link.objects.filter(kind__in=[Link.Kind.MUST, Link.Kind.STAY], decision__undone_by=None)
    rows = touching.filter(Q(left__in=inside) | Q(right__in=inside)).values_list("decision", "kind", "left", "right")
    ties = by_key(((decision, kind), (left, right)) for decision, kind, left, right in rows)
    wanted = [
        Link(decision_id=decision, kind=kind, left_id=left, right_id=right)
        for (decision, kind), pairs in ties.items()
        for left, right in _across(pairs, inside)
    ]
    ends = {end for link in wanted for end in (link.left_id, link.right_id)}
    said = set(Link.objects.filter(left__in=ends, right__in=ends).values_list("left", "right"))
    fresh = [link for link in wanted if (link.left_id, link.right_id) not in said]
    Link.objects.bulk_create(fresh, batch_size=5_000, ignore_conflicts=True)


def _across(pairs: Collection[tuple[int, int]], gone: Collection[int]) -> list[tuple[int, int]]:
    """Return links between the articles that stay, of those that these pairs tie together, as a chain."""
    ends = {end for pair in pairs for end in pair}
    parts = parts_of(ends, [Tie(*pair, 1.0) for pair in pairs], at_most=0)
    return [neighbours for part in parts for neighbours in pairwise(sorted(set(part).difference(gone)))]
