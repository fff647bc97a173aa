"""The stopword pass: the same article on differently laid out pages."""

from functools import partial

import pytest

from dedup.detection.passes.stopword import StopwordPass
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
TRANSLATED = {
    "French": "La compagnie a annoncé lundi que le bateau ne partira pas vers les îles pendant le reste de la semaine, "
    "parce que le vent est trop fort pour les petits bateaux qui font la traversée avec les passagers.",
    "Spanish": "La compañía dijo el lunes que el barco no saldrá hacia las islas durante el resto de la semana, porque "
    "el viento es demasiado fuerte para los barcos pequeños que hacen la travesía con los pasajeros.",
    "Russian": "Компания сказала в понедельник, что паром не пойдет на острова до конца недели, потому что ветер "
    "слишком сильный для небольших лодок, на которых люди из города ездят к себе домой и на работу.",
}
# Under which test_explain.py compares explain with find.
EXPLAINED = ({}, {"threshold": 0.3, "day_window": 9, "minimum_shingles": 12}, {"threshold": 0.2, "prefix": 300})


def alike(group: int, copy: int) -> dict[str, str]:
    """Return what an article of a group has for this pass: a text that differs from other groups' in a number."""
    return {"content": f"{FERRY} Berth number {group} stays open."}


find = partial(finding.find, StopwordPass())
pairs = partial(finding.pairs, StopwordPass())


def test_the_same_article_with_other_ads_scores_above_the_same_ads_around_another_article(store) -> None:
    ferry = store(f"{ADS}\n\n{FERRY}\n\n{ADS}")
    elsewhere = store(f"{OTHER_ADS}\n\n{FERRY}\n\n{OTHER_ADS}")
    market = store(f"{ADS}\n\n{MARKET}\n\n{ADS}")
    scores = {(pair.left, pair.right): pair.score for pair in find(threshold=0.2)}
    assert scores[ferry.pk, elsewhere.pk] > 0.7
    assert scores.get((ferry.pk, market.pk), 0.0) < 0.3
    assert pairs() == {(ferry.pk, elsewhere.pk)}


def test_a_cropped_article_matches_the_whole_at_a_lower_threshold(store) -> None:
    whole, cropped = store(FERRY), store(FERRY[: len(FERRY) * 2 // 5])
    assert find() == []
    assert pairs(threshold=0.3) == {(whole.pk, cropped.pk)}


@pytest.mark.parametrize("language", list(TRANSLATED))
def test_other_languages_work(language: str, store) -> None:
    one, other = store(TRANSLATED[language]), store(f"{ADS} {TRANSLATED[language]}")
    store(FERRY)
    assert pairs() == {(one.pk, other.pk)}


def test_an_article_with_few_shingles_is_not_compared(store) -> None:
    for content in ("The ferry has sailed.", "市議會批准在河上建造新橋。"):
        store(content)
        store(content)
    assert find() == []
    assert len(find(minimum_shingles=1)) == 1
