"""Texts as they are compared, with the place of every character in the article's own content. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

import regex

from articles.boilerplate.mode import Mode
from articles.boilerplate.rules import removed_by, without_boilerplate
from articles.normalization.text import normalize_text
from dedup.detection.comparison.lexicon import typography
from dedup.detection.comparison.prepared import Span

_RUN = regex.compile(r"\S+")
# No ASCII character composes with what is before it, so a text is made of such parts and of what is between them.
_NOT_ASCII = regex.compile(r"[\x00-\x7f]?[^\x00-\x7f]+")
# What a reader sees as one character. Normalisation composes and divides characters only within such clusters.
_CLUSTER = regex.compile(r"\X")
# No mark composes with this letter, so a cluster between two of them is normalised as it is anywhere.
_NEUTRAL = "q"


class Located(NamedTuple):
    """A text made from a content: character i was made from content[starts[i]:ends[i]].

    `removed`: the stretches of the content that are left out of the text, in order.
    """

    text: str
    starts: Sequence[int]
    ends: Sequence[int]
    removed: Sequence[Span] = ()

    def head(self, count: int) -> Located:
        """Return the first `count` characters."""
        return Located(self.text[:count], self.starts[:count], self.ends[:count], self.removed)

    def spans(self, stretches: Iterable[Span]) -> list[Span]:
        """Return where these stretches of the text come from in the content: in order, joined if they meet."""
        found: list[Span] = []
        for start, end in sorted((self.starts[start], self.ends[end - 1]) for start, end in stretches if start < end):
            if found and start <= found[-1][1]:
                found[-1] = found[-1][0], max(found[-1][1], end)
            else:
                found.append((start, end))
        return list(_without(found, self.removed))


def _without(spans: Iterable[Span], removed: Sequence[Span]) -> Iterator[Span]:
    for start, end in spans:
        for cut_start, cut_end in removed:
            if start < cut_end and cut_start < end:
                if start < cut_start:
                    yield start, cut_start
                start = min(cut_end, end)  # noqa: PLW2901 - the rest of the span
        if start < end:
            yield start, end


def compared_text(content: str, marks: Sequence[Sequence[int]], mode: Mode) -> Located:
    """Return a content as it is compared: without what its marks remove in this mode."""
    removed = [(mark[0], mark[1]) for mark in removed_by(marks, mode)]
    if not removed:
        return Located(content, range(len(content)), range(1, len(content) + 1))
    text = without_boilerplate(content, marks, mode)
    # Removing moves blanks, but no other character.
    gone = {place for start, end in removed for place in range(start, end)}
    kept = iter([place for place in range(len(content)) if place not in gone and not content[place].isspace()])
    places: list[int] = []
    for character in text:
        places.append((places[-1] if places else 0) if character.isspace() else next(kept))
    return Located(text, places, [place + 1 for place in places], removed)


def normalized(compared: Located) -> Located:
    """Return the normalised form of a text; its characters have the places of what they were made from."""
    wanted = normalize_text(compared.text)
    for divided, form in ((_clusters_of, _of_cluster), (lambda run: [run], normalize_text)):
        found = _joined(_pieces(compared.text, divided, form))
        if "".join(character for character, _, _ in found) == wanted:
            break
    else:
        found = [(character, 0, len(compared.text)) for character in wanted]
    return Located(
        wanted,
        [compared.starts[start] for _, start, _ in found],
        [compared.ends[end - 1] for _, _, end in found],
        compared.removed,
    )


def typographic(text: Located) -> tuple[str, Sequence[int]]:
    """Return a text in the form whose words are compared (prepared.typography), and where each character begins."""
    wanted = typography(text.text)
    if wanted == text.text:
        return wanted, text.starts
    starts: list[int] = []
    done = 0
    for part in _NOT_ASCII.finditer(text.text):
        starts += text.starts[done : part.start()]
        done = part.start()
        for length, made in _made_of(part.group()):
            starts += text.starts[done : done + length] if made == length else [text.starts[done]] * made
            done += length
    starts += text.starts[done:]
    return wanted, starts


@lru_cache(maxsize=10_000)
def _made_of(part: str) -> list[tuple[int, int]]:
    """Return the lengths of the pieces of a part, and how many characters are made of each."""
    wanted = typography(part)
    if wanted == part:
        return [(len(part), len(part))]
    clusters = [(len(cluster), typography(cluster)) for cluster in _CLUSTER.findall(part)]
    if "".join(made for _, made in clusters) == wanted:
        return [(length, len(made)) for length, made in clusters]
    return [(len(part), len(wanted))]


_Piece = tuple[str, int, int]  # a normalised stretch, and the start and the end of what it was made from


def _pieces(text: str, divided: Callable[[str], Iterable[str]], form: Callable[[str], str]) -> Iterator[_Piece]:
    """Yield the forms of the parts into which each run of characters is divided, and a blank before each run."""
    end = 0
    for run in _RUN.finditer(text):
        yield " ", end, run.start()
        end = run.start()
        for part in divided(run.group()):
            yield form(part), end, end + len(part)
            end += len(part)


def _clusters_of(run: str) -> Iterable[str]:
    return run if run.isascii() else _CLUSTER.findall(run)


@lru_cache(maxsize=10_000)
def _of_cluster(cluster: str) -> str:
    """Return the normalised form of a cluster: a blank for what separates words, nothing for what vanishes."""
    return normalize_text(f"{_NEUTRAL}{cluster}{_NEUTRAL}")[1:-1]


def _joined(pieces: Iterable[_Piece]) -> list[_Piece]:
    """Return the characters of all pieces, with single blanks between words."""
    found: list[_Piece] = []
    blank: _Piece | None = None
    for piece, start, end in pieces:
        for character in piece:
            if character == " ":
                blank = (" ", start, end)
                continue
            if blank and found:
                found.append(blank)
            blank = None
            found.append((character, start, end))
    return found
