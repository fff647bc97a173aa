"""Which of two articles follows from the other: what times, credits and texts say, added up. Pure.

Two texts are compared by sentence: what the one kept of the other, and what it added or changed. The marks of a source
are those that newsrooms and press offices write. They are few on purpose: a text that reports on a press release ("said
in a press release") is not one.

The points were chosen on the development set of the scenarios in tests/dedup/lineage (docs/lineage.md).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from articles.extraction.names import agency_named
from dedup.detection.comparison.alignment import match_sentences
from dedup.detection.lineage.articles import Confidence, LineageArticle, Text

# A credit weighs as much as a clear difference in time.
_CREDIT = 3
_SHAPE = 1
_CREDIT_DROPPED = 1
_CLEAR = 3


class Direction(NamedTuple):
    """How much speaks for the first article as the source of the second, and against it below 0; and why.

    `timed` are the points of the times alone. `hours` and `days` from the first to the second. `credited`: the second
    names the first one's newspaper as its source; `from_agency`: the first is of the agency that the second credits.
    """

    points: int
    timed: int
    hours: float | None
    days: int
    credited: bool
    from_agency: bool
    reasons: tuple[str, ...]

    @property
    def confidence(self) -> Confidence:
        """How sure it is that the second follows from the first."""
        return in_words(self.points)

    @property
    def order(self) -> Confidence:
        """How sure it is that the first only ran before the second: of two that follow a third, texts say nothing."""
        return self.confidence if self.credited or self.from_agency else in_words(self.timed)


def in_words(points: int) -> Confidence:
    """Return points as a confidence."""
    if points >= _CLEAR:
        return Confidence.CLEAR
    return Confidence.LIKELY if points > 0 else Confidence.DOUBTFUL


def direction(
    source: LineageArticle, follower: LineageArticle, like: Likeness, *, credited: bool, credited_back: bool
) -> Direction:
    """Return what speaks for the first article as the source of the second.

    `credited`: the second one's text names the first one's newspaper as its source; `credited_back` the other way.
    """
    order = time_order(source, follower)
    timed = points = -order.sign * order.points
    reasons = [order.reason]
    named = credited or is_of_agency(source.name, follower.agency)
    named_back = credited_back or is_of_agency(follower.name, source.agency)
    if named != named_back:
        points += _CREDIT if named else -_CREDIT
        crediting, origin = (follower, source) if named else (source, follower)
        reasons.append(f"{crediting.name} credits {origin.name}.")
    shape, reason = _shape(source, follower, like)
    points += shape
    reasons += [reason] if reason else []
    if bool(source.agency) != bool(follower.agency) and like.contains:
        points += _CREDIT_DROPPED if source.agency else -_CREDIT_DROPPED
        keeps, lacks = (source, follower) if source.agency else (follower, source)
        reasons.append(f"{keeps.name} credits {keeps.agency}; {lacks.name} does not.")
    return Direction(
        points=points,
        timed=timed,
        hours=order.hours,
        days=(follower.date - source.date).days,
        credited=credited and not named_back,
        from_agency=named and not credited and not named_back,
        reasons=tuple(reasons),
    )


def _shape(source: LineageArticle, follower: LineageArticle, like: Likeness) -> tuple[int, str]:
    """Return what the two texts say: a cropped one ends early, an extended one has sentences in between."""
    if not like.added and not like.dropped:
        return 0, ""
    ways = ((like, source, follower, _SHAPE), (like.reversed, follower, source, -_SHAPE))
    for shape, first, second, points in ways:
        if shape.is_crop and not shape.added:
            return points, f"The text of {second.name} is that of {first.name}, cropped at the end."
    for shape, first, second, points in ways:
        if shape.is_extension:
            return points, f"The text of {second.name} is that of {first.name} with sentences added."
    return 0, ""


# ---- times -----------------------------------------------------------------------------------------

# Clocks of newspapers differ, and some are set by hand: less than this, in hours, says little.
CLOSE_HOURS = 0.5
# The farthest that the clocks of two time zones differ, in hours: UTC+14 and UTC-12.
FARTHEST_ZONES = 26
_MINUTE = 1 / 60


class Order(NamedTuple):
    """What times say of two articles. `sign` is -1 if the first came first, 1 if the second did, 0 if unknown.

    `points` say how much that weighs, 0 to 3. `hours` from the first to the second; None if they are not known.
    """

    sign: int
    points: int
    hours: float | None
    reason: str


def time_order(one: LineageArticle, other: LineageArticle) -> Order:
    """Return which of two articles came first, with the reason in words."""
    order = _by_clock(one, other) or _by_day(one, other)
    doubt = one.date_doubt or other.date_doubt
    if doubt and order.points > 1:
        return order._replace(points=1, reason=f"{order.reason} One of the dates is uncertain.")
    return order


def _by_clock(one: LineageArticle, other: LineageArticle) -> Order | None:
    """Compare two times; None if a time is unknown, or if only one names its time zone."""
    if one.time is None or other.time is None or (one.time.offset is None) != (other.time.offset is None):
        return None
    hours = (other.time.at - one.time.at).total_seconds() / 3600
    if abs(hours) < _MINUTE:
        return Order(0, 0, 0.0, "Both have the same time.")
    sign = -1 if hours > 0 else 1
    earlier, later = (one, other) if hours > 0 else (other, one)
    reason = f"{earlier.name} published {gap_words(abs(hours))} before {later.name}."
    if abs(hours) < CLOSE_HOURS:
        return Order(sign, 1, hours, reason)
    if one.time.offset is None:
        return Order(sign, 3 if abs(hours) > FARTHEST_ZONES else 2, hours, f"{reason} Neither names its time zone.")
    return Order(sign, 3, hours, reason)


def _by_day(one: LineageArticle, other: LineageArticle) -> Order:
    """Compare the days alone. A newspaper's day begins at another hour elsewhere, so one day is not certain."""
    days = (other.date - one.date).days
    if days == 0:
        if one.time and other.time:
            return Order(0, 0, None, "Of one day, and only one of the times names its time zone.")
        return Order(0, 0, None, "Of one day, and a day cannot say which came first.")
    earlier, later = (one, other) if days > 0 else (other, one)
    apart = "a day" if abs(days) == 1 else f"{abs(days)} days"
    reason = f"{earlier.name} published {apart} before {later.name}."
    return Order(-1 if days > 0 else 1, 2 if abs(days) == 1 else 3, None, reason)


def gap_words(hours: float) -> str:
    """Return a number of hours for people: 12 minutes, 3.5 hours, 4 days."""
    if hours < 1:
        minutes = round(hours * 60)
        return "a minute" if minutes == 1 else f"{minutes} minutes"
    if hours < 48:
        rounded = f"{hours:.1f}".removesuffix(".0")
        return "an hour" if rounded == "1" else f"{rounded} hours"
    return f"{hours / 24:.0f} days"


# ---- texts -----------------------------------------------------------------------------------------

# A text is contained in another one if that one has this share of its words, some of them edited.
CONTAINED = 0.85
# Two texts have a common core if the shorter one shares this much of its words.
LEAST_COMMON = 0.2
# For each text, so many others are compared in full: those that share most of its word pairs.
NEAREST = 8


@dataclass(frozen=True, slots=True)
class Likeness:
    """How a follower's text follows from a source's text. Shares are 0..1, of words.

    `kept`: of the source's words, those that the follower has. `taken`: of the follower's, those that the source has.
    """

    kept: float
    taken: float
    added: tuple[int, ...]
    dropped: tuple[int, ...]
    changed: tuple[tuple[int, int], ...]
    source_sentences: int
    follower_sentences: int

    @property
    def reversed(self) -> Likeness:
        """The same with source and follower exchanged."""
        return Likeness(
            kept=self.taken,
            taken=self.kept,
            added=self.dropped,
            dropped=self.added,
            changed=tuple(sorted((follower, source) for source, follower in self.changed)),
            source_sentences=self.follower_sentences,
            follower_sentences=self.source_sentences,
        )

    @property
    def common(self) -> float:
        """The share of words in common, of both: 0 for texts without a common word, 1 for equal texts."""
        return 2 * self.kept * self.taken / (self.kept + self.taken) if self.kept and self.taken else 0.0

    @property
    def is_crop(self) -> bool:
        """Whether the follower is the beginning of the source, which goes on."""
        at_end = _trailing(self.dropped, self.source_sentences)
        return self.taken >= CONTAINED and 0 < len(self.dropped) == at_end

    @property
    def is_extension(self) -> bool:
        """Whether the follower has the whole source, and sentences of its own before its end."""
        return self.kept >= CONTAINED and len(self.added) > _trailing(self.added, self.follower_sentences)

    @property
    def contains(self) -> bool:
        """Whether one of the two contains the other."""
        return self.kept >= CONTAINED or self.taken >= CONTAINED


def _trailing(places: Sequence[int], sentences: int) -> int:
    """Return how many of these ascending places are the last ones."""
    return sum(sentences - place == len(places) - at for at, place in enumerate(places))


def likeness(source: Text, follower: Text) -> Likeness:
    """Return how the follower's text follows from the source's; linear in their sentences."""
    left, right = source.prepared, follower.prepared
    matches = match_sentences(left, right)
    matched = sum(match.equal for match in matches)
    of_left, of_right = {match.left for match in matches}, {match.right for match in matches}
    return Likeness(
        kept=matched / len(left.words) if left.words else 0.0,
        taken=matched / len(right.words) if right.words else 0.0,
        added=tuple(place for place in range(len(right.sentence_keys)) if place not in of_right),
        dropped=tuple(place for place in range(len(left.sentence_keys)) if place not in of_left),
        changed=tuple((match.left, match.right) for match in matches if not match.exact),
        source_sentences=len(left.sentence_keys),
        follower_sentences=len(right.sentence_keys),
    )


class Likenesses:
    """The texts of a cluster: the nearest of each, and how they follow from one another, counted when asked for."""

    def __init__(self, texts: Mapping[str, Text]) -> None:
        self._texts = texts
        self.word_pairs = {key: set(map(hash, pairwise(text.prepared.words))) for key, text in texts.items()}
        self._known: dict[tuple[str, str], Likeness] = {}

    def nearest(self, key: str) -> list[str]:
        """Return the other texts that share most word pairs with this one, the nearest first."""
        own = self.word_pairs[key]
        scored = []
        for place, (other, pairs) in enumerate(self.word_pairs.items()):
            if other != key and (shared := len(own & pairs)):
                scored.append((-shared / (len(own) + len(pairs)), place, other))
        return [other for _, _, other in sorted(scored, key=lambda pair: pair[:2])[:NEAREST]]

    def of(self, source: str, follower: str) -> Likeness:
        """Return how the one text follows from the other."""
        known = self._known.get((source, follower))
        if known is None:
            known = likeness(self._texts[source], self._texts[follower])
            self._known[source, follower] = known
            self._known[follower, source] = known.reversed
        return known


# ---- credits ---------------------------------------------------------------------------------------

# Words before or after a newspaper's name that make it the source of what is said.
_BEFORE = (
    r"(?:told|by|from|source|sources|courtesy(?:\sof)?|credit|according\sto|via|published\s(?:in|by|on)|first\sin)"
)
_AFTER = (
    r"(?:(?:has|had)\s)?(?:reported|reports|wrote|writes|revealed|reveals|said|says|learns|learnt|understands"
    r"|first\sreported|was\stold)"
)
# Shorter names, such as "Post", need the marks of a credit line.
_LONG_NAME = 9

_SERVICES = (
    r"PR\s?Newswire|PRNewswire|Business\s?Wire|GlobeNewswire|Globe\sNewswire|EIN\sPresswire|ACN\sNewswire|Newsfile\sCorp"
    r"|Media\sOutReach|APO\sGroup|presseportal|news\saktuell|ots"
)
_RELEASE = (
    r"press\s(?:release|statement|note)|media\s(?:release|statement)|news\srelease|communiqué\sde\spresse"
    r"|Pressemitteilung|comunicado\sde\sprensa|nota\sde\sprensa|comunicato\sstampa|persbericht"
)
# Only as a line of its own, in brackets, after a dash at the end, or with a name before it ("Acme press release:").
_STRONG = (
    re.compile(rf"(?:^|\n)[^\w\n]*(?:\w+\s){{0,3}}(?i:{_RELEASE})[^\w\n]*(?:\n|$)"),
    re.compile(rf"[(\[]\s*(?i:source\s*:\s*)?(?i:{_RELEASE})\s*[)\]]"),
    re.compile(rf"(?:^|\n)\W*(?i:{_RELEASE})\s*[:–—-]"),
    re.compile(rf"[-–—]\s*(?i:{_RELEASE})\W*$"),
    re.compile(rf"(?:[(/\[–—-]|^|\n)\s*(?:{_SERVICES})\s*(?:[)/\]–—-]|\n|$)"),
    re.compile(r"(?i:for\simmediate\s(?:release|distribution))"),
    re.compile(r"(?:^|\n)\W*(?i:notes?\sto\seditors?)\b"),
    re.compile(r"(?:^|\n|\.\s)(?i:(?:media|press)\s(?:contacts?|enquiries|inquiries|office))\s?:"),
)
_WEAK = (
    re.compile(
        r"(?i:for\s(?:more|further)\s(?:information|details)(?:\sor\s\w+)?,?\s(?:please\s)?(?:contact|visit|call|write))"
    ),
    re.compile(r"[\w.+-]+@[\w-]+\.[\w.]{2,}"),
    re.compile(r"(?:\+\d{1,3}[\s()-]{0,3}|\b0)\d(?:[\s()-]?\d){6,10}\b"),
    re.compile(r"(?:^|\n)\W*About\s(?:the\s)?[A-Z][\w&'’.-]*(?:\s[A-Z][\w&'’.-]*){0,5}\s*:?\s*(?:\n|$)"),
    re.compile(r"(?:^|\n)\W*(?:ENDS|End of release|###)\W*(?:\n|$)"),
)
_RELEASE_BYLINE = re.compile(rf"(?i:\b(?:{_RELEASE}|press\soffice|media\soffice|public\srelations)\b)")


# Characters at the beginning and at the end of a text in which press offices leave their marks.
_HEAD = 400
_TAIL = 1_200


def is_release(content: str, byline: str = "") -> bool:
    """Return whether a text says that it is a press release."""
    ends = content if len(content) <= _HEAD + _TAIL else f"{content[:_HEAD]}\n{content[-_TAIL:]}"
    return bool(_RELEASE_BYLINE.search(byline)) or any(mark.search(ends) for mark in _STRONG)


def looks_like_release(content: str) -> bool:
    """Return whether a text has two or more marks that press offices put below theirs, such as whom to contact."""
    end = content[-_TAIL:]
    return sum(1 for mark in _WEAK if mark.search(end)) > 1


def is_of_agency(newspaper: str, agency: str) -> bool:
    """Return whether a newspaper is the agency that an article credits."""
    return bool(agency) and (newspaper.casefold() == agency.casefold() or agency_named(newspaper) == agency)


def credits_newspaper(content: str, names: Collection[str]) -> bool:
    """Return whether a text names the newspaper with one of these names as its source."""
    return any(name in content and _credit(name).search(content) for name in names if len(name) > 2)


@lru_cache(maxsize=4096)
def _credit(name: str) -> re.Pattern[str]:
    """Return the pattern of a credit for a newspaper: a credit line or, if the name is long, a verb with it."""
    escaped = re.escape(name)
    line = (
        rf"[(\[]\s*(?:(?i:source|courtesy|credit|via)\s*:?\s*)?(?:[Tt]he\s)?{escaped}\s*[)\]]"
        rf"|(?:^|\n)\W*(?:(?i:source|courtesy(?:\sof)?|credit|via|first\spublished\s(?:in|by|on))\s*:?\s*)?(?:[Tt]he\s)?{escaped}\W*(?:\n|$)"
        rf"|[-–—]\s*(?:[Tt]he\s)?{escaped}\W*$"
    )
    if len(name) < _LONG_NAME:
        return re.compile(line)
    prose = rf"\b(?i:{_BEFORE})\s*:?\s*(?:[Tt]he\s)?{escaped}\b|\b{escaped}(?:,|’s|'s)?\s{_AFTER}\b"
    return re.compile(rf"{line}|{prose}")
