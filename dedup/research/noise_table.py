"""How many labelled duplicates are still found after one side of each was damaged, by passes and verdict."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from articles.files.formats import source_named
from articles.files.importing import open_rows
from articles.storage.incoming import IncomingArticle
from dedup.research.answers import with_interval
from dedup.research.apart import Corpus, Detection, detected
from dedup.research.labels import Label, LabelsError, Named
from dedup.research.measure import judged_pairs
from dedup.research.noise import NOISES, Noise
from dedup.research.resampling import Estimate, Floats, estimates, ratio
from dedup.research.scores import pass_scores

# MinHash as the SNAP study used it, by the library that most Python projects use.
DATASKETCH = "datasketch"
_PERMUTATIONS, _SHINGLE, _LEAST_JACCARD, _SEED = 256, 5, 0.75, 1


@dataclass(frozen=True, slots=True)
class Sides:
    """Labelled duplicates of which one side is damaged and the other is not; `left_out` could not be split so."""

    labels: Sequence[Label]
    damaged: frozenset[Named]
    left_out: int


def sides_of(labels: Sequence[Label]) -> Sides:
    """Return the duplicates among the labels, each with its second side damaged unless an earlier pair says otherwise.

    A pair is left out if both of its sides, or neither, are damaged in other pairs. Raises LabelsError for none.
    """
    is_damaged: dict[Named, bool] = {}
    kept: list[Label] = []
    duplicates = [each for each in labels if each.label == "D"]
    for duplicate in duplicates:
        first, second = duplicate.ends
        known = is_damaged.get(first), is_damaged.get(second)
        if known[0] is not None and known[0] == known[1]:
            continue
        is_damaged[first] = known[0] if known[0] is not None else known[1] is False
        is_damaged[second] = not is_damaged[first]
        kept.append(duplicate)
    if not kept:
        raise LabelsError("the labels name no duplicate (D) to damage; add some")
    damaged = frozenset(named for named, yes in is_damaged.items() if yes)
    return Sides(kept, damaged, len(duplicates) - len(kept))


def noise_table(corpus: Corpus, how: Detection, *, others: int, seed: int) -> dict[str, Any]:
    """Return, for each kind of noise, the share of the labelled duplicates that each pass and the verdict find.

    Runs once for each, apart, on the articles of the labels and at most so many others, drawn with the seed. Shares are
    weighted, 0..1, with 95% intervals over the pairs.
    """
    sides = sides_of(corpus.labels)
    named = {end for label in sides.labels for end in label.ends}
    with TemporaryDirectory() as folder:
        chosen = Path(folder) / "chosen.jsonl.gz"
        count = _write(chosen, _slice(corpus.articles, named, others, seed))
        rows = [_row(noise, chosen, replace(corpus, labels=sides.labels), sides, how, seed) for noise in NOISES]
    return {
        "articles": count,
        "duplicates": rows[0]["duplicates"],
        "left_out": sides.left_out,
        "seed": seed,
        "rows": rows,
    }


def _row(noise: Noise, chosen: Path, corpus: Corpus, sides: Sides, how: Detection, seed: int) -> dict[str, Any]:
    """Return the shares of the duplicates that are found after one kind of noise."""
    path = chosen.with_name(f"{noise.name}.jsonl.gz")
    _write(path, (_damaged(each, noise, sides.damaged, seed) for each in _read(chosen)))
    how.say(f"{noise.label}:")
    with detected(replace(corpus, articles=path), how) as measured:
        judged = judged_pairs(measured.found)
        scores = pass_scores(measured.run, [each.ends for each in judged])
        texts = [(each.left.normalized_text, each.right.normalized_text) for each in judged]
    path.unlink()
    weights = [each.found.label.weight for each in judged]
    found = {name: [each.ends in some for each in judged] for name, some in _reaching(scores).items()}
    calls = {"verdict": [each.called for each in judged], "any": [each.pair is not None for each in judged], **found}
    if (alike := _alike(texts)) is not None:
        calls[DATASKETCH] = alike
    return {
        "noise": noise.name,
        "label": noise.label,
        "duplicates": len(judged),
        "recall": {name: with_interval("recall", _share(weights, each)) for name, each in calls.items()},
    }


def _reaching(scores: Mapping[str, Any]) -> dict[str, set[tuple[int, int]]]:
    return {
        name: {ends for ends, score in each.scores.items() if score >= each.used - 1e-9}
        for name, each in scores.items()
    }


def _share(weights: Sequence[float], calls: Sequence[bool]) -> Estimate:
    amounts = np.asarray(weights, dtype=np.float64)
    [share] = estimates(np.stack([amounts, amounts * np.asarray(calls)]), _quotient)
    return share


def _quotient(sums: Floats) -> Floats:
    return ratio(sums[1:], sums[:1])


def _alike(texts: Sequence[tuple[str, str]]) -> list[bool] | None:
    """Return whether datasketch estimates a Jaccard similarity of at least 0.75; None if it is not installed."""
    try:
        from datasketch import MinHash  # noqa: PLC0415 - of the extra "benchmarks"
    except ImportError:
        return None

    def sketch(text: str) -> Any:
        made = MinHash(num_perm=_PERMUTATIONS, seed=_SEED)
        made.update_batch({text[at : at + _SHINGLE].encode() for at in range(max(len(text) - _SHINGLE + 1, 1))})
        return made

    return [bool(sketch(one).jaccard(sketch(other)) >= _LEAST_JACCARD) for one, other in texts]


# ---- files -----------------------------------------------------------------------------------------


def _slice(path: Path, named: set[Named], others: int, seed: int) -> Iterator[IncomingArticle]:
    """Yield the named articles of a file and at most so many others, drawn at random, in the order of the file."""
    total = sum(1 for _ in _read(path))
    drawn = set(Random(seed).sample(range(total), min(others, total)))  # noqa: S311 - no secret
    for place, article in enumerate(_read(path)):
        if place in drawn or _names_of(article) & named:
            yield article


def _read(path: Path) -> Iterator[IncomingArticle]:
    with open_rows(source_named(str(path))) as (rows, _, _):
        yield from (row.article for row in rows if row.article is not None)


def _write(path: Path, articles: Iterator[IncomingArticle]) -> int:
    """Write what is compared of articles as a file to import; return their number."""
    count = 0
    with gzip.open(path, "wt", encoding="utf-8", compresslevel=1) as file:
        for count, each in enumerate(articles, start=1):  # noqa: B007 - the last one is returned
            values = {
                "id": each.external_id,
                "date": each.date.isoformat(),
                "newspaper": each.newspaper,
                "url": each.url,
                "headline": each.headline,
                "content": each.content,
            }
            file.write(json.dumps(values, ensure_ascii=False) + "\n")
    return count


def _damaged(article: IncomingArticle, noise: Noise, damaged: frozenset[Named], seed: int) -> IncomingArticle:
    """Return the article with noise if it is to be damaged; the dice depend on the article and the noise alone."""
    if not _names_of(article) & damaged:
        return article
    dice = Random(f"{seed} {noise.name} {article.external_id or article.url}")  # noqa: S311 - no secret
    headline = noise.damage(article.headline, dice) if noise.headlines else article.headline
    return replace(article, headline=headline, content=noise.damage(article.content, dice) or article.content)


def _names_of(article: IncomingArticle) -> set[Named]:
    """Return the ways in which a label may name an article of the file."""
    known = {Named(url=article.url), Named(article.url, article.url)}
    return known | (
        {Named(article.external_id), Named(article.external_id, article.url)} if article.external_id else set()
    )
