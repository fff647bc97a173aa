"""Decodes the bytes of a page, parses them into a tree of elements, and turns a tree into plain paragraphs. Pure.

What a page says of its charset is often wrong, but bytes that are valid UTF-8 are hardly ever anything else: a text of
another charset becomes valid UTF-8 by chance only if it is a few characters long.
"""

import html
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias
from urllib.parse import SplitResult, urljoin, urlsplit

import charset_normalizer
import lxml.etree
import lxml.html
from w3lib.encoding import html_to_unicode

from articles.normalization.language import detect_language
from articles.normalization.text import letters

Element: TypeAlias = lxml.html.HtmlElement

# How much of a page is used to guess its charset, from shortly before its first byte that is not ASCII.
_GUESSED_BYTES = 50_000
_BEFORE = 200
# A page with this many good characters for each bad one is UTF-8 with a few bad bytes.
_GOOD_FOR_EACH_BAD = 20
_ISO_2022_JP = re.compile(rb"\x1b\$[@B]")
_KANA = re.compile("[\u3041-\u30ff]")
_WORD = re.compile(rb"[A-Za-z\x80-\xff]+")
_META_TAG = re.compile(rb"<(?:script|style)\b.*?</(?:script|style)>|<[^>]*>", re.DOTALL | re.IGNORECASE)
# In Latin script, at most this share of the letters of words with accents has one.
_MAX_ACCENTS = 0.55
# Signs that windows-1252 has where the charsets of other languages have letters.
_SIGN_IN_WORD = re.compile("[a-z][¹²³¼¾¿ªº±£¥§¶µ\x80-\x9f][a-z]", re.IGNORECASE)
# The charsets of languages in Latin script with letters that windows-1252 does not have.
_CHARSETS = dict.fromkeys(("bs", "cs", "hr", "hu", "pl", "ro", "sk", "sl", "sr"), "cp1250") | {
    "lt": "cp1257", "lv": "cp1257", "tr": "cp1254", "vi": "cp1258",
}  # fmt: skip


def decode_page(body: bytes, content_type: str = "") -> str:
    """Return the page's text.

    Its charset is that of a byte order mark, UTF-8 if the bytes are valid UTF-8, else that of the HTTP header or a meta
    element. It is guessed if none is declared, or if the declared one does not fit.
    """
    if encoding := _wide_encoding(body):
        return body.decode(encoding, "replace")
    if _is_utf_8(body):
        return body.decode("utf-8-sig", "replace")
    if body.isascii() and _ISO_2022_JP.search(body):
        return body.decode("iso2022_jp", "replace")
    text = html_to_unicode(content_type or None, body, auto_detect_fun=_guess_charset)[1]
    # The declared charset decodes less than half of the characters beyond ASCII.
    is_wrong = b"\xef\xbf\xbd" not in body and text.count("\ufffd") > _beyond_ascii(text) / 2
    return body.decode(guess, "replace") if is_wrong and (guess := _guess_charset(body)) else text


def _beyond_ascii(text: str) -> int:
    return len(text) - len(text.encode("ascii", "ignore"))


def _is_utf_8(body: bytes) -> bool:
    """Return whether the bytes beyond ASCII are UTF-8, but for a few. ASCII alone may be of any charset."""
    if body.isascii():
        return False
    text = body.decode("utf-8", "replace")
    bad = text.count("\ufffd") - body.count(b"\xef\xbf\xbd")
    return _beyond_ascii(text) > bad * (_GOOD_FOR_EACH_BAD + 1)


def _wide_encoding(body: bytes) -> str:
    """Return which UTF-16 without a byte order mark this is, because every other byte is zero; '' if it is not."""
    start = body[:400]
    if len(start) < 4 or start[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return ""
    shares = [start[offset::2].count(0) / len(start[offset::2]) for offset in (0, 1)]
    if max(shares) < 0.7 or min(shares) > 0.1:
        return ""
    return "utf-16-be" if shares[0] > shares[1] else "utf-16-le"


def _guess_charset(body: bytes) -> str | None:
    if body.isascii():
        return "utf-8"
    found = re.search(rb"[\x80-\xff]", body)
    start = max(0, found.start() - _BEFORE) if found else 0
    sample = body[start : start + _GUESSED_BYTES]
    if latin := _latin_charset(sample):
        return latin
    guess = charset_normalizer.from_bytes(sample).best()
    return guess.encoding if guess else _japanese_charset(sample)


def _latin_charset(sample: bytes) -> str | None:
    """Return the charset of a text in Latin script; windows-1252 unless it cannot be. Others mistake short texts."""
    plain = _META_TAG.sub(b" ", sample)
    # A single byte is a dash or a quotation mark, or a short word of a text in another script, which has longer ones.
    words = [word for word in _WORD.findall(plain) if not word.isascii() and len(word) > 1]
    if not words:
        return "cp1252"
    accents = sum(byte > 0x7F for word in words for byte in word)
    if accents > _MAX_ACCENTS * sum(map(len, words)):
        return None
    text = plain.decode("cp1252", "replace")
    if charset := _CHARSETS.get(detect_language(text)):
        fits = not _SIGN_IN_WORD.search(plain.decode(charset, "replace"))
        return charset if fits or charset != "cp1250" else "iso8859_2"
    return None if "\ufffd" in text or _SIGN_IN_WORD.search(text) else "cp1252"


def _japanese_charset(sample: bytes) -> str | None:
    """Return the Japanese charset in which a tenth of the text is kana; charset_normalizer misses short texts."""
    for encoding in ("cp932", "euc_jp"):
        text = sample.decode(encoding, "ignore")
        if len(_KANA.findall(text)) * 10 > sum(character > "\x7f" for character in text):
            return encoding
    return None


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
_CAMEL_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")
_INVISIBLE = "\u200b\u200c\u200d\u200e\u200f\u2060\ufeff\u00ad "
BLOCKS = frozenset({
    "address", "article", "blockquote", "body", "center", "dd", "div", "dl", "dt", "h1", "h2", "h3", "h4", "h5",
    "h6", "header", "hr", "li", "main", "ol", "p", "pre", "section", "table", "tbody", "tfoot", "thead", "tr", "ul",
})  # fmt: skip
# Blocks that are separated by a line end, not by a blank line.
_LINES = {"li": ("ul", "ol", "menu"), "dt": ("dl",), "dd": ("dl",), "tr": ("table",)}
_HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})


class ExtractionError(ValueError):
    """The page has no article; `reason` is one of a few fixed texts, so that reasons can be counted."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A squeezed paragraph, heading, or line of a list or table; `linked` is the share of its letters in links.

    Paragraphs with the same `group` (a list, a table) are lines of it; those without a group stand alone.
    """

    text: str
    linked: float
    heading: bool = False
    group: object = None


def parse_page(body: bytes, content_type: str = "") -> Element:
    """Return the page's root element, without comments. Raises ExtractionError."""
    source = _NOT_XML.sub(" ", decode_page(body, content_type))
    if not source.strip():
        raise ExtractionError("empty page")
    if not _MARKUP.search(source):  # a plain text served as a page
        source = "".join(f"<p>{html.escape(part)}</p>" for part in re.split(r"\n\s*\n", source))
    try:
        page = parse_markup(source)
    except (lxml.etree.LxmlError, AssertionError) as error:  # only comments, or no element at all
        raise ExtractionError("empty page") from error
    if int(page.xpath("count(//*)")) > MAX_ELEMENTS:
        raise ExtractionError("page too large")
    # Without attributes that are too long, and without the excess of elements that have too many.
    for element in page.xpath(f"//*[@*[string-length() > {MAX_ATTRIBUTE_CHARACTERS}] or count(@*) > {MAX_ATTRIBUTES}]"):
        kept = [(name, value) for name, value in element.items() if len(value) <= MAX_ATTRIBUTE_CHARACTERS]
        element.attrib.clear()
        element.attrib.update(kept[:MAX_ATTRIBUTES])
    return page


def parse_markup(source: str) -> Element:
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
    return f"<{tag['name']} " if max(bare.count("="), len(bare.split())) > _MANY_ATTRIBUTES else tag[0]


def squeeze(text: str) -> str:
    """Return the text with single blanks, without characters that XML does not allow."""
    return " ".join(_NOT_XML.sub(" ", text).split())


def paragraphs(element: Element, *, skipped: Collection[Element] = ()) -> list[Paragraph]:
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
    _blocks: list[Element] = field(default_factory=list)  # open ones

    def open(self, node: Element) -> None:
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

    def close(self, node: Element, *, tail: bool) -> None:
        if node.tag in BLOCKS:
            self.end_paragraph()
            self._blocks.pop()
        elif node.tag == "a":
            self._links -= 1
        if tail:
            self._add(node.tail)

    def pass_over(self, node: Element) -> None:
        """Leave the node out, but not the text after it."""
        if node.tag in BLOCKS:
            self.end_paragraph()
        self._add(node.tail)

    def end_paragraph(self) -> None:
        text = squeeze("".join(self._pieces))
        if text.strip(_INVISIBLE):
            block = self._blocks[-1] if self._blocks else None
            linked = self._linked / (letters(text) or 1)
            heading = any(block.tag in _HEADINGS for block in self._blocks[-2:])
            # The list or table that a line belongs to.
            lists = _LINES.get(block.tag) if block is not None else None
            group = next(block.iterancestors(*lists), None) if block is not None and lists else None
            self.paragraphs.append(Paragraph(text, linked, heading, group))
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


def main_headings(page: Element) -> list[Element]:
    """Return the main headings of the article, or of the page if the article has none."""
    return page.xpath("//article//h1 | //main//h1") or page.xpath("//h1")


def names_of_element(element: Element, *attributes: str) -> str:
    """Return the names in these attributes of an element, with hyphens at the humps of camel case."""
    return _CAMEL_HUMP.sub("-", " ".join(element.get(attribute, "") for attribute in attributes))


def url_parts(url: str) -> SplitResult:
    """Return the parts of a URL, all empty if it is not valid, such as http://[undefined]/."""
    try:
        return urlsplit(url)
    except ValueError:
        return urlsplit("")


def joined_url(base: str, href: str) -> str:
    """Return the absolute URL of a link on a page; empty if it is not valid."""
    try:
        return urljoin(base, href)
    except ValueError:
        return ""


def joined_to_fit(parts: Iterable[str], separator: str, most: int) -> str:
    """Return the parts, each once and in their order, as many as fit into so many characters."""
    fitting = list(dict.fromkeys(parts))
    while len(separator.join(fitting)) > most:
        fitting.pop()
    return separator.join(fitting)


def elements_of(page: Element) -> Iterator[Element]:
    """Yield the elements in order, without comments and processing instructions."""
    return page.iter(lxml.etree.Element)
