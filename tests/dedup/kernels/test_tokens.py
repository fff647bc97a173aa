"""The trigrams of texts, checked against PostgreSQL's own show_trgm."""

import numpy as np
import pytest
from django.db import connection
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from articles.normalization.text import normalize_text
from dedup.detection.kernels.tokens import Alphabet, Ragged, trigram_sets
from dedup.detection.passes.trigram import TrigramPass


def postgres_trigrams(text: str) -> set[int]:
    """Return show_trgm's answer as 24-bit numbers; it prints the others as 0x and six digits."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT show_trgm(%s)", [text])
        [shown] = cursor.fetchone()
    hashed = {token for token in shown if token.startswith("0x") and len(token) == 8}
    return {int(token, 16) for token in hashed} | {
        int.from_bytes(token.encode(), "big") for token in set(shown) - hashed
    }


def sets_of(texts: list[str]) -> list[set[int]]:
    made = trigram_sets(texts, TrigramPass().alphabet(texts, connection))
    return [set(members.tolist()) for members in made.split()]


@pytest.mark.django_db
@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "a",
        "ab",
        "harbour",
        "two words",
        "Москва и область",
        "ශ්‍රී ලංකා ක්‍රිකට්",
        "இலங்கை செய்தி",
        "東京で地震があった",
        "émigré naïve façade",
        "κόσμος",
        "don't stop-now 3.14",
        "a\tb\nc",
        "𐐷𐐲𐑌 𝒜 ﬁ",
        "i̇stanbul ẞ ß ǆ",
    ],
)
def test_trigrams_are_those_of_postgres(text: str) -> None:
    assert sets_of([text]) == [postgres_trigrams(text)]


@pytest.mark.django_db
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.lists(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=40), min_size=1))
def test_trigrams_of_any_normalised_text_are_those_of_postgres(texts: list[str]) -> None:
    normalized = [normalize_text(text) for text in texts]
    assert sets_of(normalized) == [postgres_trigrams(text) for text in normalized]


def test_texts_in_several_steps_keep_their_own_trigrams() -> None:
    alphabet = Alphabet.of(
        [("\n", None), (" ", None), *((character, character) for character in "abcdefgh0123456789é")]
    )
    texts = [f"{'a' * (number % 4)} é{number}  {number}" for number in range(300)]
    for text, members in zip(texts, trigram_sets(texts, alphabet).split(), strict=True):
        assert members.tolist() == trigram_sets([text], alphabet).values.tolist()
    assert trigram_sets([], alphabet).sizes.tolist() == []


def test_parts_of_ragged_lists() -> None:
    lists = [[1, 5, 9], [], [2]]
    ragged = Ragged.of([np.array(numbers) for numbers in lists], np.int32)
    assert ragged.sizes.tolist() == [3, 0, 1]
    assert [numbers.tolist() for numbers in ragged.split()] == lists
    assert [numbers.tolist() for numbers in ragged.part(1, 99).split()] == lists[1:]
    assert [numbers.tolist() for numbers in ragged.at(np.array([2, 0])).split()] == [[2], [1, 5, 9]]
    assert [numbers.tolist() for numbers in ragged.only(ragged.values > 2).split()] == [[5, 9], [], []]
    assert Ragged.of([], np.int32).split() == []
