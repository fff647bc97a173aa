"""The report for a paper: what the paragraph says, that its numbers are those stored, and that its commands run."""

import json
import re
import shlex
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.conf import settings
from django.core.management import get_commands, load_command_class
from django.test import Client

from dedup.models import Membership, Pair, SampledPair, SampleLabel, ValidationSample
from dedup.review.answers.decisions import decide_pair
from dedup.review.readings.validation import results_of
from newsdedup import program as manage
from tests.commands import called, printed
from tests.conftest import StoreArticle
from tests.dedup.research.small_corpus import store_and_run
from tests.factories import make_user

pytestmark = pytest.mark.django_db


@pytest.fixture
def stored(store: StoreArticle) -> None:
    """Store the small corpus, run, and decide one pair."""
    store_and_run(store)
    decide_pair(Pair.objects.get(verdict="duplicate").pk, "confirm", user=make_user("mara", "editor"))


def make_sample() -> None:
    """Draw by hand all proposed pairs, said to be a third of them, each read by two people who differ once."""
    pairs = list(Pair.objects.proposed().order_by("pk"))
    sample = ValidationSample.objects.create(
        name="spring sample",
        seed=11,
        options={"size": 40, "per_stratum": None, "by": ["band"], "bands": [0.6, 0.8], "not_proposed": 5},
        strata=[
            {"name": "not proposed", "pairs": 9, "drawn": 0},
            {"name": "all", "pairs": 3 * len(pairs), "drawn": len(pairs)},
        ],
        size=len(pairs),
        readers=2,
    )
    for place, pair in enumerate(pairs, start=1):
        drawn = SampledPair.objects.create(
            sample=sample, position=place, left=pair.left, right=pair.right, stratum="all", weight=1.0, revision=1
        )
        right = "D" if pair.verdict == "duplicate" else "T"
        for reader in ("ines", "tom"):
            SampleLabel.objects.create(
                pair=drawn, reader=reader, label="E" if (place, reader) == (len(pairs), "tom") else right
            )


def test_what_was_not_measured_is_said_and_nothing_is_made_up(stored: None) -> None:
    result: dict[str, Any] = json.loads(printed("methods", "--format=json"))
    text, counts = result["paragraph"], result["facts"]["counts"]
    assert text.startswith(
        "We searched 10 articles of 2 newspapers, published from 2026-03-02 to 2026-03-07, for near-duplicates with "
        f"newsdedup {result['facts']['versions']['newsdedup']}. Its passes proposed 16 pairs of articles: "
    )
    assert "similar text (score from 0.6, at most 3 days apart, " in text
    assert "Precision and recall were not measured. The agreement of readers was not measured." in text
    assert (counts["pairs"], counts["verdicts"]["duplicate"], counts["decided_pairs"]) == (
        Pair.objects.filter(evidence__stale=False).distinct().count(),
        1,
        1,
    )
    assert (counts["clustered_articles"], counts["duplicate_articles"]) == (Membership.objects.count(), 1)
    part = json.loads(printed("methods", "--since=2026-03-04", "--format=json"))
    assert (part["facts"]["counts"]["articles"], part["facts"]["counts"]["clusters"]) == (5, 0)
    assert "report methods --since 2026-03-04" in part["commands"][2]


def test_measured_numbers_are_those_of_evaluate_and_the_commands_exist(stored: None, visitor: Client) -> None:
    make_sample()
    result: dict[str, Any] = json.loads(printed("methods", "--format=json"))
    text, measured = result["paragraph"], result["facts"]["measured"]
    assert 90 <= len(text.split()) <= 170
    assert "On 16 labelled pairs of a stratified random sample (seed 11)" in text
    # The same as on the page of the sample.
    precision = results_of(ValidationSample.objects.get())["precision"]
    assert measured["verdict"]["precision_interval"] == [precision.low, precision.high]
    assert 0 < precision.low < precision.high == 1
    assert f"a precision of 1.00 (95% interval {precision.low:.2f}–1.00) and a recall of 1.00 (95% int" in text
    assert "too few to measure their agreement." in text
    [agreement] = result["facts"]["agreement"]
    assert (agreement["readings"], agreement["share"]) == (16, 15 / 16)
    evaluated = json.loads(called("evaluate", "--sample=spring sample", "--no-thresholds", "--format=json")[0])
    assert "Validation sample spring sample, seed 11." in evaluated["about"]
    rows = [(evaluated["verdict"], measured["verdict"])]
    rows += [(evaluated["passes"][name], numbers) for name, numbers in measured["passes"].items()]
    for expected, numbers in rows:
        for name in ("called", "duplicates", "precision", "recall", "f1"):
            assert numbers[name] == pytest.approx(expected[name], abs=1e-4)
    for command in result["commands"]:
        program, name, *options = manage.with_new_name(shlex.split(command))
        assert program == "manage.py"
        load_command_class(get_commands()[name], name).create_parser(program, name).parse_args(options)
    assert result["commands"][3].endswith("--by band --bands 0.6,0.8 --seed 11 --output again.csv")

    assert printed("methods", "--file=methods.bib").startswith("@software{newsdedup,\n")
    cited = re.findall(r"^@\w+\{(\w+),", printed("methods", "--file=methods.bib"), re.MULTILINE)
    assert cited == ["newsdedup", "pgtrgm", "broder1997", "cochran1977"]
    page = visitor.get("/reports/methods/").content.decode()
    assert "readonly" in page
    assert page.count("@software{newsdedup,") == 1


def test_a_sample_that_is_still_read_blind_is_not_used(stored: None) -> None:
    make_sample()
    SampleLabel.objects.filter(pair__position=1, reader="tom").delete()
    assert json.loads(printed("methods", "--format=json"))["facts"]["measured"] is None
    ValidationSample.objects.update(opened_at="2026-03-09T12:00Z")
    assert json.loads(printed("methods", "--format=json"))["facts"]["measured"]["pairs"] == 16


def test_without_a_run_there_is_nothing_to_describe() -> None:
    assert json.loads(printed("methods", "--format=json"))["paragraph"].startswith("No run has finished yet")


def test_the_citation_file_agrees_with_the_project() -> None:
    root = Path(settings.BASE_DIR)
    citation = yaml.safe_load((root / "CITATION.cff").read_text())
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    assert (citation["cff-version"], citation["type"]) == ("1.2.0", "software")
    # What the schema of 1.2.0 requires: authors, cff-version, message and title.
    assert citation["authors"] == [{"name": "The newsdedup developers"}]
    assert citation["message"]
    assert (citation["title"], citation["version"], citation["license"]) == tuple(
        project[name] for name in ("name", "version", "license")
    )
    assert citation["abstract"] == project["description"]
