"""The writer of clusters: rebuilds them from verdicts and decisions, and keeps their numbers if possible.

A run of new articles rebuilds the clusters of the articles that have changed, or whose pairs have. Whoever changes what
clusters rest on notes the articles in the same transaction, so nothing is lost with a process that is killed. Before
all clusters were built once, nothing is noted.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from itertools import islice
from typing import Any, LiteralString, NamedTuple, TypeAlias

from django.db import connection, transaction
from django.db.models import Q, QuerySet

from articles.models import Article
from articles.storage.fingerprints import fingerprint
from articles.storage.ingest import newest_revision
from dedup.detection.clustering.components import Apart, Clustering, Component, Edge, Rank, cluster
from dedup.detection.clustering.constraints import (
    Constraints,
    KnownConstraints,
    constraints_in_force,
    lock_review,
    update_version_implications,
)
from dedup.detection.clustering.group_pairs import RANKS
from dedup.detection.clustering.joins import update_joins
from dedup.detection.clustering.policies import Member, kept_by
from dedup.detection.clustering.questions import update_questions
from dedup.detection.types import Phase, SameAs
from dedup.detection.verdicts.same_as import is_same
from dedup.integrations.webhooks import LISTENING, announce
from dedup.models import ChangedArticle, Cluster, Keep, Membership, Pair, Profile, Watermark, Webhook
from dedup.models.base import Asked, read_each, read_rows

# After so many articles have come into clusters, the statistics of the table are out of date.
_MANY = 1_000
_CONFIRMED = Cluster.State.CONFIRMED
_Rows: TypeAlias = Sequence[tuple[Any, ...]]
_MATCHED = ("left_matched", "right_matched")


class Rebuilt(NamedTuple):
    """Which articles may have moved, None for all, and the cannot-links among them that must-links contradict."""

    articles: set[int] | None
    contradictions: list[tuple[int, int]]


def rebuild_clusters(articles: Collection[int] | None = None, known: KnownConstraints | None = None) -> Rebuilt:
    """Rebuild the clusters that these articles belong to, before or after; None: all clusters.

    The same verdicts and decisions always give the same clusters. A cluster keeps its number while most of its
    articles stay together. `known` are the constraints that the caller's transaction has read.
    """
    with transaction.atomic(savepoint=False):
        if known is None:  # a caller that has read constraints holds the lock
            lock_review()
            known = KnownConstraints()
        if articles is None:
            concerned, result = None, _clustering(None, constraints_in_force())
            _write(result.components, read_rows(_PLACES_SQL, articles=None))
        else:
            concerned = _neighbourhood(articles)
            about = {"articles": list(concerned)}
            others: list[Asked] = [(_PLACES_SQL, about), (_MEMBERS_SQL, about), (_RULE_SQL, {})]
            pairs, *rest = known.read(concerned, _pairs(concerned).query.sql_with_params(), *others)
            result = _clustering(concerned, known.on(concerned), pairs=pairs)
            _write(result.components, *rest)
    return Rebuilt(concerned, result.contradictions)


def expected_clusters(wanted: SameAs | None = None) -> dict[tuple[int, ...], Cluster]:
    """Return what rebuild_clusters() would store as the clusters now; nothing is stored.

    With `wanted`, as if the default profile counted this as the same. By the articles of each, ascending; the rows have
    no number.
    """
    components = _clustering(None, constraints_in_force(same_as=wanted), wanted=wanted).components
    return dict(zip((component.articles for component in components), _rows(components), strict=True))


def differs(row: Cluster, fresh: Cluster) -> bool:
    """Return whether two rows say different things of a cluster, whatever their numbers."""
    return any(getattr(row, name) != getattr(fresh, name) for name in _COLUMNS)


def loose_parts(articles: Collection[int], *, confirmed: bool) -> list[int]:
    """Return the first article of each part into which these articles fall if all others are ignored.

    With `confirmed`, only editors' decisions connect them.
    """
    wanted = set(articles)
    found = constraints_in_force(wanted)
    parts = [set(part.articles) for part in _clustering(wanted, found, evidence=not confirmed).components]
    alone = wanted.difference(*parts)
    return sorted([min(part) for part in parts] + list(alone))


def _clustering(
    articles: Collection[int] | None,
    constraints: Constraints,
    *,
    evidence: bool = True,
    wanted: SameAs | None = None,
    pairs: Iterable[tuple[Any, ...]] | None = None,
) -> Clustering:
    if articles is not None:
        # A constraint that involves another article connects nothing here.
        inside = set(articles)
        constraints = Constraints(*([ends for ends in said if inside.issuperset(ends)] for said in constraints))
    stay = [Edge(left, right, 1.0, Rank.DECISION) for left, right in constraints.stay]
    edges, apart = _compared(_pairs(articles).iterator() if pairs is None else pairs, wanted) if evidence else ([], [])
    return cluster([*edges, *stay] if evidence else [], constraints.must, constraints.cannot, apart)


def _pairs(articles: Collection[int] | None) -> QuerySet[Any, tuple[Any, ...]]:
    pairs = Pair.objects.all() if articles is None else Pair.objects.among(articles)
    columns = ("left", "right", "joins", "relation", "verdict", "probability", "duplicate_probability", *_MATCHED)
    return pairs.proposed().filter(Q(joins=True) | ~Q(verdict="")).order_by().values_list(*columns)


def _compared(pairs: Iterable[tuple[Any, ...]], wanted: SameAs | None) -> tuple[list[Edge], list[Apart]]:
    """Return the pairs that their relation joins, each with the probability of its verdict, and the other ones.

    The others were compared in full too; each has its chance of being a duplicate nevertheless.
    """
    edges, apart = [], []
    for left, right, joins, relation, verdict, probability, of_duplicates, *matched in pairs:
        if is_same(wanted, relation, of_duplicates, matched) if wanted and relation else joins:
            # A pair that was judged before the two shares were stored counts as near copies until a run judges it.
            shares = (1.0 if share is None else share for share in matched)
            edges.append(Edge(left, right, probability or 0.0, RANKS[verdict], *shares))
        else:
            apart.append(Apart(left, right, of_duplicates or 0.0))
    return edges, apart


# Step by step, over pairs that join, must-links and current clusters. A cluster is a step of its own: from article to
# article, each of a cluster would come once for each other one. Each part is looked up by its own index.
_NEIGHBOURHOOD_SQL: LiteralString = """
WITH RECURSIVE reached (article, cluster) AS (
    SELECT unnest(%(articles)s::bigint[]), NULL::bigint
    UNION
    SELECT next.article, next.cluster FROM reached CROSS JOIN LATERAL (
        SELECT right_id, NULL::bigint FROM dedup_pair
        WHERE left_id = reached.article AND joins AND best_score > 0
        UNION ALL
        SELECT left_id, NULL FROM dedup_pair
        WHERE right_id = reached.article AND joins AND best_score > 0
        UNION ALL
        SELECT right_id, NULL FROM dedup_standing_link
        WHERE left_id = reached.article AND effect IN ('must', 'stay')
        UNION ALL
        SELECT left_id, NULL FROM dedup_standing_link
        WHERE right_id = reached.article AND effect IN ('must', 'stay')
        UNION ALL
        SELECT NULL, cluster_id FROM dedup_membership WHERE article_id = reached.article
        UNION ALL
        SELECT article_id, NULL FROM dedup_membership WHERE cluster_id = reached.cluster
    ) AS next (article, cluster)
)
SELECT article FROM reached WHERE article IS NOT NULL
"""


def _neighbourhood(articles: Collection[int]) -> set[int]:
    """Return all articles that evidence, must-links or current clusters connect to these, in any number of steps."""
    return {article for (article,) in read_rows(_NEIGHBOURHOOD_SQL, articles=list(articles))}


# The clusters of these articles, once for each article.
_PLACES_SQL: LiteralString = """
SELECT article_id, cluster.id, kept_id, state, size, lowest_score, first_day, last_day, kept_text_id
FROM dedup_membership AS member JOIN dedup_cluster AS cluster ON cluster.id = member.cluster_id
WHERE %(articles)s::bigint[] IS NULL OR article_id = ANY (%(articles)s::bigint[])
"""


def _write(components: list[Component], places: _Rows, *rest: _Rows) -> None:
    """Store these components as the clusters of the articles in these rows of _PLACES_SQL; for `rest` see _rows."""
    before = {article: number for article, number, *_ in places}
    numbers = _numbers(components, before)
    existing = {row[0]: Cluster(*row) for row in {place[1:] for place in places}}
    changed: list[Cluster] = []
    new: list[Cluster] = []
    placed: list[tuple[Cluster, Component]] = []
    for component, number, row in zip(components, numbers, _rows(components, *rest), strict=True):
        row.pk = number
        if number is None:
            new.append(row)
        elif differs(existing[number], row):
            changed.append(row)
        placed.append((row, component))
    after = {article: row for row, component in placed for article in component.articles}
    left = [article for article, number in before.items() if article not in after or after[article].pk != number]
    joined = [article for article, row in after.items() if row.pk is None or row.pk != before.get(article)]
    if not (left or joined or changed):
        return
    gone = {"clusters": list(set(before.values()).difference(row.pk for row, _ in placed))}
    clusters = [after[article] for article in joined]
    joins = {"article": joined, "number": [row.pk for row in clusters], "kept": [row.kept_id for row in clusters]}
    *_, fresh, listening = read_each(
        (_UPDATE_SQL, _columns(("id", *_COLUMNS), changed)),
        (_LEAVE_SQL, {"articles": left}),
        (_DELETE_SQL, gone),
        (_FORGET_SQL, gone),
        (_JOIN_SQL, joins | _columns(_COLUMNS, new)),
        LISTENING,
    )
    numbered = dict(fresh)
    for row in new:
        row.pk = numbered[row.kept_id]
    if len(joined) >= _MANY:
        # Or PostgreSQL expects a large cluster to be empty, and compares each of its articles with all others.
        with connection.cursor() as cursor:
            cursor.execute("ANALYZE dedup_membership")
    if listening:
        parted = {before[article] for article in left} | {after[article].pk for article in joined}
        announce(_news(existing, [row for row, _ in placed], parted))


def _news(
    existing: dict[int, Cluster], rows: Sequence[Cluster], parted: Collection[int]
) -> dict[Webhook.Event, Sequence[Cluster]]:
    """Return what happened to these clusters, given them as they were, and which an article left or joined."""
    told = [(row, existing.get(row.pk)) for row in rows]
    return {
        Webhook.Event.NEW: [row for row, was in told if was is None],
        Webhook.Event.CHANGED: [row for row, was in told if was and (row.pk in parted or was.kept_id != row.kept_id)],
        Webhook.Event.CONFIRMED: [
            row for row, was in told if row.state == _CONFIRMED and (was is None or was.state != _CONFIRMED)
        ],
    }


# No article is left in these clusters. Django would ask for the rows, and for those of each other table, one by one.
# Keys are checked at the commit: a lease that another writes meanwhile is there, and seen, once its cluster is locked.
_DELETE_SQL: LiteralString = "DELETE FROM dedup_cluster WHERE id = ANY (%(clusters)s::bigint[])"
_FORGET_SQL: LiteralString = """
WITH lease AS (DELETE FROM dedup_lease WHERE cluster_id = ANY (%(clusters)s::bigint[]))
DELETE FROM dedup_postponement WHERE cluster_id = ANY (%(clusters)s::bigint[])
"""
_COLUMNS = ("kept_id", "state", "size", "lowest_score", "first_day", "last_day", "kept_text_id")
_LEAVE_SQL: LiteralString = "DELETE FROM dedup_membership WHERE article_id = ANY (%(articles)s::bigint[])"
# New clusters, and the articles that join clusters: a new one has no number yet, but its kept article names it.
_JOIN_SQL: LiteralString = """
WITH fresh AS (
    INSERT INTO dedup_cluster (kept_id, state, size, lowest_score, first_day, last_day, kept_text_id)
    SELECT * FROM unnest(
        %(kept_id)s::bigint[], %(state)s::text[], %(size)s::int[], %(lowest_score)s::float8[],
        %(first_day)s::date[], %(last_day)s::date[], %(kept_text_id)s::bigint[]
    )
    RETURNING kept_id, id
), joined AS (
    INSERT INTO dedup_membership (article_id, cluster_id)
    SELECT article, coalesce(number, fresh.id)
    FROM unnest(%(article)s::bigint[], %(number)s::bigint[], %(kept)s::bigint[]) AS moved (article, number, kept)
    LEFT JOIN fresh ON fresh.kept_id = kept
)
SELECT kept_id, id FROM fresh
"""
# A statement of Django's own for ten thousand clusters takes half a minute to write.
_UPDATE_SQL = """
UPDATE dedup_cluster AS cluster
SET kept_id = fresh.kept, state = fresh.state, size = fresh.size, lowest_score = fresh.lowest_score,
    first_day = fresh.first_day, last_day = fresh.last_day, kept_text_id = fresh.kept_text
FROM unnest(
    %(id)s::bigint[], %(kept_id)s::bigint[], %(state)s::text[], %(size)s::int[], %(lowest_score)s::float8[],
    %(first_day)s::date[], %(last_day)s::date[], %(kept_text_id)s::bigint[]
) AS fresh (id, kept, state, size, lowest_score, first_day, last_day, kept_text)
WHERE cluster.id = fresh.id
"""


def _columns(names: Sequence[str], rows: Sequence[Cluster]) -> dict[str, list[Any]]:
    return {name: [getattr(row, name) for row in rows] for name in names}


def _numbers(components: list[Component], before: dict[int, int]) -> list[int | None]:
    """Return the cluster number that each component keeps: that of the cluster most of its articles were in."""
    overlaps = sorted(
        (-shared, number, place)
        for place, component in enumerate(components)
        for number, shared in Counter(before[article] for article in component.articles if article in before).items()
    )
    numbers: list[int | None] = [None] * len(components)
    taken: set[int] = set()
    for _, number, place in overlaps:
        if number not in taken and numbers[place] is None:
            numbers[place] = number
            taken.add(number)
    return numbers


_RULE_SQL: LiteralString = "SELECT keep_rule FROM dedup_profile WHERE is_default"


def keep_rule(found: _Rows | None = None) -> str:
    """Return which article a cluster keeps, by the default profile; `found`: the rows of _RULE_SQL, if it was asked."""
    rows = read_rows(_RULE_SQL) if found is None else found
    return rows[0][0] if rows else Keep.EARLIEST


# What the rule asks about these articles, and the latest decisions to keep each and its text. To measure long texts
# takes time.
_MEMBERS_SQL: LiteralString = """
SELECT article.id, newspaper_id, date, published_at, CASE WHEN measured THEN agency ELSE '' END,
    CASE WHEN measured THEN length(content) ELSE 0 END, withheld, chosen.as_kept, chosen.as_text
FROM articles_article AS article
CROSS JOIN (SELECT EXISTS (SELECT FROM dedup_profile WHERE is_default AND keep_rule <> 'earliest')) AS by (measured)
LEFT JOIN (
    SELECT article_id, max(id) FILTER (WHERE kind = 'keep'), max(id) FILTER (WHERE kind = 'keep_text')
    FROM dedup_decision AS decision
    WHERE kind IN ('keep', 'keep_text') AND article_id = ANY (%(articles)s::bigint[])
        AND NOT EXISTS (SELECT FROM dedup_decision AS undo WHERE undo.undoes_id = decision.id)
    GROUP BY article_id
) AS chosen (article_id, as_kept, as_text) ON chosen.article_id = article.id
WHERE article.id = ANY (%(articles)s::bigint[])
"""


def members_of(articles: Collection[int], found: _Rows | None = None) -> dict[int, Member]:
    """Return what the rule of the default profile asks about these articles, by id; `found` as for keep_rule."""
    rows = read_rows(_MEMBERS_SQL, articles=list(articles)) if found is None else found
    return {row[0]: Member(*row) for row in rows}


def _rows(components: Sequence[Component], members: _Rows | None = None, rule: _Rows | None = None) -> list[Cluster]:
    """Return the row of each cluster."""
    found = members_of([article for component in components for article in component.articles], members)
    by = keep_rule(rule)
    return [_row(component, [found[pk] for pk in component.articles], by) for component in components]


def _row(component: Component, members: Sequence[Member], rule: str) -> Cluster:
    """Return the row of a cluster. It keeps the article that an editor chose last, else the one that the rule keeps.

    Its text is that of this article, unless an editor chose another.
    """
    days = [member.date for member in members]
    shown = [member for member in members if not member.withheld]
    chosen = {member.chosen: member.pk for member in shown if member.chosen}
    texts = {member.chosen_text: member.pk for member in shown if member.chosen_text}
    kept, text = chosen[max(chosen)] if chosen else kept_by(rule, members), texts[max(texts)] if texts else None
    return Cluster(
        kept_id=kept,
        kept_text_id=None if text == kept else text,
        state=Cluster.State.CONFIRMED if component.confirmed else Cluster.State.PROPOSED,
        size=len(component.articles),
        lowest_score=component.lowest_score,
        first_day=min(days),
        last_day=max(days),
    )


# ---- what has changed ------------------------------------------------------------------------------

# More changed articles than these take longer one by one than all clusters together.
FEW = 20_000

# Before pairs get the verdicts of the temporary table judged_pair: the articles of those that change. What the clusters
# rest on is not noted one by one before there are any.
NOTE_JUDGED_SQL: LiteralString = """
INSERT INTO dedup_changedarticle (article)
SELECT unnest(ARRAY[pair.left_id, pair.right_id])
FROM judged_pair AS judged
JOIN dedup_pair AS pair ON pair.id = judged.id
WHERE EXISTS (SELECT FROM dedup_watermark WHERE name = 'clusters')
  AND (pair.joins, pair.verdict, pair.probability, pair.duplicate_probability, pair.left_matched, pair.right_matched)
      IS DISTINCT FROM (judged.joins, judged.verdict, judged.probability, judged.duplicate_probability,
                        judged.left_matched, judged.right_matched)
"""
# Before the pairs of the temporary table found_candidate get their scores: the articles of those proposed again.
NOTE_PROPOSED_SQL: LiteralString = """
INSERT INTO dedup_changedarticle (article)
SELECT unnest(ARRAY[pair.left_id, pair.right_id])
FROM found_candidate AS found
JOIN dedup_pair AS pair ON pair.left_id = found.left_id AND pair.right_id = found.right_id
WHERE pair.best_score = 0 AND pair.verdict <> '' AND EXISTS (SELECT FROM dedup_watermark WHERE name = 'clusters')
"""
# The articles of clusters that were stored again: their days and texts decide which article represents a cluster.
_STORED_AGAIN_SQL: LiteralString = """
SELECT member.article_id
FROM articles_article AS article
JOIN dedup_membership AS member ON member.article_id = article.id
WHERE article.revision > %(revision)s
"""
_CONTRADICTIONS_SQL: LiteralString = """
SELECT count(*)
FROM dedup_standing_link AS link
JOIN dedup_confirmedarticle AS one ON one.article_id = link.left_id
JOIN dedup_confirmedarticle AS other ON other.article_id = link.right_id AND other.first = one.first
WHERE link.effect = 'cannot'
"""


def update_clusters(*, only_changed: bool) -> Rebuilt:
    """Rebuild all clusters, or only those that have changed since the last call: the clusters are the same.

    What the default profile counts as the same is brought up to date first.

    The contradictions are those among the articles that were concerned; see `contradictions`. Call `renew_questions`
    next: if a process was killed between the two, the next one asks for all questions to be renewed.
    """
    with transaction.atomic():
        lock_review()
        newest, input_digest = newest_revision(), _input_digest()
        update_version_implications()
        update_joins()
        changed = _changed(input_digest, FEW) if only_changed else None
        rebuilt = Rebuilt(set(), []) if changed == set() else rebuild_clusters(changed)
        ChangedArticle.objects.all().delete()
        Watermark.objects.update_or_create(
            name=Phase.CLUSTERS, defaults={"revision": newest, "input_digest": input_digest}
        )
        if rebuilt.articles != set() or not Watermark.objects.filter(name=Phase.QUESTIONS).exists():
            renewed = Watermark.objects.filter(name=Phase.QUESTIONS).delete()[0]
            rebuilt = rebuilt if renewed else rebuilt._replace(articles=None)
    return rebuilt


def renew_questions(rebuilt: Rebuilt) -> None:
    """Bring the questions up to date with the clusters that `update_clusters` has rebuilt."""
    if rebuilt.articles == set():
        return
    with transaction.atomic():
        update_questions(rebuilt.articles)
        Watermark.objects.update_or_create(name=Phase.QUESTIONS, defaults={"revision": newest_revision()})


def changed_since_rebuilt() -> set[int] | None:
    """Return the articles whose clusters the next run rebuilds; None: all clusters, or they were never built."""
    return _changed(_input_digest())


def contradictions() -> int:
    """Return how many cannot-links are between articles that must-links tie together."""
    return int(read_rows(_CONTRADICTIONS_SQL)[0][0])


def _changed(input_digest: str, most: int | None = None) -> set[int] | None:
    """Return the articles whose clusters are to be rebuilt; None: all clusters, also if there are more than `most`."""
    mark = Watermark.objects.filter(name=Phase.CLUSTERS, input_digest=input_digest).first()
    if mark is None:
        return None
    limit = None if most is None else most + 1
    changed = set(ChangedArticle.objects.values_list("article", flat=True).distinct()[:limit])
    with connection.cursor() as cursor:
        cursor.execute(_STORED_AGAIN_SQL, {"revision": mark.revision})
        changed |= {article for (article,) in islice(cursor, limit)}
    return None if most is not None and len(changed) > most else changed


def _input_digest() -> str:
    """Return a digest of what all clusters and questions rest on, apart from pairs, decisions and articles."""
    columns: tuple[str, ...] = ("keep_rule", "same_as", "asked_from")
    profile = Profile.objects.filter(is_default=True).values(*columns).first()
    agencies: list[tuple[int, str]] = []
    if profile and profile["keep_rule"] != Keep.EARLIEST:
        # An agency can change without a new revision of its article.
        credited = Article.objects.filter(pk__in=Membership.objects.values("article")).exclude(agency="")
        agencies = list(credited.order_by("pk").values_list("pk", "agency"))
    return fingerprint(profile, agencies)
