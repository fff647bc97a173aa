"""Measure a whole run on inputs with dense groups; see docs/benchmarks.md.

Each input has articles of one day: so many of them are near each other that their pairs cannot all be compared.
"""

import argparse
import datetime
import random
from collections.abc import Callable, Iterator
from typing import NamedTuple

from django.db import connection, transaction

from benchmarks import database
from benchmarks.corpus import SEED, Row, load
from benchmarks.measuring import MeasuringError, Server

DAY = datetime.date(2026, 3, 2)
NEWSPAPERS = 10
_SYLLABLES = [consonant + vowel for consonant in "bcdfghjklmnprstv" for vowel in "aeiou"]
_TOWNS = ["Arden", "Belmont", "Corsey", "Dunmore", "Elverton", "Farrow", "Garston", "Hollis", "Ivering", "Jarrow"]


class Input(NamedTuple):
    """An input: its number of articles, a text for each, and what they are."""

    articles: int
    texts: Callable[[int], Iterator[str]]
    what: str


def nearly_equal(articles: int) -> Iterator[str]:
    """Yield texts of 300 words, each with three words replaced."""
    dice, known = random.Random(SEED), words(3_000)
    story = dice.choices(known, k=300)
    for _ in range(articles):
        text = list(story)
        for place in dice.sample(range(len(text)), 3):
            text[place] = dice.choice(known)
        yield " ".join(text)


def equal(articles: int) -> Iterator[str]:
    """Yield one text of 300 words again and again."""
    text = " ".join(random.Random(SEED).choices(words(3_000), k=300))
    return (text for _ in range(articles))


def lines(articles: int) -> Iterator[str]:
    """Yield lines of twelve words that have little in common."""
    dice, known = random.Random(SEED), words(3_000)
    return (" ".join(dice.choices(known, k=12)) for _ in range(articles))


def notices(articles: int) -> Iterator[str]:
    """Yield lines of one form, with other numbers and names."""
    dice = random.Random(SEED)
    for number in range(articles):
        origin, target = dice.sample(_TOWNS, 2)
        late, gate = dice.randrange(5, 240), dice.randrange(1, 90)
        yield f"flight {number} from {origin} to {target} leaves {late} minutes late today from gate {gate}".lower()


INPUTS = {
    "near-1000": Input(1_000, nearly_equal, "nearly equal texts"),
    "near-5000": Input(5_000, nearly_equal, "nearly equal texts"),
    "near-20000": Input(20_000, nearly_equal, "nearly equal texts"),
    "equal-20000": Input(20_000, equal, "equal texts"),
    "lines-100000": Input(100_000, lines, "different lines"),
    "notices-100000": Input(100_000, notices, "lines of one form"),
}


def words(count: int) -> list[str]:
    """Return made-up words, in alphabetical order."""
    dice = random.Random(SEED)
    return sorted({"".join(dice.choices(_SYLLABLES, k=dice.randrange(1, 5))) for _ in range(2 * count)})[:count]


def rows(source: Input) -> Iterator[Row]:
    """Yield the articles of an input, in NEWSPAPERS newspapers."""
    for number, text in enumerate(source.texts(source.articles)):
        paper = f"Paper {number % NEWSPAPERS}"
        yield Row(DAY, paper, f"Report {number} of the day", f"https://paper.example/{number}", text, 0)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("inputs", nargs="*", metavar="INPUT", help=f"any of {', '.join(INPUTS)}; default: all")


def run(options: argparse.Namespace) -> None:
    """Measure the inputs named on the command line, or all; print a row for each."""
    names = options.inputs or list(INPUTS)
    if unknown := set(names) - INPUTS.keys():
        raise MeasuringError(f"there is no input {', '.join(sorted(unknown))}; the inputs are {', '.join(INPUTS)}")
    print("| input | articles | wall s | CPU s | command MB | PostgreSQL MB | pairs |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    with database.scratch_database():
        for name in names:
            print(_measured(INPUTS[name]), flush=True)


def _measured(source: Input) -> str:
    with transaction.atomic():
        load(rows(source), connection)
    database.settle()
    usage = database.measured(Server(connection), "find_duplicates")
    numbers = (usage.wall, usage.cpu, usage.command_memory, usage.server_memory)
    measured = " | ".join(f"{number:,.1f}" for number in numbers)
    return f"| {source.what} | {source.articles:,} | {measured} | {database.counted('dedup_pair'):,} |"
