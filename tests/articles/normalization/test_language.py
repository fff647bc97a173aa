"""The language of texts in ten languages, and of ambiguous texts. No network."""

# ruff: noqa: E501 - a line is a case

import pytest

from articles.normalization import language as languages
from articles.normalization.language import detect_language, detect_languages

TEXTS = {
    "en": "The old ferry across the sound made its last crossing on Friday, and half the island stood on the quay.",
    "de": "Die alte Fähre über den Sund fuhr am Freitag zum letzten Mal, und die halbe Insel stand am Kai.",
    "fr": "Le vieux bac a fait sa dernière traversée vendredi, et la moitié de l’île se tenait sur le quai.",
    "es": "El viejo transbordador hizo su última travesía el viernes y media isla estaba en el muelle para despedirlo.",
    "pt": "A velha balsa fez a sua última travessia na sexta-feira, e metade da ilha estava no cais para se despedir.",
    "it": "Il vecchio traghetto ha fatto venerdì la sua ultima traversata e mezza isola era sul molo a salutarlo.",
    "pl": "Stary prom popłynął w piątek po raz ostatni, a połowa wyspy stała na nabrzeżu, żeby go pożegnać.",
    "ru": "Старый паром в последний раз пересёк пролив в пятницу, и половина острова вышла на причал проводить его.",
    "ar": "قامت العبارة القديمة برحلتها الأخيرة يوم الجمعة، ووقف نصف سكان الجزيرة على الرصيف لتوديعها والتلويح لها.",
    "ja": "古い渡し船は金曜日に最後の航海を終え、島の住民の半数が岸壁に立って手を振った。船長は鐘を二度鳴らし、霧が恋しくなるだろうと語り、桟橋を後にした。",
    "hi": "पुरानी नाव ने शुक्रवार को अपनी आख़िरी यात्रा पूरी की और द्वीप के आधे लोग उसे विदा करने के लिए घाट पर खड़े थे, कप्तान ने दो बार घंटी बजाई।",
    "si": "පැරණි තොටුපළ බෝට්ටුව සිකුරාදා අවසන් වරට ගමන් කළ අතර දිවයිනේ අඩක් ජනයා එය බැලීමට වරායට පැමිණ සිටියහ.",
}  # fmt: skip


@pytest.mark.parametrize("language", TEXTS)
def test_the_language_of_a_sentence_is_detected(language: str) -> None:
    assert detect_language(TEXTS[language]) == detect_language("\n\t  " * 300 + TEXTS[language]) == language


@pytest.mark.parametrize("text", ["", "   ", "The ferry stops.", "12 34 56 " * 40, "— … " * 200, "☃" * 200])
def test_short_texts_and_texts_without_words_have_no_language(text: str) -> None:
    assert detect_language(text) == ""


def test_the_page_decides_only_if_the_text_leaves_doubt() -> None:
    danish_or_norwegian = "Barnet er her, og alle er her i dag. Det er en god dag for byen."
    assert detect_language(danish_or_norwegian) == ""
    assert detect_language(danish_or_norwegian, "nb") == "no"
    assert detect_language(danish_or_norwegian, "da") == "da"
    assert detect_language(danish_or_norwegian, "fr") == ""
    assert detect_language(TEXTS["de"], "en") == "de"
    assert detect_language("The ferry stops.", "en") == ""


def test_many_texts_together_get_the_languages_that_each_gets_alone() -> None:
    beginnings = [text[:length] for text in TEXTS.values() for length in (0, 1, 30, 60, 125, 250, 2_000)]
    together = detect_languages([*beginnings, *beginnings[::-1]])
    assert together == [*map(detect_language, beginnings), *map(detect_language, beginnings[::-1])]
    assert len(beginnings) > 50
    identifier = languages._identifier()
    samples = [text for text in beginnings if text]
    for (language, probability), sample in zip(identifier.classify_all(samples), samples, strict=True):
        # Their sums have another order.
        assert (language, pytest.approx(probability, abs=1e-5)) == identifier.classify(sample)
