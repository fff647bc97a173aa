"""The containment pass: crops, round-ups and rewritten copies, and what it leaves out."""

from functools import partial

import pytest

from dedup.detection.passes.containment import ContainmentPass
from tests.dedup.passes import finding

pytestmark = pytest.mark.django_db

LEAD = "The harbour authority closes the northern breakwater for six weeks while divers replace the anchor chains. "
FISH = "Fishing boats may use the southern basin free of charge until the work is done before the first storms. "
CRANE = "A second crane will lift the old chains onto a barge that takes them to the foundry up the river. "
MAYOR = "The mayor asked the owners of the cafes on the quay to be patient, because the noise ends every day at five. "
GOATS = "Two goats of the lighthouse keeper swam to the sandbank on Sunday and were brought back by the pilot boat. "


def in_letters(number: int) -> str:
    return " ".join("abcdefghij"[int(digit)] * 3 for digit in str(number))


EXPLAINED = ({}, {"most_articles": 3, "minimum_shared": 3}, {"day_window": 1, "threshold": 0.7})


def alike(group: int, copy: int) -> dict[str, str]:
    """Return what an article of a group has for this pass: a text that differs from other groups' in every phrase."""
    name = in_letters(group)
    words = (LEAD + FISH).split()
    return {"content": " ".join(f"{word} {name}" if place % 2 else word for place, word in enumerate(words))}


find = partial(finding.find, ContainmentPass())
found = partial(finding.pairs, ContainmentPass())


@pytest.mark.parametrize("crop_first", [True, False])
def test_one_paragraph_of_a_long_release_is_found_whichever_is_older(store, crop_first) -> None:
    texts = [LEAD, LEAD + FISH + CRANE + MAYOR + GOATS]
    one, other = (store(text) for text in (texts if crop_first else reversed(texts)))
    assert [(pair.left, pair.right, pair.score, pair.evidence) for pair in find()] == [
        (one.pk, other.pk, 1.0, {"shared": 13, "shingles": 13})
    ]


def test_a_round_up_is_paired_with_each_of_its_stories(store) -> None:
    one, other, third = store(LEAD + FISH), store(GOATS + MAYOR), store(CRANE)
    round_up = store(LEAD + FISH + GOATS + MAYOR)
    assert found() == {(one.pk, round_up.pk), (other.pk, round_up.pk)}
    assert third.pk not in {end for pair in found() for end in pair}


def test_another_spelling_in_every_sentence_does_not_hide_a_copy(store) -> None:
    one = store(LEAD + FISH + CRANE + MAYOR)
    other = store(
        (LEAD + FISH + CRANE + MAYOR)
        .replace("harbour", "harbor")
        .replace("free", "at no")
        .replace("a barge", "the barge")
    )
    assert [(pair.left, pair.right, pair.evidence) for pair in find()] == [
        (one.pk, other.pk, {"shared": 64, "shingles": 74})
    ]


def test_other_numbers_do_not_hide_a_text(store) -> None:
    text = "The pier sold {} tickets to {} people in the week that ended on the {}th, the office of the harbour said."
    one, other = store(text.format(100, 70, 5)), store(text.format(120, 85, 12))
    assert [(pair.left, pair.right, pair.score) for pair in find()] == [(one.pk, other.pk, 1.0)]


def test_what_many_articles_have_is_not_text(store) -> None:
    pair = store(LEAD + FISH), store(LEAD + FISH + GOATS)
    for number in range(18):
        store(f"{LEAD} {in_letters(100 + number)}")
    assert len(found()) == 20 * 19 // 2
    store(f"{LEAD} {in_letters(200)}")
    assert found() == {(pair[0].pk, pair[1].pk)}


def test_texts_that_share_too_little_are_no_pair(store) -> None:
    eleven = "Divers replace the anchor chains of the breakwater in six weeks"
    one = store(f"{eleven}. Two goats of the lighthouse keeper swam to the sandbank.")
    other = store(f"{eleven}! The noise of the work will end every day at five.")
    assert [(pair.left, pair.right, pair.score) for pair in find()] == [(one.pk, other.pk, 8 / 18)]
    assert found(minimum_shared=9) == set()
    assert found(threshold=0.5) == set()


def test_very_short_and_empty_texts_are_no_pairs(store) -> None:
    for text in ("…", "…", "Fire", "Fire", "The ferry sails at noon.", "The ferry sails at noon."):
        store(text)
    assert found() == set()
    assert len(found(minimum_shared=1)) == 2
