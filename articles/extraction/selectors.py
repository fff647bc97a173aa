"""Selectors of extraction rules: CSS, or XPath if one begins with "/", "./" or "(". Pure.

A few nested conditions can keep XPath busy for hours, and nothing but the end of its process stops it. So what somebody
has typed is evaluated by a process of its own: here to see whether it is valid, in trial.py to measure it.
"""

from __future__ import annotations

import json
import re
import resource
import subprocess
import sys
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
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
# CPU seconds for all selectors of a rule on small pages, where each takes a thousandth; and seconds, on a busy machine.
_CPU_SECONDS, _SECONDS = 1, 15
_ROOT = Path(__file__).resolve().parents[2]
_PROGRAM = "from articles.extraction.selectors import main; main()"


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


@lru_cache(maxsize=200)  # a form is checked, and then the rule that is saved
def selector_faults(selectors: tuple[tuple[str, bool], ...]) -> Sequence[str]:
    """Return the `selector_fault` of each selector, found by a process that is ended when it takes too long.

    The selectors after one that takes too long are not looked at.
    """
    if not selectors:
        return ()
    try:
        done = subprocess.run(
            [sys.executable, "-c", _PROGRAM],
            input=json.dumps(selectors).encode(),
            capture_output=True,
            cwd=_ROOT,
            timeout=_SECONDS,
            check=False,
        )
        written = done.stdout
    except subprocess.TimeoutExpired as error:
        written = error.stdout or b""
    faults = [json.loads(line) for line in written.splitlines(keepends=True) if line.endswith(b"\n")]
    if len(faults) < len(selectors):
        faults.append(f"{_shown(selectors[len(faults)][0])} takes too long. Put fewer conditions into each other.")
    return (*faults, *[""] * (len(selectors) - len(faults)))


def main() -> None:
    """Read selectors from standard input; write the fault of each, one JSON text a line."""
    resource.setrlimit(resource.RLIMIT_CPU, (_CPU_SECONDS, _CPU_SECONDS))
    for selector, elements in json.load(sys.stdin):
        sys.stdout.write(json.dumps(selector_fault(selector, elements=elements)) + "\n")
        sys.stdout.flush()


def _shown(selector: str) -> str:
    return f"“{selector[:_SHOWN_CHARACTERS]}{'…' if len(selector) > _SHOWN_CHARACTERS else ''}”"


def selector_fault(selector: str, *, elements: bool) -> str:
    """Return why a selector is not valid, as a sentence for people; empty if it is. It may take hours.

    It must find `elements`, or else may also find attributes and texts.
    """
    shown = _shown(selector)
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
