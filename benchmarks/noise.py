"""What damage to texts, as by scanning, costs every pass and the verdict; nothing is stored.

One side of labelled duplicates is damaged: letters misread, words hyphenated, texts cropped, paragraphs moved. The
detection runs once for each kind of damage, on the labelled articles and some others of the file, which are kept apart
and dropped afterwards. Printed is the share of the duplicates that every pass and the verdict still find.
"""

import argparse
import gzip
import json
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

from datasketch import MinHash
from django.core.checks import Tags
from django.core.management.base import BaseCommand, CommandError
from django.db import DEFAULT_DB_ALIAS
from rich.console import Console

from articles.files.formats import FileUsageError, source_named
from articles.files.importing import open_rows
from articles.files.records import UnreadableFileError
from articles.management.arguments import add_workers_option, number_up_to
from articles.normalization.sentences import sentences_of
from articles.storage.incoming import IncomingArticle
from benchmarks.measuring import MeasuringError
from benchmarks.report import show
from benchmarks.results import Sheet
from dedup.detection.runs.facts import label as label_of_pass
from dedup.management.arguments import CORPUS_EXIT_CODES, add_profile_options, chosen_detection
from dedup.research.apart import Corpus, Detection, detected, read_corpus
from dedup.research.labels import Label, LabelsError, Named
from dedup.research.measure import judged_pairs, pass_scores, score_of

# What is misread for what, by shape. The kinds are those that Kukich names, "Techniques for automatically correcting
# words in text", ACM Computing Surveys 24 (1992), 1.2: one letter for another, two for one, one for two, and blanks
# lost or added. The table itself is made up for these measurements.
_MISREAD = {
    "rn": ("m",), "m": ("rn", "in"), "cl": ("d",), "d": ("cl", "a"), "li": ("h",), "h": ("b", "li"), "ii": ("u",),
    "vv": ("w",), "w": ("vv",), "fi": ("f",), "ri": ("n",), "nn": ("m",),
    "a": ("o", "u", "s"), "b": ("h", "6"), "c": ("e", "o"), "e": ("c", "o"), "f": ("t",), "g": ("q", "9"),
    "i": ("l", "1", "j"),
    "j": ("i",), "k": ("h", "lc"), "l": ("1", "i", "I"), "n": ("u", "ri"), "o": ("c", "0", "a"), "q": ("g",),
    "r": ("t",), "s": ("5", "a"), "t": ("f", "l"), "u": ("n", "ii"), "v": ("y",), "x": ("z",), "y": ("v",), "z": ("x",),
    "B": ("8", "R"), "C": ("G",), "D": ("O",), "E": ("F", "B"), "G": ("6", "C"), "I": ("l", "1"), "O": ("0", "Q"),
    "S": ("5", "8"), "T": ("I",), "Z": ("2",), "0": ("O",), "1": ("l", "I"), "5": ("S",), "6": ("b",), "8": ("B",),
    ".": (",", ""), ",": (".", ""), "-": ("",), " ": ("",),
}  # fmt: skip
# A letter of another script, or one that is not misread for a similar one: lost, doubled, or followed by a blank.
_ELSE: tuple[Callable[[str], str], ...] = (lambda _letter: "", lambda letter: letter * 2, lambda letter: f"{letter} ")
# As often as other letters are lost or broken in two.
_OTHERWISE = 0.2
_COLUMN = 42  # characters of a line of a newspaper column
_BLOCKS = 5
_LEAST_BLOCKS = 3
_PARAGRAPHS = re.compile(r"\n+")


@dataclass(frozen=True, slots=True)
class Noise:
    """A kind of damage: what it does to a text with some dice, and whether it hits headlines too."""

    name: str
    label: str
    damage: Callable[[str, Random], str]
    headlines: bool = False


def misread(text: str, dice: Random, *, share: float) -> str:
    """Return the text with about this share of its characters misread."""
    read: list[str] = []
    place = 0
    while place < len(text):
        letter = text[place]
        if letter == "\n" or dice.random() >= share:
            read.append(letter)
            place += 1
            continue
        two = text[place : place + 2]
        seen = two if two in _MISREAD else letter
        known = _MISREAD.get(seen)
        if known is None or dice.random() < _OTHERWISE:
            read.append(dice.choice(_ELSE)(letter))
            place += 1
        else:
            read.append(dice.choice(known))
            place += len(seen)
    return "".join(read)


def hyphenated(text: str, dice: Random) -> str:
    """Return the text in lines of a narrow column; words at their ends are broken with a hyphen."""
    return "\n\n".join("\n".join(_lines(paragraph, dice)) for paragraph in _PARAGRAPHS.split(text))


def _lines(paragraph: str, dice: Random) -> list[str]:
    lines = [""]
    for word in paragraph.split():
        blank = " " if lines[-1] else ""
        if len(lines[-1]) + len(blank) + len(word) <= _COLUMN:
            lines[-1] += blank + word
        elif len(word) > 3 and len(lines[-1]) + 4 <= _COLUMN:
            at = dice.randrange(2, min(len(word) - 1, _COLUMN - len(lines[-1]) - 1))
            lines[-1] += f"{blank}{word[:at]}-"
            lines.append(word[at:])
        else:
            lines.append(word)
    return lines


def cropped(text: str, _dice: Random, *, share: float) -> str:
    """Return the first words of the text, this share of them, and at least one."""
    words = list(re.finditer(r"\S+", text))
    return text[: words[max(round(share * len(words)), 1) - 1].end()] if words else text


def moved(text: str, dice: Random) -> str:
    """Return the text with its paragraphs in another order; one of few paragraphs is cut between sentences."""
    blocks = [block for block in _PARAGRAPHS.split(text) if block.strip()]
    if len(blocks) < _LEAST_BLOCKS:
        said = sentences_of(text)
        size = max(-(-len(said) // _BLOCKS), 1)
        blocks = [" ".join(said[start : start + size]) for start in range(0, len(said), size)]
    order = blocks[:]
    while len(set(blocks)) > 1 and order == blocks:
        dice.shuffle(order)
    return "\n\n".join(order)


def _scanned(text: str, dice: Random) -> str:
    return misread(hyphenated(text, dice), dice, share=0.05)


def _noises() -> Iterator[Noise]:
    yield Noise("none", "unchanged", lambda text, _dice: text)
    for percent in (1, 3, 5, 10):
        damage = partial(misread, share=percent / 100)
        yield Noise(f"ocr_{percent}", f"{percent}% of characters misread", damage, headlines=True)
    yield Noise("hyphens", "lines of a column, words hyphenated", hyphenated)
    yield Noise("scan", "hyphenated, and 5% misread", _scanned, headlines=True)
    for percent in (80, 50, 30):
        yield Noise(f"crop_{percent}", f"cropped to the first {percent}%", partial(cropped, share=percent / 100))
    yield Noise("moved", "paragraphs moved", moved)


NOISES = tuple(_noises())


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
    duplicates = [label for label in labels if label.label == "D"]
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
    _write(path, (_damaged(article, noise, sides.damaged, seed) for article in _read(chosen)))
    how.say(f"{noise.label}:")
    with detected(replace(corpus, articles=path), how) as measured:
        judged = judged_pairs(measured.found)
        scores = pass_scores(measured.run, [pair.ends for pair in judged])
        texts = [(pair.left.normalized_text, pair.right.normalized_text) for pair in judged]
    path.unlink()
    found = {
        name: [scored.scores.get(pair.ends, -1.0) >= scored.used - 1e-9 for pair in judged]
        for name, scored in scores.items()
    }
    calls = {"verdict": [pair.called for pair in judged], "any": [pair.pair is not None for pair in judged], **found}
    calls[DATASKETCH] = _alike(texts)
    measures = {name: score_of(judged, called) for name, called in calls.items()}
    return {
        "noise": noise.name,
        "label": noise.label,
        "duplicates": len(judged),
        "recall": {
            name: {key: numbers[key] for key in ("recall", "recall_interval")} for name, numbers in measures.items()
        },
    }


def _alike(texts: Sequence[tuple[str, str]]) -> list[bool]:
    """Return whether datasketch estimates a Jaccard similarity of at least 0.75."""

    def sketch(text: str) -> Any:
        made = MinHash(num_perm=_PERMUTATIONS, seed=_SEED)
        made.update_batch({text[at : at + _SHINGLE].encode() for at in range(max(len(text) - _SHINGLE + 1, 1))})
        return made

    return [bool(sketch(one).jaccard(sketch(other)) >= _LEAST_JACCARD) for one, other in texts]


# ---- files -----------------------------------------------------------------------------------------


def _slice(path: Path, named: set[Named], others: int, seed: int) -> Iterator[IncomingArticle]:
    """Yield the named articles of a file and at most so many others, drawn at random, in the order of the file."""
    total = sum(1 for _ in _read(path))
    drawn = set(Random(seed).sample(range(total), min(others, total)))
    for place, article in enumerate(_read(path)):
        if place in drawn or _names_of(article) & named:
            yield article


def _read(path: Path) -> Iterator[IncomingArticle]:
    with open_rows(source_named(str(path))) as rows:
        yield from (row.article for row in rows if row.article is not None)


def _write(path: Path, articles: Iterator[IncomingArticle]) -> int:
    """Write what is compared of articles as a file to import; return their number."""
    count = 0
    with gzip.open(path, "wt", encoding="utf-8", compresslevel=1) as file:
        for count, article in enumerate(articles, start=1):  # noqa: B007 - the last one is returned
            named = {"id": article.external_id, "date": article.date.isoformat()}
            values = named | {name: getattr(article, name) for name in ("newspaper", "url", "headline", "content")}
            file.write(json.dumps(values, ensure_ascii=False) + "\n")
    return count


def _damaged(article: IncomingArticle, noise: Noise, damaged: frozenset[Named], seed: int) -> IncomingArticle:
    """Return the article with noise if it is to be damaged; the dice depend on the article and the noise alone."""
    if not _names_of(article) & damaged:
        return article
    dice = Random(f"{seed} {noise.name} {article.external_id or article.url}")
    headline = noise.damage(article.headline, dice) if noise.headlines else article.headline
    return replace(article, headline=headline, content=noise.damage(article.content, dice) or article.content)


def _names_of(article: IncomingArticle) -> set[Named]:
    """Return the ways in which a label may name an article of the file."""
    known = {Named(url=article.url), Named(article.url, article.url)}
    return known | (
        {Named(article.external_id), Named(article.external_id, article.url)} if article.external_id else set()
    )


# ---- the program -----------------------------------------------------------------------------------

_MOST_OTHERS = 1_000_000
_HEADINGS = {"verdict": "The verdict", "any": "Any pass that is on", DATASKETCH: "MinHash of datasketch, from 0.75"}


def add_options(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("--articles", required=True, metavar="FILE", help="the articles, as for evaluate")
    parser.add_argument(
        "--labels", required=True, nargs="+", action="extend", metavar="FILE", help="the labels, as for evaluate"
    )
    parser.add_argument(
        "--others",
        type=number_up_to(_MOST_OTHERS),
        default=2_000,
        metavar="N",
        help="so many articles without labels are drawn at random and compared too (default: 2000)",
    )
    parser.add_argument(
        "--seed", type=int, default=1, help="what the damage and the other articles are drawn with (default: 1)"
    )
    add_profile_options(parser)
    parser.add_argument("--format", choices=("text", "json"), default="text")
    parser.add_argument("--no-progress", action="store_true", help="do not show a progress bar")
    add_workers_option(parser)


def run(options: argparse.Namespace) -> None:
    """Damage, run, count, print. Results go to stdout, all else to stderr."""
    try:
        BaseCommand().check(tags=[Tags.database], databases=[DEFAULT_DB_ALIAS])
        corpus = read_corpus(options.articles, options.labels)
        how = chosen_detection(vars(options), lambda said: print(said, file=sys.stderr))
        result = noise_table(corpus, how, others=options.others, seed=options.seed)
    except (*CORPUS_EXIT_CODES, CommandError, FileUsageError, UnreadableFileError) as error:
        raise MeasuringError(str(error)) from error
    if options.format == "json":
        print(json.dumps(result, ensure_ascii=False))
    else:
        _print(result)


def _print(result: dict[str, Any]) -> None:
    out = result["left_out"]
    left_out = f" {out:,} pairs are left out: their articles are in others." if out else ""
    print(
        f"{result['duplicates']:,} labelled duplicates, one side of each damaged, among {result['articles']:,} "
        f"articles; seed {result['seed']}.{left_out}"
    )
    names = list(result["rows"][0]["recall"])
    headings = ("damage", *(_HEADINGS.get(name) or label_of_pass(name) for name in names))
    rows = [(row["label"], *(f"{row['recall'][name]['recall']:.2f}" for name in names)) for row in result["rows"]]
    table = Sheet("Share of the duplicates that are found", headings, rows)
    show([table], Console(width=None if sys.stdout.isatty() else 200))
    print("--format json has the 95% intervals.")
