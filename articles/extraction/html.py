"""From the bytes of a page to its tree of elements, and from a tree to plain paragraphs. Pure."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import charset_normalizer
import lxml.etree
import lxml.html
from w3lib.encoding import html_to_unicode

from articles.normalization.text import letters

# An article has thousands of elements, its page some ten thousand; what has more would take minutes to look through.
MAX_ELEMENTS = 60_000
# Pictures are written into attributes; nothing that is read here is so long.
MAX_ATTRIBUTE_CHARACTERS = 5_000
MAX_ATTRIBUTES = 100
# What is looked at of a page to guess its charset, from its first byte that is not ASCII.
_GUESSED_BYTES = 50_000
# What lxml lets in and cannot handle afterwards: characters that XML has not (XML 1.0, section 2.2).
_NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
# A start tag up to its end; atomic, so that no page takes longer than its length.
_TAG = re.compile(
    r"""<(?P<name>[a-zA-Z]\w*+)(?:[^"'<>]++|<(?!/)|"(?:[^"<]++|<(?!/script))*+"|'(?:[^'<]++|<(?!/script))*+')*+"""
)
_QUOTED = re.compile(r""""[^"]*+"|'[^']*+'""")
_MANY_CHARACTERS, _MANY_ATTRIBUTES = 10_000, 2_000
_KANA = re.compile("[\u3041-\u30ff]")
_MARKUP = re.compile(r"<[a-zA-Z!?/]")
_BLANKS = re.compile(r"\s+")
_INVISIBLE = "\u200b\u200c\u200d\u200e\u200f\u2060\ufeff\u00ad "
_BLOCKS = frozenset({
    "address", "article", "blockquote", "body", "center", "dd", "div", "dl", "dt", "h1", "h2", "h3", "h4", "h5",
    "h6", "header", "hr", "li", "main", "ol", "p", "pre", "section", "table", "tbody", "tfoot", "thead", "tr", "ul",
})  # fmt: skip
# Blocks whose neighbours stand on the next line, not in the next paragraph.
_LINES = {"li": ("ul", "ol", "menu"), "dt": ("dl",), "dd": ("dl",), "tr": ("table",)}
_HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})


class UnreadablePageError(ValueError):
    """Bytes that hold no tree of elements, or too large a one; the message says which."""


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph, heading or line of a list or table, squeezed; `linked` is the share of its letters in links.

    Paragraphs of one `group` (a list, a table) are lines that belong together; those without stand alone.
    """

    text: str
    linked: float
    heading: bool = False
    group: object = None


def decode_page(body: bytes, content_type: str = "") -> str:
    """Return the page's text: charset from a BOM, the HTTP header, a meta element, else guessed.

    A charset that the page declares and does not keep to is guessed too.
    """
    if encoding := _wide_encoding(body):
        return body.decode(encoding, "replace")
    text = html_to_unicode(content_type or None, body, auto_detect_fun=_guess_charset)[1]
    if "\ufffd" in text and b"\xef\xbf\xbd" not in body and (guess := _better_guess(text, body)):
        return body.decode(guess, "replace")
    return text


def parse_page(body: bytes, content_type: str = "") -> lxml.html.HtmlElement:
    """Return the page's root element, without comments. Raises UnreadablePageError."""
    source = _NOT_XML.sub(" ", decode_page(body, content_type))
    if not source.strip():
        raise UnreadablePageError("empty page")
    if not _MARKUP.search(source):  # a plain text that is called a page
        source = "".join(f"<p>{html.escape(part)}</p>" for part in re.split(r"\n\s*\n", source))
    try:
        page = parse_markup(source)
    except (lxml.etree.LxmlError, AssertionError) as error:  # nothing but comments, or no element at all
        raise UnreadablePageError("empty page") from error
    if int(page.xpath("count(//*)")) > MAX_ELEMENTS:
        raise UnreadablePageError("page too large")
    _drop_attributes(page)
    return page


def _drop_attributes(page: lxml.html.HtmlElement) -> None:
    """Remove attributes that are too long to be read, and those of elements that have too many."""
    for element in page.xpath(f"//*[@*[string-length() > {MAX_ATTRIBUTE_CHARACTERS}] or count(@*) > {MAX_ATTRIBUTES}]"):
        kept = [(name, value) for name, value in element.items() if len(value) <= MAX_ATTRIBUTE_CHARACTERS]
        element.attrib.clear()
        element.attrib.update(kept[:MAX_ATTRIBUTES])


def parse_markup(source: str) -> lxml.html.HtmlElement:
    """Return the root element of HTML. Raises LxmlError where there is no element."""
    if len(source) > _MANY_CHARACTERS:
        source = _TAG.sub(_without_crowd, source)
    # As bytes, because lxml refuses a str that declares an encoding of its own.
    parser = lxml.html.HTMLParser(encoding="utf-8", remove_comments=True, remove_pis=True)
    return lxml.html.document_fromstring(_NOT_XML.sub(" ", source).encode(), parser=parser)


def _without_crowd(tag: re.Match[str]) -> str:
    """Return the tag; without its attributes if there are so many that libxml2 would take minutes over them.

    Values do not count: what a stray quotation mark opens is half a page, and no attribute.
    """
    if len(tag[0]) <= _MANY_CHARACTERS:
        return tag[0]
    bare = _QUOTED.sub(" ", tag[0])
    crowded = max(bare.count("="), len(bare.split())) > _MANY_ATTRIBUTES
    return f"<{tag['name']} " if crowded else tag[0]


def squeeze(text: str) -> str:
    """Return the text with single blanks, and without characters that no text has."""
    return " ".join(_NOT_XML.sub(" ", text).split())


def paragraphs(element: lxml.html.HtmlElement) -> list[Paragraph]:
    """Return the element's paragraphs in order; two line breaks end one too."""
    collector = _Collector()
    for event, node in lxml.etree.iterwalk(element, events=("start", "end")):
        if event == "start":
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
    """Cuts a walk over elements into paragraphs."""

    paragraphs: list[Paragraph] = field(default_factory=list)
    _pieces: list[str] = field(default_factory=list)
    _linked: int = 0
    _links: int = 0  # open ones
    _blocks: list[lxml.html.HtmlElement] = field(default_factory=list)  # open ones

    def open(self, node: lxml.html.HtmlElement) -> None:
        if node.tag in _BLOCKS:
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
        if node.tag in _BLOCKS:
            self.end_paragraph()
            self._blocks.pop()
        elif node.tag == "a":
            self._links -= 1
        if tail:
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
    """Return the list or table that a line belongs to; None for what is no line."""
    if block is None or block.tag not in _LINES:
        return None
    return next(block.iterancestors(*_LINES[block.tag]), None)


def _wide_encoding(body: bytes) -> str:
    """Return the encoding of UTF-16 without a byte order mark: every other byte of its markup is zero."""
    start = body[:400]
    if len(start) < 4 or start[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return ""
    shares = [start[offset::2].count(0) / len(start[offset::2]) for offset in (0, 1)]
    if max(shares) < 0.7 or min(shares) > 0.1:
        return ""
    return "utf-16-be" if shares[0] > shares[1] else "utf-16-le"


def _guess_charset(body: bytes) -> str | None:
    try:
        body.decode("utf-8")
    except UnicodeDecodeError:
        sample = _sample(body)
        guess = charset_normalizer.from_bytes(sample).best()
        return guess.encoding if guess else _japanese_charset(sample)
    return "utf-8"


def _japanese_charset(sample: bytes) -> str | None:
    """Return the Japanese charset that makes a tenth of the text kana; charset_normalizer misses short ones."""
    for encoding in ("cp932", "euc_jp"):
        text = sample.decode(encoding, "ignore")
        if len(_KANA.findall(text)) * 10 > sum(character > "\x7f" for character in text):
            return encoding
    return None


def _sample(body: bytes) -> bytes:
    """Return the part of the body that tells its charset."""
    found = re.search(rb"[\x80-\xff]", body)
    start = found.start() if found else 0
    return body[start : start + _GUESSED_BYTES]


def _better_guess(text: str, body: bytes) -> str | None:
    """Return another charset if the declared one can read less than half of what is beyond ASCII."""
    beyond = len(text) - len(text.encode("ascii", "ignore"))
    return _guess_charset(body) if text.count("\ufffd") > beyond / 2 else None


def elements_of(page: lxml.html.HtmlElement) -> Iterator[lxml.html.HtmlElement]:
    """Yield the elements in order; no comments and no processing instructions."""
    return page.iter(lxml.etree.Element)
