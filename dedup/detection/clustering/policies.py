"""Which articles of a cluster leave a corpus, under each policy. Pure: the export and the report both ask here."""

import datetime
from collections.abc import Collection, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import NamedTuple

from articles.normalization.times import publication_order
from dedup.detection.types import KeepRule


class Policy(StrEnum):
    """What becomes of the copies in a corpus."""

    KEEP_ALL = "keep-all"
    ONE_PER_CLUSTER = "one-per-cluster"
    KEEP_SYNDICATION = "keep-syndication"
    DROP_ALL_COPIES = "drop-all-copies"


# The rule of each policy, for help texts, pages and files.
RULES = {
    Policy.KEEP_ALL: "Every article stays.",
    Policy.ONE_PER_CLUSTER: "Of each cluster, the article that represents it stays.",
    Policy.KEEP_SYNDICATION: "Of each cluster, one article per newspaper stays.",
    Policy.DROP_ALL_COPIES: "Only articles without a copy stay.",
}


class Reason(StrEnum):
    """Why an article leaves. The first four say how it relates to the article that represents it."""

    SAME_DAY = "same newspaper, same day"
    LATER_DAY = "same newspaper, later day"
    # Only if the newspaper's later article represents the cluster, which an editor or the profile can decide.
    EARLIER_DAY = "same newspaper, earlier day"
    OTHER_NEWSPAPER = "other newspaper"
    HAS_COPIES = "has copies"


class Member(NamedTuple):
    """An article of a cluster, and what the rules ask about it."""

    pk: int
    newspaper_id: int
    date: datetime.date
    published_at: datetime.datetime | None
    agency: str = ""
    characters: int = 0
    withheld: bool = False
    chosen: int | None = None  # the latest decision to keep it
    chosen_text: int | None = None  # the latest decision to keep its text


class Removal(NamedTuple):
    """An article that leaves, why, and the article of the corpus that represents it; None if none does."""

    article: int
    reason: Reason
    represented_by: int | None


def removals(
    policy: Policy, members: Collection[Member], kept: int, units: Mapping[int, int] | None = None
) -> list[Removal]:
    """Return what leaves of a cluster.

    `members` are those of its articles that the corpus would have; with fewer than two of them, nothing leaves. `kept`
    represents the cluster. It stays unless the policy drops every copy; if it is not among the members, the one of
    them that was published first represents it. `units` are the numbers of newspapers that count as one, by their ids.
    """
    ordered = [
        member._replace(newspaper_id=(units or {}).get(member.newspaper_id, member.newspaper_id))
        for member in in_order(members)
    ]
    if len(ordered) < 2 or policy is Policy.KEEP_ALL:
        return []
    if policy is Policy.DROP_ALL_COPIES:
        return [Removal(article.pk, Reason.HAS_COPIES, None) for article in ordered]
    if policy is Policy.ONE_PER_CLUSTER:
        return list(_all_but_one(ordered, kept))
    by_newspaper: dict[int, list[Member]] = {}
    for article in ordered:
        by_newspaper.setdefault(article.newspaper_id, []).append(article)
    return [removal for own in by_newspaper.values() for removal in _all_but_one(own, kept)]


def in_order(members: Collection[Member]) -> list[Member]:
    """Return articles in the order of publication."""
    by_id = {member.pk: member for member in members}
    dated = ((member.pk, member.date, member.published_at) for member in members)
    return [by_id[pk] for pk in publication_order(dated)]


def _all_but_one(ordered: Sequence[Member], kept: int) -> Iterator[Removal]:
    stays = next((member for member in ordered if member.pk == kept), ordered[0])
    for member in ordered:
        if member is not stays:
            yield Removal(member.pk, _relation(member, stays), stays.pk)


def _relation(article: Member, stays: Member) -> Reason:
    if article.newspaper_id != stays.newspaper_id:
        return Reason.OTHER_NEWSPAPER
    if article.date == stays.date:
        return Reason.SAME_DAY
    return Reason.LATER_DAY if article.date > stays.date else Reason.EARLIER_DAY


def kept_by(rule: str, members: Collection[Member]) -> int:
    """Return the id of the article that a rule keeps; if several are equally good, the one published first.

    An article that is withheld is kept only if all are.
    """
    ordered = in_order([member for member in members if not member.withheld] or members)
    if rule == KeepRule.AGENCY:
        return next((article for article in ordered if article.agency), ordered[0]).pk
    if rule == KeepRule.LONGEST:
        return max(ordered, key=lambda article: article.characters).pk
    return ordered[0].pk
