"""Dense groups from start to finish: found by the passes, judged, clustered, ruled, confirmed, audited."""

import json
import random
from typing import Any

import pytest
from django.contrib.auth.models import User

from articles.models import Article
from dedup.detection.runs.judging import terms_in_force
from dedup.detection.runs.outdated_verdicts import outdated_verdicts
from dedup.detection.types import DENSE_GROUPS
from dedup.models import Cluster, CrowdedArticle, DenseGroup, DetectionRun, Evidence, Membership, Pair, Profile
from dedup.review.answers import decisions
from tests.conftest import StoreArticle
from tests.dedup.runs.made_up_news import WORDS, forms_with_copies, store_copies
from tests.dedup.runs.running import command, forget_runs, live_rows

pytestmark = pytest.mark.django_db

TOWNS = ("Selby", "Carrack", "Inverlea", "Dunmore", "Ashport", "Penrith Bay", "Lorne", "Maddock")
TRADES = ("roofing", "plumbing", "catering", "cleaning", "painting", "fencing", "paving")
COPIED = (
    "The night ferry from Port Selby to Carrack was cancelled on Friday after a pump failed, leaving 120 passengers "
    "on the quay. Passengers were taken to the seamen's mission, where volunteers made soup. The company promised to "
    "pay for hotel rooms. The ferry will sail again on Sunday if the new pump arrives from Inverlea in time."
)


def tender(number: int) -> str:
    """Return one of many public tenders: the same form, other facts."""
    town, trade = TOWNS[number % len(TOWNS)], TRADES[number % len(TRADES)]
    return (
        f"The council of {town} invites sealed tenders for {trade} work under contract {4000 + 7 * number}. Documents "
        f"may be collected from the clerk between nine and noon against a deposit of {100 + number} crowns. Tenders "
        f"must reach the clerk by day {number % 28 + 1} of the next month. Late tenders are returned unopened. The "
        "council is not bound to accept the lowest or any tender, and pays no cost of preparing one."
    )


@pytest.fixture
def tenders(store: StoreArticle) -> list[Article]:
    """Return eighty tenders of one day; three copies of a story of that day come after them."""
    found = [store(tender(number), headline=f"Tender {4000 + 7 * number}") for number in range(80)]
    for number in range(3):
        store(COPIED, newspaper=f"Paper {number}")
    return found


def find_duplicates(*options: str) -> str:
    return command("find_duplicates", "--passes=exact,trigram", *options)[0]


def state() -> dict[str, list[Any]]:
    crowded = CrowdedArticle.objects.order_by("article").values_list("article", "pass_name", "near")
    groups = DenseGroup.objects.values_list("first", "size", "pairs", "fingerprint")
    return live_rows() | {"crowded": list(crowded), "facts of groups": list(groups)}


def test_a_run_keeps_few_pairs_of_eighty_tenders_and_says_so(tenders: list[Article]) -> None:
    dry = json.loads(find_duplicates("--dry-run", "--format=json"))
    printed = find_duplicates("--audit=1")
    group = DenseGroup.objects.get()
    ids = sorted(article.pk for article in tenders)

    assert sorted(group.members.values_list("article", flat=True)) == ids
    assert (dry["dense_groups"], dry["dense_articles"]) == (1, 80)
    counts = DetectionRun.objects.get().counts
    assert (counts["dense_groups"], counts["dense_articles"]) == (1, 80)
    assert group.pairs == Pair.objects.among(ids).count()
    assert 79 <= group.pairs < 10 * 80 < group.possible_pairs == 3160
    assert set(CrowdedArticle.objects.values_list("near", flat=True)) == {79}
    assert "Dense groups" in printed
    assert "1 with 80 articles" in printed
    # The three copies outside the group have all their pairs.
    assert Pair.objects.exclude(pk__in=Pair.objects.among(ids)).count() == 3
    assert "on 1 of 1 days." in printed
    assert f"Left out on purpose: {3160 - group.pairs:,} pairs" in printed


def test_running_again_or_with_new_articles_alone_gives_the_same_group(
    store: StoreArticle, tenders: list[Article]
) -> None:
    find_duplicates()
    before, number = state(), DenseGroup.objects.get().pk
    find_duplicates()
    assert state() == before
    store(tender(80), headline="Tender 4560")
    find_duplicates("--new")
    group = DenseGroup.objects.get()
    assert (group.pk, group.size, group.first_id) == (number, 81, tenders[0].pk)
    by_new = state()
    find_duplicates()
    assert state() == by_new


@pytest.mark.slow
def test_a_confirmation_of_the_group_outlives_runs_and_is_undone(tenders: list[Article], editor: User) -> None:
    find_duplicates()
    before = state()
    group = DenseGroup.objects.get()
    decision = decisions.confirm_group(group.pk, seen=group.fingerprint, user=editor)
    find_duplicates()
    ids = sorted(article.pk for article in tenders)
    assert ids in state()["clusters"]
    assert set(Pair.objects.among(ids).values_list("state", flat=True)) == {"confirmed"}
    decisions.undo(decision.pk, user=editor)
    assert state()["clusters"] == before["clusters"]


def test_equal_texts_hang_on_the_first_one(store: StoreArticle) -> None:
    articles = [
        store(COPIED, headline=f"Ferry cancelled, {number}", newspaper=f"P{number % 5}") for number in range(70)
    ]
    find_duplicates("--passes=trigram")
    group = DenseGroup.objects.get()
    assert (group.size, group.pairs) == (70, 69)
    ends = set(Evidence.objects.values_list("pair__left", "pair__right"))
    assert ends == {(articles[0].pk, article.pk) for article in articles[1:]}
    assert [cluster.size for cluster in Cluster.objects.all()] == [70]


# ---- clusters of dense groups are those that all pairs would give, although most pairs are not compared ----

EVERY_PAIR = {"trigram": {"dense_from": 100_000_000}}
BOUNDED = {"trigram": {"dense_from": 10, "kept_pairs": 2, "retired": True}}


def near_copies(seed: int, count: int) -> list[str]:
    """Return one text of 150 words again and again, each with a mistake in one word."""
    dice = random.Random(seed)
    story, texts = dice.choices([word for word in WORDS if len(word) > 3], k=150), []
    for _ in range(count):
        text = list(story)
        place = dice.randrange(len(text))
        text[place] = text[place][:-1]
        texts.append(" ".join(text))
    return texts


def clustered(settings: dict) -> set[tuple[int, int]]:
    """Run with these settings of the passes, and return the pairs of articles that are in one cluster."""
    Profile.objects.filter(is_default=True).update(settings=settings)
    command("find_duplicates", "--workers=1", "--passes=trigram")
    clusters: dict[int, list[int]] = {}
    for cluster, article in Membership.objects.order_by("article").values_list("cluster", "article"):
        clusters.setdefault(cluster, []).append(article)
    return {(left, right) for cluster in clusters.values() for left in cluster for right in cluster if left < right}


def test_a_dense_group_of_near_copies_is_one_cluster() -> None:
    store_copies(near_copies(4, 60))
    every = clustered(EVERY_PAIR)
    assert len(every) == 60 * 59 // 2
    forget_runs()
    assert clustered(BOUNDED) == every
    assert Pair.objects.count() < 60 * 5


@pytest.mark.slow
@pytest.mark.parametrize("seed", [2, *(pytest.param(seed, marks=pytest.mark.soak) for seed in (5, 6, 7))])
def test_copies_among_forms_are_clustered_as_by_all_pairs(seed: int) -> None:
    store_copies(forms_with_copies(seed, 70))
    every = clustered(EVERY_PAIR)
    forget_runs()
    bounded = clustered(BOUNDED)
    # Wrong verdicts on a few pairs may put some articles elsewhere.
    assert len(every & bounded) / len(every | bounded) >= 0.85
    assert Pair.objects.filter(best_score__gt=0).count() < 70 * 5


def pairs_and_chances() -> tuple[Any, Any]:
    rows = live_rows()
    chances = Pair.objects.proposed().order_by("left", "right").values_list("probability", flat=True)
    return (rows["pairs"], rows["evidence"]), list(chances)


@pytest.mark.slow
def test_the_same_pairs_are_compared_whatever_earlier_runs_compared() -> None:
    texts = forms_with_copies(2, 70)
    store_copies(texts)
    first = clustered(BOUNDED)
    compared = Evidence.objects.filter(pass_name=DENSE_GROUPS, stale=False).count()
    assert compared
    before = pairs_and_chances()
    assert outdated_verdicts(terms_in_force()).pairs == 0
    assert clustered(BOUNDED) == first
    assert pairs_and_chances() == before
    clustered(EVERY_PAIR)
    assert not Evidence.objects.filter(pass_name=DENSE_GROUPS, stale=False).exists()
    assert clustered(BOUNDED) == first
    assert pairs_and_chances() == before
    assert Article.objects.count() == len(texts)
