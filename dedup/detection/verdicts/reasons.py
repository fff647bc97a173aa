"""The reasons for a verdict, in sentences that an editor reads. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from articles.numbers import counted
from dedup.detection.comparison.alignment import Change, Replacement
from dedup.detection.comparison.compare import Comparison
from dedup.detection.comparison.plain_changes import plain_changes
from dedup.detection.comparison.recurring import SERIES_DAYS

# Given when an editor's rule decides, not the model: on a series, or on a dense group.
RULE_REASON = "An editor ruled that articles of this series are never duplicates of each other."
GROUP_RULE_REASON = "An editor ruled that articles of this dense group are never duplicates of each other."
NOTHING_LEFT = "One of the articles has no text apart from boilerplate, so there is nothing to compare."
# Given when the model has no ground for its probability.
UNLIKE = "The model has learnt from few pairs like this one, so its probability is drawn towards one half."
# Given for a duplicate that does not join a cluster.
DOUBTFUL = "This is too uncertain to put both articles into one cluster; confirm the pair to join them."
# How many examples of differences a reason names, and how long each may be.
_EXAMPLES = 3
_EXAMPLE_CHARACTERS = 40
# Recurring phrases are worth a reason from this share of the shared ones on.
_RECURRING = 0.25
# From this share of the shorter article's words on, the longer one has "all" of it.
_ALL = 0.95

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
