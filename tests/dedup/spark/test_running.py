"""A run on Spark ends with the rows of find_duplicates: on made-up news, with decisions, rules and boilerplate.

One session of two local workers with a gigabyte serves all these tests; without Java, they are skipped.
"""

from __future__ import annotations

import dataclasses
import io
import json
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from django.contrib.auth import get_user_model
from django.core.management import call_command
from pyarrow import parquet

from articles.models import Newspaper
from articles.storage.ingest import store_articles
from dedup.detection.passes import PASSES
from dedup.detection.spark.clustering import components
from dedup.detection.spark.manifest import Manifest
from dedup.detection.spark.running import run_stages
from dedup.detection.spark.schema import Bundle
from dedup.detection.spark.session import spark_session
from dedup.detection.spark.stages import files_of
from dedup.detection.types import DENSE_GROUPS
from dedup.detection.verdicts.model import default_model, dump_model
from dedup.detection.verdicts.reasons import GROUP_RULE_REASON, RULE_REASON
from dedup.models import (
    Cluster,
    CrowdedArticle,
    DenseGroup,
    DetectionRun,
    Evidence,
    FittedModel,
    Membership,
    Pair,
    Profile,
    ProfileRule,
    RunBlock,
    Series,
    Watermark,
)
from dedup.review.answers.decisions import decide_pair
from dedup.review.rules.rules import make_group_rule, make_rule
from tests.databases import undone
from tests.dedup.passes.image_pass import ImagePass, shows
from tests.dedup.runs.made_up_news import forms_with_copies, made_up_news, store_copies
from tests.dedup.runs.test_cluster_import import command, judged_here, stored_rows  # noqa: F401 - fixture

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.xdist_group("spark"),
    # Sockets to Java are closed when they are collected.
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.skipif(shutil.which("java") is None, reason="Spark needs Java: install openjdk-17-jre-headless"),
]

# With all contained texts, no pair of a dense group would be left to compare for its clusters.
SETTINGS = {
    "trigram": {"dense_from": 10, "kept_pairs": 2},
    "stopword": {"dense_from": 4, "kept_pairs": 2},
    "minhash": {"dense_from": 4, "kept_pairs": 2},
    "sentence": {"weighted": True},
    "containment": {"threshold": 0.95},
}
# Compiling takes longer than these tests.
SHORT_LIVED = {
    "spark.driver.memory": "1g",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}
FIND = ["--boilerplate=story", "--no-progress"]
SHARES = ("probability", "duplicate_probability", "joins", "left_matched", "right_matched")


@pytest.fixture(scope="module")
def spark() -> Iterator[Any]:
    interrupted = signal.getsignal(signal.SIGINT)
    with spark_session("local[2]", SHORT_LIVED) as session:
        yield session
    assert signal.getsignal(signal.SIGINT) == interrupted


@pytest.fixture
def every_pass(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The options of a run with every pass, and with one that is registered here."""
    monkeypatch.setitem(PASSES, ImagePass.name, ImagePass())
    return [f"--passes={','.join(PASSES)}", *FIND]


def news(options: list[str]) -> None:
    """Store made-up news and find their duplicates, with decisions, a model of its own, and rules of every kind."""
    Profile.objects.filter(is_default=True).update(settings=SETTINGS)
    articles = made_up_news(20_261_122)[:200]
    store_articles([dataclasses.replace(article, **shows(place % 40)) for place, article in enumerate(articles)])
    store_copies(forms_with_copies(2, 60))
    ProfileRule.objects.create(
        profile=Profile.objects.get(is_default=True),
        newspaper=Newspaper.objects.get(name="Harbour Post"),
        settings={"trigram": {"threshold": 0.8, "day_window": 1}},
    )
    find_duplicates(options)
    model = json.loads(dump_model(default_model()))
    model["questions"]["duplicate"]["intercept"] += 1.5
    FittedModel.objects.create(content=json.dumps(model), decisions=50, in_use=True)
    editor = get_user_model().objects.create_user("mara")
    for place, pair in enumerate(Pair.objects.proposed().order_by("left", "right")[:60:7]):
        decide_pair(pair.pk, "reject" if place % 2 else "confirm", user=editor)
    make_rule(Series.objects.order_by("-articles", "pk")[0].pk, user=editor)
    make_group_rule(DenseGroup.objects.order_by("size")[0].pk, user=editor)
    find_duplicates(options)


def find_duplicates(options: list[str]) -> None:
    call_command("find_duplicates", *options, stdout=io.StringIO(), stderr=io.StringIO())


def rows_of(folder: Path) -> list[dict[str, Any]]:
    tables = [pa.Table.from_batches(parquet.ParquetFile(file).iter_batches()) for file in files_of(folder)]
    return [row for table in tables for row in table.to_pylist()]


def found_by_spark(bundle: Bundle) -> dict[str, Any]:
    evidence = {
        (folder.name.partition("=")[2], row["left"], row["right"]): (row["score"], json.loads(row["details"]))
        for folder in sorted(bundle.evidence.glob("pass_name=*"))
        for row in rows_of(folder)
    }
    verdicts, checks = (
        {
            (row["left"], row["right"]): (row["verdict"], json.loads(row["reasons"]), *(row[name] for name in SHARES))
            for row in rows_of(folder)
        }
        for folder in (bundle.verdicts, bundle.group_checks)
    )
    clusters: dict[int, set[int]] = {}
    for row in rows_of(bundle.clusters):
        clusters.setdefault(row["cluster"], set()).add(row["article"])
    hubs = {
        (folder.name.partition("=")[2], row["article"])
        for folder in sorted(bundle.hubs.glob("pass_name=*"))
        for row in rows_of(folder)
    }
    return {
        "evidence": evidence,
        "verdicts": verdicts,
        "group checks": checks,
        "clusters": _sorted(clusters),
        "crowded": hubs,
    }


def found_by_find_duplicates() -> dict[str, Any]:
    columns = ("pass_name", "pair__left", "pair__right", "score", "details")
    known = Evidence.objects.filter(stale=False)
    evidence = known.filter(pass_name__in=PASSES).values_list(*columns)
    proposed = {(left, right) for _, left, right, _, _ in evidence}
    checked = set(known.filter(pass_name=DENSE_GROUPS).values_list("pair__left", "pair__right"))
    verdicts = {
        (left, right): rest
        for left, right, *rest in Pair.objects.values_list("left", "right", "verdict", "reasons", *SHARES)
    }
    clusters: dict[int, set[int]] = {}
    for article, number in Membership.objects.values_list("article", "cluster"):
        clusters.setdefault(number, set()).add(article)
    return {
        "evidence": {(name, left, right): (score, details) for name, left, right, score, details in evidence},
        "verdicts": {ends: tuple(verdicts[ends]) for ends in proposed},
        "group checks": {ends: tuple(verdicts[ends]) for ends in checked},
        "clusters": _sorted(clusters),
        "crowded": set(CrowdedArticle.objects.values_list("pass_name", "article")),
    }


def _sorted(clusters: dict[int, set[int]]) -> list[list[int]]:
    return sorted(sorted(articles) for articles in clusters.values())


@pytest.mark.slow
def test_a_run_on_spark_ends_with_the_rows_of_find_duplicates(
    spark: Any,
    tmp_path: Path,
    judged_here: list[int],  # noqa: F811
    every_pass: list[str],
) -> None:
    news(every_pass)
    bundle = Bundle(tmp_path)
    call_command("export_detection", str(tmp_path), *every_pass, stdout=io.StringIO(), stderr=io.StringIO())
    manifest = Manifest.read(bundle.manifest)

    configs = manifest.configs()
    result = run_stages(spark, bundle=bundle, manifest=manifest, configs=configs, tile_pairs=22_500, resume=False)
    expected, found = found_by_find_duplicates(), found_by_spark(bundle)
    for row in expected:
        assert found[row] == expected[row], row
    assert {name for name, _, _ in expected["evidence"]} == set(PASSES)
    assert result.counts["clusters"] == len(expected["clusters"]) > 10
    assert result.counts["group_checks"] == len(expected["group checks"]) > 5
    chain = [(place, place + 1) for place in range(40)] + [(50, 60), (70, 70)]
    edges = spark.createDataFrame(chain[::-1], "first long, second long").repartition(4)
    stars = components(edges, tmp_path / "stages", "chain", alone=0)
    assert {tuple(row) for row in stars.collect()} == {*((0, place) for place in range(1, 41)), (50, 60)}
    reasons = {reason for _, verdict, *_ in found["verdicts"].values() for reason in verdict}
    assert {RULE_REASON, GROUP_RULE_REASON} <= reasons

    for state in (empty, reviewed):
        with undone():
            state()
            with undone():
                find_duplicates(every_pass)
                rows = rows_and_pairs()
            judged_here.clear()
            command("import_detection", str(tmp_path))
            assert rows_and_pairs() == rows, state
            assert bool(judged_here) is (state is reviewed)


def rows_and_pairs() -> dict[str, Any]:
    """Return what a run stores, apart from how many pairs each pass compared: dense groups are compared again."""
    rows = stored_rows()
    return rows | {"passes": {name: numbers["pairs"] for name, numbers in rows["passes"].items()}}


def empty() -> None:
    """Remove what runs have stored, apart from the rules of editors."""
    for model in (CrowdedArticle, Membership, Cluster, Evidence, RunBlock, DetectionRun, Watermark):
        model.objects.all().delete()
    Pair.objects.filter(state="undecided", decisions=None).delete()


def reviewed() -> None:
    """Decide on more pairs, in a dense group too."""
    editor = get_user_model().objects.get(username="mara")
    checked = Pair.objects.filter(evidence__pass_name=DENSE_GROUPS).order_by("left", "right")
    for pair in (checked[0], *Pair.objects.filter(joins=True, state="undecided").order_by("left", "right")[:3]):
        decide_pair(pair.pk, "confirm" if pair == checked[0] else "reject", user=editor)
