"""What a pass found in two articles, to be marked on the page of their pair."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from articles.models import Article
from dedup.detection.comparison.evidence_marks import NO_MARKS, PairMarks, marks_of
from dedup.detection.comparison.located import compared_text
from dedup.detection.passes import PASSES
from dedup.models import Evidence, Pair

# Found in the heads, not in the texts.
_IN_HEADS = {"title": "the same headline", "url": "the same address, apart from tracking parameters"}


@dataclass(frozen=True)
class MarkedEvidence:
    """The marks of a pass and what they mean; `marked` is "" if nothing is marked."""

    marked: str = ""
    marked_note: str = ""
    marks: PairMarks = NO_MARKS
    shared_urls: frozenset[str] = frozenset()


def marked_evidence(pair: Pair, evidence: Iterable[Evidence], name: str) -> MarkedEvidence:
    """Return what the pass of this name found in the two articles of a pair; nothing if it did not propose the pair."""
    found = next((each for each in evidence if each.pass_name == name and name in PASSES), None)
    if found is None:
        return MarkedEvidence()
    if name in _IN_HEADS:
        return MarkedEvidence(name, _IN_HEADS[name], shared_urls=_shared_urls(pair.left, pair.right))
    settings = _settings_of(found)
    mode = found.run.boilerplate
    left, right = (compared_text(each.content, each.boilerplate, mode) for each in (pair.left, pair.right))
    marks = marks_of(name, left, right, settings)
    return MarkedEvidence(name, _note(found, marks, settings), marks)


def _settings_of(found: Evidence) -> dict[str, Any]:
    """Return the settings that the pass had; the defaults where the run did not record them."""
    return dataclasses.asdict(PASSES[found.pass_name].config_class()) | found.run.config.get(found.pass_name, {})


def _note(found: Evidence, marks: PairMarks, settings: dict[str, Any]) -> str:
    if not marks.shared:
        return "nothing is left of it: the articles have changed since."
    note = _MEANINGS[found.pass_name].format(**settings)
    counted = found.details.get("shared")
    if isinstance(counted, int) and counted < marks.shared:
        most = settings["most_articles"]
        note += f" {counted:,} of these {marks.shared:,} count; the others are in more than {most:,} articles."
    return note


_MEANINGS = {
    "exact": "the same text, apart from case and punctuation.",
    "trigram": "the beginnings that were compared: {prefix:,} characters, without punctuation.",
    "minhash": "every {shingle} characters in a row that both texts have.",
    "stopword": "phrases that both have: a common word such as “the” and the two words after it.",
    "sentence": "sentences of at least {minimum_characters} characters that both have.",
    "containment": "phrases of four words that both have; all numbers are equal.",
}
MARKABLE = frozenset({*_MEANINGS, *_IN_HEADS})


def _shared_urls(left: Article, right: Article) -> frozenset[str]:
    known = [{each.url: each.normalized_url for each in article.urls.all()} for article in (left, right)]
    shared = set(known[0].values()) & set(known[1].values())
    return frozenset(url for urls in known for url, reduced in urls.items() if reduced in shared)
