"""A newspaper's own extraction rule: selectors for what the general extraction misses on its pages. Pure.

Selectors are CSS, or XPath if one begins with "/", "./" or "(". A few nested conditions can keep XPath busy for hours,
and nothing but the end of its process stops it. So what somebody has typed is evaluated by a process of its own first.
"""

import copy
import dataclasses
import datetime
import json
import math
import pickle
import re
import resource
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple, Self

import cssselect
import lxml.etree
import lxml.html
from cssselect.xpath import HTMLTranslator

from articles.extraction.body import MIN_TEXT_LETTERS, remove_noise, remove_programs
from articles.extraction.dates import PublicationDay, selected_day
from articles.extraction.html import Element, join_paragraphs, paragraphs, squeeze
from articles.extraction.metadata import Declared
from articles.extraction.page_chrome import is_time, without_page_chrome
from articles.normalization.text import letters

MAX_SELECTOR_CHARACTERS = 300
_XPATH = re.compile(r"\.?/|\(")
_NAME = re.compile(r"[A-Za-z][\w-]*")
_MOST_NAMES = 12
_SHOWN_CHARACTERS = 60
# CPU seconds that a selector may take on the page that it is measured on, which is about as large as the largest pages
# of newspapers. It is ended after one more. And seconds for all selectors of a rule, for which a thread of the pages
# waits.
MOST_SECONDS = 1.0
_CHAINS, _DEPTH, _SIBLINGS = 400, 25, 1_500
LONGEST = 22
_ROOT = Path(__file__).resolve().parents[2]


def find_selected(page: Element, selector: str) -> Any:
    """Return what lxml finds by a valid selector: a list, or for some XPath a text, a number or a boolean.

    Raises XPathError if an expression that was not evaluated before names an unknown function or prefix.
    """
    return _compiled(selector)(page)


@lru_cache(maxsize=2_000)
def _compiled(selector: str) -> lxml.etree.XPath:
    """Return the compiled selector. Raises SelectorError, XPathError, and ValueError for what XML does not allow."""
    return lxml.etree.XPath(selector if _XPATH.match(selector) else HTMLTranslator().css_to_xpath(selector, "//"))


@lru_cache(maxsize=200)  # a form is checked, and then the rule that is saved
def selector_faults(selectors: tuple[tuple[str, bool], ...]) -> Sequence[str]:
    """Return the `selector_fault` of each selector, found by a process that is ended when it takes too long.

    The selectors after one that takes too long are not looked at.
    """
    if not selectors:
        return ()
    faults, _ = answers_of("rules", selectors, LONGEST)
    if len(faults) < len(selectors):
        faults.append(_slow(selectors[len(faults)][0]))
    return (*faults, *[""] * (len(selectors) - len(faults)))


def main(selectors: Iterable[tuple[str, bool]]) -> None:
    """Say the fault of each selector: that it is not valid, or slow on a large page that is made for it."""
    for selector, elements in selectors:
        limit_cpu(MOST_SECONDS + 1)
        fault = selector_fault(selector, elements=elements)
        if not fault:
            page = made_page(selector, chains=_CHAINS, depth=_DEPTH, siblings=_SIBLINGS)
            started = time.process_time()
            find_selected(page, selector)
            fault = _slow(selector) if time.process_time() - started > MOST_SECONDS else ""
        say(fault)


def answers_of(module: str, asked: Any, seconds: int) -> tuple[list[Any], bool]:
    """Return what the `main` of a module here says of what is asked, and whether it came to its end in so many seconds.

    It runs in a process of its own, which gets the question as its argument, and says something by `say`, as JSON: what
    it has to do with pages from anywhere is no reason to trust it.
    """
    program = f"import pickle, sys; from articles.extraction.{module} import main; main(pickle.load(sys.stdin.buffer))"
    command, question = [sys.executable, "-c", program], pickle.dumps(asked)
    try:
        done = subprocess.run(command, input=question, capture_output=True, cwd=_ROOT, timeout=seconds, check=False)
        written, is_whole = done.stdout, done.returncode == 0
    except subprocess.TimeoutExpired as error:
        written, is_whole = error.stdout or b"", False
    return [json.loads(line) for line in written.splitlines(keepends=True) if line.endswith(b"\n")], is_whole


def limit_cpu(seconds: float) -> None:
    """End this process when it has used so many more seconds of CPU time, rounded up."""
    most, (_, hard) = math.ceil(time.process_time() + seconds), resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))


def say(answer: Any) -> None:
    """Write an answer, JSON in a line, at once: the process may be ended at any moment."""
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()


def _shown(selector: str) -> str:
    return f"“{selector[:_SHOWN_CHARACTERS]}{'…' if len(selector) > _SHOWN_CHARACTERS else ''}”"


def _slow(selector: str) -> str:
    return (
        f"{_shown(selector)} takes too long: more than {MOST_SECONDS:.0f} second on a page of {_CHAINS * _DEPTH:,} "
        "elements. Use a class or an id, and no “following”, “preceding” or “//” inside brackets."
    )


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
        kind = "true or false" if isinstance(found, bool) else "a number"
        return f"{shown} gives {kind}, which nothing is read from."
    if elements and (isinstance(found, str) or any(isinstance(part, str) for part in found)):
        return f"{shown} finds attributes or texts; here it must find elements, such as //article or div.story."
    return ""


def made_page(selector: str, *, chains: int, depth: int, siblings: int) -> Element:
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


MAX_SELECTORS = 10  # of a field
# These fields take elements; the others also take attributes and texts.
_ELEMENT_FIELDS = ("body", "drop")


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


def drop_selected(page: Element, rule: ExtractionRule) -> None:
    """Remove what the rule drops from the page; what is kept of a page is never changed."""
    for selector in rule.drop:
        for element in _elements(page, selector):
            if element.getparent() is not None and element.tag != "body":
                element.drop_tree()


def read_by_rule(page: Element, rule: ExtractionRule, declared: Declared, url: str, today: datetime.date) -> Ruled:
    """Return what the rule finds on a page, from which what it drops was removed."""
    headline = next(_values(page, rule.headline), "")
    authors = tuple(_values(page, rule.authors))
    days = list(_values(page, rule.day))
    titles = {field.casefold() for field in (headline, *declared.headlines, *authors, *days)}
    text = next(filter(None, (_text(page, selector, titles) for selector in rule.body)), "")
    day = next(filter(None, (selected_day(value, page, declared, url, today) for value in days)), None)
    missed = [name for name, asked, found in (("text", rule.body, text), ("headline", rule.headline, headline))
              if asked and not found]  # fmt: skip
    shown = f"“{days[0][:_SHOWN_CHARACTERS]}”, which gives no day" if days else "no day on the page"
    return Ruled(
        text=text,
        headline=headline,
        authors=authors,
        day=day,
        text_doubt=f"the newspaper's own rule finds no {' and no '.join(missed)} on the page" if missed else "",
        date_doubt="" if day or not rule.day else f"the newspaper's own rule finds {shown}",
    )


def _found(page: Element, selector: str) -> Sequence[Any]:
    try:
        found = find_selected(page, selector)
    except lxml.etree.XPathError:  # it names a function that XPath does not have
        return ()
    return found if isinstance(found, list) else (found,)


def _elements(page: Element, selector: str) -> list[Element]:
    return [element for element in _found(page, selector) if isinstance(element, lxml.html.HtmlElement)]


def _values(page: Element, selectors: Sequence[str]) -> Iterator[str]:
    """Yield the texts that the first selector finds that finds any."""
    for selector in selectors:
        texts = [text for element in _found(page, selector) if (text := squeeze(_value(element)))]
        if texts:
            yield from dict.fromkeys(texts)
            return


def _value(found: Any) -> str:
    """Return the text of an element or attribute; of meta and time elements, what they give to programs."""
    if isinstance(found, lxml.html.HtmlElement):
        return found.get("datetime") or (found.tag == "meta" and found.get("content")) or found.text_content()
    return found if isinstance(found, str) else ""


def _text(page: Element, selector: str, titles: set[str]) -> str:
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


def _copy(element: Element) -> Element:
    """Return a copy without what would mark it as noise: the rule says that it is the text."""
    copied = copy.deepcopy(element)
    copied.tail = None
    copied.attrib.clear()
    if copied.tag not in {"p", "ul", "ol", "table", "blockquote", "pre"}:
        copied.tag = "div"
    return copied
