"""Finds the text of the article on a page: removes what the markup marks as noise, then uses readability. Pure."""

from __future__ import annotations

import copy
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import lxml.etree

from articles.extraction.frames import collect_paragraphs, drop_next_articles, find_frame, prose_characters
from articles.extraction.html import (
    Element,
    Paragraph,
    elements_of,
    join_paragraphs,
    names_of_element,
    paragraphs,
    parse_markup,
    squeeze,
)
from articles.extraction.notices import is_offer
from articles.extraction.page_chrome import (
    MAX_LINE_CHARACTERS,
    is_announcement,
    is_byline,
    is_time,
    without_page_chrome,
)
from articles.extraction.relevance import coverage, relevance
from articles.loading import when_used
from articles.normalization.text import letters

if TYPE_CHECKING:
    import readability.readability
else:
    readability = when_used("readability")

# Shorter texts are teasers and notices. Scripts without blanks need fewer characters for the same text.
MIN_TEXT_LETTERS = 40
# A text that is mostly links is a list of articles, not an article.
MAX_LINK_SHARE = 0.5
# An element marked as noise that holds this share of the page's paragraphs is the frame of the article …
MAX_NOISE_SHARE = 0.3
# … unless it has more than one link for this many characters: then it is a box longer than its article.
MIN_LETTERS_A_LINK = 300
# A text with less than this share of the letters of the paragraphs of one make is a piece of them …
MAX_PIECE_SHARE = 0.5
# … if they have this share of its sequences of words; otherwise the text that fits the headline better is the article.
MIN_PIECE_COVERAGE = 0.5
MAX_RIVAL_COVERAGE = 0.1

_NOISE_ELEMENTS = frozenset({
    "aside", "button", "dialog", "figure", "figcaption", "footer", "form", "iframe", "menu",
    "nav", "noscript", "object", "select", "textarea",
})  # fmt: skip
_NOISE_ROLES = frozenset(("alert", "banner", "complementary", "contentinfo", "dialog", "navigation", "search"))
_CONSENT = "cookies?|consent|gdpr|cmp|onetrust|didomi|usercentrics|privacy[_-]?(?:banner|layer|notice|popup)"
_NOISE_NAMES = re.compile(
    r"(?:^|[\s_-])(?:"
    r"(?:related|more|other|latest|top)[_-]?(?:articles?|content|links?|news|posts?|stories|story|on)|related"
    r"|read[_-]?(?:also|more|next)|also[_-]?read|recommend\w*|trending|most[_-]?(?:popular|read|viewed)"
    r"|shar(?:e|es|ing)|social|newsletters?|subscribe|sign[_-]?up|follow[_-]?us"
    r"|comments?|disqus|captions?|breadcrumbs?|promos?|ads?|adverts?|advertisements?|sponsored|outbrain|taboola"
    r"|(?:info|fact|facts|expandable|author|bio|teaser|promo)[_-]?(?:box|bio|info|card)|factbox|faktaruta"
    rf"|{_CONSENT}"
    r"|(?:user|customer|product)?[_-]?reviews|pagination|skip[_-]?link|by[_-]?line"
    r")(?:$|[\s_-])",
    re.IGNORECASE,
)
# These never frame an article, however long they are: readers' comments and the edges of the page.
_NEVER_FRAMES = frozenset({"aside", "footer", "nav"})
_COMMENT_NAMES = re.compile(
    r"(?:^|[\s_-])(?:comments|disqus|comment[_-]?(?:list|section|thread|area)s?)(?:$|[\s_-])", re.IGNORECASE
)
_CONSENT_NAMES = re.compile(rf"(?:^|[\s_-])(?:{_CONSENT})(?:$|[\s_-])", re.IGNORECASE)
_ARTICLE_BODY = "//*[contains(concat(' ', normalize-space(@itemprop), ' '), ' articleBody ')]"
_BODY_NAMES = re.compile(
    r"(?:^|\s)(?:(?:entry|post|article|story|news)[_-]{0,2}(?:content|body|text)|(?:content|body)[_-]{0,2}(?:article|text))(?:$|\s)",
    re.IGNORECASE,
)
_BOX_HEADINGS = "//h2 | //h3 | //h4 | //h5 | //h6 | //strong | //p[not(*)] | //div[not(*)] | //span[not(*)]"
_KEPT = frozenset({"html", "head", "body", "article", "main"})
# The attributes that readability uses; the others only cost time.
_READ_ATTRIBUTES = frozenset({"class", "id", "href", "itemprop", "style", "hidden"})


def remove_programs(page: Element) -> None:
    """Remove scripts, styles, templates and drawings from the page."""
    for element in page.iter("template"):
        if "shadowrootmode" in element.attrib or "shadowroot" in element.attrib:
            element.tag = "div"  # its content is shown
    for element in list(page.iter("script", "style", "template", "svg")):
        if element.getparent() is not None:
            element.drop_tree()


def remove_noise(page: Element) -> None:
    """Remove what is not part of the article according to the markup, or to the heading of a box."""
    sizes = _paragraph_letters(page)
    frames = {
        frame for element in page.xpath(f"//h1 | {_ARTICLE_BODY}") for frame in (element, *element.iterancestors())
    }
    for element in list(elements_of(page)):
        if element.tag in _KEPT or element in frames or element.getparent() is None or not _is_noise(element):
            continue
        if sizes[element] <= MAX_NOISE_SHARE * sizes[page] or _outgrows(element, sizes[page] - sizes[element]):
            element.drop_tree()
    for box in _announced_boxes(page, frames):
        if box.getparent() is not None:
            box.drop_tree()


@dataclass(frozen=True, slots=True)
class FoundText:
    """The text of the article, empty if there is none, and what is known about it.

    `prose` is how many characters of prose the element around the article has, `rival` another text of the page that
    shares nothing with this one, `marked` that the page marks this text as the body of the article, `declared` that it
    is the articleBody of JSON-LD, and `doubt` explains to people why it may be wrong.
    """

    text: str
    prose: int = 0
    rival: str = ""
    marked: bool = False
    declared: bool = False
    doubt: str = ""


def find_text(page: Element, headlines: Collection[str], subject: Collection[str] = ()) -> FoundText:
    """Return the text of the article on a page whose noise was removed.

    `headlines` are in lower case; `subject` has the terms of the headline and the description (see relevance.py).
    """
    prose = prose_characters(page)
    if drop_next_articles(page, prose, headlines):
        prose = prose_characters(page)
    frame = find_frame(page, prose, headlines)
    collected = _as_text(collect_paragraphs(frame, prose), headlines)
    marked = _marked_text(page, headlines)
    text = _as_text(_readable(page), headlines)
    # If the article is very short, readability prefers the text around it.
    if marked and not any(paragraph in text for paragraph in marked.split("\n\n")):
        text = marked
    if _is_better(collected, text, subject):
        text = collected
    rival = collected if text and coverage(text, collected) < MAX_RIVAL_COVERAGE else ""
    return FoundText(
        text or _text_by_heading(page, headlines), prose[frame], rival, marked=bool(marked) and text == marked
    )


def _is_better(collected: str, text: str, subject: Collection[str]) -> bool:
    """Return whether the collected paragraphs are the article, and the other text a piece of it, or of another one."""
    if not collected or is_offer(collected):
        return False
    if is_offer(text):
        return True
    if letters(text) >= MAX_PIECE_SHARE * letters(collected):
        return False
    if coverage(text, collected) >= MIN_PIECE_COVERAGE:
        return True
    return relevance(collected, subject) > relevance(text, subject)


def _outgrows(element: Element, rest: int) -> bool:
    """Return whether noise that is longer than the article is noise nevertheless."""
    if rest < MIN_TEXT_LETTERS or _BODY_NAMES.search(element.get("class", "")):
        return False
    names = names_of_element(element, "class", "id")
    if element.tag in _NEVER_FRAMES or _COMMENT_NAMES.search(names) or _CONSENT_NAMES.search(names):
        return True
    return len(element.text_content()) < MIN_LETTERS_A_LINK * len(element.findall(".//a"))


def _announced_boxes(page: Element, frames: Collection[Element]) -> Iterator[Element]:
    """Yield the boxes that begin with a heading such as "In other news", and lists that follow one."""
    for heading in page.xpath(_BOX_HEADINGS):
        text = heading.text_content() if len(heading) < 3 else ""
        if not text or not is_announcement(squeeze(text[:MAX_LINE_CHARACTERS])):
            continue
        parent, following = heading.getparent(), heading.getnext()
        if following is not None and following.tag in {"ul", "ol"}:
            yield following
        elif parent is not None and parent not in frames and parent.tag not in _KEPT and _is_box(parent, heading):
            yield parent


def _is_box(parent: Element, heading: Element) -> bool:
    """Return whether the parent begins with the heading and is a section, or full of links."""
    if parent[0] is not heading or (parent.text or "").strip() or len(parent) == 1:
        return False
    return parent.tag == "section" or _outgrows(parent, MIN_TEXT_LETTERS)


def _marked_text(page: Element, headlines: Collection[str]) -> str:
    """Return the text of the only element marked as the article's body; empty if there is not exactly one."""
    bodies = page.xpath(_ARTICLE_BODY) or [
        element for element in page.iter("div", "section") if _BODY_NAMES.search(element.get("class", ""))
    ]
    outermost = [body for body in bodies if not any(other in bodies for other in body.iterancestors())]
    return _as_text(paragraphs(outermost[0]), headlines) if len(outermost) == 1 else ""


def _text_by_heading(page: Element, headlines: Collection[str]) -> str:
    """Return the text in the same element as the page's only main heading; empty if there is none."""
    headings = page.xpath("//h1")
    if len(headings) == 1:
        for frame in headings[0].iterancestors():
            if any(letters(part.text_content()) >= MIN_TEXT_LETTERS for part in frame.iter("p", "div")) and (
                text := _as_text(paragraphs(frame), headlines)
            ):
                return text
    return ""


def _as_text(parts: Sequence[Paragraph], headlines: Collection[str]) -> str:
    parts = without_page_chrome(parts)
    # The headline and the time have fields of their own.
    if parts and parts[0].text.casefold() in headlines:
        parts = parts[1:]
    while parts and is_time(parts[0].text):
        parts = parts[1:]
    # Authors are read from a first or a last line.
    parts = [part for place, part in enumerate(parts) if place in {0, len(parts) - 1} or not is_byline(part)]
    total = sum(letters(part.text) for part in parts)
    links = sum(letters(part.text) * part.linked for part in parts)
    if total < MIN_TEXT_LETTERS or links > MAX_LINK_SHARE * total:
        return ""
    return join_paragraphs(parts)


def _readable(page: Element) -> list[Paragraph]:
    """Return the paragraphs that readability finds on the page."""
    page = copy.deepcopy(page)
    for element in elements_of(page):
        for name in element.keys():  # noqa: SIM118 - not a mapping
            # An embedded quotation is part of the text, whatever its class.
            if name not in _READ_ATTRIBUTES or (element.tag == "blockquote" and name == "class"):
                del element.attrib[name]
    try:
        summary = readability.Document(page).summary(html_partial=True)
    except readability.readability.Unparseable:
        return []
    return paragraphs(parse_markup(summary)) if summary.strip() else []


def _is_noise(element: Element) -> bool:
    if element.tag in _NOISE_ELEMENTS or element.get("role") in _NOISE_ROLES:
        return True
    return bool(_NOISE_NAMES.search(names_of_element(element, "class", "id")))


def _paragraph_letters(page: Element) -> dict[Element, int]:
    """Return for every element the number of characters of the paragraphs in it, or of itself if it is one."""
    sizes: dict[Element, int] = {}
    for _, element in lxml.etree.iterwalk(page, events=("end",)):
        own = len(element.text_content()) if element.tag == "p" else 0
        sizes[element] = own or sum(sizes[child] for child in element.iterchildren(lxml.etree.Element))
    return sizes
