"""Extracts the article from the bytes of a page. Pure: no network, no database; the clock only to reject future days.

The steps: bytes -> tree (html.py) -> metadata (metadata.py) -> remove noise and find the text (body.py,
page_chrome.py) -> day (dates.py), authors and agency (bylines.py), language (normalization/language.py).
"""

import datetime
import re
from collections.abc import Collection
from dataclasses import dataclass, replace

from articles.extraction.body import MIN_TEXT_LETTERS, FoundText, find_text, remove_noise, remove_programs
from articles.extraction.bylines import page_bylines, split_byline, without_byline
from articles.extraction.dates import DateSource, find_publication_day
from articles.extraction.html import Element, ExtractionError, decode_page, parse_page
from articles.extraction.metadata import Declared, declared_text, nodes, read_declared
from articles.extraction.notices import is_offer
from articles.extraction.relevance import coverage, relevance, terms
from articles.extraction.rules import NO_RULE, ExtractionRule, drop_selected, read_by_rule
from articles.fields import FoundDetails
from articles.loading import words_for
from articles.normalization.language import detect_language
from articles.normalization.text import letters
from articles.normalization.times import PublicationTime

__all__ = ["EXTRACTOR_VERSION", "DateSource", "ExtractedArticle", "ExtractionError", "decode_page", "extract_article"]

# Increase it with every change of a result, so that articles extracted by another version can be found.
EXTRACTOR_VERSION = 4
# A longer text is more than the beginning that a page behind a paywall shows.
MAX_STUB_LETTERS = 1_500
# A text with less than this share of the JSON-LD articleBody is a piece of it, or something else.
MIN_DECLARED_SHARE = 0.5
# Letters of paragraphs in an element for subscribers, from which on it holds the text and not a notice.
MIN_UNLOCKED = 400
# An article with this many of the words that the page counts is whole; the count may include the headline.
MAX_WORDS_MISSING = 1.15
_LOCKED_TIERS = frozenset({"locked", "metered", "premium", "paid", "subscriber"})
_PAYWALL_NAMES = (
    "//*[contains(concat(' ', @class, ' '), ' paywall ') or contains(concat(' ', @class, ' '), ' subscriber-only ')"
    " or contains(concat(' ', @class, ' '), ' premium-content ') or @id='paywall']"
)
_WORDS = words_for(__file__)
_ASKS_TO_PAY = re.compile(_WORDS["asks_to_pay"], re.IGNORECASE | re.VERBOSE)


@dataclass(frozen=True, slots=True)
class ExtractedArticle(FoundDetails):
    """The article on a page.

    `text` is plain and never empty; blank lines separate its paragraphs, line ends the lines of lists and tables.
    Unknown fields are empty, or None. URLs are absolute, and as the page declares them: the writer of articles decides
    whether to believe them. `time` is on the day `date` by its source's clock; without a day, `date_doubt` says why.
    `text_doubt` is empty if nothing speaks against the text.
    """

    text: str
    headline: str
    date: datetime.date | None = None
    date_source: DateSource | None = None
    canonical_url: str | None = None
    amp_url: str | None = None
    time: PublicationTime | None = None


def extract_article(
    body: bytes, url: str, content_type: str = "", *, today: datetime.date | None = None, rule: ExtractionRule = NO_RULE
) -> ExtractedArticle:
    """Return the article on a page, given its bytes, its URL and its HTTP Content-Type header.

    A day far after `today` (by default the day in UTC) is not believed. What the newspaper's own rule finds comes
    first; what it does not find is extracted as on other pages, with a doubt. Raises ExtractionError, and nothing else,
    if there is no article.
    """
    today = today or datetime.datetime.now(datetime.UTC).date()
    page = parse_page(body, content_type)
    drop_selected(page, rule)
    declared = read_declared(page, url)
    ruled = read_by_rule(page, rule, declared, url, today)
    remove_programs(page)
    locked, page_text = _is_locked(page, declared), _without_edges(page)
    remove_noise(page)
    chosen = FoundText(ruled.text) if ruled.text else _found(page, declared)
    if locked is None and letters(chosen.text) <= MAX_STUB_LETTERS:
        locked = bool(_ASKS_TO_PAY.search(page_text))
    byline, text = split_byline(chosen.text)  # a separate first line, which has a field of its own
    day = ruled.day or find_publication_day(page, declared, url, today)
    headline = ruled.headline or next(iter(declared.headlines), "")
    authors = [*ruled.authors, "", *declared.authors, "", byline]
    found = page_bylines(text, authors, declared.sites, url=url, headline=headline)
    text = without_byline(text, found.byline)
    return ExtractedArticle(
        text=text,
        headline=headline,
        date=day.day,
        date_source=day.source,
        canonical_url=declared.canonical_url,
        amp_url=declared.amp_url,
        language=detect_language(text, declared.language),
        byline=found.byline,
        agency=found.agency,
        dateline=found.dateline,
        date_doubt="; ".join(filter(None, [ruled.date_doubt, day.doubt])),
        time=day.time,
        paywalled=bool(locked) and _is_stub(text, declared) and not chosen.declared,
        text_doubt="; ".join(filter(None, [ruled.text_doubt, chosen.doubt])),
    )


def _found(page: Element, declared: Declared) -> FoundText:
    """Return the article's text on a page whose noise was removed, with a doubt about it. Raises ExtractionError."""
    subject = terms([*declared.headlines, *declared.meta("description", "og:description", "twitter:description")])
    found = find_text(page, {headline.casefold() for headline in declared.headlines}, subject)
    body = declared_text(declared)
    if letters(found.text) < MIN_DECLARED_SHARE * letters(body) or (body and is_offer(found.text)):
        found = FoundText(body, declared=True)
    if letters(found.text) < MIN_TEXT_LETTERS:
        raise ExtractionError("no article text")
    return replace(found, doubt=text_doubt(found, body, subject))


def _is_locked(page: Element, declared: Declared) -> bool | None:
    """Return whether the markup says that only subscribers can read the whole text; None if it says nothing."""
    parts = [declared.data, *nodes(declared.data.get("hasPart"))]
    locked = page.xpath(_PAYWALL_NAMES)
    inside = " ".join(paragraph.text_content() for element in locked for paragraph in element.iter("p"))
    if letters(inside) >= MIN_UNLOCKED and not is_offer(inside):
        return False  # what is in an element for subscribers was sent to everybody
    if locked or any(str(part.get("isAccessibleForFree")).lower() == "false" for part in parts):
        return True
    return bool({tier.lower() for tier in declared.meta("article:content_tier")} & _LOCKED_TIERS) or None


def _without_edges(page: Element) -> str:
    """Return the page's text without its head and foot, which ask everybody to subscribe or log in."""
    text = page.text_content()
    for edge in page.iter("nav", "footer", "header"):
        if next(edge.iterancestors("article", "main"), None) is None:
            text = text.replace(edge.text_content(), " ", 1)
    return text


def _is_stub(text: str, declared: Declared) -> bool:
    """Return whether the text is short, and shorter than the page declares the whole article to be."""
    count = str(declared.data.get("wordCount") or "")
    whole = count.isdecimal() and 0 < int(count) <= MAX_WORDS_MISSING * len(text.split())
    return letters(text) <= MAX_STUB_LETTERS and not whole


# A text with less than this share of the page's prose may be a piece of the article.
MIN_PROSE_SHARE = 0.5
# Shorter declared bodies are summaries.
MIN_DECLARED_LETTERS = 200
MIN_DECLARED_COVERAGE = 0.5
# If the page has another text, this one should have at least this share of the words of headline and description.
MIN_RELEVANCE = 0.35
# With fewer of so many words, it is likely to be another article.
MIN_SUBJECT_TERMS = 8
LEAST_RELEVANCE = 0.12
# A brief or the beginning of an article need not repeat its headline.
MIN_COMPARED_LETTERS = 600


def text_doubt(found: FoundText, declared_body: str, subject: Collection[str]) -> str:
    """Return why the text may be wrong or not whole; empty if nothing speaks against it.

    `declared_body` is the text that the page declares in JSON-LD, `subject` the terms of its headline and description.
    """
    text = found.text
    if is_offer(text):
        return "the text looks like a subscription, login or cookie notice"
    if letters(declared_body) >= MIN_DECLARED_LETTERS and coverage(declared_body, text) < MIN_DECLARED_COVERAGE:
        return "the text differs from the one that the page declares in JSON-LD"
    if found.prose and not found.marked and (share := len(text) / found.prose) < MIN_PROSE_SHARE:
        return f"the text covers {share:.0%} of the page's prose"
    fits = relevance(text, subject)
    compared = len(subject) >= MIN_SUBJECT_TERMS and letters(text) >= MIN_COMPARED_LETTERS
    if compared and fits < LEAST_RELEVANCE:
        return "the text has little in common with the headline"
    if found.rival and not found.marked and fits < MIN_RELEVANCE:
        return "the page has another text, and this one has little in common with the headline"
    return ""
