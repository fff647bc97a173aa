"""Broken, huge and hostile pages and metadata: they raise nothing but ExtractionError."""

# ruff: noqa: E501 - a line is a case

import json
import re

import pytest

from articles.extraction import notices
from articles.extraction.extract import ExtractionError, extract_article
from articles.extraction.notices import is_offer

URL = "https://fjordbladet.example/ferry"
SENTENCE = "The ferry to the northern islands is out of service until Monday noon, says the company that runs it."
PARAGRAPHS = f"<p>{SENTENCE}</p>" * 3
TEXT = "\n\n".join([SENTENCE] * 3)


def text_of(source: str | bytes) -> str:
    body = source.encode() if isinstance(source, str) else source
    try:
        return extract_article(body, URL).text
    except ExtractionError as error:
        return f"({error.reason})"


def is_paywalled(head: str, paragraphs: str = PARAGRAPHS) -> bool:
    return extract_article(f"<body><article>{paragraphs}</article>{head}</body>".encode(), URL).paywalled


DEEP = '{"@graph":' * 900 + "1" + "}" * 900


@pytest.mark.parametrize(
    ("source", "text"),
    [
        (PARAGRAPHS * 30_000, "(page too large)"),
        (f"<div {' '.join(f'a{number}=1' for number in range(200_000))}>{PARAGRAPHS}</div>", TEXT),
        (f"<div class='{'a ' * 2_000_000}'>{PARAGRAPHS}</div>", TEXT),
        (f"{'<div>' * 100_000}{PARAGRAPHS}", "(no article text)"),  # libxml2 reads no deeper than 256
        (f"{'<div class=related><a href=/>x</a></div>' * 5_000}{PARAGRAPHS}", TEXT),
        (f"{PARAGRAPHS}{'<br>' * 10_000}", TEXT),
        (f"<script type='application/ld+json'>{'[' * 50_000}</script>{PARAGRAPHS}", TEXT),
        (f"<script type='application/ld+json'>{DEEP}</script>{PARAGRAPHS}", TEXT),
        (f"<script type='application/ld+json'>\"{'x' * 5_000_000}\"</script>{PARAGRAPHS}", TEXT),
        (f"<script>{'var a = 1;' * 100_000}</script>", "(no article text)"),
        (PARAGRAPHS.replace(" ", "\0 "), TEXT),
        ("\0" * 10_000, "(empty page)"),
        ("<" * 100_000, "(no article text)"),
        ("<html><body></body></html>", "(no article text)"),
        (f"<?xml version='1.0'?><html><body><script>//<![CDATA[\nif (a < b) {{}}\n//]]></script>{PARAGRAPHS}</body></html>", TEXT),
        (f"{SENTENCE}\n\n{SENTENCE}\n \n{SENTENCE}\n", TEXT),  # plain text served as a page
    ],
)  # fmt: skip
def test_a_hostile_page_gives_its_text_or_says_why_not(source: str, text: str) -> None:
    assert text_of(source) == text


def test_json_ld_of_any_shape_raises_nothing() -> None:
    data = {
        "@type": "Article", "headline": ["x"], "author": [["a"], {"name": ["Liv Dahl", "Tom Berg"]}, 5, None],
        "datePublished": ["2024"], "publisher": 7, "articleBody": 5, "mainEntityOfPage": [], "inLanguage": {"name": "x"},
        "hasPart": [{"isAccessibleForFree": None}, 3],
    }  # fmt: skip
    article = extract_article(
        f"<script type='application/ld+json'>{json.dumps(data)}</script>{PARAGRAPHS}".encode(), URL
    )
    assert (article.text, article.byline) == (TEXT, "Liv Dahl, Tom Berg")
    assert (article.headline, article.paywalled) == ("", False)


@pytest.mark.parametrize(
    "head",
    [
        '<script type="application/ld+json">{"@type": "NewsArticle", "isAccessibleForFree": false}</script>',
        '<script type="application/ld+json">{"@type": "NewsArticle", "isAccessibleForFree": "False"}</script>',
        '<script type="application/ld+json">{"@type": "NewsArticle", "hasPart": {"isAccessibleForFree": false}}</script>',
        '<meta property="article:content_tier" content="locked">',
        '<meta property="article:content_tier" content="Metered">',
        "<div class='box paywall'></div>",
        "<p>Subscribe now to continue reading.</p>",
        "<p>Sign in to read the full story</p>",
        "<p>Article réservé aux abonnés</p>",
    ],
)
def test_a_stub_before_a_paywall_is_noticed(head: str) -> None:
    assert is_paywalled(head) is True
    # The whole text is there, whatever the page says about subscribers.
    assert is_paywalled(head, PARAGRAPHS * 8) is False


def test_an_open_page_is_not_a_stub() -> None:
    free = '<script type="application/ld+json">{"@type": "NewsArticle", "isAccessibleForFree": true}</script>'
    letter = "<p>Subscribe to our newsletter</p><p>Those who subscribe to the library may read at home.</p>"
    for head in ("", free, letter, '<meta property="article:content_tier" content="free">'):
        assert is_paywalled(head) is False


@pytest.mark.parametrize(
    ("head", "amp_url"),
    [
        ('<link rel="amphtml" href="/amp/ferry">', "https://fjordbladet.example/amp/ferry"),
        ('<link rel="amphtml" href="https://amp.fjordbladet.example/ferry">', "https://amp.fjordbladet.example/ferry"),
        ('<base href="https://cdn.example/x/"><link rel="amphtml" href="/amp/ferry">', "https://cdn.example/amp/ferry"),
        ('<base href="http://[x"><link rel="amphtml" href="/amp/ferry">', "https://fjordbladet.example/amp/ferry"),
        ('<link rel="amphtml" href="undefined">', None),
        ("", None),
    ],
)
def test_the_amp_page_is_named_with_its_absolute_url(head: str, amp_url: str | None) -> None:
    assert extract_article(f"<head>{head}</head><body>{PARAGRAPHS}".encode(), URL).amp_url == amp_url


OFFER = "Subscribe now to read on. Already a subscriber? Log in here."
# What a hostile text repeats.
UNITS = ["<", "&", "&#", "(", ".", " ", "\n", "\u0301", "\u200f", '"', "\u201c", "_", "-", "<>", "<.", "<!--", "&#;"]


class Counting:
    """Stands in for the pattern of notices, and counts the characters that it is given."""

    def __init__(self, pattern: re.Pattern[str]) -> None:
        self._pattern, self.characters = pattern, 0

    def search(self, text: str) -> re.Match[str] | None:
        self.characters += len(text)
        return self._pattern.search(text)


@pytest.mark.parametrize("unit", UNITS)
def test_signs_are_not_searched_for_notices(unit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    counting = Counting(notices._NOTICE)
    monkeypatch.setattr(notices, "_NOTICE", counting)
    signs = unit * (500_000 // len(unit))
    assert not is_offer(signs)
    assert is_offer(f"{signs} {OFFER} {signs}")
    assert not is_offer(f"{signs} The ferry sails at noon {signs}")
    assert counting.characters < 1_000


def test_runs_of_signs_change_nothing() -> None:
    assert [is_offer(text) for text in (OFFER, "Sign *** in", "Log - in", "Free  trial")] == [True, False, False, False]
