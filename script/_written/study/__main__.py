"""`python -m script._written.study`: repeats docs/study.md, and writes its numbers."""

import argparse
import json
from pathlib import Path

from articles.files.whole_files import whole_file
from script._written.study.measuring import PAGE, RESULTS, page_of, results_of


def main() -> None:
    """Measure, and write the results and the page."""
    parser = argparse.ArgumentParser(prog="python -m script._written.study", description=__doc__)
    parser.add_argument("--data", type=Path, metavar="FILE", help="the alerts, as CSV with .gz")
    parser.add_argument(
        "--write-docs", action="store_true", help="write docs/study.md, from the last results without --data"
    )
    options = parser.parse_args()
    if options.data:
        with whole_file(RESULTS) as file:
            file.write(json.dumps(results_of(options.data), indent=1) + "\n")
    if options.write_docs:
        with whole_file(PAGE) as file:
            file.write(page_of(json.loads(RESULTS.read_text(encoding="utf-8"))))


if __name__ == "__main__":
    main()
