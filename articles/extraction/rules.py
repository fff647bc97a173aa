"""A newspaper's own extraction rule: selectors for what the general extraction misses on its pages. Pure.

Selectors are explained in selectors.py. trial.py bounds how long one may take; here they are taken as they are.
"""

from __future__ import annotations

import copy
import dataclasses
import datetime
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import lxml.etree
import lxml.html

from articles.extraction.body import MIN_TEXT_LETTERS, remove_noise, remove_programs
from articles.extraction.dates import PublicationDay, selected_day
from articles.extraction.html import join_paragraphs, paragraphs, squeeze
from articles.extraction.metadata import Declared
from articles.extraction.page_chrome import is_time, without_page_chrome
from articles.extraction.selectors import find_selected, selector_faults
from articles.normalization.text import letters

MAX_SELECTORS = 10  # of a field
# These fields take elements; the others also take attributes and texts.
_ELEMENT_FIELDS = ("body", "drop")
_SHOWN_CHARACTERS = 60


@dataclass(frozen=True, slots=True)
class ExtractionRule:
    """The selectors of each field; the first of a field that finds something is used, and all of `drop`.

    `number` identifies the rule as it is saved; None for one that is not.
    """

    body: tuple[str, ...] = ()
    headline: tuple[str, ...] = ()
    day: tuple[str, ...] = ()
    authors: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    number: int | None = None

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> Self:
        """Return the rule with these lists of selectors by field, as `selectors` returns them."""
        return cls(**{field: tuple(values.get(field) or ()) for field in FIELDS}, number=values.get("number"))

    def selectors(self, field: str) -> tuple[str, ...]:
        """Return the selectors of a field of FIELDS."""
        found: tuple[str, ...] = getattr(self, field)
        return found

    def __bool__(self) -> bool:
        return any(self.selectors(field) for field in FIELDS)


FIELDS = tuple(field.name for field in dataclasses.fields(ExtractionRule) if field.name != "number")
NO_RULE = ExtractionRule()


class Ruled(NamedTuple):
    """What a rule found on a page; empty or None where it has no selector, or found nothing.

    The doubts say for people what it has a selector for and did not find.
    """

    text: str = ""
    headline: str = ""
    authors: tuple[str, ...] = ()
    day: PublicationDay | None = None
    text_doubt: str = ""
    date_doubt: str = ""


def rule_faults(rule: ExtractionRule) -> dict[str, list[str]]:
    """Return why a rule is not valid, as sentences by field; empty if it is. Takes seconds at most."""
    faults = {
        field: [f"There are {number} selectors; at most {MAX_SELECTORS} are tried on every page."]
        for field in FIELDS
        if (number := len(rule.selectors(field))) > MAX_SELECTORS
    }
    tried = [(field, selector) for field in FIELDS if field not in faults for selector in rule.selectors(field)]
    found = selector_faults(tuple((selector, field in _ELEMENT_FIELDS) for field, selector in tried))
    for (field, _), fault in zip(tried, found, strict=True):
        if fault:
            faults.setdefault(field, []).append(fault)
    return faults


def drop_selected(page: lxml.html.HtmlElement, rule: ExtractionRule) -> None:
    """Remove what the rule drops from the page; what is kept of a page is never changed."""
    for selector in rule.drop:
        for element in _elements(page, selector):
            if element.getparent() is not None and element.tag != "body":
                element.drop_tree()


def read_by_rule(
    page: lxml.html.HtmlElement, rule: ExtractionRule, declared: Declared, url: str, today: datetime.date
) -> Ruled:
    """Return what the rule finds on a page, from which what it drops was removed."""
    headline = next(_values(page, rule.headline), "")
    authors = tuple(_values(page, rule.authors))
    days = list(_values(page, rule.day))
    fields = (headline, *declared.headlines, *authors, *days)
    titles = {each.casefold() for each in fields}
    text = next(filter(None, (_text(page, selector, titles) for selector in rule.body)), "")
    day = next(filter(None, (selected_day(each, page, declared, url, today) for each in days)), None)
    missed = [name for name, asked, found in (("text", rule.body, text), ("headline", rule.headline, headline))
              if asked and not found]  # fmt: skip
    return Ruled(
        text=text,
        headline=headline,
        authors=authors,
        day=day,
        text_doubt=f"the newspaper's own rule finds no {' and no '.join(missed)} on the page" if missed else "",
        date_doubt="" if day or not rule.day else _missing_day(days),
    )


def _found(page: lxml.html.HtmlElement, selector: str) -> Sequence[Any]:
    try:
        found = find_selected(page, selector)
    except lxml.etree.XPathError:  # it names a function that XPath does not have
        return ()
    return found if isinstance(found, list) else (found,)


def _elements(page: lxml.html.HtmlElement, selector: str) -> list[lxml.html.HtmlElement]:
    return [each for each in _found(page, selector) if isinstance(each, lxml.html.HtmlElement)]


def _values(page: lxml.html.HtmlElement, selectors: Sequence[str]) -> Iterator[str]:
    """Yield the texts that the first selector finds that finds any."""
    for selector in selectors:
        texts = [text for each in _found(page, selector) if (text := squeeze(_value(each)))]
        if texts:
            yield from dict.fromkeys(texts)
            return


def _value(found: Any) -> str:
    """Return the text of an element or attribute; of meta and time elements, what they give to programs."""
    if isinstance(found, lxml.html.HtmlElement):
        return found.get("datetime") or (found.tag == "meta" and found.get("content")) or found.text_content()
    return found if isinstance(found, str) else ""


def _text(page: lxml.html.HtmlElement, selector: str, titles: set[str]) -> str:
    """Return the text of the elements that a selector finds; empty if that is too short for an article."""
    elements = _elements(page, selector)
    outermost = set(elements)
    page_of_text = lxml.html.Element("html")
    body = lxml.etree.SubElement(page_of_text, "body")
    for element in elements:
        if outermost.isdisjoint(element.iterancestors()):
            body.append(_copy(element))
    remove_programs(page_of_text)
    remove_noise(page_of_text)
    parts = without_page_chrome(paragraphs(page_of_text))
    # Headline, day and authors have fields of their own.
    while parts and (parts[0].text.casefold() in titles or is_time(parts[0].text)):
        parts = parts[1:]
    text = join_paragraphs(parts)
    return text if letters(text) >= MIN_TEXT_LETTERS else ""


def _copy(element: lxml.html.HtmlElement) -> lxml.html.HtmlElement:
    """Return a copy without what would mark it as noise: the rule says that it is the text."""
    copied = copy.deepcopy(element)
    copied.tail = None
    copied.attrib.clear()
    if copied.tag not in {"p", "ul", "ol", "table", "blockquote", "pre"}:
        copied.tag = "div"
    return copied


def _missing_day(values: Sequence[str]) -> str:
    """Return why these values of a rule give no day, as a doubt."""
    if values:
        return f"the newspaper's own rule finds “{values[0][:_SHOWN_CHARACTERS]}”, which gives no day"
    return "the newspaper's own rule finds no day on the page"
