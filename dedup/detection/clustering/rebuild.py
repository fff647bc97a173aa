"""The writer of clusters: rebuilds them from verdicts and decisions, and keeps their numbers if possible.

A run of new articles rebuilds the clusters of the articles that have changed, or whose pairs have. Whoever changes what
clusters rest on notes the articles in the same transaction, so nothing is lost with a process that is killed. Before
all clusters were built once, nothing is noted.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from itertools import islice
from typing import Any, LiteralString, NamedTuple

from django.db import connection, transaction
from django.db.models import Q
from django.db.models.functions import Length

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
from dedup.integrations.webhooks import announce
from dedup.models import ChangedArticle, Cluster, Decision, Keep, Membership, Pair, Profile, Watermark, Webhook

# After so many articles have come into clusters, the statistics of the table are out of date.
_MANY = 1_000
_CONFIRMED = Cluster.State.CONFIRMED
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
        concerned = None if articles is None else _neighbourhood(articles)
        result = _clustering(concerned, constraints_in_force() if concerned is None else known.on(concerned))
        _write(result.components, concerned)
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
    return row.kept_id != fresh.kept_id or any(getattr(row, name) != getattr(fresh, name) for name in _FIELDS[1:])


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
    articles: Collection[int] | None, constraints: Constraints, *, evidence: bool = True, wanted: SameAs | None = None
) -> Clustering:
    if articles is not None:
        # A constraint that involves another article connects nothing here.
        inside = set(articles)
        constraints = Constraints(*([pair for pair in pairs if inside.issuperset(pair)] for pairs in constraints))
    stay = [Edge(left, right, 1.0, Rank.DECISION) for left, right in constraints.stay]
    edges, apart = _compared(articles, wanted) if evidence else ([], [])
    return cluster([*edges, *stay] if evidence else [], constraints.must, constraints.cannot, apart)


def _compared(articles: Collection[int] | None, wanted: SameAs | None) -> tuple[list[Edge], list[Apart]]:
    """Return the pairs that their relation joins, each with the probability of its verdict, and the other ones.

    The others were compared in full too; each has its chance of being a duplicate nevertheless.
    """
    pairs = Pair.objects.all() if articles is None else Pair.objects.among(articles)
    columns = ("left", "right", "joins", "relation", "verdict", "probability", "duplicate_probability", *_MATCHED)
    rows = pairs.proposed().filter(Q(joins=True) | ~Q(verdict="")).order_by().values_list(*columns)
    edges, apart = [], []
    for left, right, joins, relation, verdict, probability, of_duplicates, *matched in (
        rows if articles else rows.iterator()
    ):
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
    with connection.cursor() as cursor:
        cursor.execute(_NEIGHBOURHOOD_SQL, {"articles": list(articles)})
        return {article for (article,) in cursor}


def _write(components: list[Component], concerned: Collection[int] | None) -> None:
    """Store these components as the clusters of the articles concerned."""
    memberships = Membership.objects.all() if concerned is None else Membership.objects.filter(article__in=concerned)
    before = dict(memberships.order_by().values_list("article", "cluster"))
    numbers = _numbers(components, before)
    existing = Cluster.objects.in_bulk(set(before.values()))
    changed: list[Cluster] = []
    new: list[Cluster] = []
    placed: list[tuple[Cluster, Component]] = []
    for component, number, row in zip(components, numbers, _rows(components), strict=True):
        if number is None:
            new.append(row)
        else:
            row.pk = number
            if differs(existing[number], row):
                changed.append(row)
        placed.append((row, component))
    Cluster.objects.bulk_create(new)
    _update(changed)
    after = {article: row.pk for row, component in placed for article in component.articles}
    _move(before, after)
    moved = [article for article in {**before, **after} if before.get(article) != after.get(article)]
    parted = {places[article] for places in (before, after) for article in moved if article in places}
    announce(_news(existing, [row for row, _ in placed], parted))
    if gone := set(before.values()) - {row.pk for row, _ in placed}:
        with connection.cursor() as cursor:
            cursor.execute(_DELETE_SQL, {"clusters": list(gone)})


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
_DELETE_SQL = """
WITH lease AS (
    DELETE FROM dedup_lease WHERE cluster_id = ANY (%(clusters)s::bigint[])
), postponement AS (
    DELETE FROM dedup_postponement WHERE cluster_id = ANY (%(clusters)s::bigint[])
)
DELETE FROM dedup_cluster WHERE id = ANY (%(clusters)s::bigint[])
"""
_FIELDS = ("kept", "state", "size", "lowest_score", "first_day", "last_day")
# A statement of Django's own for ten thousand clusters takes half a minute to write.
_UPDATE_SQL = """
UPDATE dedup_cluster AS cluster
SET kept_id = fresh.kept, state = fresh.state, size = fresh.size, lowest_score = fresh.lowest_score,
    first_day = fresh.first_day, last_day = fresh.last_day
FROM unnest(
    %(id)s::bigint[], %(kept_id)s::bigint[], %(state)s::text[], %(size)s::int[], %(lowest_score)s::float8[],
    %(first_day)s::date[], %(last_day)s::date[]
) AS fresh (id, kept, state, size, lowest_score, first_day, last_day)
WHERE cluster.id = fresh.id
"""


def _update(changed: Sequence[Cluster]) -> None:
    """Store the fields of clusters that exist."""
    names = ("id", "kept_id", *_FIELDS[1:])
    if changed:
        with connection.cursor() as cursor:
            cursor.execute(_UPDATE_SQL, {name: [getattr(row, name) for row in changed] for name in names})


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


def _move(before: dict[int, int], after: dict[int, int]) -> None:
    moved = {article: number for article, number in after.items() if before.get(article) != number}
    gone = [article for article in before if article not in after or article in moved]
    Membership.objects.filter(article__in=gone).delete()
    Membership.objects.bulk_create(
        [Membership(article_id=article, cluster_id=number) for article, number in moved.items()], batch_size=5000
    )
    if len(moved) >= _MANY:
        # Or PostgreSQL expects a large cluster to be empty, and compares each of its articles with all others.
        with connection.cursor() as cursor:
            cursor.execute("ANALYZE dedup_membership")


def _rows(components: Sequence[Component]) -> list[Cluster]:
    """Return the row of each cluster."""
    articles = [article for component in components for article in component.articles]
    choices = Decision.objects.filter(kind=Decision.Kind.KEEP, undone_by=None, article__in=articles).order_by("pk")
    latest = dict(choices.values_list("article", "pk"))
    rule = keep_rule()
    members = members_of(articles, rule)
    return [_row(component, [members[pk] for pk in component.articles], latest, rule) for component in components]


def keep_rule() -> str:
    """Return which article a cluster keeps, by the default profile."""
    return Profile.objects.filter(is_default=True).values_list("keep_rule", flat=True).first() or Keep.EARLIEST


def members_of(articles: Collection[int], rule: str) -> dict[int, Member]:
    """Return what a rule asks about these articles, by id."""
    columns: list[Any] = ["withheld", "pk", "newspaper", "date", "published_at"]
    if rule != Keep.EARLIEST:  # to measure long texts takes time
        columns += ["agency", Length("content")]
    rows = Article.objects.filter(pk__in=articles).order_by().values_list(*columns)
    return {pk: Member(pk, *row)._replace(withheld=withheld) for withheld, pk, *row in rows}


def _row(component: Component, members: Sequence[Member], latest: Mapping[int, int], rule: str) -> Cluster:
    """Return the row of a cluster. It keeps the article that an editor chose last, else the one that the rule keeps.

    `latest` has the latest such choice of each article that was chosen.
    """
    days = [member.date for member in members]
    chosen = [member.pk for member in members if member.pk in latest and not member.withheld]
    return Cluster(
        kept_id=max(chosen, key=lambda article: latest[article]) if chosen else kept_by(rule, members),
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
    with connection.cursor() as cursor:
        cursor.execute(_CONTRADICTIONS_SQL)
        count: int = cursor.fetchone()[0]
    return count


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
