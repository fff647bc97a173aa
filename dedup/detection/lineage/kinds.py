"""Which of four kinds of reuse a cluster is, with its confidence and the reasons. Pure.

Source of the kinds: Nicholls, Detecting Textual Reuse in News Stories, At Scale, International Journal of Communication
13 (2019), 4173-4197. The kinds are his; the rules are our own.
"""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from articles.normalization.times import Precision
from dedup.detection.lineage.articles import Confidence, Kind, LineageArticle
from dedup.detection.lineage.direction import Direction
from dedup.detection.lineage.likeness import Likeness

# So many houses that run one text within so many hours are more likely served by a wire than by each other.
BURST_HOUSES = 3
BURST_HOURS = 12


class KindFound(NamedTuple):
    """A kind of reuse, how well it is supported, and why."""

    kind: Kind
    confidence: Confidence
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TextMarks:
    """What a text says of its source. `credited`: the newspapers, by number, that it names as such."""

    release: bool = False
    release_marks: bool = False
    credited: frozenset[int] = frozenset()


class Tie(NamedTuple):
    """An article and a source that it may have, what their texts have in common, and what speaks for the source."""

    source: LineageArticle
    follower: LineageArticle
    like: Likeness
    found: Direction

    @property
    def own(self) -> bool:
        """Whether both are of one house."""
        return self.source.house == self.follower.house


def cluster_kind(
    articles: Sequence[LineageArticle], marks: Mapping[str, TextMarks], ties: Collection[Tie]
) -> KindFound:
    """Return the kind of reuse of a cluster; the first rule that fits decides."""
    if len({article.house for article in articles}) == 1:
        return KindFound(Kind.OWN, Confidence.CLEAR, ("All articles are of one newspaper or owner.",))
    of_others = [tie for tie in ties if not tie.own]
    return (
        _by_credit(articles, marks)
        or _by_newspapers(of_others)
        or _by_release_marks(articles, marks)
        or _by_burst(articles, of_others)
        or _by_texts(of_others)
    )


def _by_credit(articles: Sequence[LineageArticle], marks: Mapping[str, TextMarks]) -> KindFound | None:
    """Return wire or press release if an article says so itself."""
    agencies = Counter(
        agency for agency, _ in {(article.agency, article.house) for article in articles if article.agency}
    )
    releases = {article.house for article in articles if marks.get(article.text_key, TextMarks()).release}
    if agencies:
        agency, houses = agencies.most_common(1)[0]
        reason = f"{houses} newspapers credit {agency}." if houses > 1 else f"A newspaper credits {agency}."
        if releases:
            return KindFound(Kind.WIRE, Confidence.LIKELY, (reason, "An article calls itself a press release."))
        return KindFound(Kind.WIRE, Confidence.CLEAR if houses > 1 else Confidence.LIKELY, (reason,))
    if releases:
        reason = "An article calls itself a press release, or names a press office."
        return KindFound(Kind.RELEASE, Confidence.CLEAR if len(releases) > 1 else Confidence.LIKELY, (reason,))
    return None


def _by_newspapers(ties: Collection[Tie]) -> KindFound | None:
    """Return newspaper to newspaper if at least half of the followers name another newspaper as their source."""
    credited = sum(tie.found.credited for tie in ties)
    if credited and 2 * credited >= len(ties):
        reason = f"{credited} of {len(ties)} followers name the newspaper they follow."
        return KindFound(Kind.NEWSPAPER, Confidence.CLEAR, (reason,))
    return None


def _by_release_marks(articles: Sequence[LineageArticle], marks: Mapping[str, TextMarks]) -> KindFound | None:
    """Return press release if texts of several newspapers have the marks of one, and nobody is credited."""
    houses = {article.house for article in articles if marks.get(article.text_key, TextMarks()).release_marks}
    if not houses or any(mark.credited for mark in marks.values()):
        return None
    reason = "A text ends as press releases do, with whom to contact, and names no other source."
    return KindFound(Kind.RELEASE, Confidence.LIKELY if len(houses) > 1 else Confidence.DOUBTFUL, (reason,))


def _by_burst(articles: Sequence[LineageArticle], ties: Collection[Tie]) -> KindFound | None:
    """Return wire if newspapers of three owners ran one text within hours."""
    near = {article.number for tie in ties if tie.like.contains for article in (tie.source, tie.follower)}
    copies = sorted((article for article in articles if article.number in near), key=lambda article: article.moment)
    span = datetime.timedelta(hours=BURST_HOURS)
    houses: Counter[str] = Counter()
    most, best = 0, slice(0)
    start = 0
    for end, last in enumerate(copies):
        houses[last.house] += 1
        while last.moment - copies[start].moment > span:
            houses[copies[start].house] -= 1
            start += 1
        if (found := sum(count > 0 for count in houses.values())) > most:
            most, best = found, slice(start, end + 1)
    if most < BURST_HOUSES:
        return None
    timed = all(article.time is not None and article.time.precision != Precision.DAY for article in copies[best])
    when = f"within {BURST_HOURS} hours" if timed else "on one day, of which not all times are known"
    reason = f"{most} newspapers of different owners ran the same text {when}; none credits an agency."
    return KindFound(Kind.WIRE, Confidence.LIKELY if timed else Confidence.DOUBTFUL, (reason,))


def _by_texts(ties: Collection[Tie]) -> KindFound:
    """Return newspaper to newspaper or common source, by what most followers are."""
    if not ties:
        return KindFound(Kind.COMMON, Confidence.DOUBTFUL, ("The texts have too little in common to say more.",))
    copying = [tie for tie in ties if _copy_kind(tie) is Kind.NEWSPAPER]
    if 2 * len(copying) > len(ties):
        clear = all(tie.found.confidence is Confidence.CLEAR for tie in copying) and len(copying) == len(ties)
        reason = "An earlier article contains the later one, or the other way round, and nobody else is credited."
        return KindFound(Kind.NEWSPAPER, Confidence.LIKELY if clear else Confidence.DOUBTFUL, (reason,))
    both = [tie for tie in ties if not tie.like.contains]
    if 2 * len(both) >= len(ties):
        reason = "Neither text contains the other: each has its own additions to what they share."
        return KindFound(Kind.COMMON, Confidence.LIKELY, (reason,))
    reason = "It is unknown which came first, so one may follow the other, or both another source."
    return KindFound(Kind.COMMON, Confidence.DOUBTFUL, (reason,))


def edge_kind(tie: Tie, *, carried: int, of_cluster: Kind) -> Kind:
    """Return the kind of an edge between two houses. `carried`: the source's own additions that the follower has too.

    In wire copy and press releases, articles follow each other only if the one names the other, or has what the other
    added.
    """
    if tie.found.credited:
        return Kind.NEWSPAPER
    if of_cluster in (Kind.WIRE, Kind.RELEASE):
        return Kind.NEWSPAPER if carried and tie.found.confidence is not Confidence.DOUBTFUL else of_cluster
    return _copy_kind(tie)


def _copy_kind(tie: Tie) -> Kind:
    """Return newspaper to newspaper if one text contains the other and the direction is known, else common source."""
    known = tie.found.confidence is not Confidence.DOUBTFUL
    return Kind.NEWSPAPER if known and tie.like.contains else Kind.COMMON
