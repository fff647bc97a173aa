"""The words of texts, many at once, against the plain definition of each text's words; and what is made of them."""

import datetime
import re
from collections import Counter
from itertools import pairwise

import pytest
import regex
from hypothesis import given, settings
from hypothesis import strategies as st

from articles.normalization.sentences import sentences_of
from dedup.detection.comparison import alignment
from dedup.detection.comparison import lexicon as lexicons
from dedup.detection.comparison.alignment import sharing_sentences
from dedup.detection.comparison.lexicon import DATE, MONTH, NAME, NUMBER, OTHER, Lexicon, typography, word_kind
from dedup.detection.comparison.prepared import ArticleText, PreparedArticle, Preparer

SOLO = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"
LETTER = rf"[\p{{L}}\p{{M}}\p{{N}}--[{SOLO}]]"
WORD = regex.compile(rf"\d+(?:[.,:/]\d+)*|[{SOLO}]\p{{M}}*|{LETTER}+(?:'{LETTER}+)*", regex.VERSION1)
PIECES = (
    *("The mayor", "Ana", "march", "May", "may", "Friday", "o'clock", "l’été", "Ünïcode", "ǅ", "ß", "İstanbul"),
    *(
        "1,200",
        "1200",
        "3.5",
        "10:30",
        "2024/25",
        "٣٤",
        "²",
        "½",
        "Ⅷ",
        "7th",
        "a_b",
        "_",
        "x-y",
        "U.S.",
        "soft\xadhyphen",
    ),
    *("港口關閉", "港a港", "カタカナ", "ไทยไม่", "ກຳ", "မြန်မာ", "संसद ने", "वरिष्ठ", "கொழும்பு", "වරාය", "مُحَمَّد", "شخصا"),
    *(
        "a\u0301b",
        "\u0301",
        "🙂",
        "👩‍👩‍👧",
        "“Quoted”",
        "„Zitat“",
        "'",
        "’s",
        "\u200b",
        "\u3000",
        "\u2028",
        "ﬁn",
        "𝒜b",
        "\U00020000",
    ),
    *(". ", "? ", "! ", "。", "।", "\n", "\n\n", ", ", " ", " ", " "),
)
# No characters that one of the two libraries of patterns may not know yet.
CHARACTERS = st.characters(min_codepoint=1, exclude_categories=("Cs", "Cn", "Co"))
TEXTS = st.lists(st.sampled_from(PIECES), max_size=40).map("".join) | st.text(CHARACTERS, max_size=40)
# Sentences that have much in common.
PROSE = st.lists(
    st.sampled_from(["Ana", "met", "the", "mayor", "again", "on", "Friday.", "Then", "may"]), max_size=60
).map(" ".join)
DAY = datetime.date(2026, 3, 2)


def words_and_kinds(sentence: str) -> tuple[list[str], list[int]]:
    """Return the words of a sentence and their kinds, one by one."""
    shown = WORD.findall(sentence)
    kinds = list(map(word_kind, shown))
    if kinds and kinds[0] == NAME:
        kinds[0] = OTHER
    found = [
        kind if kind != MONTH else DATE if NUMBER in kinds[max(place - 1, 0) : place + 2] else OTHER
        for place, kind in enumerate(kinds)
    ]
    return shown, found


def key(word: str) -> str:
    return re.sub(r"(?<=\d),(?=\d{3}(?!\d))", "", word.casefold())


def prepared(texts: list[str], headline: str = "") -> list[PreparedArticle]:
    return Preparer().prepare_all([ArticleText(1, DAY, headline, text) for text in texts])


@settings(deadline=None, max_examples=300)
@given(st.lists(TEXTS, min_size=1, max_size=5), TEXTS)
def test_articles_have_the_words_of_their_sentences(texts: list[str], headline: str) -> None:
    for text, article in zip(texts, prepared(texts, headline), strict=True):
        sentences = [sentence for sentence in sentences_of(typography(text)) if WORD.search(sentence)]
        expected = [words_and_kinds(sentence) for sentence in sentences]
        shown = [word for words, _ in expected for word in words]
        assert article.shown == shown
        assert article.words == list(map(key, shown))
        assert list(article.kinds) == [kind for _, kinds in expected for kind in kinds]
        assert [article.length(place) for place in range(len(sentences))] == [len(words) for words, _ in expected]
        assert article.vocabulary == set(map(key, shown))
        assert article.numbers == Counter(key(word) for word in shown if word_kind(word) == NUMBER)
        assert len(article.quoted) == len(article.sentence_keys) == len(article.pair_counts) == len(sentences)
        assert (article.headline, list(article.headline_kinds)) == (
            list(map(key, WORD.findall(typography(headline)))),
            words_and_kinds(typography(headline))[1],
        )


@settings(deadline=None, max_examples=300)
@given(st.lists(PROSE | TEXTS, min_size=2, max_size=6), st.sampled_from([2, 1_000_000]))
def test_sentences_share_the_word_pairs_that_both_have(texts: list[str], most: int) -> None:
    articles = prepared(texts)
    sets = [
        [set(pairwise(article.words_at(slice(*ends)))) for ends in pairwise(article.starts)] for article in articles
    ]
    assert [article.pair_counts for article in articles] == [[len(pairs) for pairs in own] for own in sets]
    ends = [(one, other) for one in range(len(texts)) for other in range(len(texts))]
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(alignment, "_MOST_SHARED", most)  # so that it is done in parts
        sharing = sharing_sentences([(articles[one], articles[other]) for one, other in ends])
    for (one, other), (equal, found) in zip(ends, sharing, strict=True):
        gone = {match.left for match in equal}, {match.right for match in equal}
        assert all(
            articles[one].sentence_keys[match.left] == articles[other].sentence_keys[match.right] for match in equal
        )
        assert found == [
            (place, opposite, len(pairs & of_other))
            for place, pairs in enumerate(sets[one])
            for opposite, of_other in enumerate(sets[other])
            if place not in gone[0] and opposite not in gone[1] and min(len(pairs), len(of_other)) >= 4
            if len(pairs & of_other) >= 2
        ]
    keys = [dict(zip(article.sentence_keys, pairwise(article.starts), strict=True)) for article in articles]
    for article, own in zip(articles, keys, strict=True):
        assert len(own) == len({tuple(article.words_at(slice(*ends))) for ends in pairwise(article.starts)})


def test_a_full_lexicon_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lexicons, "_MOST_PARTS", 3)
    preparer = Preparer()
    text = "Ana sails at noon to the harbour."
    first, second = (preparer.prepare(ArticleText(1, DAY, "", text)) for _ in range(2))
    assert first.lexicon is not second.lexicon
    assert (first.words, first.sentence_keys) == (second.words, second.sentence_keys)
    assert [(match.left, match.right) for match in sharing_sentences([(first, second)])[0].equal] == [(0, 0)]


def test_long_words_are_words() -> None:
    long = "ā" * 50
    words = Lexicon().words_of([f"{long} {long}"])
    assert words.values.tolist() == [0, 0]
