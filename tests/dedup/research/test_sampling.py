"""Drawing validation samples: strata, weights, seeds, and pairs that no pass proposes."""

import random
from collections import Counter, defaultdict
from itertools import combinations

import pytest
from django.db import connection

from dedup.answers import PairLabel
from dedup.detection.verdicts.model import LABELS
from dedup.models import SampleLabel
from dedup.research import sampling
from dedup.research.precision import Tally, estimated_total, precision, recall
from dedup.research.sampling import Plan, SampleError, draw, read_sample
from dedup.research.strata import PairsOfDays, shared_out
from tests.factories import make_pair


def test_numbered_pairs_of_a_window_are_those_of_a_list() -> None:
    for seed in range(20):
        rng = random.Random(seed)
        counts = [(day, rng.randint(1, 4)) for day in sorted(rng.sample(range(700_000, 700_030), 8))]
        articles = [(day, offset) for day, count in counts for offset in range(count)]
        for window in (0, 1, 3, 40):
            listed = {(one, other) for one, other in combinations(articles, 2) if other[0] - one[0] <= window}
            every = PairsOfDays(counts, window)
            found = [every.pair(number) for number in range(every.total)]
            assert (len(found), set(found)) == (len(listed), listed), (seed, window)
    assert PairsOfDays([], 3).total == 0


@pytest.mark.parametrize(
    ("total", "sizes", "shares"),
    [
        (10, [100, 100, 100], [4, 3, 3]),
        (10, [1, 2, 100], [1, 2, 7]),
        (10, [1, 2, 3], [1, 2, 3]),
        (8, [1, 9, 20], [1, 3, 4]),
        (3, [9, 9, 9], [1, 1, 1]),
        (5, [], []),
    ],
)
def test_a_size_is_shared_out_as_evenly_as_the_strata_allow(total: int, sizes: list[int], shares: list[int]) -> None:
    assert shared_out(total, sizes) == shares


def test_estimates_have_the_intervals_of_stratified_sampling() -> None:
    # 100 · 0.5 + 10 · 1 + 400 · 0; nothing from the stratum that was read whole, and the 0 of 20 is not certain.
    total = estimated_total([(100, 20, 10), (10, 10, 10), (400, 20, 0), (50, 0, 0)])
    reach = 1.959964 * (100**2 * 0.8 * 0.25 / 20 + 400**2 * 0.95 * (0.5 / 21) * (20.5 / 21) / 20) ** 0.5
    assert (total.value, total.low, total.high) == pytest.approx((60, max(60 - reach, 0), 60 + reach))

    # Called duplicates: 9 of 11 in the first stratum are, and 10 of 10 in the one that was read whole.
    strata = [
        Tally(100, 9, 2, 3, 5, left_out=1),
        Tally(10, 10, 0, 0, 0),
        Tally(400, 0, 0, 0, 20),
        Tally(50, 0, 0, 0, 0),
    ]
    found = precision(strata)
    assert found is not None
    share = (45 + 10) / (55 + 10)
    right = 11 * 9.5 / 12
    mean = (right - 11 * share) / 20
    spread = (right * (1 - share) ** 2 + (11 - right) * share**2) / 20 - mean**2
    reach = 1.959964 * (100**2 * 0.8 * spread / 20) ** 0.5 / 65
    assert (found.value, found.low, found.high) == pytest.approx((share, share - reach, min(share + reach, 1)))
    # Of the duplicates, 45 + 10 are called so, and 15 are not. 400 pairs of which 20 were read may hide some more.
    found = recall(strata)
    assert found is not None
    assert found.value == pytest.approx(55 / 70)
    hidden = recall([*strata[:2], Tally(400, 0, 0, 0, 400)])
    assert hidden is not None
    assert found.high - found.low > hidden.high - hidden.low > 0
    assert precision([Tally(9, 0, 0, 1, 2)]) is None
    assert recall([Tally(9, 0, 1, 0, 2)]) is None


@pytest.mark.django_db
def test_a_sample_stands_for_the_archive(store, monkeypatch: pytest.MonkeyPatch) -> None:
    """40 articles of two newspapers on 10 days, 120 proposed pairs in known strata; every third pair is a duplicate."""
    # What is drawn depends on the seed and on these numbers: the same ones, whatever ran before.
    with connection.cursor() as cursor:
        cursor.execute("SELECT setval('articles_article_id_seq', 7000000), setval('dedup_pair_id_seq', 7000000)")
    rng = random.Random(5)
    articles = [
        store(date=f"2026-03-{1 + number % 10:02d}", newspaper=("Harbour Post", "Hill News")[number % 2])
        for number in range(40)
    ]
    every = list(combinations(articles, 2))
    pairs = [
        make_pair(one, other, verdict=("duplicate", "similar")[place % 4 == 0], trigram=0.5 + (place % 50) / 100)
        for place, (one, other) in enumerate(rng.sample(every, 120))
    ]
    true = {(pair.left_id, pair.right_id): pair.pk % 3 == 0 for pair in pairs}

    plan = Plan(size=60, not_proposed=30)
    sample = draw(plan, seed=7)
    strata = {stratum["name"]: stratum for stratum in sample.strata}
    drawn = list(sample.pairs.select_related("left", "right"))
    weights: defaultdict[str, float] = defaultdict(float)
    for pair in drawn:
        weights[pair.stratum] += pair.weight
    assert dict(weights) == pytest.approx({name: stratum["pairs"] for name, stratum in strata.items()})
    near = sum(abs((one.date - other.date).days) <= 3 for one, other in every)
    proposed_near = sum(pair.days_apart <= 3 for pair in pairs)
    assert strata.pop("not proposed / 0-3 days") == {
        "name": "not proposed / 0-3 days", "pairs": near - proposed_near, "asked": 30, "drawn": 30,
    }  # fmt: skip
    assert sum(stratum["pairs"] for stratum in strata.values()) == 120
    expected = Counter(
        " / ".join(
            [
                next(name for low, name in BANDS if pair.best_score >= low),
                pair.verdict,
                "same newspaper" if pair.same_newspaper else "two newspapers",
                "0-3 days" if pair.days_apart <= 3 else "4+ days",
            ]
        )
        for pair in pairs
    )
    assert {name: stratum["pairs"] for name, stratum in strata.items()} == expected
    others = [pair for pair in drawn if pair.stratum.startswith("not proposed")]
    assert all((pair.left_id, pair.right_id) not in true for pair in others)
    assert all(abs((pair.left.date - pair.right.date).days) <= 3 for pair in others)
    assert sorted(pair.position for pair in drawn) == list(range(1, 91))

    def chosen(seed: int) -> list[tuple[int, int]]:
        return list(draw(plan, seed=seed).pairs.order_by("position").values_list("left", "right"))

    assert chosen(7) == [(pair.left_id, pair.right_id) for pair in drawn] != chosen(8)

    # If too few pairs are below the bounds, all are sorted; either way, the same ones are drawn.
    monkeypatch.setattr(sampling, "_TIMES", 0.5)
    monkeypatch.setattr(sampling, "_MORE", 0)
    assert chosen(7) == [(pair.left_id, pair.right_id) for pair in drawn]
    monkeypatch.undo()

    # Over many seeds, the estimate from the weights is the true number, and its interval has it 19 times of 20.
    small, truth = Plan(size=40, by=("band",)), sum(true.values())
    values, inside = [], 0
    for seed in range(30):
        again = draw(small, seed=seed)
        tally: defaultdict[str, Counter[bool]] = defaultdict(Counter)
        for stratum, left, right in again.pairs.values_list("stratum", "left", "right"):
            tally[stratum][true[left, right]] += 1
        total = estimated_total(
            (stratum["pairs"], stratum["drawn"], tally[stratum["name"]][True]) for stratum in again.strata
        )
        values.append(total.value)
        inside += total.low <= truth <= total.high
    assert sum(values) / 30 == pytest.approx(truth, rel=0.05)
    assert inside >= 27


BANDS = ((0.9, "0.90-1.00"), (0.8, "0.80-0.90"), (0.6, "0.60-0.80"), (0.0, "0.00-0.60"))


@pytest.mark.django_db
def test_strata_with_too_few_pairs_and_plans_that_cannot_be_drawn(store) -> None:
    with pytest.raises(SampleError, match="no pass proposes any pair; start a run"):
        draw(Plan(), seed=1)
    one, other, third, far = (store(date=f"2026-03-{day}") for day in ("01", "01", "02", "20"))
    make_pair(one, other, trigram=0.95, minhash=0.7)
    make_pair(one, third, verdict="", title=0.95)
    make_pair(one, far, verdict="similar", trigram=0.65, probability=0.7)
    sample = draw(Plan(size=None, per_stratum=5, pass_name="trigram", not_proposed=9, readers=2), seed=1, name="first")
    assert [(stratum["name"], stratum["pairs"], stratum["asked"], stratum["drawn"]) for stratum in sample.strata] == [
        ("trigram 0.90-1.00 / duplicate / same newspaper / 0-3 days", 1, 5, 1),
        ("trigram 0.60-0.80 / similar / same newspaper / 4+ days", 1, 5, 1),
        ("no score of trigram / not compared / same newspaper / 0-3 days", 1, 5, 1),
        ("not proposed / 0-3 days", 1, 9, 1),
    ]
    assert (sample.size, sample.readers, sample.name) == (4, 2, "first")
    for wrong, message in (
        ({"size": 2}, "the archive has 3 strata, and a sample of 2 would leave some out; draw at least 3 pairs"),
        ({"size": 0}, "--size is 0; it must be from 1 to 10,000"),
        ({"pass_name": "guess"}, "--pass has no 'guess'; choose among "),
        ({"by": ("colour",)}, "--by has no 'colour'; choose among band, verdict, newspaper, days"),
        ({"bands": (0.8, 0.6)}, "the score bands are 0.8, 0.6; give at most 20 bounds above 0 and below 1, rising"),
        ({"per_stratum": 3}, "give either the size of the sample or the number per stratum, not both"),
        ({"window_days": -1}, "--window is -1; it must be from 0 to 36,500"),
    ):
        with pytest.raises(SampleError, match=message):
            draw(Plan(**wrong), seed=1)
    for name, message in (("first", "a sample is called 'first' already"), ("12", "'12' is a number")):
        with pytest.raises(SampleError, match=message):
            draw(Plan(), seed=1, name=name)


@pytest.mark.django_db
def test_the_label_of_a_pair_is_the_settled_one_else_the_common_one_else_the_first(store) -> None:
    assert tuple(PairLabel) == tuple(LABELS)
    articles = [store(date="2026-03-01") for _ in range(5)]
    for one, other in combinations(articles, 2):
        make_pair(one, other, trigram=0.95)
    sample = draw(Plan(size=5), seed=3)
    pairs = list(sample.pairs.order_by("position"))
    given = {0: "DD", 1: "DV", 2: "TE", 3: "N"}  # two readers, and of the fifth pair nobody
    for place, labels in given.items():
        for reader, label in zip(("mara", "ines"), labels, strict=False):
            SampleLabel.objects.create(pair=pairs[place], reader=reader, label=label)
    pairs[2].settled = "T"
    pairs[2].save()
    reading = read_sample(sample)
    assert [(label.line, label.label, label.weight) for label in reading.pairs] == [
        (1, "D", 2.5), (2, "D", 2.5), (3, "T", 2.5), (4, "N", 2.5),
    ]  # fmt: skip
    assert [(pair.left, pair.right) for pair in reading.pairs] == [(pair.left_id, pair.right_id) for pair in pairs[:4]]
    assert reading.summary() == (
        "Labels of 4 pairs: 1 by one reader, 1 by readers who agree, 1 settled after a disagreement, 1 by the first of "
        "readers who disagree; 1 without a label."
    )
