"""Articles on several pages: where an article goes on, and how the texts of its pages are joined. Pure."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import islice
from typing import NamedTuple
from urllib.parse import unquote

from articles.extraction import html
from articles.extraction.extract import ExtractedArticle
from articles.loading import words_for
from articles.normalization.language import detect_language
from articles.normalization.parameters import read_parameters
from articles.normalization.text import normalize_text

# More links are not looked at; a page has some hundred.
_MAX_LINKS = 5_000
_WORDS = words_for(__file__)
_WORD = _WORDS["page"]
_PARAMETER = re.compile(
    rf"(?P<name>{_WORD}|wp_?page|current_?page|artikel_?seite|part|teil)=(?P<number>\d{{1,3}})", re.IGNORECASE
)
_TAIL = re.compile(rf"(?P<sign>[/_,.;~-])(?:(?P<word>{_WORD})[/_=,.:-]?)?(?P<number>\d{{1,3}})", re.IGNORECASE)
_FIRST_TAIL = re.compile(rf"[/_,.;-]{_WORD}[/_=,.:-]?0?1\Z", re.IGNORECASE)
_EXTENSION = re.compile(r"\.(?:s?html?|php\d?|aspx?|jsp|cfm|xhtml)\Z", re.IGNORECASE)
# All pages on one: ?page=all, ?view=all, /komplettansicht.
_ALL_PARAMETER = re.compile(
    rf"""(?:{_WORD}|view|mode|display|show|pagewanted)=
        (?:all|alle|tout|todo|todas|todos|tutto|full|single|complete|komplett|komplettansicht)
    | (?:(?:single|all|one|full|complete)[_-]?(?:pages?|view|article|story)|viewall|showall)
        (?:=(?:1|true|yes|on|y))?""",
    re.IGNORECASE | re.VERBOSE,
)
_ALL_TAIL = re.compile(_WORDS["all_tail"], re.IGNORECASE)
_NEXT_WORDS = re.compile(_WORDS["next"], re.IGNORECASE | re.VERBOSE)
_FRAMES = re.compile(_WORDS["frames"], re.IGNORECASE)
_OTHER_FRAMES = re.compile(_WORDS["other_frames"], re.IGNORECASE)
_HREF = re.compile(rb"""<(?:a|link)\b[^<>]{0,2000}?\bhref\s*=\s*["']?\s*([^"'<>\s]{1,2000})""", re.IGNORECASE)
# A line that only leads to another page of the article.
_PAGE_LINE = re.compile(
    rf"\W*(?:\w+\W+){{0,4}}{_WORD}\W*\d{{1,3}}\W*(?:(?:of|von|de|sur|di|van|av|/)\W*\d{{1,3}}\W*)?", re.IGNORECASE
)
_MAX_PAGE_LINE = 60


class NextPage(NamedTuple):
    """Where an article goes on. `whole` is the URL of a page that has all of it, empty if none is linked."""

    url: str
    whole: str = ""


def next_page(body: bytes, url: str, content_type: str, first_url: str, number: int) -> NextPage | None:
    """Return where an article goes on after its page `number`, fetched from `url`; None if that is the last page.

    `first_url` is the URL of its first page. A link to another article, as rel=next is on many sites, is none.
    """
    wanted = number + 1
    if not any(page_number(href, first_url) == wanted for href in _hrefs(body, url, wanted)):
        return None  # true of almost all pages, and found without parsing them
    try:
        links = list(_links(html.parse_page(body, content_type), url))
    except html.ExtractionError:
        return None
    following = (
        link.url
        for link in links
        if link.to_page
        and page_number(link.url, first_url) == wanted
        and (link.counts or not _is_bare(link.url, first_url))
    )
    if not (following_url := next(following, "")):
        return None
    whole = (link.url for link in links if number == 1 and _is_whole(link.url, first_url))
    return NextPage(following_url, next(whole, ""))


def page_number(url: str, first_url: str) -> int:
    """Return which page of the article at `first_url` is at this URL, from 2 on; 0 if it is no other page of it."""
    place, first = _place(url), _place(first_url)
    if place is None or first is None or place.host != first.host:
        return 0
    # What every page of it has: all parameters of the first page but its own number.
    counted = {parameter: _PARAMETER.fullmatch(parameter) for parameter in first.parameters}
    needed = {parameter for parameter, found in counted.items() if not found or int(found["number"]) > 1}
    added = place.parameters - needed
    if needed - place.parameters or not (first.stem or needed):
        return 0
    if place.stem == first.stem and len(added) == 1:
        found = _PARAMETER.fullmatch(next(iter(added)))
    elif not added:
        found = _added_tail(place, first, _TAIL)
    else:
        return 0
    return int(found["number"]) if found and int(found["number"]) > 1 else 0


def join_pages(first: ExtractedArticle, following: Sequence[ExtractedArticle | str]) -> ExtractedArticle:
    """Return the article whose first page is `first`, with what its further pages add, in their order.

    Paragraphs that an earlier page has are left out: a standfirst, or the beginning on a page with the whole text. A
    page without an article is its reason; `text_doubt` names it.
    """
    texts, doubts = [first.text], [first.text_doubt]
    seen = {normalize_text(paragraph) for paragraph in first.text.split("\n\n")}
    for number, page in enumerate(following, start=2):
        if isinstance(page, str):
            doubts.append(f"page {number}: {page}")
            continue
        new = [paragraph for paragraph in page.text.split("\n\n") if normalize_text(paragraph) not in seen]
        seen.update(map(normalize_text, new))
        texts.append("\n\n".join(new))
        doubts.append(page.text_doubt and f"page {number}: {page.text_doubt}")
    lines = (line for text in texts for line in text.split("\n\n") if line)
    kept = (line for line in lines if len(line) > _MAX_PAGE_LINE or not _PAGE_LINE.fullmatch(line))
    text = "\n\n".join(kept) or first.text
    return replace(
        first,
        text=text,
        language=detect_language(text, first.language),
        paywalled=any(page.paywalled for page in (first, *following) if not isinstance(page, str)),
        text_doubt="; ".join(dict.fromkeys(filter(None, doubts))),
    )


class _Link(NamedTuple):
    """A link on a page; whether it leads on or is in a list of pages; and whether it shows a number."""

    url: str
    to_page: bool
    counts: bool


class _Place(NamedTuple):
    """What of a URL names its page: host, path without extension, and the parameters that do not only track."""

    host: str
    stem: str
    parameters: frozenset[str]


def _hrefs(body: bytes, url: str, wanted: int) -> Iterator[str]:
    """Yield the targets of links in which a number occurs by itself."""
    by_itself = re.compile(rb"(?<!\d)%d(?!\d)" % wanted)
    for match in islice(_HREF.finditer(body), _MAX_LINKS):
        if by_itself.search(match[1]):
            href = match[1].decode("utf-8", "replace").replace("&amp;", "&")
            yield html.joined_url(url, href).partition("#")[0]


def _links(page: html.Element, url: str) -> Iterator[_Link]:
    """Yield the links of a page but those that lead to readers' comments or other articles."""
    for link in page.xpath("//a[@href] | //link[@href]")[:_MAX_LINKS]:
        href = html.joined_url(url, link.get("href").strip()).partition("#")[0]
        is_next = "next" in link.get("rel", "").lower().split()
        if link.tag == "link":
            yield _Link(href, to_page=is_next, counts=False)
            continue
        around = (link, *link.iterancestors())
        names = " ".join(html.names_of_element(element, "class", "id", "aria-label") for element in around)
        if _OTHER_FRAMES.search(names):
            continue
        words = _NEXT_WORDS.fullmatch(html.squeeze(link.text_content())[:100])
        to_page = is_next or _FRAMES.search(names) is not None or bool(words and words[0].strip())
        yield _Link(href, to_page, counts=bool(words and words["number"]))


def _is_bare(url: str, first_url: str) -> bool:
    """Return whether only a number is added to the last word: story-2 may be another story of the same name."""
    place, first = _place(url), _place(first_url)
    tail = _added_tail(place, first, _TAIL) if place and first else None
    return tail is not None and not tail["word"] and tail["sign"] != "/"


def _is_whole(url: str, first_url: str) -> bool:
    """Return whether a URL is that of the article at `first_url` with all its pages on one."""
    place, first = _place(url), _place(first_url)
    if place is None or first is None or place.host != first.host:
        return False
    added = place.parameters - first.parameters
    if place.stem == first.stem:
        return len(added) == 1 and _ALL_PARAMETER.fullmatch(next(iter(added))) is not None
    return not added and _added_tail(place, first, _ALL_TAIL) is not None


def _added_tail(place: _Place, first: _Place, pattern: re.Pattern[str]) -> re.Match[str] | None:
    """Return what the path adds to that of the first page if it matches the pattern."""
    stem = _FIRST_TAIL.sub("", first.stem)
    return pattern.fullmatch(place.stem, len(stem)) if stem and place.stem.startswith(stem) else None


@lru_cache(maxsize=64)
def _place(url: str) -> _Place | None:
    """Return what of a URL names its page; None if it is not valid."""
    parts = html.url_parts(url)
    host = parts.netloc.lower().removeprefix("www.")
    stem = _EXTENSION.sub("", unquote(parts.path).rstrip("/")).rstrip("/")
    kept = (parameter.text for parameter in read_parameters(host, parts.path, parts.query) if not parameter.dropped)
    return _Place(host, stem, frozenset(kept)) if host else None
