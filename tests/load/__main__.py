"""Editors, readers, runs, imports and crawls at once on real pages; then every row is checked. See docs/trust.md.

.venv/bin/python -m tests.load [--minutes 20] [--editors 8] [--readers 20] [--seed 1]

It works on a database of its own in your server, which it drops at the end. First one editor and one reader are alone
for a tenth of the time: the figures of the idle machine. Then everybody comes. The command ends with status 1 if an
answer is lost or doubled, a page fails, a command fails, PostgreSQL ends a deadlock, or the doctor finds something.
"""

import argparse
import os
import sys
import time

import django

from benchmarks import database


def main() -> int:
    """Put a scratch database under load, and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=20, help="of the load; a tenth as many before it")
    parser.add_argument("--editors", type=int, default=8)
    parser.add_argument("--readers", type=int, default=20)
    parser.add_argument("--pause", type=float, default=1.0, help="mean seconds between the acts of a person")
    parser.add_argument("--workers", type=int, default=3, help="processes that serve the pages")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "newsdedup_site.settings")
    django.setup()
    from tests.load.loading import Load, put_under_load, summary, table  # noqa: PLC0415 - Django is set up only now

    seconds = 60 * given.minutes
    load = Load(seconds, seconds / 10, given.editors, given.readers, given.pause, given.seed, given.workers)
    began = time.perf_counter()
    with database.scratch_database():
        outcome = put_under_load(load)
    print(f"{given.editors} editors and {given.readers} readers for {given.minutes:g} minutes, seed {given.seed}")
    print(table(outcome), summary(outcome), f"{time.perf_counter() - began:.0f} s in all", sep="\n\n")
    return 1 if outcome.faults else 0


if __name__ == "__main__":
    sys.exit(main())
