"""docs/study.md is what its command writes of the kept results, and the commands still give these results."""

import json

import pytest

from script._written.study.measuring import CHECKOUT, PAGE, RESULTS, page_of, results_of

ALERTS = CHECKOUT.parent / "shared" / "data" / "snap_news.csv.gz"


def test_the_page_has_the_figures_of_the_kept_results() -> None:
    said = "docs/study.md differs: run python -m script._written.study --write-docs"
    assert PAGE.read_text(encoding="utf-8") == page_of(json.loads(RESULTS.read_text(encoding="utf-8"))), said


@pytest.mark.soak
@pytest.mark.real_data
@pytest.mark.timeout(1_800)
def test_the_commands_of_the_page_give_the_kept_results() -> None:
    if not ALERTS.exists():
        pytest.skip(f"{ALERTS.name} is not in {ALERTS.parent}")
    kept = json.loads(RESULTS.read_text(encoding="utf-8"))
    assert results_of(ALERTS) == kept, (
        "run python -m script._written.study --data FILE --write-docs, and read the page again"
    )
