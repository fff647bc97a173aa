"""Measure newsdedup: `script/benchmark NAME OPTIONS`, where NAME is one of the modules here; see docs/benchmarks.md."""

import argparse
import os
import sys
from inspect import cleandoc
from pkgutil import resolve_name
from subprocess import CalledProcessError

import django

# By where they are; each declares its options in `add_options(parser)` and measures in `run(options)`.
PROGRAMS = {
    "passes": ("passes:PassBenchmark", "single passes against the plain SQL self-join, datasketch and rensa"),
    "whole": ("whole:WholeBenchmark", "the whole way of articles: import, run, new articles, pages, and other tools"),
    "thresholds": ("passes:ThresholdBenchmark", "the exact join against MinHash and LSH at thresholds from 0.5 to 0.9"),
    "rivals": ("rivals:RivalBenchmark", "whole jobs of newsdedup and its rivals, judged by labelled pairs"),
    "crawl": ("crawl", "how many articles a second a crawl stores"),
    "dense": ("dense", "a whole run on inputs with dense groups"),
    "lineage": ("lineage", "how well the lineage of invented newspapers is found"),
    "loop": ("loop", "the review loop in a real browser, by keys alone"),
    "noise": ("noise", "what damage to texts costs every pass and the verdict"),
    "pages": ("pages", "the pages with a million pairs"),
    "review": ("review", "the answers that settle a queue"),
    "spark": ("spark", "a run on Spark against find_duplicates"),
}


def main() -> int:
    """Run one of the programs; return 1 with a sentence if it cannot measure."""
    listed = "\n".join(f"  {name:11}{words}" for name, (_, words) in PROGRAMS.items())
    parser = argparse.ArgumentParser(prog="script/benchmark", description=f"{__doc__}\n\n{listed}")
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("name", choices=PROGRAMS, metavar="NAME")
    name = parser.parse_args(sys.argv[1:2]).name
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "newsdedup_site.settings")
    django.setup()
    program = resolve_name(f"benchmarks.{PROGRAMS[name][0]}")
    own = argparse.ArgumentParser(prog=f"script/benchmark {name}", description=cleandoc(program.__doc__))
    own.formatter_class = argparse.RawDescriptionHelpFormatter
    program.add_options(own)
    options = own.parse_args(sys.argv[2:])
    from benchmarks.corpus import CorpusError  # noqa: PLC0415 - Django must be set up first
    from benchmarks.measuring import MeasuringError  # noqa: PLC0415

    try:
        program.run(options)
    except (CorpusError, MeasuringError, CalledProcessError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
