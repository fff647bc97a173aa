"""The report with threshold advice: what it counts, against plain counts over the stored pairs."""

import csv
import io
import json
from itertools import product
from typing import Any

import pytest

from dedup.models import Evidence, SampledPair, SampleLabel, ValidationSample
from dedup.reports import advice as report
from dedup.research import advice
from dedup.review.answers.decisions import decide_pair
from tests.commands import printed
from tests.conftest import StoreArticle
from tests.factories import make_pair, make_user

pytestmark = pytest.mark.django_db


@pytest.fixture
def decided(store: StoreArticle, monkeypatch: pytest.MonkeyPatch) -> None:
    """Store six pairs by trigram; decide four, label a fifth in a sample, and leave one open."""
    for module in (advice, report):
        monkeypatch.setattr(module, "LEAST_DECIDED", 3)
    editor = make_user("mara", "editor")
    papers = [("Harbour Post", "Inland Courier"), ("Harbour Post", "Harbour Post")]
    pairs = []
    for place, score in enumerate((0.95, 0.92, 0.91, 0.66, 0.62, 0.91)):
        first, second = (store(newspaper=paper) for paper in papers[place % 2])
        pairs.append(make_pair(first, second, trigram=score))
    for pair, kind in zip(pairs, ("confirm", "confirm", "confirm", "reject"), strict=False):
        decide_pair(pair.pk, kind, user=editor)
    sample = ValidationSample.objects.create(
        name="spring", seed=1, options={}, strata=[{"name": "all", "pairs": 6}], size=1, readers=1
    )
    drawn = {"left": pairs[4].left, "right": pairs[4].right, "stratum": "all", "weight": 6.0, "revision": 1}
    SampleLabel.objects.create(
        pair=SampledPair.objects.create(sample=sample, position=1, **drawn), reader="ines", label="T"
    )
    Evidence.objects.filter(pair=pairs[4]).update(pass_name="minhash")
    make_pair(pairs[0].left, pairs[1].right, title=1.0)


def test_advice_is_by_pass_and_newspaper_and_says_where_decisions_are_too_few(decided: None) -> None:
    result: dict[str, Any] = json.loads(printed("advice", "--precision=0.9", "--format=json"))
    found = {(row["pass_name"], row["newspaper"]): row["advice"] for row in result["advised"]}
    papers = ("", "Harbour Post", "Inland Courier")
    assert list(found) == [("title", ""), *product(("trigram", "minhash"), papers)]
    whole = found["trigram", ""]
    assert (whole["decided"], whole["duplicates"], whole["pairs"], whole["uncovered"]) == (4, 3, 5, 0.0)
    assert (whole["says"], whole["advised"]["threshold"], whole["advised"]["decided"]) == ("from 0.70 on", 0.7, 3)
    assert (whole["advised"]["precision"], whole["advised"]["kept"], whole["advised"]["pairs"]) == (1.0, 1.0, 4)
    # At 0.65: two of the three pairs from 0.90 on stand for three, and the one from 0.95 on for itself.
    assert [round(step["precision"], 4) for step in whole["steps"][:2]] == [0.8, 1.0]
    assert found["trigram", "Inland Courier"]["says"] == "too few decisions: 2 of the 3 needed"
    assert (found["minhash", ""]["decided"], found["minhash", ""]["duplicates"]) == (1, 0)
    assert found["trigram", "Harbour Post"]["steps"] == []
    used = {row["pass_name"]: row["used"] for row in result["advised"]}
    assert used == {"title": None, "trigram": 0.6, "minhash": None}


def test_the_scope_the_table_and_the_chart_follow(decided: None) -> None:
    rows = list(csv.DictReader(io.StringIO(printed("advice", "--newspaper=Harbour Post", "--format=csv"))))
    # Only pairs of this newspaper alone: two of trigram, both decided, and an open one.
    assert [row["decided"] for row in rows if (row["pass"], row["newspaper"]) == ("Similar text", "all")] == ["2"]
    assert "<svg" in printed("advice", "--format=svg", "--chart=precision")
    assert "too few decisions: 2 of the 3 needed" in [row["advice"] for row in rows]
    assert "Decisions are not a random sample" in " ".join(printed("advice").split())
