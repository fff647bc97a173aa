"""Which questions there are: none that is settled, and exactly one for every pair that waits."""

import random
from collections import Counter
from itertools import combinations, pairwise
from typing import Any

import pytest
from django.contrib.auth.models import User

from dedup.detection.clustering.questions import COUNTED, update_questions
from dedup.detection.clustering.rebuild import rebuild_clusters
from dedup.detection.verdicts.same_as import JOINS_FROM
from dedup.models import Cluster, Decision, Membership, OpenQuestion, Pair, Profile, QuestionCount
from dedup.review.answers import decisions
from dedup.review.questions.tabs import tab_counts
from tests.conftest import StoreArticle
from tests.factories import make_cluster, make_pair

pytestmark = pytest.mark.django_db

ARTICLES, ANSWERS = 9, 14
KINDS = ("confirm", "confirm", "reject", "version", "template", "unsure")


def part_of(article: int, clusters: dict[int, int]) -> tuple[str, int]:
    return ("cluster", clusters[article]) if article in clusters else ("article", article)


def check_covered(seed: int) -> None:
    """Check every waiting pair and every question against each other, by the definition."""
    clusters = dict(Membership.objects.values_list("article", "cluster"))
    sizes = Counter(clusters.values())
    rows = list(OpenQuestion.objects.filter(asked=True).select_related("pair"))
    cards = {row.cluster_id for row in rows if row.pair_id is None}
    asked = [row.pair for row in rows if row.pair is not None]
    assert all(pair.state == "undecided" and not pair.implied for pair in asked), seed
    waiting = Pair.objects.in_queue().exclude(verdict="").filter(implied=False)
    bound = Profile.objects.get(is_default=True).asked_from
    needed = set()
    for pair in waiting:
        parts = {part_of(pair.left_id, clusters), part_of(pair.right_id, clusters)}
        chance = pair.probability if pair.joins else pair.duplicate_probability
        left_apart = pair.verdict == "duplicate" and not pair.joins and chance >= JOINS_FROM
        doubtful = bound <= chance <= 1 - bound and not left_apart
        if not doubtful and not (pair.joins and len(parts) == 2):
            continue
        inside = clusters.get(pair.left_id) if len(parts) == 1 else None
        if inside is not None and sizes[inside] > 2:
            needed.add(("cluster", inside))
            assert inside in cards, (seed, pair)
            continue
        same = [pair for pair in asked if {part_of(pair.left_id, clusters), part_of(pair.right_id, clusters)} == parts]
        assert len(same) == 1, (seed, pair, same)
        needed.add(("pair", same[0].pk))
    assert needed == {("cluster", number) for number in cards} | {("pair", pair.pk) for pair in asked}, seed
    stored = dict(QuestionCount.objects.values_list("tab", "number"))
    every = OpenQuestion.objects
    by_hand = (
        len(rows),
        every.filter(certain=True).count(),
        len(cards) + every.filter(certain=True, cluster__isnull=False).count(),
        every.filter(conflict=True).count(),
    )
    assert tuple(stored.get(tab, 0) for tab in COUNTED) == by_hand, seed


def snapshot() -> set[tuple[Any, ...]]:
    return set(OpenQuestion.objects.values_list("pair", "cluster", "asked", "certain", "conflict", "change", "doubt"))


@pytest.mark.parametrize("seed", [0, 1, *(pytest.param(seed, marks=pytest.mark.soak) for seed in (2, 3))])
def test_every_waiting_pair_is_covered_by_exactly_one_question(seed: int, editor: User, store: StoreArticle) -> None:
    rng = random.Random(seed)
    articles = [store() for _ in range(ARTICLES)]
    for left, right in combinations(articles, 2):
        if rng.random() < 0.45:
            verdict = rng.choice(["duplicate", "duplicate", "version", "template", ""])
            chance = rng.uniform(0.8, 1) if verdict == "duplicate" else rng.uniform(0, 0.3)
            make_pair(left, right, verdict=verdict, probability=0.8, trigram=0.7)
            Pair.objects.filter(left=left, right=right).exclude(verdict="").update(
                duplicate_probability=chance, probability=chance if verdict == "duplicate" else 0.8
            )
    update_questions(rebuild_clusters().articles)
    check_covered(seed)
    made: list[Decision] = []
    for _ in range(ANSWERS):
        made.append(answer(rng, made, editor))
        check_covered(seed)
    before = snapshot()
    update_questions(rebuild_clusters().articles)
    assert snapshot() == before, seed
    check_covered(seed)


def answer(rng: random.Random, made: list[Decision], editor: User) -> Decision:
    """Make a random decision, or undo one."""
    undoable = [
        decision for decision in made if decision.is_undoable and not Decision.objects.filter(undoes=decision).exists()
    ]
    if undoable and rng.random() < 0.25:
        return decisions.undo(rng.choice(undoable).pk, user=editor)
    clusters = list(Cluster.objects.order_by("pk"))
    if clusters and rng.random() < 0.3:
        cluster = rng.choice(clusters)
        members = list(cluster.memberships.order_by("article").values_list("article", flat=True))
        act = rng.choice(["confirm", "reject", "take out"])
        if act == "take out":
            return decisions.take_out(cluster.pk, rng.choice(members), user=editor)
        by_act = {"confirm": decisions.confirm_cluster, "reject": decisions.reject_cluster}
        return by_act[act](cluster.pk, decisions.seen_as(members), user=editor)
    pair = rng.choice(list(Pair.objects.order_by("pk")))
    return decisions.decide_pair(pair.pk, rng.choice(KINDS), user=editor)


def test_what_is_asked_first_and_what_is_nearly_certain(editor: User, store: StoreArticle) -> None:
    copies = make_cluster(*(store() for _ in range(4)), score=0.95)
    weak = make_cluster(*(store() for _ in range(3)), score=0.8)
    doubtful = make_pair(store(), store(), verdict="version", probability=0.6, duplicate_probability=0.3, trigram=0.6)
    unlikely = make_pair(store(), store(), verdict="version", probability=0.9, duplicate_probability=0.05, trigram=0.6)
    # A fifth article that is perhaps a copy of the four: 4 pairs would be joined.
    fifth = store()
    many = make_pair(copies.kept, fifth, verdict="version", probability=0.8, duplicate_probability=0.2, trigram=0.6)

    order = OpenQuestion.objects.filter(asked=True).order_by("-change", "doubt", "number")
    assert [(row.pair or row.cluster, round(row.change, 3), row.certain) for row in order] == [
        (many, 0.8, False),
        (weak, 0.4, False),
        (doubtful, 0.3, False),
    ]
    assert [row.cluster for row in OpenQuestion.objects.filter(certain=True)] == [copies]
    assert tab_counts(editor) | {"later": 0} == tab_counts(editor)
    assert [tab_counts(editor)[name] for name in COUNTED] == [3, 1, 2, 0]
    # A pair inside that was judged a template: not a clear case any more.
    _, second, third, _ = (membership.article for membership in copies.memberships.order_by("article"))
    make_pair(second, third, verdict="template", probability=0.6, duplicate_probability=0.3, trigram=0.7)
    Profile.objects.update(asked_from=0.01)
    update_questions(rebuild_clusters().articles)
    assert OpenQuestion.objects.filter(pair=unlikely).exists()
    assert not OpenQuestion.objects.filter(certain=True).exists()


def test_a_cluster_that_contradicts_two_decisions_is_one_question(editor: User, store: StoreArticle) -> None:
    articles = [store() for _ in range(4)]
    for left, right in pairwise(articles):
        decisions.decide_pair(make_pair(left, right, trigram=0.9).pk, "confirm", user=editor)
    for left, right in (articles[::2], articles[1::2]):
        decisions.decide_pair(make_pair(left, right, trigram=0.9).pk, "reject", user=editor)
    [question] = OpenQuestion.objects.filter(conflict=True)
    assert question.size == 4
    assert tab_counts(editor)["conflicts"] == 1


def test_a_pair_that_no_pass_finds_any_more_is_no_question(store: StoreArticle) -> None:
    pair = make_pair(store(), store(), verdict="similar", duplicate_probability=0.4, trigram=0.7)
    assert OpenQuestion.objects.filter(pair=pair).exists()
    Pair.objects.filter(pk=pair.pk).update(best_score=0)
    update_questions({pair.left_id, pair.right_id})
    assert not OpenQuestion.objects.exists()
    assert tab_counts(User.objects.create_user("mara"))["informative"] == 0
