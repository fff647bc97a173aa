"""Each pass explains two articles as it finds them: it says "proposed" exactly of the pairs that it yields."""

import dataclasses
import datetime
import importlib
import random
from itertools import combinations

import pytest
from django.db import connection

from articles.boilerplate.mode import Mode
from articles.models import Article
from articles.storage.boilerplate_marks import mark_weeks, outdated_weeks
from dedup.declarations import make_config
from dedup.detection.passes import PASSES, reading
from dedup.detection.passes.base import NearConfig
from dedup.detection.runs.text_indexes import update_shingles
from dedup.detection.types import Window
from tests.pages import ONE_OF_MANY

pytestmark = pytest.mark.django_db

DAYS = Window(datetime.date(2026, 3, 1), datetime.date(2026, 4, 30))
SENTENCES = (
    "The pilot boat left the harbour before the fog came in from the north.",
    "Nobody on the quay had heard of the new timetable until Monday.",
    "The county pays 289,649 crowns for the second crane, and the town 5,944,286 for its paint.",
    "Divers will look at the anchor chains when the storms are over.",
    "A ticket to the island is to cost two crowns more from the summer on.",
    "The lamp of the southern pier has been dark since the end of January.",
    "Three schools have asked for a visit to the old signal station.",
    "Herring was sold from the boats at half of the usual price.",
    "Ferry traffic unaffected.",  # too short for a shingle
)
NOTICE = "Readers of this paper may send their letters to the house with the blue door."


@pytest.fixture
def of_pass(name):
    """The test file of the pass: its `alike`, and in EXPLAINED settings under which articles are on both sides."""
    return importlib.import_module(f"tests.dedup.passes.test_{name}")


@pytest.fixture
def mixed(of_pass, store, monkeypatch):
    """Articles that share sentences, headlines, URLs and days at random, always the same; read a few at a time."""
    monkeypatch.setattr(reading, "_BATCH", 7)
    monkeypatch.setattr(reading, "_PACKED_BATCH", 5)
    chance = random.Random(12)
    for number in range(17):
        told = chance.sample(SENTENCES, chance.randint(2, 5))
        if chance.random() < 0.25:
            told = list(SENTENCES[:3])
        others = {"content", "headline", "url"}
        details = {key: value for key, value in of_pass.alike(number % 3, number).items() if key not in others}
        page = chance.choice([f"story-{number}", "breakwater-123456", "ferry-123457"])
        store(
            " ".join([*told, *([NOTICE] if number % 2 else [])]),
            newspaper=chance.choice(("Harbour Post", "Inland Courier")),
            date=chance.choice(("2026-03-02", "2026-03-02", "2026-03-04", "2026-03-11", "2026-04-20")),
            headline=chance.choice(("Harbour news of today", "Pier dark again", f"Story number {number} of the day")),
            url=f"https://paper.example/2026/{page}?utm_source={number}",
            **details,
        )
    update_shingles()
    list(mark_weeks(outdated_weeks()))


@pytest.mark.parametrize("name", list(PASSES))
def test_a_pass_explains_as_proposed_exactly_the_pairs_that_it_finds(name, of_pass, mixed) -> None:
    detection_pass = PASSES[name]
    ids = sorted(Article.objects.values_list("pk", flat=True))
    said: set[bool] = set()
    for settings in getattr(of_pass, "EXPLAINED", ({},)):
        config = make_config(detection_pass.config_class, settings)
        for mode in (Mode.KEEP, Mode.TOPIC) if detection_pass.compares_texts and settings else (Mode.KEEP,):
            window = dataclasses.replace(DAYS, boilerplate=mode)
            found = {(pair.left, pair.right): pair for pair in detection_pass.find(window, config, connection)}
            for left, right in combinations(ids, 2):
                explained = detection_pass.explain(left, right, window, config, connection)
                pair = found.get((left, right))
                assert explained.proposed == (pair is not None), (settings, mode, explained)
                assert explained.why.endswith(".")
                assert not ONE_OF_MANY.search(explained.why), explained
                said.add(explained.proposed)
                if pair is not None:
                    assert explained.score == pytest.approx(pair.score)
                    assert pair.evidence in ({}, explained.evidence) or name == "url"
            assert not isinstance(config, NearConfig) or found
    assert said == {True, False}
