"""Traces the lineage of a cluster: its order in time, the likely source of each article, and the kind of reuse. Pure.

Each article gets at most one source: of the articles that may have come before it, the one that it names or else
shares most with. This shows where a text was first seen here, not where it comes from.

Source of the kinds: Nicholls, Detecting Textual Reuse in News Stories, At Scale, International Journal of Communication
13 (2019), 4173-4197. The kinds are his; the rules are our own.
"""

from __future__ import annotations

import datetime
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice, pairwise
from typing import NamedTuple

from articles.normalization.times import Precision
from dedup.detection.lineage.articles import Confidence, Edge, Kind, Lineage, LineageArticle, Text
from dedup.detection.lineage.direction import (
    LEAST_COMMON,
    Direction,
    Likeness,
    Likenesses,
    credits_newspaper,
    direction,
    is_release,
    looks_like_release,
    time_order,
)

# Different texts of a cluster that are compared, those of the earliest articles. Every two are compared roughly.
MOST_TEXTS = 100
# Sources that share about as much count as equal: then the better direction and the earlier one decide.
_ABOUT = 20

NO_ORIGIN = "It shows where the text was first seen here. This doesn’t reflect an origin, exactly."


def in_order(articles: Sequence[LineageArticle]) -> list[LineageArticle]:
    """Return the articles by their times; where these say nothing, by their numbers."""
    return sorted(articles, key=lambda article: (article.moment, article.number))


def texts_to_read(articles: Sequence[LineageArticle]) -> dict[str, int]:
    """Return the texts to compare, each with the number of the first article that has it: at most MOST_TEXTS."""
    first: dict[str, int] = {}
    for article in in_order(articles):
        if article.text_key:
            first.setdefault(article.text_key, article.number)
    return dict(islice(first.items(), MOST_TEXTS))


def trace(articles: Sequence[LineageArticle], texts: Mapping[str, Text]) -> Lineage:
    """Return the lineage of these articles; those whose text is not in `texts` get no source."""
    ordered = in_order(articles)
    tracer = _Tracer(ordered, texts)
    ties = tracer.ties()
    found = cluster_kind(ordered, tracer.marks, ties)
    edges = [tracer.edge_of(tie, found.kind) for tie in ties]
    first = _first(ordered, edges)
    unread = sum(article.text_key not in texts for article in ordered)
    return Lineage(
        articles=ordered,
        edges=edges,
        kind=found.kind,
        confidence=found.confidence,
        reasons=found.reasons,
        first=first,
        doubts=tuple(_doubts(ordered, edges, found, first, unread)),
        unread=unread,
    )


class _Tracer:
    """Finds the source of each article of a cluster."""

    def __init__(self, ordered: Sequence[LineageArticle], texts: Mapping[str, Text]) -> None:
        self._articles = [article for article in ordered if article.text_key in texts]
        self._place = {article.number: place for place, article in enumerate(self._articles)}
        self._likenesses = Likenesses(texts)
        self._additions = Additions(texts, self._likenesses.word_pairs)
        self._by_newspaper: dict[int, list[LineageArticle]] = defaultdict(list)
        self._first_with: dict[str, LineageArticle] = {}
        for article in self._articles:
            self._by_newspaper[article.newspaper].append(article)
            self._first_with.setdefault(article.text_key, article)
        self.marks = {key: self._marks(text, self._first_with[key]) for key, text in texts.items()}

    def _marks(self, text: Text, first: LineageArticle) -> TextMarks:
        credited = (
            newspaper
            for newspaper, own in self._by_newspaper.items()
            if credits_newspaper(text.content, (own[0].name, own[0].host))
        )
        return TextMarks(is_release(text.content, first.byline), looks_like_release(text.content), frozenset(credited))

    def ties(self) -> list[Tie]:
        """Return the edges in the order of their followers, at most one for each article, without circles."""
        chosen = {article.number: tie for article in self._articles if (tie := self._source_of(article))}
        _break_circles(chosen)
        return list(chosen.values())

    def _source_of(self, follower: LineageArticle) -> Tie | None:
        ties = [tie for source in self._candidates(follower) if (tie := self._tie(source, follower))]

        def preference(tie: Tie) -> tuple[bool, float, int, int]:
            about = round(tie.like.common * _ABOUT)
            return not tie.found.credited, -about, -min(tie.found.points, 1), self._place[tie.source.number]

        return min(ties, key=preference, default=None)

    def _candidates(self, follower: LineageArticle) -> Iterator[LineageArticle]:
        """Yield the first article with the same text; for that one, the first ones with the nearest texts.

        And the first article of each newspaper that the text names.
        """
        first = self._first_with[follower.text_key]
        if first is not follower:
            yield first
        else:
            for key in self._likenesses.nearest(follower.text_key):
                yield self._first_with[key]
        for newspaper in self.marks[follower.text_key].credited - {follower.newspaper}:
            yield self._by_newspaper[newspaper][0]

    def _tie(self, source: LineageArticle, follower: LineageArticle) -> Tie | None:
        """Return what speaks for a source; None if it has too little in common, or rather follows itself."""
        like = self._likenesses.of(source.text_key, follower.text_key)
        if max(like.kept, like.taken) < LEAST_COMMON:
            return None
        found = direction(
            source,
            follower,
            like,
            credited=source.newspaper in self.marks[follower.text_key].credited,
            credited_back=follower.newspaper in self.marks[source.text_key].credited,
        )
        earlier = self._place[source.number] < self._place[follower.number]
        return Tie(source, follower, like, found) if found.points > 0 or (found.points == 0 and earlier) else None

    def edge_of(self, tie: Tie, of_cluster: Kind) -> Edge:
        """Return an edge once the kind of its cluster is known."""
        source, follower, like, found = tie
        kind = Kind.OWN
        if not tie.own:
            carried = self._additions.carried(source.text_key, follower.text_key)
            kind = edge_kind(tie, carried=carried, of_cluster=of_cluster)
        return Edge(
            source=source.number,
            follower=follower.number,
            direction=found.confidence if kind in (Kind.OWN, Kind.NEWSPAPER) else found.order,
            kind=kind,
            days=found.days,
            hours=found.hours,
            reasons=found.reasons,
            added=like.added,
            dropped=like.dropped,
            changed=like.changed,
        )


def _break_circles(chosen: dict[int, Tie]) -> None:
    """Take out, of each circle of articles that follow each other, the edge whose direction is the weakest."""
    done: set[int] = set()
    for start in list(chosen):
        path: list[int] = []
        number = start
        while number in chosen and number not in done:
            done.add(number)
            path.append(number)
            number = chosen[number].source.number
        if number in path:
            circle = path[path.index(number) :]
            del chosen[min(circle, key=lambda member: (chosen[member].found.points, -member))]


def _first(ordered: Sequence[LineageArticle], edges: Sequence[Edge]) -> tuple[int, ...]:
    """Return the articles that no other one certainly precedes, by its time or as its source."""
    led = {edge.follower for edge in edges if edge.direction is not Confidence.DOUBTFUL}
    roots = [article for article in ordered if article.number not in led]
    return tuple(
        root.number
        for root in roots
        if not any(time_order(other, root).sign < 0 for other in roots[:_COMPARED] if other is not root)
    ) or tuple(root.number for root in roots)


# Articles without a source that are compared with each other; only the earliest matter.
_COMPARED = 50


def _doubts(
    ordered: Sequence[LineageArticle], edges: Sequence[Edge], found: KindFound, first: Sequence[int], unread: int
) -> Iterator[str]:
    """Yield what a reader should know before trusting the lineage."""
    yield NO_ORIGIN
    if day_only := sum(article.time is None for article in ordered):
        yield f"Only the day is known of {day_only:,} of {len(ordered):,} articles; a day cannot order its articles."
    if zoneless := sum(article.time is not None and article.time.offset is None for article in ordered):
        yield f"The times of {zoneless:,} articles name no time zone."
    if uncertain := sum(bool(article.date_doubt) for article in ordered):
        yield f"The dates of {uncertain:,} articles are uncertain."
    if len(first) > 1:
        yield f"Which of {len(first):,} articles came first is unknown."
    if doubtful := sum(edge.direction is Confidence.DOUBTFUL for edge in edges):
        yield f"The direction of {doubtful:,} of {len(edges):,} arrows is unknown; they are dashed."
    if found.kind in (Kind.WIRE, Kind.RELEASE):
        yield "Arrows come from the article that ran before, which need not be where the next one took it from."
    if unread:
        yield f"There are too many different texts: {unread:,} articles were not compared."


# So many texts that end with the same sentence show where the shared text ends.
_ENDS = 2
# One text alone may have cut the sentence out.
_LEAST_PAST = 2
# A text has a sentence, perhaps edited, if it has this share of the sentence's word pairs.
_HAS = 0.4


class Additions:
    """The sentences of the texts of a cluster."""

    def __init__(self, texts: Mapping[str, Text], word_pairs: Mapping[str, set[int]]) -> None:
        self._texts, self._word_pairs = texts, word_pairs
        self._sets = {key: set(text.prepared.sentence_keys) for key, text in texts.items()}
        last = Counter(text.prepared.sentence_keys[-1] for text in texts.values() if text.prepared.sentence_keys)
        self._ends = {sentence for sentence, count in last.items() if count >= _ENDS}
        self.carried = cache(self._carried)

    def _carried(self, source: str, follower: str) -> int:
        """Return how many sentences the follower shares with the source that are additions of the source."""
        others = [key for key in self._sets if key not in (source, follower)]
        sentences = self._texts[source].prepared.sentence_keys
        shared = self._sets[follower]
        return sum(
            self._is_added(source, place, others) for place, sentence in enumerate(sentences) if sentence in shared
        )

    def _is_added(self, source: str, place: int, others: Sequence[str]) -> bool:
        """Return whether more texts go on past this place without the sentence than have it."""
        prepared = self._texts[source].prepared
        if 2 * sum(prepared.sentence_keys[place] in self._sets[key] for key in others) >= len(others):
            return False
        pairs = set(map(hash, pairwise(prepared.words_at(slice(*prepared.starts[place : place + 2])))))
        lacking = [key for key in others if len(pairs & self._word_pairs[key]) < _HAS * len(pairs)]
        before, later = set(prepared.sentence_keys[:place]), set(prepared.sentence_keys[place + 1 :])
        # A text goes on past the place, or ends there with others.
        ends = before & self._ends if later.isdisjoint(self._ends) else set()
        past = sum(
            not self._sets[key].isdisjoint(ends if self._sets[key].isdisjoint(later) else before) for key in lacking
        )
        return past >= _LEAST_PAST and past > len(others) - len(lacking)


# ---- kinds of reuse --------------------------------------------------------------------------------

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
