"""Tries an extraction rule on kept pages, before it is saved. Pure.

A process of its own does it: whatever an expression takes on a page, nothing but the end of its process stops it.
"""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Self

from articles.extraction.kept_pages import Extraction, KeptPage, extract_kept
from articles.extraction.rules import LONGEST, NO_RULE, ExtractionRule, answers_of, limit_cpu, say


class TrialError(ValueError):
    """A trial that takes too long; the message is a sentence for people."""


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

    Raises TrialError if all together takes longer than `longest` seconds.
    """
    lines, is_whole = answers_of("trial", (rule, current, pages, longest), longest)
    if not is_whole:
        raise TrialError("The trial took too long, or ended unexpectedly. Try again with fewer selectors.")
    return [Tried(Reading(**line["before"]), Reading(**line["after"])) for line in lines]


def main(asked: tuple[ExtractionRule, ExtractionRule, Sequence[KeptPage], int]) -> None:
    """Say what was extracted from pages with the current rule and with another one."""
    rule, current, pages, longest = asked
    limit_cpu(longest)
    for page in pages:
        before, after = (Reading.of(extract_kept(page._replace(rule=tried))) for tried in (current, rule))
        say({"before": dataclasses.asdict(before), "after": dataclasses.asdict(after)})
