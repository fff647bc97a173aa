"""The reasons for a verdict, in sentences that an editor reads, and the sum behind an answer of the model. Pure.

The sum says what spoke for and against the answer: its features in groups, in points that add up. A point is a unit of
the logit: 0 points are a chance of one half, 2.2 are nine in ten, -2.2 are one in ten.
"""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from articles.numbers import counted
from dedup.detection.comparison.alignment import Change, Replacement
from dedup.detection.comparison.compare import Comparison
from dedup.detection.comparison.plain_changes import plain_changes
from dedup.detection.comparison.recurring import SERIES_DAYS
from dedup.detection.types import Relation
from dedup.detection.verdicts.features import (
    FEATURE_PLACES,
    IDENTITY,
    IN_LARGER,
    LATER_STATE,
    SAME_TEASER,
    SAME_TEXT,
    STUBS,
)
from dedup.detection.verdicts.model import VerdictModel, chance_of

# Given when an editor's rule decides, not the model: on a series, or on a dense group.
RULE_REASON = "An editor ruled that articles of this series are never duplicates of each other."
GROUP_RULE_REASON = "An editor ruled that articles of this dense group are never duplicates of each other."
NOTHING_LEFT = "One of the articles has no text apart from boilerplate, so there is nothing to compare."
IDENTITIES: Final[Mapping[float, str]] = {
    SAME_TEXT: "The headline and all or nearly all of the text are the same, and nothing is replaced.",
    LATER_STATE: "The later article leaves much of the earlier one out, or adds much, under another headline.",
    IN_LARGER: "The shorter article is a small part of a long one under another headline.",
    STUBS: "Both texts are a few words, under two headlines.",
    SAME_TEASER: "Both are short, with the same headline, which the newspaper does not repeat.",
}
# Given for a duplicate that does not join a cluster.
DOUBTFUL = "This is too uncertain to put both articles into one cluster; confirm the pair to join them."
# How many examples of differences a reason names, and how long each may be.
_EXAMPLES = 3
_EXAMPLE_CHARACTERS = 40
# Recurring phrases are worth a reason from this share of the shared ones on.
_RECURRING = 0.25
# From this share of the shorter article's words on, the longer one has "all" of it.
_ALL = 0.95
# From this share of the words that match on, they are a quotation.
_QUOTED = 0.5

_CHANGES: Final[Mapping[Change, tuple[str, str]]] = {
    Change.NUMBER: ("number", "numbers"),
    Change.DATE: ("date", "dates"),
    Change.UNIT: ("unit", "units"),
    Change.NAME: ("name", "names"),
    Change.SPELLING: ("spelling", "spellings"),
}
# The reasons that name no difference in facts and no other cause for doubt, as patterns of LIKE. An editor looks closer
# at a pair with any other reason.
CLEAR: Final = (
    "The texts are the same, word for word%.",
    "% of the shorter article appear% word for word in the longer one.",
    "% of the shorter article's % word for word in the longer one, and % more with changes.",
    "% sentences % shared; the other % only in spellings.",
    "The longer article adds %.",
    "The headlines are the same.",
    IDENTITIES[SAME_TEXT],
    "Published on the same day by %.",
    "Published % apart by %.",
)
_CLEAR = re.compile("|".join(".*".join(map(re.escape, pattern.split("%"))) for pattern in CLEAR))


def is_clear(reason: str) -> bool:
    """Return whether a reason gives no cause for doubt."""
    return _CLEAR.fullmatch(reason) is not None


def leftover(headlines: int) -> str:
    """Return why a text under this many headlines makes no duplicates."""
    return f"This text comes under {headlines} headlines; it is probably what is left of a page, not an article."


def reasons_for(comparison: Comparison) -> list[str]:
    """Return what an editor should know about a pair, a sentence each: texts, series, headlines, time.

    What was replaced reads from the earlier article to the later one.
    """
    changes = plain_changes(comparison.replacements, comparison.vocabularies)
    if comparison.earlier == "right":
        changes = [change and change._replace(left=change.right, right=change.left) for change in changes]
    return [
        *_on_sentences(comparison, changes),
        *_on_changes(comparison, [change for change in changes if change]),
        *_on_added_text(comparison),
        *_on_series(comparison),
        *_on_headlines(comparison),
        _on_time(comparison),
    ]


# A copy with less in common is one by its headline.
_LEAST_OF_A_COPY = 0.3


class Standing(NamedTuple):
    """How one article of a pair stands to the other: the share of its words that match there, and how many do not."""

    matched: float
    own: int


_RELATIONS: Final = {
    Relation.COPY: "Each has {part} of the other.",
    Relation.CONTAINS: "The {larger} article has {part} of the {smaller} one{marks} and {more} more.",
    Relation.UPDATE: "A later state of the story: it keeps {earlier} of the earlier one{marks}; {new} of it is new.",
    Relation.PART: "The {larger} article has {part} of the {smaller} one{marks} and {more} more on other things.",
    Relation.TEMPLATE: "One form with other facts: {earlier} of the earlier article match, {later} of the later one.",
    Relation.SIMILAR: "{earlier} of the earlier article match, {later} of the later one.",
}


def relation_sentence(relation: str, earlier: Standing, later: Standing, quoted: float) -> str:
    """Return what two articles are to each other, in a sentence: which has how much of which, and what else.

    `quoted`: of the words that match, the share that the longer one has in quotation marks. "" for no relation.
    """
    if not relation:
        return ""
    is_first = earlier.matched >= later.matched
    smaller, larger = ("earlier", "later") if is_first else ("later", "earlier")
    shorter, longer = (earlier, later) if is_first else (later, earlier)
    if relation == Relation.COPY and shorter.matched < _LEAST_OF_A_COPY:
        return "Two teasers of one article, whose texts are cut at other places."
    nearly = relation == Relation.COPY and longer.matched >= _ALL
    said = Relation.CONTAINS if relation == Relation.COPY and not nearly else Relation(relation)
    whole = (longer if nearly else shorter).matched
    return _RELATIONS[said].format(
        smaller=smaller,
        larger=larger,
        part="all" if whole == 1 else "nearly all" if whole >= _ALL else percentage(whole),
        more=counted(longer.own, "word"),
        earlier=percentage(earlier.matched),
        later=percentage(later.matched),
        new=percentage(1 - later.matched),
        marks=", in quotation marks," if quoted >= _QUOTED else "",
    )


def _on_sentences(comparison: Comparison, changes: Sequence[Replacement | None]) -> Iterator[str]:
    sentences, exact, close = comparison.shorter_sentences, comparison.exact_sentences, comparison.close_sentences
    rest = sentences - exact - close
    if not sentences:
        yield "One of the articles has no text."
    elif exact == sentences == comparison.longer_sentences:
        yield f"The texts are the same, word for word{', but for the order of sentences' * comparison.moved}."
    elif not exact and not close:
        yield _without_sentences(comparison)
    elif exact == sentences:
        yield f"{_all_of(sentences)} of the shorter article {_appear(sentences)} word for word in the longer one."
    elif close and not rest and (kinds := _only_changes(comparison, changes)):
        others = "the other one differs" if close == 1 else f"the other {close} differ"
        every = f"{_all_of(sentences)} differ{'s' * (sentences == 1)}"
        lead = f"{exact} of {sentences:,} sentences {_are(exact)} shared; {others}" if exact else every
        yield f"{lead} only in {kinds}."
    else:
        left = f"; {rest} {_are(rest)} only in the shorter one" if rest else ""
        yield f"{_shared(exact, close, sentences)}{left}."


def _without_sentences(comparison: Comparison) -> str:
    phrases = comparison.phrases.shared
    parts = [f"{counted(phrases, 'phrase')} of four words"] if phrases else []
    if words := comparison.words_in_common:
        parts.append(f"the word{'s' * (len(words) > 1)} {_listed([f'“{word}”' for word in words])}")
    if not parts:
        return "The articles share no sentence."
    return f"The articles share {' and '.join(parts)}, but no sentence."


def _shared(exact: int, close: int, sentences: int) -> str:
    of = f"of the shorter article's {counted(sentences, 'sentence')}"
    if close == sentences:
        return f"{_all_of(sentences)} of the shorter article {_appear(sentences)} with changes in the longer one"
    if not exact:
        return f"{close} {of} {_appear(close)} with changes in the longer one"
    edited = f", and {close} more with changes" if close else ""
    return f"{exact} {of} {_appear(exact)} word for word in the longer one{edited}"


def _all_of(sentences: int) -> str:
    if sentences == 1:
        return "The single sentence"
    return "Both sentences" if sentences == 2 else f"All {sentences} sentences"


def _only_changes(comparison: Comparison, changes: Sequence[Replacement | None]) -> str:
    """Return the only kinds of replacements in edited sentences; '' if words are inserted or reworded."""
    if comparison.inserted_words or None in changes:
        return ""
    kinds = {replacement.change for replacement in changes if replacement}
    return _listed([_CHANGES[change][1] for change in Change if change in kinds])


def _on_changes(comparison: Comparison, changes: Sequence[Replacement]) -> Iterator[str]:
    for change in (Change.NUMBER, Change.DATE, Change.UNIT, Change.NAME):
        # What is replaced in several places counts once.
        of_kind = [replacement for replacement in changes if replacement.change is change]
        found = list(dict.fromkeys(f"{_shortened(old)} → {_shortened(new)}" for _, old, new, _ in of_kind))
        if found:
            more = f" and {len(found) - _EXAMPLES} more" if len(found) > _EXAMPLES else ""
            yield f"{len(found)} {_CHANGES[change][len(found) > 1]} replaced: {', '.join(found[:_EXAMPLES])}{more}."
    if comparison.moving_dates:
        yield "Dates in the texts shift with the publication dates."


def _shortened(text: str) -> str:
    return text if len(text) <= _EXAMPLE_CHARACTERS else f"{text[: _EXAMPLE_CHARACTERS - 1].rstrip()}…"


def _on_added_text(comparison: Comparison) -> Iterator[str]:
    added = round((1 - comparison.matched_longer) * comparison.longer_words)
    if added and (comparison.matched_share == 1 or comparison.matched_longer < _ALL <= comparison.matched_share):
        yield f"The longer article adds {counted(added, 'word')}."
    elif comparison.matched_share >= _RECURRING and added > comparison.shorter_words:
        yield f"The longer article has {counted(added, 'word')} of its own."


def _on_series(comparison: Comparison) -> Iterator[str]:
    # Each of two articles is on the other one's list of days; that alone is not a series.
    each_other = comparison.same_newspaper and 0 < comparison.days <= SERIES_DAYS
    if comparison.series_days > each_other:
        gap = comparison.series_gap
        rhythm = "" if not gap else ", daily" if gap == 1 else f", about every {gap} days"
        days = counted(comparison.series_days, "other day")
        yield f"Headlines of this form appear in the same newspaper on {days} within {SERIES_DAYS} days{rhythm}."
    if comparison.phrases.recurring_share >= _RECURRING:
        share = round(100 * comparison.phrases.recurring_share)
        part = "All" if comparison.phrases.recurring_share == 1 else f"{share}% of the"
        paper = "the newspaper prints" if comparison.same_newspaper else "one of the newspapers prints"
        yield f"{part} shared phrases are ones that {paper} again and again."


def _on_headlines(comparison: Comparison) -> Iterator[str]:
    if comparison.same_headline:
        yield "The headlines are the same."
    elif comparison.headline_differs_in_numbers:
        yield "The headlines differ only in numbers or dates."


def _on_time(comparison: Comparison) -> str:
    papers = "by the same newspaper" if comparison.same_newspaper else "by two newspapers"
    if comparison.days:
        return f"Published {counted(comparison.days, 'day')} apart {papers}."
    order = "the first article earlier than the second" if comparison.earlier else "it is not known which came first"
    return f"Published on the same day {papers}; {order}."


def _are(number: int) -> str:
    return "is" if number == 1 else "are"


def _appear(number: int) -> str:
    return "appears" if number == 1 else "appear"


def _listed(words: Sequence[str]) -> str:
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


# ---- the sum behind an answer ----------------------------------------------------------------------

START = "Start: two articles with nothing in common"
SURE = "The headline and the text say it"
_CENTS = 100

# Every feature under what an editor calls it.
GROUPS: Mapping[str, tuple[str, ...]] = {
    "Phrases that both have": ("fresh phrases contained", "series unknown, phrases contained", "phrases contained"),
    "Phrases that the newspaper prints again and again": ("phrases recur", "phrases recur in the same newspaper"),
    "Rare words that both have": ("rare words kept", "series unknown, words kept", "words kept"),
    "Sentences that match": ("matched words", "number of matched words", "number of words not matched"),
    "Beginning of the longer article": ("lead of the longer matched",),
    "Length of the shorter article": ("number of words",),
    "Words of its own under another headline": ("own words under another headline",),
    "Text that the later article leaves out": ("text lost by the later one",),
    "Numbers, dates and units": ("numbers kept", "numbers replaced"),
    "Names and rare words exchanged": (
        "subjects replaced",
        "subjects replaced in the same newspaper",
        "one subject for another throughout",
        "subjects swapped",
    ),
    "Headlines": ("same headline", "other headline in the same newspaper", "headline recurs"),
    "Days apart": ("days apart",),
    "One newspaper or two": ("same newspaper",),
    "Little is known of the newspaper": ("series unknown",),
    SURE: (IDENTITY,),
}


@dataclass(frozen=True, slots=True)
class Step:
    """A part of the sum: its points, to two decimals, and the sum before and after it."""

    label: str
    points: float
    before: float
    after: float

    @property
    def chance(self) -> float:
        """The probability after this step, 0..1."""
        return chance_of(self.after)


def steps_of(model: VerdictModel, name: str, features: Sequence[float]) -> list[Step]:
    """Return the sum behind an answer: the start, and the groups with most points first.

    The points add up to the logit of the probability, to two decimals; groups without points are left out.
    """
    asked = model.questions[name]
    parts = {
        label: math.fsum([asked.coefficients[FEATURE_PLACES[name]] * features[FEATURE_PLACES[name]] for name in names])
        for label, names in GROUPS.items()
    }
    parts[SURE] = model.total(name, features) - asked.total(features)
    ordered = sorted(parts, key=lambda label: -abs(parts[label]))
    labels = [START, *ordered]
    exact = [asked.intercept, *(parts[label] for label in ordered)]
    steps: list[Step] = []
    before = 0
    for label, cents in zip(labels, _rounded(exact), strict=True):
        if cents or label == START:
            after = before + cents
            steps.append(Step(label, cents / _CENTS, before / _CENTS, after / _CENTS))
            before = after
    return steps


def _rounded(points: Sequence[float]) -> list[int]:
    """Return points in hundredths whose sum is the rounded sum, by the largest remainder; what is zero stays zero."""
    exact = [point * _CENTS for point in points]
    whole = [math.floor(cents) for cents in exact]
    missing = round(math.fsum(exact)) - sum(whole)
    growing = sorted((place for place, cents in enumerate(exact) if cents), key=lambda at: whole[at] - exact[at])
    for place in growing[:missing]:
        whole[place] += 1
    return whole


# Decimals in the database are binary fractions: 0.29 * 100 is 28.999….
_TINY = 1e-6


@dataclass(frozen=True, slots=True)
class Share:
    """A part of a bar: its name and label, its percentage in words, and its place in 0..100."""

    name: str
    label: str
    percentage: str
    start: str
    width: str


def percentage(probability: float) -> str:
    """Write a probability as a whole percentage, truncated, not rounded: only certainty reads 100%."""
    if 0 < probability < 0.01:
        return "under 1%"
    return f"{math.floor(probability * 100 + _TINY)}%"


def percentages(probabilities: Sequence[float]) -> list[str]:
    """Write probabilities that add up to 1 as percentages that add up to 100; what reads "under 1%" counts as one.

    The first one is truncated, as everywhere, so that it never seems to reach a threshold that it misses. The others
    get what is left, by the largest remainder.
    """
    whole = [math.floor(probability * 100 + _TINY) for probability in probabilities]
    written = [_TINY < probability < 0.01 for probability in probabilities]
    left = 100 - sum(whole) - any(written)
    growing = [place for place, small in enumerate(written) if place and not small and probabilities[place] > _TINY]
    growing.sort(key=lambda place: whole[place] - probabilities[place] * 100)
    for place in growing[: max(left, 0)]:
        whole[place] += 1
    return ["under 1%" if small else f"{percent}%" for percent, small in zip(whole, written, strict=True)]


def shares_of(labels: Mapping[str, str], probabilities: Sequence[float]) -> list[Share]:
    """Return the parts of a bar for probabilities that add up to 1, without those that are impossible."""
    found: list[Share] = []
    start = 0.0
    for (name, label), probability, written in zip(
        labels.items(), probabilities, percentages(probabilities), strict=True
    ):
        if probability > _TINY:
            found.append(Share(name, label, written, f"{start * 100:.2f}", f"{probability * 100:.2f}"))
        start += probability
    return found
