"""Extracts articles from all that is known of them: their pages, and the text that their feed carries. Pure."""

import datetime
import gzip
import json
import re
import zlib
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import NamedTuple, TypeAlias

from articles.extraction.body import MIN_TEXT_LETTERS, remove_noise, remove_programs
from articles.extraction.bylines import page_bylines, split_byline
from articles.extraction.extract import ExtractedArticle, extract_article
from articles.extraction.html import ExtractionError, join_paragraphs, paragraphs, parse_page
from articles.extraction.page_chrome import without_page_chrome
from articles.extraction.page_series import join_pages
from articles.extraction.rules import NO_RULE, ExtractionRule
from articles.loading import words_for
from articles.normalization.language import detect_language
from articles.normalization.text import letters, normalize_text

# An article's text has no more: see `content` in articles/fields.py.
MAX_FEED_CHARACTERS = 1_000_000
# A shorter text is a teaser, and no article of its own.
MIN_LETTERS_ALONE = 120
# A page with less than this share of the feed's letters lacks a part of the article …
MIN_SHARE_OF_FEED = 0.75
# … and one with less than this is worth a look: a feed may carry captions or lists that are not part of the text.
MIN_SURE_SHARE = 0.9
# Of two prints of one article, most of one is in the other; of two articles, next to nothing.
MIN_COMMON_SHARE = 0.3
_PIECE = 12  # characters
# Why a page has no article if it could not be fetched.
NOT_READ = "could not be read"
_WORDS = words_for(__file__)
_BREAKS_OFF = re.compile(_WORDS["breaks_off"], re.IGNORECASE | re.VERBOSE)
_LEADS_ON = re.compile(_WORDS["leads_on"], re.IGNORECASE | re.VERBOSE)
_MAX_LINE_LETTERS = 120
_ANOTHER = "the feed carries another text"


@dataclass(frozen=True, slots=True)
class FeedEntry:
    """What a feed carries of an article: its text as HTML, and headline and author as plain texts of one line."""

    html: str
    headline: str = ""
    author: str = ""

    def packed(self) -> bytes:
        """Return it in the form in which it is kept: JSON, compressed with gzip; empty if it has no text to keep."""
        if not self.html.strip() or len(self.html) > MAX_FEED_CHARACTERS:
            return b""
        # Without a time in the header, so that the same entry gives the same bytes.
        return gzip.compress(json.dumps(asdict(self)).encode(), mtime=0)


def unpacked(data: bytes) -> FeedEntry | None:
    """Return the entry that was packed; None if there is none."""
    try:
        return FeedEntry(**json.loads(gzip.decompress(data))) if data else None
    except (OSError, EOFError, zlib.error, ValueError, TypeError):
        return None


def with_feed_entry(found: ExtractedArticle | str, entry: bytes) -> ExtractedArticle | str:
    """Return the article of a page, or why it has none, after a look at the entry of its feed, packed; b"" if none.

    The text of the entry becomes the article's if the page has none or less. `text_doubt` then says so, or how far the
    two texts are apart.
    """
    if (carried := unpacked(entry)) is None:
        return found
    text, own_byline = whole_text(carried)
    if letters(text) < (MIN_LETTERS_ALONE if isinstance(found, str) else MIN_TEXT_LETTERS):
        return found
    if isinstance(found, str):
        return _alone(carried, text, own_byline, found)
    share, common = letters(found.text) / letters(text), _common_share(text, found.text)
    suspect = found.paywalled or bool(found.text_doubt)
    if share < MIN_SHARE_OF_FEED or (suspect and (share < 1 or common < MIN_COMMON_SHARE)):
        return _in_its_place(found, text, share, common)
    if common >= MIN_COMMON_SHARE and share >= MIN_SURE_SHARE:
        return found
    lack = f"has {int(share * 100)}% of the feed's own text" if common >= MIN_COMMON_SHARE else _ANOTHER
    return replace(found, text_doubt="; ".join(filter(None, [found.text_doubt, lack])))


def whole_text(entry: FeedEntry) -> tuple[str, str]:
    """Return the text that an entry carries, and the authors that a first line of it names.

    The text is empty if it is only the beginning.
    """
    try:
        page = parse_page(entry.html.encode("utf-8", "replace"), "text/html; charset=utf-8")
    except ExtractionError:
        return "", ""
    remove_programs(page)
    remove_noise(page)
    parts = paragraphs(page)
    if not parts:
        return "", ""
    last, headline = parts[-1], normalize_text(entry.headline)
    leads_on = last.linked > 0 and letters(last.text) <= _MAX_LINE_LETTERS and _LEADS_ON.match(last.text)
    if leads_on or _BREAKS_OFF.search(last.text):
        return "", ""
    # A last line may only say where the article first appeared, as many systems add in feeds.
    is_short = letters(last.text) <= _MAX_LINE_LETTERS + letters(entry.headline)
    if is_short and last.linked > 0 and entry.headline and headline in normalize_text(last.text):
        parts = parts[:-1]
    byline, text = split_byline(join_paragraphs(without_page_chrome(parts)))
    return text, byline


def _common_share(text: str, other: str) -> float:
    """Return which share of the shorter text, cut into pieces, is in the longer one, 0 to 1; in any script."""
    short, long = sorted((normalize_text(text), normalize_text(other)), key=len)
    pieces = [short[start : start + _PIECE] for start in range(0, len(short) - _PIECE + 1, _PIECE)]
    return sum(piece in long for piece in pieces) / len(pieces) if pieces else 0.0


def _alone(entry: FeedEntry, text: str, own_byline: str, reason: str) -> ExtractedArticle:
    """Return the article of an entry whose page has none. Its day is that of the feed."""
    found = page_bylines(text, [entry.author, "", own_byline], ())
    return ExtractedArticle(
        text=text,
        headline=entry.headline,
        language=detect_language(text, ""),
        byline=found.byline,
        agency=found.agency,
        dateline=found.dateline,
        text_doubt=f"taken from the feed; the page {reason if reason == NOT_READ else f'has none ({reason})'}",
    )


def _in_its_place(found: ExtractedArticle, text: str, share: float, common: float) -> ExtractedArticle:
    """Return the page's article with the feed's text."""
    bylines = page_bylines(text, [found.byline], ())
    lack = "has another text" if common < MIN_COMMON_SHARE else f"has {int(share * 100)}% of it"
    if found.paywalled and share < 1:
        lack += " and a paywall"
    return replace(
        found,
        text=text,
        language=detect_language(text, found.language),
        agency=found.agency or bylines.agency,
        dateline=bylines.dateline,
        paywalled=False,
        text_doubt=f"taken from the feed; the page {lack}",
    )


# The article, or the reason why there is none.
Extraction: TypeAlias = ExtractedArticle | str


class RawPage(NamedTuple):
    """A page as it was fetched, empty if it could not be; compressed with gzip in a KeptPage."""

    body: bytes
    url: str
    content_type: str


class KeptPage(NamedTuple):
    """A stored page, the day it was fetched, which bounds its publication day, and its newspaper's own rule.

    `following` are the further pages of its article, and `feed_entry` is what its feed carries, packed.
    """

    body: bytes  # compressed
    url: str
    content_type: str
    fetched: datetime.date
    rule: ExtractionRule = NO_RULE
    following: Sequence[RawPage] = ()
    feed_entry: bytes = b""


def extract_kept(page: KeptPage, _on_progress: object = None) -> Extraction:
    """Return the article on a stored page, or the reason why there is none."""
    pages = (RawPage(page.body, page.url, page.content_type), *page.following)
    try:
        pages = tuple(page._replace(body=gzip.decompress(page.body)) for page in pages)
    except (OSError, EOFError, zlib.error) as error:
        return str(error)
    return extract_whole(pages, page.feed_entry, page.fetched, page.rule)


def extract_whole(
    pages: Sequence[RawPage], feed_entry: bytes, today: datetime.date, rule: ExtractionRule = NO_RULE
) -> Extraction:
    """Return the article on these pages, at least one, or the reason why there is none.

    `feed_entry` is what its feed carries, b"" if it carries no text. `today` is the day on which they were fetched, and
    `rule` the newspaper's own.
    """
    found, *following = (_extracted(page, today, rule) for page in pages)
    joined = found if isinstance(found, str) or not following else join_pages(found, following)
    return with_feed_entry(joined, feed_entry)


def _extracted(page: RawPage, today: datetime.date, rule: ExtractionRule) -> Extraction:
    if not page.body:
        return NOT_READ
    try:
        return extract_article(page.body, page.url, page.content_type, today=today, rule=rule)
    except ExtractionError as error:
        return error.reason
