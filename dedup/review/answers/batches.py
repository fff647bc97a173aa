"""The writer of batches: one decision on many questions, after a random sample of them was answered one by one.

The set is frozen when a batch is started. What is decided, judged otherwise or changed meanwhile is left out of the
decision, and so is what contradicts decisions in force.
"""

from __future__ import annotations

import random
from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

from django.db import connection
from django.db.models import Exists, F, Max, OuterRef, Q, QuerySet

from dedup.answers import Answer, Effect, with_effect
from dedup.detection.clustering.consistency import contradictions_of_joining, contradictions_of_parting, joins
from dedup.detection.clustering.constraints import constraints_in_force
from dedup.detection.clustering.joins import same_as
from dedup.detection.types import SameAs
from dedup.models import Batch, BatchItem, ConfirmedArticle, Decision, Link, Pair, SeparateArticles
from dedup.models.base import read_rows
from dedup.models.decisions import KEEPS
from dedup.research.precision import upper_bound
from dedup.review.answers.decisions import ReviewError, append_batch, cluster_of, locked_review

# What can be answered for many at once: what joins or parts clusters.
ANSWERS = with_effect(Effect.MUST, Effect.CANNOT, Effect.BY_PROFILE)
# Without an error, they prove at most 14%, 5% and 2% of errors in the whole, with 95% certainty.
SAMPLES = (20, 59, 149)
# One decision on them takes a few seconds.
MOST_QUESTIONS = 20_000
_SEEDS = 2**31


class StaleBatchError(ReviewError):
    """The batch cannot be decided: its sample is not answered, or it is decided already."""


def begin(
    kind: str, *, pairs: Collection[int], clusters: Collection[int] = (), sample: int, query: str = "", user: Any
) -> Batch:
    """Freeze a set of questions, by the numbers of pairs and clusters, and draw the sample. Raises ReviewError."""
    if kind not in ANSWERS:
        raise ReviewError(f"A batch cannot be answered with {kind!r}; use one of {', '.join(ANSWERS)}.")
    if sample not in SAMPLES:
        raise ReviewError(f"A sample of {sample} is not offered; choose one of {', '.join(map(str, SAMPLES))}.")
    with locked_review():
        found = read_rows(_PAIRS_SQL, numbers=list(pairs))
        if kind == Answer.CONFIRM:
            found += read_rows(_CLUSTERS_SQL, numbers=list(clusters))
        if not found:
            raise ReviewError("Nothing in this list waits for an answer that a batch can give. Change the filter.")
        if len(found) > MOST_QUESTIONS:
            raise ReviewError(
                f"The list has {len(found):,} questions; a batch has at most {MOST_QUESTIONS:,}. Narrow the filter."
            )
        seed = random.SystemRandom().randrange(_SEEDS)
        drawn = min(sample, len(found))
        after = Decision.objects.aggregate(last=Max("pk"))["last"] or 0
        batch = Batch.objects.create(
            kind=kind, query=query, seed=seed, size=len(found), drawn=drawn, made_by=user, after=after
        )
        _store_items(batch, found, _drawn(seed, len(found), drawn))
    return batch


def _drawn(seed: int, size: int, count: int) -> dict[int, int]:
    """Return the places of the questions in the sample, from 1, by their position among all."""
    chosen = random.Random(seed).sample(range(size), count)  # noqa: S311 - drawn again from the seed, not secret
    return {position: place for place, position in enumerate(chosen, start=1)}


# The questions to freeze: a pair or a cluster, with its articles, their highest revision, and the pair's verdict.
_PAIRS_SQL = """
SELECT pair.id, NULL, ARRAY[pair.left_id, pair.right_id], greatest(left_article.revision, right_article.revision),
    pair.verdict
FROM dedup_pair AS pair
JOIN articles_article AS left_article ON left_article.id = pair.left_id
JOIN articles_article AS right_article ON right_article.id = pair.right_id
WHERE pair.id = ANY (%(numbers)s::bigint[]) AND pair.state = 'undecided' AND pair.best_score > 0
ORDER BY pair.duplicate_probability DESC NULLS LAST, pair.id
"""
_CLUSTERS_SQL = """
SELECT NULL, cluster.id, array_agg(member.article_id ORDER BY member.article_id), max(article.revision), ''
FROM dedup_cluster AS cluster
JOIN dedup_membership AS member ON member.cluster_id = cluster.id
JOIN articles_article AS article ON article.id = member.article_id
WHERE cluster.id = ANY (%(numbers)s::bigint[]) AND cluster.state = 'proposed'
GROUP BY cluster.id
ORDER BY cluster.id
"""
_COPY_SQL = """
COPY dedup_batchitem (batch_id, pair_id, cluster_number, articles, revision, verdict, place) FROM STDIN
"""


def _store_items(batch: Batch, found: Sequence[tuple[Any, ...]], places: dict[int, int]) -> None:
    with connection.cursor() as cursor, cursor.copy(_COPY_SQL) as copy:
        copy.set_types(["int8", "int8", "int8", "int8[]", "int8", "varchar", "int4"])
        for position, question in enumerate(found):
            copy.write_row((batch.pk, *question, places.get(position)))


class Outcome(NamedTuple):
    """What a batch would decide now, and what it leaves out, by reason."""

    kept: list[BatchItem]
    decided: list[BatchItem]  # decided meanwhile, also in the sample
    changed: list[BatchItem]  # its articles, its verdict or its cluster changed, or no pass proposes it any more
    contradicting: list[BatchItem]

    @property
    def left_out(self) -> dict[str, int]:
        """The numbers of questions left out, by reason."""
        return {name: len(getattr(self, name)) for name in ("decided", "changed", "contradicting")}


# A pair and a cluster as they are now, next to what was frozen.
_ITEMS_SQL = """
SELECT item.id, item.pair_id, item.cluster_number, item.articles,
    CASE WHEN item.pair_id IS NOT NULL THEN pair.state <> 'undecided' ELSE cluster.state = 'confirmed' END,
    item.revision <> now.revision
        OR CASE WHEN item.pair_id IS NOT NULL THEN item.verdict <> pair.verdict OR pair.best_score = 0
            ELSE cluster.id IS NULL OR item.articles <> now.members END
FROM dedup_batchitem AS item
LEFT JOIN dedup_pair AS pair ON pair.id = item.pair_id
LEFT JOIN dedup_cluster AS cluster ON cluster.id = item.cluster_number
LEFT JOIN LATERAL (
    SELECT max(article.revision) AS revision,
        (SELECT array_agg(member.article_id ORDER BY member.article_id) FROM dedup_membership AS member
        WHERE member.cluster_id = item.cluster_number) AS members
    FROM articles_article AS article WHERE article.id = ANY (item.articles)
) AS now ON true
WHERE item.batch_id = %(batch)s
ORDER BY item.id
"""


def outcome_of(batch: Batch) -> Outcome:
    """Return what the batch would decide now."""
    kept: list[BatchItem] = []
    decided: list[BatchItem] = []
    changed: list[BatchItem] = []
    for number, pair, cluster, articles, is_decided, is_changed in read_rows(_ITEMS_SQL, batch=batch.pk):
        item = BatchItem(pk=number, batch=batch, pair_id=pair, cluster_number=cluster, articles=articles)
        (decided if is_decided else changed if is_changed else kept).append(item)
    refused = _contradicting(batch, kept)
    contradicting = [item for place, item in enumerate(kept) if place in refused]
    return Outcome([item for place, item in enumerate(kept) if place not in refused], decided, changed, contradicting)


def _contradicting(batch: Batch, items: Sequence[BatchItem]) -> set[int]:
    articles = [tuple(item.articles) for item in items]
    every = {article for item in articles for article in item}
    group_of = dict(ConfirmedArticle.objects.filter(article__in=every).values_list("article", "first"))
    if batch.kind != Answer.CONFIRM:
        return contradictions_of_parting(articles, group_of)
    groups = set(group_of.values())
    apart = set(SeparateArticles.objects.filter(one__in=groups).values_list("one", "other"))
    apart |= set(SeparateArticles.objects.filter(other__in=groups).values_list("one", "other"))
    # Two single articles are named by the link itself.
    apart |= set(constraints_in_force(every).cannot)
    return contradictions_of_joining(articles, group_of, apart)


def decide(batch_id: int, *, user: Any, note: str = "") -> Decision:
    """Append the one decision of a batch. Raises StaleBatchError if its sample is not answered, or it is decided."""
    with locked_review():
        batch = Batch.objects.select_for_update().get(pk=batch_id)
        if batch.decision_id:
            raise StaleBatchError(f"Batch {batch_id} is already decided, by decision {batch.decision_id}.")
        answers = answers_of(batch)
        if missing := sum(answer.decision is None for answer in answers):
            raise StaleBatchError(
                f"{missing} of the {batch.drawn} drawn questions have no answer yet. Answer them first."
            )
        outcome = outcome_of(batch)
        if not outcome.kept:
            raise StaleBatchError("Nothing of this batch is left to decide.")
        links = _links(batch, outcome.kept)
        articles = sorted({article for item in outcome.kept for article in item.articles})
        decision = append_batch(articles, links, user=user, note=note)
        _close(batch, decision, answers, outcome)
    return decision


def _close(batch: Batch, decision: Decision, answers: Sequence[SampleAnswer], outcome: Outcome) -> None:
    batch.decision = decision
    batch.wrong = sum(not answer.is_right for answer in answers)
    batch.left_out = outcome.left_out
    batch.save(update_fields=["decision", "wrong", "left_out"])
    answered = [BatchItem(pk=answer.item, answer_id=answer.decision) for answer in answers]
    BatchItem.objects.bulk_update(answered, ["answer"])


def _links(batch: Batch, items: Sequence[BatchItem]) -> dict[tuple[int, int], str]:
    """Return the links of the decision: each pair's own, and for a cluster those that confirming it makes."""
    kind = Answer(batch.kind).link
    ends: dict[tuple[int, int], None] = {}
    for item in items:
        first, *others = item.articles
        ends |= dict.fromkeys((first, other) for other in others)
    cluster_of = {article: item.cluster_number for item in items if item.cluster_number for article in item.articles}
    inside = Pair.objects.among(list(cluster_of)).order_by().values_list("left", "right") if cluster_of else ()
    ends |= dict.fromkeys(pair for pair in inside if cluster_of[pair[0]] == cluster_of[pair[1]])
    return dict.fromkeys(ends, kind)


def sample_questions(user: Any) -> QuerySet[BatchItem]:
    """Return the drawn questions without an answer of the latest batch that this editor has begun and not decided.

    Each has its pair, or the number of its cluster as `cluster` and `cluster_id`.
    """
    latest = Batch.objects.filter(made_by=user, decision=None).order_by("-pk").values("pk")[:1]
    link = Link.objects.filter(
        left=OuterRef("pair__left"),
        right=OuterRef("pair__right"),
        decision__gt=OuterRef("batch__after"),
        decision__undone_by=None,
    ).exclude(kind=Link.Kind.STAY)
    on_cluster = (
        Decision.objects.in_force()
        .filter(cluster_number=OuterRef("cluster_number"), pk__gt=OuterRef("batch__after"))
        .exclude(kind__in=[Decision.Kind.UNDO, *KEEPS])
    )
    drawn = BatchItem.objects.filter(batch__in=latest, place__isnull=False)
    of_pairs = Q(pair__isnull=False) & ~Exists(link)
    open_ones = drawn.filter(of_pairs | Q(cluster_number__isnull=False) & ~Exists(on_cluster))
    return open_ones.annotate(cluster=F("cluster_number"), cluster_id=F("cluster_number"))


class SampleAnswer(NamedTuple):
    """A drawn question, its place in the sample from 1, and the decision that answered it; None if there is none."""

    item: int
    place: int
    pair_id: int | None
    cluster_id: int | None
    decision: int | None
    is_right: bool  # the answer is that of the batch


class Sample(NamedTuple):
    """How far the sample is answered, and what it says about the whole."""

    drawn: int
    answered: int
    wrong: int
    bound: float  # at most this share of the whole is wrong, 0..1, with 95% certainty
    next: SampleAnswer | None  # the first question without an answer


# The latest decision in force on each drawn question since the batch was begun. A decision on a cluster or a group
# answers a pair too if it links its two articles.
_SAMPLE_SQL = """
SELECT item.id, item.place, item.pair_id, item.cluster_number, answer.decision_id, coalesce(answer.is_right, false)
FROM dedup_batchitem AS item
JOIN dedup_batch AS batch ON batch.id = item.batch_id
LEFT JOIN LATERAL (
    SELECT link.decision_id, link.kind = %(link)s AS is_right
    FROM dedup_link AS link
    WHERE item.pair_id IS NOT NULL AND link.left_id = item.articles[1] AND link.right_id = item.articles[2]
        AND link.kind <> 'stay' AND link.decision_id > batch.after
        AND NOT EXISTS (SELECT FROM dedup_decision AS undo WHERE undo.undoes_id = link.decision_id)
    UNION ALL
    SELECT decision.id, decision.kind = 'confirm_cluster' AND decision.articles = item.articles
    FROM dedup_decision AS decision
    WHERE item.cluster_number IS NOT NULL AND decision.cluster_number = item.cluster_number
        AND decision.kind NOT IN ('undo', 'keep', 'keep_text') AND decision.id > batch.after
        AND NOT EXISTS (SELECT FROM dedup_decision AS undo WHERE undo.undoes_id = decision.id)
    ORDER BY decision_id DESC
    LIMIT 1
) AS answer ON true
WHERE item.batch_id = %(batch)s AND item.place IS NOT NULL
ORDER BY item.place
"""


def answers_of(batch: Batch) -> list[SampleAnswer]:
    """Return the drawn questions of a batch that is not decided, in order, with their answers."""
    rows = read_rows(_SAMPLE_SQL, batch=batch.pk, link=Answer(batch.kind).link)
    return [SampleAnswer(*row) for row in rows]


def sample_of(batch: Batch) -> Sample:
    """Return how far the sample of a batch is answered; of a decided one, what it had said then."""
    if batch.wrong is not None:
        return Sample(batch.drawn, batch.drawn, batch.wrong, upper_bound(batch.drawn, batch.wrong), None)
    answers = answers_of(batch)
    answered = [answer for answer in answers if answer.decision]
    wrong = sum(not answer.is_right for answer in answered)
    waiting = next((answer for answer in answers if not answer.decision), None)
    return Sample(batch.drawn, len(answered), wrong, upper_bound(len(answered), wrong), waiting)


# Questions left out because they contradict decisions, which the page lists.
CONTRADICTIONS_SHOWN = 50


def listed_batches() -> QuerySet[Batch]:
    """Return all batches with their editors and decisions, the latest first."""
    return Batch.objects.select_related("made_by", "decision__undone_by__decided_by", "decision__decided_by")


def preview_of(batch: Batch) -> dict[str, Any]:
    """Return what deciding this batch would change now."""
    outcome = outcome_of(batch)
    pairs = [item for item in outcome.kept if item.pair_id]
    shown = outcome.contradicting[:CONTRADICTIONS_SHOWN]
    found = Pair.objects.with_articles().in_bulk([item.pair_id for item in shown if item.pair_id])
    confirms = batch.kind == Answer.CONFIRM
    parts = batch.kind in with_effect(Effect.CANNOT) or (not confirms and same_as() is not SameAs.UPDATES)
    clusters = cluster_of({article for item in outcome.kept for article in item.articles})
    ends = ([clusters.get(article) for article in item.articles] for item in pairs)
    shared = {left for left, right in ends if left is not None and left == right}
    return {
        "outcome": outcome,
        "pairs": len(pairs),
        "clusters": len(outcome.kept) - len(pairs),  # proposed ones that it confirms as a whole
        "joins": joins((tuple(item.articles) for item in outcome.kept), clusters) if confirms else None,
        "split": len(shared) if parts else 0,  # clusters that lose an article
        "contradicting": [(item, found.get(item.pair_id or 0)) for item in shown],
    }
