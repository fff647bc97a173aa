"""`python -m tests.fuzz`: new inputs for every address, reader of files and parser until the time is up."""

import argparse
import os
import random
import subprocess
import sys
from pathlib import Path

from tests import need
from tests.fuzz.effort import ADDRESS, SECONDS, SEED

HERE = Path(__file__).parent
KINDS = ("pages", "parsers", "files")
# Of the time for pages: each address wants many requests. The rest is divided by the number of parsers.
SHARES = {"pages": 0.5, "parsers": 0.35, "files": 0.15}


def main() -> int:
    """Try each kind for its share of the minutes; return 1 if there was a fault."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--minutes", type=float, default=20.0, help="how long, in all (20)")
    parser.add_argument("--seed", type=int, default=random.randrange(10**6), help="to try the same again (random)")
    parser.add_argument("--only", choices=KINDS, help="one kind of input instead of all")
    parser.add_argument("--address", default="", help="only addresses whose name has this")
    given = parser.parse_args()
    need("pytest_django", "pytest_timeout", "hypothesis")  # of the processes that it starts
    kinds = [given.only] if given.only else list(KINDS)
    print(f"Seed {given.seed}; {given.minutes} minutes for {', '.join(kinds)}.", flush=True)
    whole = sum(SHARES[kind] for kind in kinds)
    failed = False
    for kind in kinds:
        seconds = 60 * given.minutes * SHARES[kind] / whole
        environment = {SECONDS: str(seconds), SEED: str(given.seed), ADDRESS: given.address}
        # Shown without the lines of each failed example: the report at the end has each fault once.
        options = ["-q", "-s", "--timeout=0", "--tb=short", "--show-capture=no", "--reuse-db", "--no-header"]
        options += ["-o", "faulthandler_timeout=0"]
        command = [sys.executable, "-m", "pytest", str(HERE / f"test_{kind}.py"), *options]
        failed |= bool(subprocess.run(command, env=os.environ | environment, check=False).returncode)
    print("There were faults." if failed else "No faults.")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
