"""The stopword pass: the same article on differently laid out pages; its pairs are those of an independent count."""

import random
from functools import partial
from itertools import combinations

import pytest

from articles.models import Article
from dedup.detection.passes import reading
from dedup.detection.passes.stopword import StopwordConfig, StopwordPass
from tests.dedup.kernels.test_stopwords import TEXTS, shingles_by_hand
from tests.dedup.passes import finding

pytestmark = pytest.mark.django_db

FERRY = (
    "The ferry company said on Monday that it will not sail to the outer islands for the rest of the week, because the "
    "wind is too strong for the small boats. Passengers who have bought a ticket can ask for their money at the office "
    "by the harbour, and those who are on the islands will be taken home by the coast guard as soon as it is safe."
)
MARKET = (
    "After a long debate the council has agreed to move the fish market to a hall behind the station, where it was "
    "before the war. The traders had asked for more time, but the mayor told them that the old hall could fall down at "
    "any moment and that nobody would want to be under it. Work on the roof should begin in the spring."
)
ADS = "Buy Sudzo now. Free shipping. Sudzo soap: half price, limited offer. Sign up today. Top deals: cars, flats."
OTHER_ADS = "Cheap flights. Hotels, beaches, sunshine. Book online. Best rates. Travel insurance 24/7. Luxury cruises."
WORDS = ("the", "of", "and", "in", "that", "bridge", "river", "council", "ferry", "le", "dans", "мост", "на", "市場")
EXPLAINED = ({}, {"threshold": 0.3, "day_window": 9, "minimum_shingles": 12}, {"threshold": 0.2, "prefix": 300})


def alike(group: int, copy: int) -> dict[str, str]:
    """Return what an article of a group has for this pass: a text that differs from other groups' in a number."""
    return {"content": f"{FERRY} Berth number {group} stays open."}


find = partial(finding.find, StopwordPass())
pairs = partial(finding.pairs, StopwordPass())


def brute_force(config: StopwordConfig) -> dict[tuple[int, int], float]:
    """Return the score of every pair of articles with enough shingles, a few days apart."""
    shingles = {}
    for article in Article.objects.order_by("pk"):
        found = shingles_by_hand(article.normalized_text[: config.prefix])
        if len(found) >= config.minimum_shingles:
            shingles[article.pk, article.date] = found
    return {
        (one[0], other[0]): len(shingles[one] & shingles[other]) / len(shingles[one] | shingles[other])
        for one, other in combinations(shingles, 2)
        if abs((one[1] - other[1]).days) <= config.day_window
    }


def invented(dice: random.Random, texts: list[str]) -> str:
    """Return a text that is new, or an earlier one with some words changed, cropped or on another page layout."""
    if texts and dice.random() < 0.6:
        words = dice.choice(texts).split()
        for _ in range(dice.choice([0, 1, 3, 8])):
            words[dice.randrange(len(words))] = f"w{dice.randrange(50)}"
        return " ".join([*dice.choice([[], OTHER_ADS.split()]), *words[: dice.choice([None, len(words) // 2 + 1])]])
    return " ".join(dice.choices(WORDS, k=dice.choice([1, 3, 30, 150])))


def test_pairs_and_scores_are_those_of_brute_force(monkeypatch) -> None:
    monkeypatch.setattr(reading, "_BATCH", 7)
    dice = random.Random(9)
    texts: list[str] = []
    while len(texts) < 40:
        texts.append(invented(dice, texts))
    finding.store_texts(texts, [dice.randrange(9) for _ in texts])
    for day_window, prefix, minimum in ((3, 10_000, 5), (0, 200, 1), (8, 10_000, 30)):
        rest = {"day_window": day_window, "prefix": prefix, "minimum_shingles": minimum}
        exact = brute_force(StopwordConfig(threshold=0.2, **rest))
        for threshold in (0.2, 0.75):
            expected = {pair: pytest.approx(score) for pair, score in exact.items() if score >= threshold - 1e-6}
            assert expected
            assert {(pair.left, pair.right): pair.score for pair in find(threshold=threshold, **rest)} == expected


def test_the_same_article_with_other_ads_scores_above_the_same_ads_around_another_article(store) -> None:
    ferry = store(f"{ADS}\n\n{FERRY}\n\n{ADS}")
    elsewhere = store(f"{OTHER_ADS}\n\n{FERRY}\n\n{OTHER_ADS}")
    market = store(f"{ADS}\n\n{MARKET}\n\n{ADS}")
    scores = {(pair.left, pair.right): pair.score for pair in find(threshold=0.2)}
    assert scores[ferry.pk, elsewhere.pk] > 0.7
    assert scores.get((ferry.pk, market.pk), 0.0) < 0.3
    assert pairs() == {(ferry.pk, elsewhere.pk)}


@pytest.mark.parametrize("language", ["fr", "es", "de", "ru"])
def test_other_languages_work(language: str, store) -> None:
    one, other = store(TEXTS[language]), store(f"{ADS} {TEXTS[language]}")
    store(FERRY)
    assert pairs() == {(one.pk, other.pk)}
