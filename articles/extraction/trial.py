"""Tries an extraction rule on kept pages, before it is saved. Pure.

A process of its own does it: an XPath expression can take hours, and nothing but the end of its process stops it.
First each selector is measured on a page that is made for it; then the pages are extracted without and with the rule.
"""

import dataclasses
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Self

import lxml.etree

from articles.extraction.kept_pages import Extraction, KeptPage, extract_kept
from articles.extraction.rules import (
    FIELDS,
    NO_RULE,
    ExtractionRule,
    answers_of,
    find_selected,
    limit_cpu,
    made_page,
    say,
)

# Seconds that a selector may take on the made page, which is about as large as the largest pages of newspapers.
MOST_SECONDS = 1.0
_CHAINS, _DEPTH, _SIBLINGS = 400, 25, 1_500
# Seconds of the whole trial, for which a thread of the pages waits.
LONGEST = 22
_UNKNOWN = "The trial took too long, or ended unexpectedly. Try again with fewer selectors."


class TrialError(ValueError):
    """A rule that cannot be tried, or takes too long; the message is a sentence for people."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What was extracted from a page, as texts for people; `reason` says why there is no article, and is else empty."""

    text: str = ""
    headline: str = ""
    day: str = ""
    authors: str = ""
    doubts: str = ""
    reason: str = ""

    @classmethod
    def of(cls, found: Extraction) -> Self:
        """Return it for an article, or for the reason why there is none."""
        if isinstance(found, str):
            return cls(reason=found)
        clock = f", {found.time.read_clock} {found.time.zone}" if found.time else ""
        doubts = "; ".join(filter(None, [found.date_doubt, found.text_doubt]))
        return cls(found.text, found.headline, f"{found.date or ''}{clock}", found.byline, doubts)


class Tried(NamedTuple):
    """The same page extracted without and with the rule."""

    before: Reading
    after: Reading


def try_rule(
    rule: ExtractionRule, pages: Sequence[KeptPage], *, current: ExtractionRule = NO_RULE, longest: int = LONGEST
) -> list[Tried]:
    """Extract pages with the current rule and with another one, whose selectors are valid.

    Raises TrialError, also if all together takes longer than `longest` seconds.
    """
    lines, is_whole = answers_of("trial", (rule, current, pages, longest), longest)
    last = lines[-1] if lines else {}
    if "fault" in last:
        raise TrialError(last["fault"])
    if not is_whole:
        raise TrialError(_slow(last["measured"]) if "measured" in last else _UNKNOWN)
    return [Tried(Reading(**line["before"]), Reading(**line["after"])) for line in lines if "before" in line]


def _slow(selector: str) -> str:
    return (
        f"The selector “{selector}” takes too long: more than {MOST_SECONDS:.0f} second on a page of "
        f"{_CHAINS * _DEPTH:,} elements. Use a class or an id, and no “following”, “preceding” or “//” "
        "inside brackets."
    )


def _measured_fault(selector: str) -> str:
    """Return why a selector cannot be used, after it was used on a page made for it; empty if it can."""
    page = made_page(selector, chains=_CHAINS, depth=_DEPTH, siblings=_SIBLINGS)
    started = time.process_time()
    try:
        find_selected(page, selector)
    except lxml.etree.XPathError as error:
        return f"“{selector}” cannot be used ({error})."
    return _slow(selector) if time.process_time() - started > MOST_SECONDS else ""


def main(asked: tuple[ExtractionRule, ExtractionRule, Sequence[KeptPage], int]) -> None:
    """Say what was measured of a rule and extracted from pages, with the current rule and with this one."""
    rule, current, pages, longest = asked
    limit_cpu(longest)
    for selector in dict.fromkeys(name for field in FIELDS for name in rule.selectors(field)):
        say({"measured": selector})
        if fault := _measured_fault(selector):
            say({"fault": fault})
            return
    for page in pages:
        before, after = (Reading.of(extract_kept(page._replace(rule=tried))) for tried in (current, rule))
        say({"before": dataclasses.asdict(before), "after": dataclasses.asdict(after)})
