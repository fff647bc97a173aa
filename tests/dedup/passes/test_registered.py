"""A keyed pass that a test registers is found, explained, marked and cited like the others.

tests/dedup/spark/test_running.py runs the same pass on Spark.
"""

import dataclasses
import datetime
from itertools import combinations
from unittest.mock import Mock

import pytest
from django.db import connection

from dedup.declarations import make_config
from dedup.detection.passes import PASSES
from dedup.detection.spark.manifest import BundleError, configs_of
from dedup.detection.types import Window
from dedup.models import Evidence
from dedup.reports.methods import bibtex
from dedup.review.queries.pair_page import markable, marked_evidence
from tests.conftest import StoreArticle
from tests.dedup.passes.image_pass import ImageConfig, ImagePass, shows
from tests.factories import make_pair, make_run

pytestmark = pytest.mark.django_db

DAYS = Window(datetime.date(2026, 3, 1), datetime.date(2026, 3, 31))


@pytest.fixture(autouse=True)
def _registered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(PASSES, ImagePass.name, ImagePass())


def test_a_registered_pass_explains_as_proposed_exactly_what_it_finds(store: StoreArticle) -> None:
    articles = [store(**shows(number)) for number in (1, 1, 2, 2, 2, 2, 3)]
    articles += [store(newspaper="Inland Courier", **shows(1)), store()]
    said = set()
    for largest in (2, 4):
        config = make_config(ImageConfig, {"largest_group": largest})
        found = {(pair.left, pair.right): pair.evidence for pair in ImagePass().find(DAYS, config, connection)}
        assert len(found) == (1 if largest == 2 else 7)
        for left, right in combinations(sorted(article.pk for article in articles), 2):
            explained = ImagePass().explain(left, right, DAYS, config, connection)
            assert explained.evidence == found.get((left, right), {})
            assert explained.proposed is ((left, right) in found)
            said.add(explained.why)
    assert {
        "Both have the image https://harbour.example/1.jpg.",
        "They have no image in common.",
        "They have the same image but are of two newspapers.",
        "4 articles have the image https://harbour.example/2.jpg; one of more than 2 is ignored.",
    } <= said


def test_a_registered_pass_is_marked_and_cited(store: StoreArticle) -> None:
    make_run(config={"image": dataclasses.asdict(ImageConfig(largest_group=9))})
    pair = make_pair(store(**shows(1)), store(**shows(1)), image=1.0)
    assert "image" in markable()
    marked = marked_evidence(pair, Evidence.objects.filter(pair=pair), "image", {})
    assert (marked.marked, marked.marked_note) == ("image", "the same image, if at most 9 articles have it")
    run = Mock(versions={"newsdedup": "1"}, passes=[Mock()], measured=None, agreement=[])
    run.passes[0].name = "image"
    assert "@misc{images," in bibtex(run)


def test_a_cluster_refuses_a_pass_that_is_not_registered_there(monkeypatch: pytest.MonkeyPatch) -> None:
    stored = {name: dataclasses.asdict(detection_pass.config_class()) for name, detection_pass in PASSES.items()}
    monkeypatch.delitem(PASSES, "image")
    with pytest.raises(BundleError, match="there is no pass 'image' here; the passes are url, post, title, exact"):
        configs_of(stored)
