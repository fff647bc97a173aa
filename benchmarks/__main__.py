"""Measure the detection against the plain SQL self-join, datasketch and rensa; see docs/benchmarks.md."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

import django
from django.db import connection
from rich.console import Console

from benchmarks import database, thresholds, whole
from benchmarks.comparing import Benchmark
from benchmarks.contestants import CONTESTANTS
from benchmarks.corpus import CorpusError, read_sources
from benchmarks.measuring import CHECKOUT, MeasuringError, Server
from benchmarks.report import print_tables, write_docs
from benchmarks.results import Results
from benchmarks.thresholds import ThresholdBenchmark
from benchmarks.whole import WholeBenchmark

CHOSEN = list(CONTESTANTS)
# The end of the file's name, the sizes and the contestants of each kind of measurement.
_DEFAULTS = {
    "": ("", [10_000, 40_000, 100_000], CHOSEN),
    "whole": ("-whole", whole.SIZES, whole.RIVALS),
    "thresholds": ("-thresholds", thresholds.SIZES, ()),
}
PAGE = CHECKOUT / "docs" / "benchmarks.md"


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """Return the options of the command line."""
    parser = argparse.ArgumentParser(prog="script/benchmark", description=__doc__)
    parser.add_argument("--data", type=Path, help="real articles, as .jsonl.gz in the import format")
    parser.add_argument(
        "--whole",
        action="store_true",
        help="measure the whole way of articles at 500 a day: import, run, new articles, pages, and other tools",
    )
    parser.add_argument(
        "--thresholds", action="store_true", help="compare the exact join with MinHash and LSH from 0.5 to 0.9"
    )
    parser.add_argument(
        "--text-dedup", type=Path, metavar="PYTHON", help="also measure text-dedup, with the Python of its environment"
    )
    parser.add_argument(
        "--splink", type=Path, metavar="PYTHON", help="also measure Splink, with the Python of its environment"
    )
    parser.add_argument("--alone", action="store_true", help="with --whole: leave out the other tools")
    parser.add_argument(
        "--sizes",
        type=_sizes,
        help="numbers of articles of the corpora (default: 10000,40000,100000; with --whole: 33000,100000,1000000; "
        "with --thresholds: 40000)",
    )
    parser.add_argument(
        "--per-day", type=_per_day, default=[50, 150, 500, 2000], help="articles per day; “own” keeps their own days"
    )
    parser.add_argument("--threshold", type=float, default=0.5, help="threshold of the trigram pass")
    parser.add_argument("--million", action="store_true", help="also measure 1,000,000 articles, 500 per day")
    parser.add_argument("--only", choices=("trigram", "shingles"), help="run only one of the two comparisons")
    parser.add_argument(
        "--contestants",
        type=lambda listed: listed.split(","),
        help=f"any of {','.join(CHOSEN)} (default: all; with --whole: {','.join(whole.RIVALS)})",
    )
    parser.add_argument(
        "--repeat", type=int, default=1, help="runs per measurement; the cheapest counts, or with --whole the median"
    )
    parser.add_argument(
        "--plain-pairs", type=int, default=60_000, help="approximate number of pairs that the plain join compares"
    )
    parser.add_argument(
        "--rivals-most", type=int, default=100_000, help="of a larger corpus, the rivals get only this many articles"
    )
    parser.add_argument(
        "--truth-most", type=int, default=40_000, help="largest corpus for which all true pairs are computed"
    )
    parser.add_argument(
        "--json",
        type=Path,
        help="write the results to this file (default: var/benchmarks.json, -whole.json, -thresholds.json)",
    )
    parser.add_argument("--from", dest="stored", type=Path, help="measure nothing; show the results in this file")
    parser.add_argument(
        "--write-docs", action="store_true", help=f"write the results into {PAGE.relative_to(CHECKOUT)}"
    )
    options = parser.parse_args(arguments)
    if (options.data is None) == (options.stored is None):
        parser.error("give either --data FILE.jsonl.gz or --from FILE.json")
    kind, sizes, contestants = _DEFAULTS["whole" if options.whole else "thresholds" if options.thresholds else ""]
    options.json = options.json or CHECKOUT / "var" / f"benchmarks{kind}.json"
    options.sizes = options.sizes or sizes
    options.contestants = options.contestants or list(contestants)
    options.only = (options.only,) if options.only else ("trigram", "shingles")
    return options


def _sizes(listed: str) -> list[int]:
    return [int(each) for each in listed.split(",")]


def _per_day(listed: str) -> list[int | None]:
    return [None if each == "own" else int(each) for each in listed.split(",")]


def measured(options: argparse.Namespace) -> Results:
    """Return what is measured with these options, in a scratch database."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "newsdedup_site.settings")
    django.setup()
    sources = read_sources(options.data)
    with database.scratch_database():
        chosen = WholeBenchmark if options.whole else ThresholdBenchmark if options.thresholds else Benchmark
        benchmark = chosen(options, sources, Server(connection))
        benchmark.run()
    return benchmark.results


def main() -> int:
    """Measure, or read earlier results, and print the tables."""
    options = parse(sys.argv[1:])
    try:
        results = Results.from_json(options.stored.read_text()) if options.stored else measured(options)
    except (CorpusError, MeasuringError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    print_tables(results, Console(width=None if sys.stdout.isatty() else 200))
    if options.write_docs:
        write_docs(results, PAGE)
    return 0


if __name__ == "__main__":
    sys.exit(main())
