"""Stop-word shingles and the language whose stop words they use."""

import time

import pytest

from articles.normalization.text import normalize_text
from dedup.detection.kernels.stopwords import language_of, stop_word_shingle_sets, stop_words

ENGLISH = "The council said that the old bridge over the river will be closed for a month while it is painted."
TEXTS = {
    "en": ENGLISH,
    "fr": "Le conseil a dit que le vieux pont sur la rivière sera fermé un mois, afin que les ouvriers le peignent.",
    "es": "El consejo dijo que el viejo puente sobre el río estará cerrado un mes para que lo pinten los obreros.",
    "de": "Der Rat hat gesagt, dass die alte Brücke über den Fluss einen Monat gesperrt wird, weil man sie streicht.",
    "ru": "Совет сказал, что старый мост через реку будет закрыт на месяц, потому что его должны покрасить рабочие.",
    "ar": "قال المجلس إن الجسر القديم فوق النهر سوف يغلق لمدة شهر من أجل أن يتم طلاؤه",
}


def shingles_by_hand(text: str) -> set[tuple[str, ...]]:
    """Return the shingles of a text as words, one at a time."""
    language, words = language_of(text), text.split()
    stops = stop_words(language) if language else frozenset()
    return {tuple(words[place : place + 3]) for place in range(len(words) - 2) if words[place] in stops}


def test_a_shingle_is_a_stop_word_and_the_next_two_words() -> None:
    text = "sudzo soap i recommend that you purchase sudzo for your laundry"
    assert shingles_by_hand(text) == {
        ("i", "recommend", "that"),
        ("that", "you", "purchase"),
        ("you", "purchase", "sudzo"),
        ("for", "your", "laundry"),
    }
    assert stop_word_shingle_sets([text]).sizes.tolist() == [4]


@pytest.mark.parametrize("language", list(TEXTS))
def test_the_language_is_the_one_whose_stop_list_has_most_words(language: str) -> None:
    text = normalize_text(TEXTS[language])
    assert language_of(text) == language
    assert stop_word_shingle_sets([text]).sizes.tolist() == [len(shingles_by_hand(text))]
    assert len(shingles_by_hand(text)) > 5


def test_texts_without_a_stop_word_have_no_language_and_no_shingle() -> None:
    texts = ["", "sudzo", "市議會星期二批准在河上建造新橋", normalize_text("සභාව පාලම වසා දැමීමට තීරණය කළේය")]
    assert [language_of(text) for text in texts] == [None] * 4
    assert stop_word_shingle_sets(texts).sizes.tolist() == [0, 0, 0, 0]
    assert stop_word_shingle_sets([]).offsets.tolist() == [0]


def test_entries_of_several_words_or_with_digits_are_not_stop_words() -> None:
    assert {"the", "of", "which"} <= stop_words("en")
    assert not any(" " in word or any(character.isdigit() for character in word) for word in stop_words("en"))
    with pytest.raises(KeyError, match="xx"):
        stop_words("xx")


def test_hashes_are_the_same_on_every_machine() -> None:
    assert stop_word_shingle_sets(["the old bridge"]).values.tolist() == [36398055531236110]


def test_a_very_long_text_is_processed_in_time() -> None:
    text = normalize_text(ENGLISH * 2_000)
    started = time.process_time()
    assert len(text) > 180_000
    assert stop_word_shingle_sets([text]).sizes[0] > 10
    assert time.process_time() - started < 2
