import sys
import uuid

import pytest
from hypothesis import given
from hypothesis import strategies as st

from articles.normalization.text import normalize_text, text_digest

SCRIPTS = ("කොළඹ වරාය", "யாழ்ப்பாணம் செய்தி", "اخبار المدينه", "новый мост", "नई सड़क", "桥梁 关闭", "цёй")


@pytest.mark.parametrize(
    ("text", "normalized"),
    [
        ("The Harbour-Bridge, closed!", "the harbour bridge closed"),
        ("  one\n\ttwo\u00a0three  ", "one two three"),
        ("“Don’t”, she said – twice…", "don t she said twice"),
        ("1,250 euros (£9.99)", "1 250 euros 9 99"),
        ("", ""),
        ("—!?…", ""),
        ("\x00null\x1fbytes", "null bytes"),
        ("half \ud800 pair", "half pair"),
        # Letters and marks of other scripts stay.
        *((text, text) for text in SCRIPTS),
    ],
)
def test_only_words_are_left(text: str, normalized: str) -> None:
    assert normalize_text(text) == normalized


@pytest.mark.parametrize(
    ("left", "right"),
    [
        pytest.param("ﬁnance", "finance", id="ligature"),
        pytest.param("ＮＥＷＳ", "news", id="full width"),
        pytest.param("cafe\u0301", "café", id="composed"),
        pytest.param("STRASSE", "Straße", id="sharp s"),
        pytest.param("ΛΌΓΟΣ", "λόγος", id="final sigma"),
        pytest.param("ᏣᎳᎩ", "ꮳꮃꭹ", id="Cherokee"),
        pytest.param("har\u00adbour", "harbour", id="soft hyphen"),
        pytest.param("\u200eharbour\u200f", "harbour", id="direction marks"),
        pytest.param("❤️ fair", "❤ fair", id="variation selector"),
        pytest.param("1️⃣ goal", "1 goal", id="emoji digit"),
        pytest.param("محـــمد", "محمد", id="tatweel"),
        pytest.param("أَخْبَارُ إِلى الْمَدِينَةِ", "اخبار الي المدينه", id="Arabic spelling and vowel marks"),
    ],
)
def test_typography_makes_no_difference(left: str, right: str) -> None:
    assert normalize_text(left) == normalize_text(right)


def test_normalising_each_character_is_idempotent() -> None:
    for code in range(sys.maxunicode + 1):
        once = normalize_text(f"a{chr(code)}b")
        assert normalize_text(once) == once == once.lower(), hex(code)


@given(st.text(st.one_of(st.characters(max_codepoint=255), st.sampled_from("’‘“”–—…\u0301\u200bœßıS"))))
def test_texts_of_latin_script_take_a_shortcut_to_the_same_form(text: str) -> None:
    # A letter of another script rules the shortcut out.
    assert f"{normalize_text(text)} ж".strip() == normalize_text(f"{text} ж")


def test_the_digest_is_fixed_because_it_is_stored_and_an_empty_text_has_none() -> None:
    assert text_digest("harbour bridge") == uuid.UUID("443825b1-48fd-ff4c-4ef1-d01bdeabde6b")
    assert text_digest("") is None
