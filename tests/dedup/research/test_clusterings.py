"""How much two clusterings agree: against the definitions, pair by pair, and on cases counted by hand."""

import random
from itertools import combinations

import pytest

from dedup.research.clusters import agreement_of


def test_a_case_counted_by_hand() -> None:
    assert agreement_of("aaabbc", "xxyyyz") == {
        "articles": 6,
        "clusters": 2,
        "clusters_in_file": 2,
        "pairs": 4,
        "pairs_in_file": 4,
        "pairs_in_both": 2,
        "pairwise": {"precision": 0.5, "recall": 0.5, "f1": 0.5},
        # By chance, 4 · 4 / 15 pairs would be in both.
        "adjusted_rand_index": pytest.approx(14 / 44),
        # aaa: 2/3, 2/3, 1/3; bb: 1, 1; c: 1. And xx: 1, 1; yyy: 1/3, 2/3, 2/3; z: 1.
        "b_cubed": dict.fromkeys(("precision", "recall", "f1"), pytest.approx(14 / 18)),
    }


@pytest.mark.parametrize("count", [1, 5])
@pytest.mark.parametrize("apart", [True, False])
def test_the_same_clustering_agrees_whatever_its_names_are(count: int, apart: bool) -> None:
    numbers = list(range(count)) if apart else [0] * count
    found = agreement_of(numbers, [f"cluster {number}" for number in numbers])
    assert (found["adjusted_rand_index"], found["b_cubed"]["f1"]) == (1.0, 1.0)
    assert found["pairwise"]["f1"] == (None if apart or count == 1 else 1.0)


def test_no_articles_and_clusterings_of_different_articles() -> None:
    nothing = agreement_of([], [])
    assert (nothing["articles"], nothing["adjusted_rand_index"]) == (0, 1.0)
    assert nothing["pairwise"]["f1"] is nothing["b_cubed"]["f1"] is None
    with pytest.raises(ValueError, match="shorter"):
        agreement_of([1, 2], [1])
    assert agreement_of([1, 1, 2, 2], [1, 2, 1, 2])["pairwise"]["f1"] == 0.0


@pytest.mark.parametrize("seed", range(21, 29))
def test_every_measure_is_that_of_its_definition(seed: int) -> None:
    print(f"seed {seed}")
    dice = random.Random(seed)
    count = dice.randrange(2, 40)
    clusters = [dice.randrange(1, dice.randrange(2, 12)) for _ in range(count)]
    reference = [cluster if dice.random() < 0.6 else dice.randrange(1, 12) for cluster in clusters]
    found = agreement_of(clusters, reference)
    pairs = list(combinations(range(len(clusters)), 2))
    together = {pair for pair in pairs if clusters[pair[0]] == clusters[pair[1]]}
    wanted = {pair for pair in pairs if reference[pair[0]] == reference[pair[1]]}
    counts = len(together), len(wanted), len(together & wanted)
    assert (found["pairs"], found["pairs_in_file"], found["pairs_in_both"]) == counts
    # The four-fold form of the index: Steinley, "Properties of the Hubert-Arabie adjusted Rand index", 2004.
    a, b, c = len(together & wanted), len(together - wanted), len(wanted - together)
    d = len(pairs) - a - b - c
    below = (a + b) * (b + d) + (a + c) * (c + d)
    assert found["adjusted_rand_index"] == pytest.approx(2 * (a * d - b * c) / below if below else 1.0)
    shares = [_shares(place, clusters, reference) for place in range(len(clusters))]
    assert found["b_cubed"]["precision"] == pytest.approx(sum(share for share, _ in shares) / len(shares))
    assert found["b_cubed"]["recall"] == pytest.approx(sum(share for _, share in shares) / len(shares))


def _shares(place: int, clusters: list[int], reference: list[int]) -> tuple[float, float]:
    mine = {other for other, cluster in enumerate(clusters) if cluster == clusters[place]}
    theirs = {other for other, cluster in enumerate(reference) if cluster == reference[place]}
    return len(mine & theirs) / len(mine), len(mine & theirs) / len(theirs)
