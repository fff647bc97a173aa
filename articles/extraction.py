"""From the bytes of a page to the article on it: text, headline, day of publication, canonical URL.

Pure: no network, no database, no clock but htmldate's own (a page cannot be published tomorrow).
"""

from __future__ import annotations

import copy
import datetime
import email.utils
import html
import json
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import urljoin, urlsplit

import charset_normalizer
import lxml.etree
import lxml.html
from htmldate import find_date
from readability import Document
from readability.readability import Unparseable
from w3lib.encoding import html_to_unicode

# Grows with every change of a result, so that stored pages that were extracted otherwise are found.
EXTRACTOR_VERSION = 1
# Shorter texts are teasers and notices; scripts without blanks say as much in fewer characters.
MIN_TEXT_LETTERS = 40
# A text that is mostly links is a list of articles, not an article.
MAX_LINK_SHARE = 0.5
# Markup that calls itself noise but holds this share of the page's paragraphs is the article's frame.
MAX_NOISE_SHARE = 0.3
_BLANKS = re.compile(r"\s+")
# What lxml lets in and cannot handle afterwards: characters that XML has not (XML 1.0, section 2.2).
_NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")

DateSource = Literal["json-ld", "meta", "time", "htmldate"]


class ExtractionError(ValueError):
    """The page holds no article; `reason` says why, in words that can be counted."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class ExtractedArticle:
    """What a page says about its article.

    `text` is plain, its paragraphs separated by blank lines, and never empty. `headline` is empty,
    `date`, `date_source` and `canonical_url` are None where the page does not tell. `canonical_url` is
    absolute, and as the page declares it: whether to believe it is decided where articles are stored.
    """

    text: str
    headline: str
    date: datetime.date | None
    date_source: DateSource | None
    canonical_url: str | None
    amp_url: str | None = None
    language: str = ""
    byline: str = ""
    agency: str = ""
    dateline: str = ""
    date_doubt: str = ""
    paywalled: bool = False


def extract_article(body: bytes, url: str, content_type: str = "") -> ExtractedArticle:
    """Return the article on a page, given its bytes, its URL and its HTTP Content-Type header.

    Raises ExtractionError where there is none.
    """
    page = _parse(body, content_type)
    linked_data = _article_data(page)
    # Twice escaped entities are common in JSON-LD and meta elements.
    headlines = [_squeeze(html.unescape(each)) for each in _headlines(page, linked_data)]
    headline = next(filter(None, headlines), "")
    canonical_url = _canonical_url(page, linked_data, url)
    _remove_noise(page)
    date, date_source = _date(page, linked_data, url)
    text = _readable_text(page, {each.casefold() for each in headlines}) or _declared_text(linked_data)
    if not text:
        raise ExtractionError("no article text")
    return ExtractedArticle(text, headline, date, date_source, canonical_url)


def decode_page(body: bytes, content_type: str = "") -> str:
    """Return the page's text: charset from a BOM, the HTTP header, a meta element, else guessed."""
    return html_to_unicode(content_type or None, body, auto_detect_fun=_guess_charset)[1]


def _guess_charset(body: bytes) -> str | None:
    try:
        body.decode("utf-8")
    except UnicodeDecodeError:
        guess = charset_normalizer.from_bytes(body).best()
        return guess.encoding if guess else None
    return "utf-8"


def _parse(body: bytes, content_type: str) -> lxml.html.HtmlElement:
    source = decode_page(body, content_type)
    if not source.strip():
        raise ExtractionError("empty page")
    try:
        return _tree(source)
    except lxml.etree.ParserError as error:  # nothing but comments
        raise ExtractionError("empty page") from error


def _tree(source: str) -> lxml.html.HtmlElement:
    # As bytes, because lxml refuses a str that declares an encoding of its own.
    parser = lxml.html.HTMLParser(encoding="utf-8", remove_comments=True, remove_pis=True)
    return lxml.html.document_fromstring(_NOT_XML.sub(" ", source).encode(), parser=parser)


# -- What the page declares -------------------------------------------------------------------------

_ARTICLE_TYPES = ("BlogPosting", "LiveBlogPosting", "Report")
_META_HEADLINES = ("og:title", "twitter:title", "dc.title", "sailthru.title", "parsely-title")
_META_DATES = (
    "article:published_time",
    "og:published_time",
    "article:published",
    "article.published",
    "datepublished",
    "publication_date",
    "publish_date",
    "publishdate",
    "publish-date",
    "pubdate",
    "sailthru.date",
    "parsely-pub-date",
    "cxenseparse:recs:publishtime",
    "dcterms.issued",
    "dcterms.created",
    "dc.date.issued",
    "dc.date.created",
    "dc.date",
    "date",
)


def _article_data(page: lxml.html.HtmlElement) -> dict[str, Any]:
    """Return the first JSON-LD object that is an article; empty if there is none."""
    for script in page.xpath("//script[contains(@type, 'ld+json')]"):
        source = re.sub(r"^\s*(<!--|//<!\[CDATA\[)|(-->|//\]\]>)\s*$", "", script.text or "")
        try:
            data = json.loads(source, strict=False)  # line breaks inside strings are common
        except (ValueError, RecursionError):
            continue
        for node in _nodes(data):
            if _is_article(node):
                return node
    return {}


def _nodes(data: Any) -> Iterator[dict[str, Any]]:
    """Yield the objects of a JSON-LD document: itself, of a list, of @graph, and a page's main entity."""
    if isinstance(data, list):
        for each in data:
            yield from _nodes(each)
    elif isinstance(data, dict):
        yield data
        yield from _nodes(data.get("@graph"))
        yield from _nodes(data.get("mainEntity"))


def _is_article(node: dict[str, Any]) -> bool:
    types = node.get("@type")
    names = types if isinstance(types, list) else [types]
    short = [name.rsplit("/", 1)[-1] for name in names if isinstance(name, str)]
    return any(name.endswith("Article") or name in _ARTICLE_TYPES for name in short)


def _metas(page: lxml.html.HtmlElement, names: tuple[str, ...]) -> Iterator[str]:
    """Yield the contents of the meta elements of these names, in the order of the names."""
    contents: dict[str, str] = {}
    for meta in page.xpath("//meta[@content]"):
        name = meta.get("property") or meta.get("name") or meta.get("itemprop") or ""
        contents.setdefault(name.strip().lower(), meta.get("content"))
    for name in names:
        if contents.get(name, "").strip():
            yield contents[name].strip()


def _headlines(page: lxml.html.HtmlElement, linked_data: dict[str, Any]) -> Iterator[str]:
    declared = linked_data.get("headline") or linked_data.get("name")
    if isinstance(declared, str):
        yield declared
    yield from _metas(page, _META_HEADLINES)
    for heading in page.xpath("//article//h1 | //main//h1") or page.xpath("//h1"):
        yield heading.text_content()
    for title in page.xpath("//head/title | //title"):
        yield title.text_content()


def _canonical_url(page: lxml.html.HtmlElement, linked_data: dict[str, Any], url: str) -> str | None:
    links = page.xpath("//link[contains(concat(' ', normalize-space(@rel), ' '), ' canonical ')]/@href")
    entity = linked_data.get("mainEntityOfPage")
    declared = [
        *links,
        *_metas(page, ("og:url",)),
        entity.get("@id") if isinstance(entity, dict) else entity,
        linked_data.get("url"),
    ]
    for candidate in declared:
        if isinstance(candidate, str) and (resolved := _article_url(candidate, url)):
            return resolved
    return None


def _article_url(candidate: str, url: str) -> str | None:
    """Return the URL, absolute, if it can be an article's.

    Not the site's root, which careless templates name on every page, and nothing that is neither
    absolute nor begins at the root, such as `undefined` or `#`.
    """
    candidate = candidate.strip()
    if not candidate.lower().startswith(("http://", "https://", "/")) or _BLANKS.search(candidate):
        return None
    try:
        resolved = urljoin(url, candidate)
        parts = urlsplit(resolved)
        usable = bool(parts.hostname) and (parts.path not in {"", "/"} or bool(parts.query))
    except ValueError:  # such as http://[undefined]/
        return None
    return resolved if usable else None


# -- The day of publication -------------------------------------------------------------------------

_ISO_DAY = re.compile(r"(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?!\d)|(\d{4})(\d{2})(\d{2})(?:T|\s|$)")


def _date(
    page: lxml.html.HtmlElement, linked_data: dict[str, Any], url: str
) -> tuple[datetime.date | None, DateSource | None]:
    for name in ("datePublished", "dateCreated"):
        if day := _day(linked_data.get(name)):
            return day, "json-ld"
    for content in _metas(page, _META_DATES):
        if day := _day(content):
            return day, "meta"
    for value in _times(page):
        if day := _day(value):
            return day, "time"
    if day := _guessed_date(page, url):
        return day, "htmldate"
    return None, None


def _day(value: Any) -> datetime.date | None:
    """Return the day that a written time names, as it was in the place where it was written."""
    if not isinstance(value, str):
        return None
    if match := _ISO_DAY.match(value.strip()):
        year, month, day = (int(part) for part in match.groups() if part)
        try:
            return datetime.date(year, month, day)
        except ValueError:
            return None
    try:
        return email.utils.parsedate_to_datetime(value).date()
    except (ValueError, TypeError):
        return None


def _times(page: lxml.html.HtmlElement) -> Iterator[str]:
    """Yield the times of <time> elements: those marked as publication, then those of the article."""
    marked = "//*[@itemprop='datePublished' or @pubdate]"
    inside = "//article//time | //main//time"
    for element in [*page.xpath(marked), *(page.xpath(inside) or page.xpath("//time"))]:
        names = " ".join(element.get(name, "") for name in ("class", "id", "itemprop")).lower()
        if "updat" not in names and "modif" not in names:
            yield element.get("datetime") or element.get("content") or ""


def _guessed_date(page: lxml.html.HtmlElement, url: str) -> datetime.date | None:
    # A tree, because htmldate downloads a str that looks like a URL; a copy, because it changes it. Its
    # extensive search takes any year on the page, a copyright line's too: no date is better than that.
    found = find_date(copy.deepcopy(page), extensive_search=False, original_date=True, url=url)
    return datetime.date.fromisoformat(found) if found else None


# -- The text ---------------------------------------------------------------------------------------

_NOISE_ELEMENTS = frozenset({
    "aside", "button", "dialog", "figure", "figcaption", "footer", "form", "iframe", "menu",
    "nav", "noscript", "object", "script", "select", "style", "svg", "template", "textarea",
})  # fmt: skip
_NOISE_ROLES = frozenset(("alert", "banner", "complementary", "contentinfo", "dialog", "navigation", "search"))
_NOISE_NAMES = re.compile(
    r"(?:^|[\s_-])(?:"
    r"(?:related|more|other|latest|top)[_-]?(?:articles?|content|links?|news|posts?|stories|story|on)|related"
    r"|read[_-]?(?:also|more|next)|also[_-]?read|recommend\w*|trending|most[_-]?(?:popular|read|viewed)"
    r"|shar(?:e|es|ing)|social|newsletters?|subscribe|sign[_-]?up|follow[_-]?us"
    r"|comments?|disqus|captions?|breadcrumbs?|promos?|ads?|adverts?|advertisements?|sponsored|outbrain|taboola"
    r"|cookies?|pagination|skip[_-]?link|by[_-]?line"
    r")(?:$|[\s_-])",
    re.IGNORECASE,
)
_CAMEL_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")
_BLOCKS = frozenset({
    "address", "article", "blockquote", "body", "center", "dd", "div", "dl", "dt", "h1", "h2", "h3", "h4", "h5",
    "h6", "header", "hr", "li", "main", "ol", "p", "pre", "section", "table", "tbody", "thead", "tr", "ul",
})  # fmt: skip
_PARAGRAPH_BREAK = re.compile(r"\n[ \t]*\n\s*")


def _remove_noise(page: lxml.html.HtmlElement) -> None:
    """Remove from the page what its markup says is no part of the article."""
    total = _paragraph_letters(page)
    for element in list(page.iter(lxml.etree.Element)):
        if element.tag in {"html", "head", "body", "article", "main"} or not _is_noise(element):
            continue
        if _paragraph_letters(element) <= MAX_NOISE_SHARE * total and element.getparent() is not None:
            element.drop_tree()


def _is_noise(element: lxml.html.HtmlElement) -> bool:
    if element.tag in _NOISE_ELEMENTS or element.get("role") in _NOISE_ROLES:
        return True
    names = _CAMEL_HUMP.sub("-", f"{element.get('class', '')} {element.get('id', '')}")
    return bool(_NOISE_NAMES.search(names))


def _paragraph_letters(element: lxml.html.HtmlElement) -> int:
    return sum(len(paragraph.text_content()) for paragraph in element.iter("p"))


def _readable_text(page: lxml.html.HtmlElement, headlines: Collection[str]) -> str:
    """Return the text that readability finds on the page; empty where that is no article."""
    try:
        summary = Document(lxml.html.tostring(page, encoding="unicode")).summary(html_partial=True)
    except Unparseable:
        return ""
    if not summary.strip():
        return ""
    article = _tree(summary)
    links = sum(_letters(link.text_content()) for link in article.iter("a"))
    paragraphs = _paragraphs(article)
    # The headline has a field of its own.
    if paragraphs and paragraphs[0].casefold() in headlines:
        paragraphs.pop(0)
    letters = sum(_letters(paragraph) for paragraph in paragraphs)
    if letters < MIN_TEXT_LETTERS or links > MAX_LINK_SHARE * letters:
        return ""
    return "\n\n".join(paragraphs)


def _declared_text(linked_data: dict[str, Any]) -> str:
    """Return the JSON-LD articleBody as plain text; empty if there is none worth the name."""
    declared = linked_data.get("articleBody")
    if not isinstance(declared, str) or not declared.strip():
        return ""
    if re.search(r"</?(?:p|br|div)\b", declared, re.IGNORECASE):
        paragraphs = _paragraphs(_tree(declared))
    else:
        paragraphs = [_squeeze(html.unescape(part)) for part in re.split(r"\n\s*\n", declared)]
    text = "\n\n".join(paragraph for paragraph in paragraphs if paragraph)
    return text if _letters(text) >= MIN_TEXT_LETTERS else ""


def _paragraphs(element: lxml.html.HtmlElement) -> list[str]:
    """Return the element's paragraphs as plain text; two line breaks end one too."""
    pieces: list[str] = []
    _collect(element, pieces)
    return [text for part in _PARAGRAPH_BREAK.split("".join(pieces)) if (text := _squeeze(part))]


def _collect(element: lxml.html.HtmlElement, pieces: list[str]) -> None:
    for event, node in lxml.etree.iterwalk(element, events=("start", "end")):
        edge = "\n\n" if node.tag in _BLOCKS else " " if node.tag in {"td", "th"} else ""
        if event == "start":
            pieces.append("\n" if node.tag == "br" else edge)
            pieces.append(_BLANKS.sub(" ", node.text or ""))
        else:
            pieces.append(edge)
            if node is not element:
                pieces.append(_BLANKS.sub(" ", node.tail or ""))


def _squeeze(text: str) -> str:
    return " ".join(_NOT_XML.sub(" ", text).split())


def _letters(text: str) -> int:
    return sum(character.isalnum() for character in text)
