"""docs/crawling.md tells what the code does."""

import re
from pathlib import Path

from crawlers import settings
from crawlers.reasons import DATABASE_LOST, NOINDEX, REASONS, SITE_WAITS, SLOW_PATTERN, TDM_RESERVED

DOCS = (Path(__file__).resolve().parents[2] / "docs" / "crawling.md").read_text()


def test_the_table_of_reasons_is_that_of_the_code() -> None:
    assert {DATABASE_LOST, NOINDEX, SITE_WAITS, SLOW_PATTERN, TDM_RESERVED} <= REASONS.keys()
    passing, lasting = (
        ", ".join(f"`{reason.name}`" for reason in REASONS.values() if reason.passing == passing)
        for passing in (True, False)
    )
    table = "\n".join(
        [
            "| the link | reasons |",
            "|---|---|",
            f"| waits for the next crawl | {passing} |",
            f"| is refused | {lasting} |",
        ]
    )
    assert re.search(r"<!-- reasons -->\n(.*)\n<!-- end of reasons -->", DOCS, re.DOTALL)[1] == table


def test_the_bounds_are_those_of_the_code() -> None:
    bounds = re.findall(r"^\| `([A-Z_]+)` \| (\d+) \|", DOCS, re.MULTILINE)
    assert len(bounds) == 18
    assert {name: int(value) for name, value in bounds} == {name: getattr(settings, name) for name, _ in bounds}
