"""Measure newsdedup: `script/benchmark NAME OPTIONS`, where NAME is one of the modules here; see docs/benchmarks.md."""

from __future__ import annotations

import argparse
import os
import sys
from importlib import import_module

import django

# Each module declares its options in `add_options(parser)` and measures in `run(options)`; its docstring is its help.
PROGRAMS = {
    "passes": "single passes against the plain SQL self-join, datasketch and rensa",
    "whole": "the whole way of articles: import, run, new articles, pages, and other tools",
    "thresholds": "the exact join against MinHash and LSH at thresholds from 0.5 to 0.9",
    "crawl": "how many articles a second a crawl stores",
    "dense": "a whole run on inputs with dense groups",
    "lineage": "how well the lineage of invented newspapers is found",
    "loop": "the review loop in a real browser, by keys alone",
    "pages": "the pages with a million pairs",
    "review": "the answers that settle a queue",
    "spark": "a run on Spark against find_duplicates",
}


def main() -> int:
    """Run one of the programs; return 1 with a sentence if it cannot measure."""
    listed = "\n".join(f"  {name:11}{words}" for name, words in PROGRAMS.items())
    parser = argparse.ArgumentParser(prog="script/benchmark", description=f"{__doc__}\n\n{listed}")
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("name", choices=PROGRAMS, metavar="NAME")
    name = parser.parse_args(sys.argv[1:2]).name
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "newsdedup_site.settings")
    django.setup()
    program = import_module(f"benchmarks.{name}")
    own = argparse.ArgumentParser(prog=f"script/benchmark {name}", description=program.__doc__)
    own.formatter_class = argparse.RawDescriptionHelpFormatter
    program.add_options(own)
    options = own.parse_args(sys.argv[2:])
    from benchmarks.corpus import CorpusError  # noqa: PLC0415 - Django must be set up first
    from benchmarks.measuring import MeasuringError  # noqa: PLC0415

    try:
        program.run(options)
    except (CorpusError, MeasuringError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
