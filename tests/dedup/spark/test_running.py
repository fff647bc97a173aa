"""A run on Spark ends with the rows of find_duplicates: on made-up news, with decisions, rules and boilerplate.

One session of two local workers with a gigabyte serves all these tests; without Java, they are skipped.
"""

from __future__ import annotations

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
from dedup.models import CrowdedArticle, Evidence, Membership, Pair, Profile, ProfileRule, Series
from dedup.passes import PASSES
from dedup.review.decisions import decide_pair
from dedup.review.series_rules import make_rule
from dedup.spark.manifest import Manifest
from dedup.spark.running import run_stages
from dedup.spark.schema import Bundle
from dedup.spark.session import spark_session
from dedup.spark.stages import files_of
from tests.dedup.runs.made_up_news import made_up_news

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.xdist_group("spark"),
    # Sockets to Java are closed when they are collected.
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.skipif(shutil.which("java") is None, reason="Spark needs Java: install openjdk-17-jre-headless"),
]

SETTINGS = {
    "trigram": {"dense_from": 4, "threshold": 0.5},
    "stopword": {"dense_from": 4},
    "minhash": {"dense_from": 4},
    "sentence": {"weighted": True},
}
FIND = [f"--passes={','.join(PASSES)}", "--boilerplate=story", "--no-progress"]
SHARES = ("probability", "duplicate_probability", "joins", "left_matched", "right_matched")


@pytest.fixture(scope="module")
def spark() -> Iterator[Any]:
    interrupted = signal.getsignal(signal.SIGINT)
    with spark_session("local[2]", {"spark.driver.memory": "1g"}) as session:
        yield session
    assert signal.getsignal(signal.SIGINT) == interrupted


def news() -> None:
    """Store made-up news and find their duplicates, with decisions and with rules of editors and of the profile."""
    Profile.objects.filter(is_default=True).update(settings=SETTINGS)
    articles = made_up_news(20_261_122)[:380]
    for start in range(0, len(articles), 100):
        assert {each.outcome for each in store_articles(articles[start : start + 100])} == {"created"}
    ProfileRule.objects.create(
        profile=Profile.objects.get(is_default=True),
        newspaper=Newspaper.objects.get(name="Harbour Post"),
        settings={"trigram": {"threshold": 0.8, "day_window": 1}},
    )
    call_command("find_duplicates", *FIND, stdout=io.StringIO())
    editor = get_user_model().objects.create_user("mara")
    for place, pair in enumerate(Pair.objects.proposed().order_by("left", "right")[:60:7]):
        decide_pair(pair.pk, "reject" if place % 2 else "confirm", user=editor)
    make_rule(Series.objects.order_by("-articles", "pk")[0].pk, user=editor)
    call_command("find_duplicates", *FIND, stdout=io.StringIO())


def rows_of(folder: Path) -> list[dict[str, Any]]:
    tables = [pa.Table.from_batches(parquet.ParquetFile(file).iter_batches()) for file in files_of(folder)]
    return [row for table in tables for row in table.to_pylist()]


def found_by_spark(bundle: Bundle) -> dict[str, Any]:
    evidence = {
        (folder.name.partition("=")[2], row["left"], row["right"]): (row["score"], json.loads(row["details"]))
        for folder in sorted(bundle.evidence.glob("pass_name=*"))
        for row in rows_of(folder)
    }
    verdicts = {
        (row["left"], row["right"]): (row["verdict"], json.loads(row["reasons"]), *(row[name] for name in SHARES))
        for row in rows_of(bundle.verdicts)
    }
    clusters: dict[int, set[int]] = {}
    for row in rows_of(bundle.clusters):
        clusters.setdefault(row["cluster"], set()).add(row["article"])
    crowded = {
        (folder.name.partition("=")[2], row["article"])
        for folder in sorted(bundle.crowded.glob("pass_name=*"))
        for row in rows_of(folder)
    }
    return {"evidence": evidence, "verdicts": verdicts, "clusters": _sorted(clusters), "crowded": crowded}


def found_by_find_duplicates() -> dict[str, Any]:
    columns = ("pass_name", "pair__left", "pair__right", "score", "details")
    evidence = Evidence.objects.filter(stale=False, pass_name__in=PASSES).values_list(*columns)
    proposed = {(left, right) for _, left, right, _, _ in evidence}
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
        "clusters": _sorted(clusters),
        "crowded": set(CrowdedArticle.objects.values_list("pass_name", "article")),
    }


def _sorted(clusters: dict[int, set[int]]) -> list[list[int]]:
    return sorted(sorted(articles) for articles in clusters.values())


def test_a_run_on_spark_ends_with_the_rows_of_find_duplicates(spark: Any, tmp_path: Path) -> None:
    news()
    bundle = Bundle(tmp_path)
    call_command("export_detection", str(tmp_path), *FIND, stdout=io.StringIO(), stderr=io.StringIO())
    manifest = Manifest.read(bundle.manifest)

    configs = manifest.configs()
    result = run_stages(spark, bundle=bundle, manifest=manifest, configs=configs, tile_pairs=22_500, resume=False)
    expected, found = found_by_find_duplicates(), found_by_spark(bundle)
    for each in expected:
        assert found[each] == expected[each], each
    assert {name for name, _, _ in expected["evidence"]} == set(PASSES)
    assert result.counts["clusters"] == len(expected["clusters"]) > 10
