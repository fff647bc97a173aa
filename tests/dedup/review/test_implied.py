"""What decisions imply: the states of pairs held against a slow reading of the whole history."""

import random
from collections.abc import Iterable
from itertools import combinations

import pytest
from django.contrib.auth.models import User
from django.db import transaction

from articles.models import Article
from dedup.answers import Answer
from dedup.detection.clustering.constraints import update_version_implications
from dedup.detection.clustering.questions import update_questions
from dedup.detection.clustering.rebuild import rebuild_clusters
from dedup.detection.runs.evidence import store_candidates, update_best_scores
from dedup.detection.types import Candidate
from dedup.models import Cluster, Decision, DetectionRun, Evidence, Link, Membership, OpenQuestion, Pair, Profile
from dedup.review.answers import decisions
from dedup.review.answers.cluster_decisions import merge_clusters, split_cluster
from dedup.review.answers.history import implied_by
from tests.conftest import StoreArticle
from tests.factories import make_pair, make_run

pytestmark = pytest.mark.django_db

EFFECTS = {answer.link: answer.facts.effect for answer in Answer}
STATES = {answer.link: answer.state for answer in Answer}
IdPair = tuple[int, int]


def paired(store: StoreArticle, count: int, numbers: random.Random | None = None) -> list[int]:
    """Store articles and all their pairs, with `numbers` only most of them; return the ids of the articles."""
    articles = [store() for _ in range(count)]
    for left, right in combinations(articles, 2):
        if numbers and numbers.random() < 0.2:
            continue
        verdict = numbers.choice(["duplicate", "version", "template"]) if numbers else "duplicate"
        make_pair(left, right, verdict=verdict, trigram=numbers.uniform(0.5, 1) if numbers else 0.9)
    rebuild_clusters()
    return [article.pk for article in articles]


def decide(left: int, right: int, kind: str, editor: User) -> Decision:
    return decisions.decide_pair(Pair.objects.get(left=left, right=right).pk, kind, user=editor)


def states() -> dict[IdPair, tuple[str, bool]]:
    rows = Pair.objects.values_list("left", "right", "state", "implied")
    return {(left, right): (state, implied) for left, right, state, implied in rows}


# ---- the slow reading --------------------------------------------------------------------------------


def links_in_force(only: set[int] | None = None) -> dict[IdPair, str]:
    """Return the kind of the latest link of each two articles, of these decisions alone if given."""
    undone = set(Decision.objects.exclude(undoes=None).values_list("undoes", flat=True))
    rows = Link.objects.order_by("decision").values_list("left", "right", "kind", "decision")
    latest = {(left, right): (kind, by) for left, right, kind, by in rows if by not in undone}
    return {ends: kind for ends, (kind, by) in latest.items() if only is None or by in only}


def expected_states(links: dict[IdPair, str], ends: list[IdPair]) -> dict[IdPair, tuple[str, bool]]:
    versions = "" if Profile.objects.get(is_default=True).same_as == "updates" else "cannot"
    effects = {pair: {**EFFECTS, "version": versions}.get(kind, "") for pair, kind in links.items()}
    tied: dict[int, set[int]] = {}
    for pair, effect in effects.items():
        if effect == "must":
            group = set().union(*(tied.get(end, {end}) for end in pair))
            tied.update(dict.fromkeys(group, group))
    of = {end: frozenset(tied.get(end, {end})) for pair in (*ends, *links) for end in pair}
    separate = {frozenset((of[left], of[right])) for (left, right), effect in effects.items() if effect == "cannot"}
    found: dict[IdPair, tuple[str, bool]] = {}
    for left, right in ends:
        if (left, right) in links and links[left, right] in STATES:
            found[left, right] = (STATES[links[left, right]], False)
        elif of[left] == of[right]:
            found[left, right] = ("confirmed", True)
        elif frozenset((of[left], of[right])) in separate:
            found[left, right] = ("rejected", True)
        else:
            found[left, right] = ("undecided", False)
    return found


def check() -> None:
    ends = [(left, right) for left, right in Pair.objects.order_by("pk").values_list("left", "right")]
    assert states() == expected_states(links_in_force(), ends)
    assert not Pair.objects.in_queue().filter(implied=True).exists()
    asked = OpenQuestion.objects.filter(asked=True)
    assert not asked.exclude(pair=None).exclude(pair__state="undecided").exists()
    assert not asked.exclude(cluster=None).exclude(cluster__state="proposed").exists()
    for pair in Pair.objects.filter(implied=True):
        reasons = {decision.pk for decision in implied_by(pair)}
        key = (pair.left_id, pair.right_id)
        assert expected_states(links_in_force(reasons), [key])[key] == (pair.state, True)
    before = dict(Membership.objects.values_list("article", "cluster"))
    rebuild_clusters()
    assert dict(Membership.objects.values_list("article", "cluster")) == before


def act(numbers: random.Random, articles: list[int], editor: User) -> None:
    """Make a random decision, or change what the default profile says about versions."""
    done = Decision.objects.filter(undone_by=None).exclude(kind="undo")
    clusters = list(Cluster.objects.order_by("pk"))
    pairs = Pair.objects.order_by("left", "right").values_list("left", "right")
    what = numbers.choice(["pair", "pair", "pair", "undo", "cluster", "profile", "run"])
    if what == "run":
        run(numbers, articles)
    elif what == "undo" and done:
        decisions.undo(numbers.choice(list(done)).pk, user=editor)
    elif what == "cluster" and clusters:
        cluster = numbers.choice(clusters)
        members = sorted(cluster.memberships.values_list("article", flat=True))
        one = numbers.choice(members)
        numbers.choice([
            lambda: decisions.confirm_cluster(cluster.pk, decisions.seen_as(members), user=editor),
            lambda: decisions.reject_cluster(cluster.pk, decisions.seen_as(members), user=editor),
            lambda: decisions.take_out(cluster.pk, one, user=editor),
            lambda: split(numbers, cluster, members, editor),
            lambda: merge(cluster, numbers.choice(clusters), members, editor),
        ])()  # fmt: skip
    elif what == "profile" and numbers.random() < 0.3:
        profile = Profile.objects.get(is_default=True)
        profile.same_as = "states" if profile.same_as == "updates" else "updates"
        profile.save()
        update_version_implications()
        rebuild_clusters()
    else:
        left, right = numbers.choice(list(pairs))
        decide(left, right, numbers.choice(list(Answer)), editor)


def run(numbers: random.Random, articles: list[int]) -> None:
    """Do what a run does with pairs: find one, lose another one, judge, and bring up to date what follows."""
    found = Candidate(*sorted(numbers.sample(articles, 2)), "trigram", numbers.uniform(0.5, 1), {})
    with transaction.atomic():
        store_candidates(DetectionRun.objects.order_by("pk")[0].pk, [found])
    judged = {"verdict": "duplicate", "probability": 0.9, "duplicate_probability": 0.9, "joins": True}
    Pair.objects.filter(verdict="").update(**judged, left_matched=1.0, right_matched=1.0)
    Evidence.objects.filter(pair=numbers.choice(list(Pair.objects.order_by("left", "right")))).update(stale=True)
    update_best_scores()
    update_version_implications()
    rebuild_clusters()
    update_questions(None)


def clusters_of(articles: Iterable[int]) -> list[int | None]:
    found = dict(Membership.objects.values_list("article", "cluster"))
    return [found.get(article) for article in articles]


def split(numbers: random.Random, cluster: Cluster, members: list[int], editor: User) -> None:
    """Split a cluster: each part is whole, and shares no cluster with the other."""
    part = sorted(numbers.sample(members, numbers.randint(1, len(members) - 1)))
    rest = sorted(set(members) - set(part))
    split_cluster(cluster.pk, part, decisions.seen_as(members), user=editor)
    assert len({*clusters_of(part)}) == len({*clusters_of(rest)}) == 1
    assert {*clusters_of(part)} != {*clusters_of(rest)} or {*clusters_of(part)} == {None}


def merge(cluster: Cluster, other: Cluster, members: list[int], editor: User) -> None:
    """Merge two clusters: all of their articles share one."""
    if cluster != other:
        every = [*members, *other.memberships.values_list("article", flat=True)]
        merge_clusters(cluster.pk, other.pk, decisions.seen_as(members), user=editor)
        assert len(set(clusters_of(every))) == 1
        assert clusters_of(every)[0] is not None


@pytest.mark.parametrize("seed", [0, 1, *(pytest.param(seed, marks=pytest.mark.soak) for seed in (2, 3, 4))])
def test_states_and_clusters_follow_from_the_decisions_in_force(store, editor, seed: int) -> None:
    numbers = random.Random(seed)
    articles = paired(store, 7, numbers)
    for _ in range(24):
        act(numbers, articles, editor)
        check()


# ---- examples ----------------------------------------------------------------------------------------


def test_confirmed_pairs_imply_the_others_until_one_is_undone(store, editor) -> None:
    one, two, three, four = paired(store, 4)
    decide(one, two, "confirm", editor)
    second = decide(two, three, "confirm", editor)
    pair = Pair.objects.get(left=one, right=three)
    assert (pair.state, pair.implied) == ("confirmed", True)
    assert [decision.articles for decision in implied_by(pair)] == [[one, two], [two, three]]
    rejected = decide(three, four, "reject", editor)
    assert states()[one, four] == states()[two, four] == ("rejected", True)
    assert implied_by(Pair.objects.get(left=two, right=four)) == [second, rejected]
    assert not Pair.objects.in_queue().exists()
    decisions.undo(second.pk, user=editor)
    asked = Pair.objects.in_queue().order_by("left", "right").values_list("left", "right")
    assert list(asked) == [(one, three), (one, four), (two, three), (two, four)]


def test_templates_separate_and_versions_do_as_the_default_profile_says(store, editor) -> None:
    one, two, three = paired(store, 3)
    decide(one, two, "template", editor)
    assert states()[one, two] == ("template", False)
    assert Cluster.objects.get().size == 2
    decide(one, two, "version", editor)
    assert (states()[one, two], states()[one, three]) == (("version", False), ("undecided", False))
    decide(two, three, "confirm", editor)
    assert states()[one, three] == ("rejected", True)
    Profile.objects.filter(is_default=True).update(same_as="updates")
    update_version_implications()
    rebuild_clusters()
    assert states()[one, three] == ("undecided", False)
    assert Cluster.objects.get().size == 3


def test_a_pair_that_a_run_finds_later_is_not_asked(store, editor) -> None:
    articles: list[Article] = [store(), store(), store()]
    for left, right in ((0, 1), (1, 2)):
        make_pair(articles[left], articles[right], trigram=0.9)
        decide(articles[left].pk, articles[right].pk, "confirm", editor)
    with transaction.atomic():
        store_candidates(make_run().pk, [Candidate(articles[0].pk, articles[2].pk, "trigram", 0.8, {})])
    assert states()[articles[0].pk, articles[2].pk] == ("confirmed", True)
