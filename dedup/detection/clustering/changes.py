"""Which clusters a run of new articles rebuilds: those of the articles that have changed, or whose pairs have.

Whoever changes what clusters rest on notes the articles in the same transaction, so nothing is lost with a process that
is killed. Nothing is noted before all clusters were built once.
"""

from __future__ import annotations

from itertools import islice
from typing import LiteralString

from django.db import connection, transaction

from articles.models import Article
from articles.storage.fingerprints import fingerprint
from articles.storage.ingest import newest_revision
from dedup.detection.clustering.constraints import lock_review
from dedup.detection.clustering.questions import update_questions
from dedup.detection.clustering.rebuild import Rebuilt, rebuild_clusters
from dedup.detection.types import Phase
from dedup.models import ChangedArticle, Keep, Membership, Profile, Watermark

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

    The contradictions are those among the articles that were concerned; see `contradictions`. Call `renew_questions`
    next: if a process was killed between the two, the next one asks for all questions to be renewed.
    """
    newest, input_digest = newest_revision(), _input_digest()
    with transaction.atomic():
        lock_review()
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
    columns: tuple[str, ...] = ("keep_rule", "versions_join", "asked_from")
    profile = Profile.objects.filter(is_default=True).values(*columns).first()
    agencies: list[tuple[int, str]] = []
    if profile and profile["keep_rule"] != Keep.EARLIEST:
        # An agency can change without a new revision of its article.
        credited = Article.objects.filter(pk__in=Membership.objects.values("article")).exclude(agency="")
        agencies = list(credited.order_by("pk").values_list("pk", "agency"))
    return fingerprint(profile, agencies)
