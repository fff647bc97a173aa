"""Parses the bytes of a page into a tree of elements, and turns a tree into plain paragraphs. Pure."""

from __future__ import annotations

import html
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field

import lxml.etree
import lxml.html

from articles.extraction.charset import decode_page
from articles.normalization.text import letters

# An article has thousands of elements, its page some ten thousand; larger pages would take minutes.
MAX_ELEMENTS = 60_000
# Longer ones are pictures; no attribute that is read here is so long.
MAX_ATTRIBUTE_CHARACTERS = 5_000
MAX_ATTRIBUTES = 100
# Characters that lxml accepts but cannot handle, because XML does not allow them (XML 1.0, section 2.2).
_NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
# A start tag up to its end; possessive, so that the time is linear in the length of the page.
_TAG = re.compile(
    r"""<(?P<name>[a-zA-Z]\w*+)(?:[^"'<>]++|<(?!/)|"(?:[^"<]++|<(?!/script))*+"|'(?:[^'<]++|<(?!/script))*+')*+"""
)
_QUOTED = re.compile(r""""[^"]*+"|'[^']*+'""")
_MANY_CHARACTERS, _MANY_ATTRIBUTES = 10_000, 2_000
_MARKUP = re.compile(r"<[a-zA-Z!?/]")
_BLANKS = re.compile(r"\s+")
_INVISIBLE = "\u200b\u200c\u200d\u200e\u200f\u2060\ufeff\u00ad "
BLOCKS = frozenset({
    "address", "article", "blockquote", "body", "center", "dd", "div", "dl", "dt", "h1", "h2", "h3", "h4", "h5",
    "h6", "header", "hr", "li", "main", "ol", "p", "pre", "section", "table", "tbody", "tfoot", "thead", "tr", "ul",
})  # fmt: skip
# Blocks that are separated by a line end, not by a blank line.
_LINES = {"li": ("ul", "ol", "menu"), "dt": ("dl",), "dd": ("dl",), "tr": ("table",)}
_HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})


class UnreadablePageError(ValueError):
    """A page without elements, or with too many; the message says which."""


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A squeezed paragraph, heading, or line of a list or table; `linked` is the share of its letters in links.

    Paragraphs with the same `group` (a list, a table) are lines of it; those without a group stand alone.
    """

    text: str
    linked: float
    heading: bool = False
    group: object = None


def parse_page(body: bytes, content_type: str = "") -> lxml.html.HtmlElement:
    """Return the page's root element, without comments. Raises UnreadablePageError."""
    source = _NOT_XML.sub(" ", decode_page(body, content_type))
    if not source.strip():
        raise UnreadablePageError("empty page")
    if not _MARKUP.search(source):  # a plain text served as a page
        source = "".join(f"<p>{html.escape(part)}</p>" for part in re.split(r"\n\s*\n", source))
    try:
        page = parse_markup(source)
    except (lxml.etree.LxmlError, AssertionError) as error:  # only comments, or no element at all
        raise UnreadablePageError("empty page") from error
    if int(page.xpath("count(//*)")) > MAX_ELEMENTS:
        raise UnreadablePageError("page too large")
    _drop_attributes(page)
    return page


def _drop_attributes(page: lxml.html.HtmlElement) -> None:
    """Remove attributes that are too long, and the excess of elements that have too many."""
    for element in page.xpath(f"//*[@*[string-length() > {MAX_ATTRIBUTE_CHARACTERS}] or count(@*) > {MAX_ATTRIBUTES}]"):
        kept = [(name, value) for name, value in element.items() if len(value) <= MAX_ATTRIBUTE_CHARACTERS]
        element.attrib.clear()
        element.attrib.update(kept[:MAX_ATTRIBUTES])


def parse_markup(source: str) -> lxml.html.HtmlElement:
    """Return the root element of HTML. Raises LxmlError if there is no element."""
    if len(source) > _MANY_CHARACTERS:
        source = _TAG.sub(_without_crowd, source)
    # As bytes, because lxml refuses a str that declares an encoding of its own.
    parser = lxml.html.HTMLParser(encoding="utf-8", remove_comments=True, remove_pis=True)
    return lxml.html.document_fromstring(_NOT_XML.sub(" ", source).encode(), parser=parser)


def _without_crowd(tag: re.Match[str]) -> str:
    """Return the tag; without its attributes if there are so many that libxml2 would take minutes.

    Values do not count: a stray quotation mark may begin a value of half a page.
    """
    if len(tag[0]) <= _MANY_CHARACTERS:
        return tag[0]
    bare = _QUOTED.sub(" ", tag[0])
    crowded = max(bare.count("="), len(bare.split())) > _MANY_ATTRIBUTES
    return f"<{tag['name']} " if crowded else tag[0]


def squeeze(text: str) -> str:
    """Return the text with single blanks, without characters that XML does not allow."""
    return " ".join(_NOT_XML.sub(" ", text).split())


def paragraphs(element: lxml.html.HtmlElement, *, skipped: Collection[lxml.html.HtmlElement] = ()) -> list[Paragraph]:
    """Return the element's paragraphs in order, without elements in it that are skipped.

    Two line breaks also end a paragraph.
    """
    collector = _Collector()
    walk = lxml.etree.iterwalk(element, events=("start", "end"))
    for event, node in walk:
        if node in skipped:
            if event == "start":
                walk.skip_subtree()
            else:
                collector.pass_over(node)
        elif event == "start":
            collector.open(node)
        else:
            collector.close(node, tail=node is not element)
    collector.end_paragraph()
    return collector.paragraphs


def join_paragraphs(parts: Sequence[Paragraph]) -> str:
    """Return the text: blank lines between paragraphs, line ends between the lines of a list or table."""
    pieces: list[str] = []
    group: object = None
    for part in parts:
        if pieces:
            pieces.append("\n" if part.group is not None and part.group is group else "\n\n")
        pieces.append(part.text)
        group = part.group
    return "".join(pieces)


@dataclass
class _Collector:
    """Collects paragraphs during a walk over elements."""

    paragraphs: list[Paragraph] = field(default_factory=list)
    _pieces: list[str] = field(default_factory=list)
    _linked: int = 0
    _links: int = 0  # open ones
    _blocks: list[lxml.html.HtmlElement] = field(default_factory=list)  # open ones

    def open(self, node: lxml.html.HtmlElement) -> None:
        if node.tag in BLOCKS:
            self.end_paragraph()
            self._blocks.append(node)
        elif node.tag == "br":
            self._break_line()
        elif node.tag in {"td", "th"}:
            self._pieces.append(" ")
        elif node.tag == "a":
            self._links += 1
        self._add(node.text)

    def close(self, node: lxml.html.HtmlElement, *, tail: bool) -> None:
        if node.tag in BLOCKS:
            self.end_paragraph()
            self._blocks.pop()
        elif node.tag == "a":
            self._links -= 1
        if tail:
            self._add(node.tail)

    def pass_over(self, node: lxml.html.HtmlElement) -> None:
        """Leave the node out, but not the text after it."""
        if node.tag in BLOCKS:
            self.end_paragraph()
        self._add(node.tail)

    def end_paragraph(self) -> None:
        text = squeeze("".join(self._pieces))
        if text.strip(_INVISIBLE):
            block = self._blocks[-1] if self._blocks else None
            linked = self._linked / (letters(text) or 1)
            heading = any(each.tag in _HEADINGS for each in self._blocks[-2:])
            self.paragraphs.append(Paragraph(text, linked, heading, _group(block)))
        self._pieces.clear()
        self._linked = 0

    def _break_line(self) -> None:
        """End the paragraph at the second line break in a row."""
        for piece in reversed(self._pieces):
            if piece == "\n":
                self.end_paragraph()
                return
            if not piece.isspace():
                break
        self._pieces.append("\n")

    def _add(self, text: str | None) -> None:
        if text:
            self._pieces.append(_BLANKS.sub(" ", text))
            if self._links:
                self._linked += letters(text)


def _group(block: lxml.html.HtmlElement | None) -> object:
    """Return the list or table that a line belongs to; None for any other block."""
    if block is None or block.tag not in _LINES:
        return None
    return next(block.iterancestors(*_LINES[block.tag]), None)


def elements_of(page: lxml.html.HtmlElement) -> Iterator[lxml.html.HtmlElement]:
    """Yield the elements in order, without comments and processing instructions."""
    return page.iter(lxml.etree.Element)
