"""Which article represents a cluster, by the rule of the default profile. Pure."""

from __future__ import annotations

import datetime
from collections.abc import Collection
from typing import NamedTuple

from articles.normalization.times import publication_order
from dedup.detection.types import KeepRule


class Candidate(NamedTuple):
    """An article of a cluster, and what the rules ask about it."""

    pk: int
    date: datetime.date
    published_at: datetime.datetime | None
    agency: str = ""
    characters: int = 0
    withheld: bool = False


def kept_by(rule: str, candidates: Collection[Candidate]) -> int:
    """Return the id of the article that a rule keeps; if it likes several best, the one that was published first.

    An article that is withheld is kept only if all are.
    """
    candidates = [candidate for candidate in candidates if not candidate.withheld] or candidates
    by_id = {candidate.pk: candidate for candidate in candidates}
    ordered = [by_id[pk] for pk in publication_order(candidate[:3] for candidate in candidates)]
    if rule == KeepRule.AGENCY:
        return next((each for each in ordered if each.agency), ordered[0]).pk
    if rule == KeepRule.LONGEST:
        return max(ordered, key=lambda each: each.characters).pk
    return ordered[0].pk
