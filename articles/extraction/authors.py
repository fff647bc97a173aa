"""Finds the bylines of a page: those that it declares, and those that readers see next to its headline. Pure."""

import html
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from articles.extraction.html import Element, elements_of, main_headings, names_of_element, squeeze, url_parts
from articles.extraction.names import person_names, squash
from articles.loading import words_for

# A longer element is not a byline.
MAX_BLOCK_CHARACTERS = 300
MAX_BLOCKS = 30
MAX_LEVELS = 5
MAX_CARD_ELEMENTS = 1_000
# How far above an element its card is looked for.
_CARD_LEVELS = 4
_WORDS = words_for(__file__)
_META_AUTHORS = tuple(_WORDS["metas"])
_LABEL_OF_AUTHOR = re.compile(_WORDS["label"], re.IGNORECASE)
_MARK = re.compile(_WORDS["mark"])
_PROFILE = re.compile(_WORDS["profile"], re.IGNORECASE)
_ELSEWHERE = ("nav", "footer", "form", "button", "select", "script", "style", "figure", "figcaption")
_COMMENTS = re.compile(r"(?<![a-z])(?:comments?|disqus|kommentare?|reply|replies)(?![a-z])")
_HELPERS = re.compile(r"\b(?:and|und|et|y|by|von|par|por)\b", re.IGNORECASE)
_SEPARATORS = frozenset(
    {"and", "und", "et", "y", "e", "og", "och", "en", "i", "a", "by", "von", "par", "por", "di", "av"}
)


def byline_choices(
    page: Element, data: Mapping[str, Any], metas: Mapping[str, str], sites: Sequence[str]
) -> Iterator[str]:
    """Yield the bylines, the preferred source first. An empty one ends the bylines of a source.

    What readers see counts if no source of the page's metadata names a person.
    """
    declared: list[str] = []
    for source in _declared(page, data, metas):
        # A URL is not a name: article:author often has the URL of a profile.
        if names := [name for value in source if (name := squeeze(html.unescape(value))) and "://" not in name]:
            yield from names
            yield ""
            declared += names
    if not person_names(declared, sites) and (seen := visible_byline(page, sites)):
        yield from seen
        yield ""


def host_names(url: str) -> list[str]:
    """Return what a site may call itself by its host, such as fjordbladet and fjordbladet.example."""
    labels = (url_parts(url).hostname or "").removeprefix("www.").split(".")
    return [".".join(labels[start:end]) for start in range(len(labels)) for end in range(start + 1, len(labels) + 1)]


def visible_byline(page: Element, sites: Sequence[str]) -> list[str]:
    """Return the names in the first byline after the headline, or else in the headline's own frame."""
    headline = next(iter(main_headings(page)), None)
    after, before = _marked(page, headline)
    frames = [] if headline is None else list(headline.iterancestors())[:3]
    near = [element for element in before[-MAX_BLOCKS:] if any(frame in element.iterancestors() for frame in frames)]
    done: set[Element] = set()
    for element in [*after, *reversed(near)][:MAX_BLOCKS]:
        block = _block(element)
        if block in done or _is_elsewhere(block, headline):
            continue
        done.add(block)
        if names := _names_in(block, sites):
            return names
    return []


def _declared(page: Element, data: Mapping[str, Any], metas: Mapping[str, str]) -> Iterator[Iterable[str]]:
    yield names_of(data.get("author"))
    yield names_of(data.get("creator"))
    yield _meta_authors(page)
    labelled = (number for number in "12" if _LABEL_OF_AUTHOR.search(metas.get(f"twitter:label{number}", "")))
    yield (metas.get(f"twitter:data{number}", "") for number in labelled)
    yield (element.text_content() for element in page.xpath("//*[contains(@itemprop, 'author')]//*[@itemprop='name']"))
    yield (element.text_content() for element in page.xpath("//*[@rel='author'] | //*[@itemprop='author']"))
    yield (element.text_content() for element in page.xpath("//*[contains(concat(' ', @class, ' '), ' byline ')]"))


def names_of(value: Any) -> Iterator[str]:
    """Yield the names in a JSON-LD value: a name, an object with one, or a list of either."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        own = (value.get("givenName"), value.get("familyName"))
        name = value.get("name") or " ".join(part for part in own if isinstance(part, str))
        yield from names_of(name if isinstance(name, str | list) else None)
    elif isinstance(value, list):
        for entry in value[:20]:
            if not isinstance(entry, list):
                yield from names_of(entry)


def _meta_authors(page: Element) -> list[str]:
    """Return the contents of the meta elements that name authors: all those of the first name that has any."""
    contents: dict[str, list[str]] = {}
    for meta in page.xpath("//meta[@content]"):
        for attribute in ("property", "name", "itemprop"):
            if (name := squash(meta.get(attribute, ""))) in _META_AUTHORS:
                contents.setdefault(name, []).append(meta.get("content"))
    return [content for name in _META_AUTHORS for content in contents.get(name, ())]


def _marked(page: Element, headline: Element | None) -> tuple[list[Element], list[Element]]:
    """Return the elements that are marked as bylines or lead to an author: those after the headline, and before it."""
    after: list[Element] = []
    before: list[Element] = []
    found = after if headline is None else before
    for element in elements_of(page):
        if element is headline:
            found = after
        elif element.tag not in {"html", "body", "meta", "link"} and (_is_marked(element) or _leads_to_author(element)):
            found.append(element)
    return after, before


def _is_marked(element: Element, mark: re.Pattern[str] = _MARK) -> bool:
    return mark.search(names_of_element(element, "class", "id", "data-testid", "data-qa").lower()) is not None


def _leads_to_author(element: Element) -> bool:
    return element.tag == "a" and bool(_PROFILE.search(element.get("href", "")))


def _block(element: Element) -> Element:
    """Return the largest byline that holds the element: up to where a text is too long, or is more than a byline."""
    block = element
    for ancestor in islice(element.iterancestors(), MAX_LEVELS):
        if ancestor.tag in {"body", "main", "article"} or len(ancestor.text_content()) > MAX_BLOCK_CHARACTERS:
            break
        is_around = ancestor is element.getparent() and ancestor.tag in {"p", "li", "ul", "div", "span"}
        if is_around or _is_marked(ancestor):
            block = ancestor
    return block


def _is_elsewhere(block: Element, headline: Element | None) -> bool:
    """Return whether the byline belongs to a comment, to a form, or to the card of another article."""
    for level, ancestor in enumerate([block, *block.iterancestors()]):
        if ancestor.tag in _ELSEWHERE:
            return True
        if ancestor.tag in {"body", "main", "article"} or (headline is not None and headline in ancestor.iter("h1")):
            return False
        if _is_marked(ancestor, _COMMENTS) or (level < _CARD_LEVELS and _is_card(ancestor)):
            return True
    return False


def _is_card(element: Element) -> bool:
    """Return whether the element is small and has a heading that is a link, as the cards of other articles have."""
    parts = list(islice(elements_of(element), MAX_CARD_ELEMENTS + 1))
    headings = [part for part in parts if part.tag in {"h2", "h3", "h4"}] if len(parts) <= MAX_CARD_ELEMENTS else []
    return any(
        next(part.iter("a"), None) is not None or next(part.iterancestors("a"), None) is not None for part in headings
    )


def _names_in(block: Element, sites: Sequence[str]) -> list[str]:
    """Return the names that follow each other in a byline; its links to authors decide if it has any."""
    if len(block.text_content()) > MAX_BLOCK_CHARACTERS:
        return []
    linked = [squeeze(link.text_content()) for link in block.iter("a") if _leads_to_author(link)]
    if names := person_names(linked, sites, certain=True):
        return names
    found: list[str] = []
    for piece in map(squeeze, block.itertext()):
        # The first number is of a time: "Liv Dahl, 3 May" names one person.
        before = re.split(r"\d", piece, maxsplit=1)[0].strip(" ,-–—|•·/")
        names = person_names([before], sites, certain=True)
        if found and not names and squash(piece) and squash(piece) not in _SEPARATORS:
            break
        found += names
    return list(dict.fromkeys(found))


def name_line(lines: Sequence[str], headline: str, text: str) -> list[str]:
    """Return the names in the first of these lines of a text that consists of nothing else.

    A person of whom the text speaks is not its author, nor one whom the headline names.
    """
    for line in lines:
        if len(line) > MAX_BLOCK_CHARACTERS or line.endswith("."):
            continue
        names = person_names([line], certain=True)
        whole = squash("".join(names)) == name_letters(line)
        surnames = [name.rsplit(maxsplit=1)[-1].casefold() for name in names] if whole else []
        spoken_of = (name in headline.casefold() or text.casefold().count(name) > 1 for name in surnames)
        if surnames and not any(spoken_of):
            return names
    return []


def name_letters(line: str) -> str:
    """Return the letters of the names in a line that may be a byline: all but "By" and "and"."""
    return squash(_HELPERS.sub("", line)) if len(line) <= MAX_BLOCK_CHARACTERS else ""
