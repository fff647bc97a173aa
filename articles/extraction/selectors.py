"""Selectors of extraction rules: CSS, or XPath if one begins with "/", "./" or "(". Pure."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

import cssselect
import lxml.etree
import lxml.html
from cssselect.xpath import HTMLTranslator

MAX_SELECTOR_CHARACTERS = 300
_XPATH = re.compile(r"\.?/|\(")
_NAME = re.compile(r"[A-Za-z][\w-]*")
_MOST_NAMES = 12
_SHOWN_CHARACTERS = 60


def find_selected(page: lxml.html.HtmlElement, selector: str) -> Any:
    """Return what lxml finds by a valid selector: a list, or for some XPath a text, a number or a boolean.

    Raises XPathError if an expression that was not evaluated before names an unknown function or prefix.
    """
    return _compiled(selector)(page)


@lru_cache(maxsize=2_000)
def _compiled(selector: str) -> lxml.etree.XPath:
    """Return the compiled selector. Raises SelectorError, XPathError, and ValueError for what XML does not allow."""
    is_xpath = _XPATH.match(selector)
    return lxml.etree.XPath(selector if is_xpath else HTMLTranslator().css_to_xpath(selector, "//"))


def selector_fault(selector: str, *, elements: bool) -> str:
    """Return why a selector is not valid, as a sentence for people; empty if it is.

    It must find `elements`, or else may also find attributes and texts.
    """
    shown = f"“{selector[:_SHOWN_CHARACTERS]}{'…' if len(selector) > _SHOWN_CHARACTERS else ''}”"
    if len(selector) > MAX_SELECTOR_CHARACTERS:
        return f"{shown} has {len(selector)} characters; a selector has at most {MAX_SELECTOR_CHARACTERS}."
    try:
        found = find_selected(made_page(selector, chains=2, depth=6, siblings=6), selector)
    except cssselect.SelectorError as error:
        return f"{shown} is not a CSS selector ({error}). XPath begins with “/”, “./” or “(”."
    except (lxml.etree.XPathError, ValueError) as error:
        return f"{shown} is not XPath ({error})."
    if isinstance(found, bool | float):
        return (
            f"{shown} gives {'true or false' if isinstance(found, bool) else 'a number'}, which nothing is read from."
        )
    if elements and (isinstance(found, str) or any(isinstance(each, str) for each in found)):
        return f"{shown} finds attributes or texts; here it must find elements, such as //article or div.story."
    return ""


def made_page(selector: str, *, chains: int, depth: int, siblings: int) -> lxml.html.HtmlElement:
    """Return a page of elements that have the names in a selector as their tags, classes, attributes and ids.

    There are `chains` of elements that are `depth` deep inside each other, and `siblings` of each other: both make an
    expression slow.
    """
    names = [name.lower() for name in dict.fromkeys(_NAME.findall(selector))][:_MOST_NAMES] or ["p"]
    page = lxml.html.Element("html")
    body = lxml.etree.SubElement(page, "body")
    attributes = dict.fromkeys(names, "1") | {"class": " ".join(names), "id": names[-1]}
    for chain in range(chains):
        element = body
        for level in range(depth):
            element = lxml.etree.SubElement(element, names[(chain + level) % len(names)], attributes)
            element.text = "Text"
    for place in range(siblings):
        lxml.etree.SubElement(body, names[place % len(names)], attributes).text = "Text"
    return page
