"""Files of articles to import: the corpus of the benchmarks, in its real spelling."""

from __future__ import annotations

import gzip
import itertools
import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from articles.normalization.text import normalize_text
from benchmarks.corpus import Exchanges, Source, dealt

# The fastest level: a file of a million articles takes a minute to write, and decompressing costs nearly nothing.
_LEVEL = 1

Fields = dict[str, str]


class Spelling(dict[str, str]):
    """Replaces what stands between two blanks, and keeps its capitals and punctuation: “Ferry,” becomes “Bridge,”."""

    def __init__(self, exchanged: Exchanges) -> None:
        super().__init__()
        self._exchanged = exchanged

    def __missing__(self, token: str) -> str:
        words = normalize_text(token).split()
        replaced = [self._exchanged.get(word, word) for word in words]
        self[token] = token if words == replaced else _spelt_like(token, " ".join(replaced))
        return self[token]

    def of(self, content: str) -> str:
        """Return a text with its words replaced and its lines kept."""
        return "\n".join([" ".join([self[token] for token in line.split()]) for line in content.split("\n")])


def _spelt_like(token: str, words: str) -> str:
    """Return the words with the capitals of the token and the signs before and after its first and last letter."""
    places = [place for place, sign in enumerate(token) if sign.isalnum()]
    first, last = (places[0], places[-1]) if places else (0, len(token) - 1)
    core = token[first : last + 1]
    if len(core) > 1 and core.isupper():
        words = words.upper()
    elif core[:1].isupper():
        words = words[:1].upper() + words[1:]
    return token[:first] + words + token[last + 1 :]


def articles(sources: Sequence[Source], size: int, per_day: int) -> Iterator[Fields]:
    """Yield the fields of `size` articles in the import format, in order of date."""
    spelling, round_ = Spelling({}), 0
    for date, source, number, exchanged in dealt(sources, size, per_day):
        if number != round_:
            spelling, round_ = Spelling(exchanged), number
        yield {
            "date": date.isoformat(),
            "newspaper": source.newspaper,
            "headline": spelling.of(source.headline) if number else source.headline,
            # Part of the path, because an import removes fragments and some parameters.
            "url": f"{source.url.rstrip('/')}/copy-{number}" if number else source.url,
            "content": spelling.of(source.content) if number else source.content,
        }


def write_files(rows: Iterable[Fields], files: Sequence[tuple[Path, int]]) -> None:
    """Write so many of the articles into each .jsonl.gz file, one file after the other."""
    remaining = iter(rows)
    for path, count in files:
        with gzip.open(path, "wt", encoding="utf-8", compresslevel=_LEVEL) as file:
            for row in itertools.islice(remaining, count):
                file.write(json.dumps(row, ensure_ascii=False) + "\n")
