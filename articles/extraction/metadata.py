"""Reads the metadata of a page's article: JSON-LD, meta elements, links. Pure."""

import html
import json
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import lxml.etree

from articles.extraction.authors import byline_choices, host_names, names_of
from articles.extraction.html import (
    Element,
    join_paragraphs,
    joined_url,
    main_headings,
    paragraphs,
    parse_markup,
    squeeze,
    url_parts,
)
from articles.extraction.names import squash

# JSON-LD has some thousand characters; longer scripts are not read.
MAX_DATA_CHARACTERS = 2_000_000
MAX_DATA_DEPTH = 12
# What is left of a headline without the words that only one source adds must be most of it: not "Live" or "Politics".
MIN_HEADLINE = 2 / 3
# A longer one is not a headline.
MAX_HEADLINE_CHARACTERS = 500
# A site's name that is part of a longer one: fjordbladet in "Daily Fjordbladet".
LONG_NAME = 6
_ARTICLE_TYPES = ("BlogPosting", "LiveBlogPosting", "Report")
_META_HEADLINES = ("og:title", "twitter:title", "dc.title", "sailthru.title", "parsely-title")
_META_LANGUAGES = ("content-language", "og:locale", "dc.language", "language")
_SCRIPT_FRAME = re.compile(r"^\s*(?:<!--|//\s*<!\[CDATA\[|<!\[CDATA\[)|(?:-->|//\s*\]\]>|\]\]>)\s*$")
_SEPARATOR = re.compile(r"\s+[|\-–—•·:»]\s+|\s*[|｜]\s*")
_LAST_COMMA = re.compile(r",(\s*[}\]])")
_BLANK = re.compile(r"\s")
_LOCALE = re.compile(r"([a-z]{2,3}(?:[-_][a-z]{2})?)(?:[-_,;]|$)")


@dataclass(frozen=True, slots=True)
class Declared:
    """A page's metadata. `data` is the JSON-LD object of its article, `metas` its meta elements by lower-case name.

    `language` is an ISO 639 code, `locale` the same with a region if the page names one, as in en-gb; or empty.
    Headlines, authors and sites have the preferred one first. URLs are absolute; the writer of articles decides whether
    to believe them.
    """

    data: Mapping[str, Any]
    metas: Mapping[str, str]
    headlines: tuple[str, ...]
    authors: tuple[str, ...]
    sites: tuple[str, ...]
    language: str
    locale: str
    canonical_url: str | None
    amp_url: str | None

    def meta(self, *names: str) -> Iterator[str]:
        """Yield the contents of the meta elements with these names, in the order of the names."""
        yield from (content for name in names if (content := self.metas.get(name)))


def read_declared(page: Element, url: str) -> Declared:
    data, metas = _article_data(page), _metas(page)
    # What relative links are resolved against.
    base = next((joined_url(url, href.strip()) for href in page.xpath("//base/@href")), "")
    base = base if url_parts(base).hostname else url
    sites = tuple(_sites(data, metas))
    names = [*sites, *host_names(url)]
    headlines = list(_headlines(page, data, metas))
    own, whole = ({squash(text) for text in texts} - {""} for texts in (names, headlines))
    locale = _locale(page, data, metas)
    return Declared(
        data=data,
        metas=metas,
        headlines=tuple(_shortened(headline, own, whole) for headline in headlines),
        authors=tuple(byline_choices(page, data, metas, names)),
        sites=sites,
        language=re.split("[-_]", locale)[0],
        locale=locale,
        canonical_url=_canonical_url(page, data, metas, base),
        amp_url=next(filter(None, (_article_url(link, base) for link in _links(page, "amphtml"))), None),
    )


def declared_text(declared: Declared) -> str:
    """Return the JSON-LD articleBody as plain text with blank lines between paragraphs; empty if there is none."""
    body = declared.data.get("articleBody")
    if not isinstance(body, str) or not body.strip():
        return ""
    if re.search(r"</?(?:p|br|div)\b", body, re.IGNORECASE):
        try:
            return join_paragraphs(paragraphs(parse_markup(body)))
        except lxml.etree.LxmlError:
            return ""
    parts = (squeeze(html.unescape(part)) for part in re.split(r"\n\s*?\n", body))
    return "\n\n".join(part for part in parts if part)


def nodes(data: Any, depth: int = 0) -> Iterator[dict[str, Any]]:
    """Yield the objects of a JSON-LD document: itself, those in lists and @graph, and a page's main entity."""
    if depth > MAX_DATA_DEPTH:
        return
    if isinstance(data, list):
        for entry in data:
            yield from nodes(entry, depth + 1)
    elif isinstance(data, dict):
        yield data
        yield from nodes(data.get("@graph"), depth + 1)
        yield from nodes(data.get("mainEntity"), depth + 1)


def _article_data(page: Element) -> dict[str, Any]:
    """Return the first JSON-LD object that is an article, with its authors' names; empty if there is none."""
    known: dict[str, Any] = {}
    article: dict[str, Any] | None = None
    of_page: Any = None
    for node in _linked_data(page):
        if article is None and _is_article(node):
            article = node
        if of_page is None and str(node.get("@type")).endswith("Page"):
            of_page = node.get("author")
        if isinstance(node.get("@id"), str) and "name" in node:
            known.setdefault(node["@id"], node["name"])
    return {**article, "author": _named(article.get("author") or of_page, known)} if article else {}


def _linked_data(page: Element) -> Iterator[dict[str, Any]]:
    for script in page.xpath("//script[contains(@type, 'ld+json')]"):
        source = script.text or ""
        if len(source) > MAX_DATA_CHARACTERS:
            continue
        source = _SCRIPT_FRAME.sub("", source)
        for text in (source, _LAST_COMMA.sub(r"\1", source)):  # the second is only tried if the first is not JSON
            try:
                data = json.loads(text, strict=False)  # line breaks inside strings are common
            except (ValueError, RecursionError):
                continue
            yield from nodes(data)
            break


def _named(authors: Any, known: Mapping[str, Any]) -> Any:
    """Return the authors, with the names of those that are only references to other objects of the page."""
    if isinstance(authors, list):
        return [_named(author, known) for author in authors if not isinstance(author, list)]
    if isinstance(authors, dict) and "name" not in authors and isinstance(authors.get("@id"), str):
        return authors | {"name": known.get(authors["@id"])}
    return authors


def _is_article(node: dict[str, Any]) -> bool:
    types = node.get("@type")
    names = types if isinstance(types, list) else [types]
    short = [name.rsplit("/", 1)[-1] for name in names if isinstance(name, str)]
    return any(name.endswith("Article") or name in _ARTICLE_TYPES for name in short)


def _metas(page: Element) -> dict[str, str]:
    """Return the contents of the meta elements by name; of several with one name, the first that is not empty."""
    contents: dict[str, str] = {}
    for meta in page.xpath("//meta[@content]"):
        name = next(filter(None, map(meta.get, ("property", "name", "itemprop", "http-equiv"))), "")
        if name and (content := meta.get("content").strip()):
            contents.setdefault(name.strip().lower(), content)
    return contents


def _headlines(page: Element, data: Mapping[str, Any], metas: Mapping[str, str]) -> Iterator[str]:
    found = [data.get("headline") or data.get("name"), *(metas.get(name) for name in _META_HEADLINES)]
    found += [heading.text_content() for heading in main_headings(page)]
    found += [title.text_content() for title in page.xpath("//head/title | //title")]
    for node in found:
        # Entities are often escaped twice in JSON-LD and meta elements.
        if isinstance(node, str) and (headline := squeeze(html.unescape(node))):
            yield headline


def _shortened(headline: str, own: Collection[str], whole: Collection[str]) -> str:
    """Return a headline without the site's own name at its end, and without what the other whole headlines lack."""
    if len(headline) > MAX_HEADLINE_CHARACTERS:
        return headline
    for match in _SEPARATOR.finditer(headline):
        before, rest = headline[: match.start()], squash(headline[match.end() :])
        most = len(before) > MIN_HEADLINE * len(headline)
        of_site = any(len(name) >= LONG_NAME and name in rest for name in own)
        if squash(before) and (rest in own or ((most or of_site) and squash(before) in whole)):
            return before
    return headline


def _sites(data: Mapping[str, Any], metas: Mapping[str, str]) -> Iterator[str]:
    """Yield what the page calls its site, its publisher, and organisations that it names as its author."""
    yield from names_of(data.get("publisher"))
    authors = data.get("author")
    for author in authors if isinstance(authors, list) else [authors]:
        if isinstance(author, dict) and "Organization" in str(author.get("@type")):
            yield from names_of(author)
    for name in ("og:site_name", "application-name", "publisher", "twitter:site"):
        if name in metas:
            yield metas[name]


def _locale(page: Element, data: Mapping[str, Any], metas: Mapping[str, str]) -> str:
    """Return the ISO 639 code that the page declares, with its region if it has one; empty if it declares none."""
    found = [page.get("lang"), page.get("{http://www.w3.org/XML/1998/namespace}lang"), page.get("xml:lang")]
    for value in [data.get("inLanguage"), *found, *(metas.get(name) for name in _META_LANGUAGES)]:
        if isinstance(value, str) and (match := _LOCALE.match(value.strip().lower())):
            return match[1]
    return ""


def _links(page: Element, relation: str) -> list[str]:
    expression = "//link[contains(concat(' ', normalize-space(@rel), ' '), $relation)]/@href"
    return page.xpath(expression, relation=f" {relation} ")


def _canonical_url(page: Element, data: Mapping[str, Any], metas: Mapping[str, str], base: str) -> str | None:
    entity = data.get("mainEntityOfPage")
    named = entity.get("@id") if isinstance(entity, dict) else entity
    for candidate in (*_links(page, "canonical"), metas.get("og:url"), named, data.get("url")):
        if isinstance(candidate, str) and (resolved := _article_url(candidate, base)):
            return resolved
    return None


def _article_url(candidate: str, base: str) -> str | None:
    """Return the absolute URL if it can be an article's.

    It cannot be the site's root, which careless templates name on every page, nor a relative path such as
    `undefined` or `#`.
    """
    candidate = candidate.strip()
    if not candidate.lower().startswith(("http://", "https://", "/")) or _BLANK.search(candidate):
        return None
    resolved = joined_url(base, candidate)
    parts = url_parts(resolved)
    return resolved if parts.hostname and (parts.path not in {"", "/"} or parts.query) else None
