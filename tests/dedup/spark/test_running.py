"""A run on Spark ends with the rows of find_duplicates: on made-up news, with decisions, rules and boilerplate.

One session of two local workers with a gigabyte serves all these tests; without Java, they are skipped.
"""

import dataclasses
import json
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.contrib.auth import get_user_model
from pyarrow import parquet

from articles.models import Newspaper
from articles.storage.ingest import store_articles
from dedup import models
from dedup.detection.passes import PASSES
from dedup.detection.spark.command import spark_session
from dedup.detection.spark.manifest import Manifest, Result
from dedup.detection.spark.running import ClusterRun
from dedup.detection.spark.schema import Bundle
from dedup.detection.types import DENSE_GROUPS
from dedup.detection.verdicts.model import default_model, dump_model
from dedup.detection.verdicts.reasons import GROUP_RULE_REASON, RULE_REASON
from dedup.review.answers.decisions import decide_pair
from dedup.review.rules.rules import make_group_rule, make_rule
from tests.commands import called
from tests.conftest import StoreArticle
from tests.crawlers.pages import FERRY, HERRING
from tests.databases import undone
from tests.dedup.passes.image_pass import ImagePass, UnsharedPass, shows
from tests.dedup.runs.made_up_news import forms_with_copies, made_up_news, store_copies
from tests.dedup.runs.running import pairs_by_pass
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
    "sentence": {"weighted": True, "most_articles": 6},
    "containment": {"threshold": 0.95, "most_articles": 6},
}
# Compiling takes longer than these tests.
SHORT_LIVED = {
    "spark.driver.memory": "1g",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}
FIND = ["--boilerplate=story", "--no-progress"]


@pytest.fixture(scope="module")
def spark() -> Iterator[Any]:
    interrupted = signal.getsignal(signal.SIGINT)
    with spark_session("local[2]", SHORT_LIVED) as session:
        yield session
    assert signal.getsignal(signal.SIGINT) == interrupted


@pytest.fixture
def every_pass(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The options of a run with every pass, and with two that are registered here, one of which finds nothing."""
    monkeypatch.setitem(PASSES, ImagePass.name, ImagePass())
    monkeypatch.setitem(PASSES, UnsharedPass.name, UnsharedPass())
    return [f"--passes={','.join(PASSES)}", *FIND]


def news(options: list[str]) -> None:
    """Store made-up news and find their duplicates, with decisions, a model of its own, and rules of every kind."""
    models.Profile.objects.filter(is_default=True).update(settings=SETTINGS)
    articles = made_up_news(20_261_122)[:200]
    store_articles([dataclasses.replace(article, **shows(place % 40)) for place, article in enumerate(articles)])
    store_copies(forms_with_copies(2, 60))
    models.ProfileRule.objects.create(
        profile=models.Profile.objects.get(is_default=True),
        newspaper=Newspaper.objects.get(name="Harbour Post"),
        settings={"trigram": {"threshold": 0.8, "day_window": 1}},
    )
    find_duplicates(options)
    model = json.loads(dump_model(default_model()))
    model["questions"]["duplicate"]["intercept"] += 1.5
    models.FittedModel.objects.create(content=json.dumps(model), decisions=50, in_use=True)
    editor = get_user_model().objects.create_user("mara")
    for place, pair in enumerate(models.Pair.objects.proposed().order_by("left", "right")[:60:7]):
        decide_pair(pair.pk, "reject" if place % 2 else "confirm", user=editor)
    make_rule(models.Series.objects.order_by("-articles", "pk")[0].pk, user=editor)
    make_group_rule(models.DenseGroup.objects.order_by("size")[0].pk, user=editor)
    find_duplicates(options)


def find_duplicates(options: list[str]) -> None:
    called("find_duplicates", *options)


def run_on_spark(spark: Any, folder: Path, options: list[str]) -> Result:
    """Export what is stored, shuffle it into small files, and run on those."""
    called("export_detection", folder, *options)
    bundle = Bundle(folder)
    deal_out(bundle.articles)
    manifest = Manifest.read(bundle.manifest)
    configs = manifest.configs()
    run = ClusterRun(spark, bundle=bundle, manifest=manifest, configs=configs, tile_pairs=4_900, resume=False)
    return run.result()


def deal_out(folder: Path) -> None:
    """Put the articles of an export in any order, in files of few: every part has articles of nearly all days."""
    articles = parquet.read_table(folder)
    order = np.random.default_rng(20_261_128).permutation(len(articles))
    for path in folder.iterdir():
        path.unlink()
    for start in range(0, len(order), 70):
        some = articles.take(order[start : start + 70])
        parquet.write_table(some, folder / f"{start:05}.parquet", row_group_size=20)


@pytest.mark.slow
def test_a_run_on_spark_ends_with_the_rows_of_find_duplicates(
    spark: Any,
    tmp_path: Path,
    judged_here: list[int],  # noqa: F811
    every_pass: list[str],
) -> None:
    news(every_pass)
    run_on_spark(spark, tmp_path, every_pass)
    assert set(models.Evidence.objects.values_list("pass_name", flat=True)) == {*PASSES, DENSE_GROUPS} - {
        UnsharedPass.name
    }
    assert models.Evidence.objects.filter(pass_name=DENSE_GROUPS, stale=False).count() > 5
    assert models.Cluster.objects.count() > 10
    reasons = {reason for found in models.Pair.objects.values_list("reasons", flat=True) for reason in found}
    assert {RULE_REASON, GROUP_RULE_REASON} <= reasons
    for state in (empty, reviewed):
        with undone():
            state()
            with undone():
                find_duplicates(every_pass)
                rows = rows_and_pairs()
            judged_here.clear()
            command("import_detection", str(tmp_path))
            found = rows_and_pairs()
            for part in rows:
                assert found[part] == rows[part], (state, part)
            # What the cluster does not know is the rule of a dense group.
            assert 0 < sum(judged_here) < models.Pair.objects.count()


@pytest.mark.slow
@pytest.mark.parametrize(("texts", "clusters"), [([], 0), ([FERRY, HERRING], 0), ([FERRY, FERRY], 1)])
def test_a_run_without_articles_pairs_or_dense_groups_ends(
    spark: Any, tmp_path: Path, store: StoreArticle, every_pass: list[str], texts: list[str], clusters: int
) -> None:
    for text in texts:
        store(headline=text[:20], content=text)
    run_on_spark(spark, tmp_path, every_pass)
    command("import_detection", str(tmp_path))
    assert models.DetectionRun.objects.get().state == "done"
    assert (models.Pair.objects.count(), models.Cluster.objects.count()) == (clusters, clusters)


def rows_and_pairs() -> dict[str, Any]:
    """Return what a run stores, apart from how many pairs each pass compared: dense groups are compared again."""
    rows = stored_rows()
    ends = ("pair__left", "pair__right", "pass_name")
    details = models.Evidence.objects.order_by(*ends).values_list(*ends, "details")
    return rows | {"passes": pairs_by_pass(rows), "details": list(details)}


def empty() -> None:
    """Remove what runs have stored, apart from the rules of editors."""
    for model in (
        models.CrowdedArticle,
        models.Membership,
        models.Cluster,
        models.Evidence,
        models.RunBlock,
        models.DetectionRun,
        models.Watermark,
    ):
        model.objects.all().delete()
    models.Pair.objects.filter(state="undecided", decisions=None).delete()


def reviewed() -> None:
    """Decide on more pairs, in a dense group too."""
    editor = get_user_model().objects.get(username="mara")
    checked = list(models.Pair.objects.filter(evidence__pass_name=DENSE_GROUPS).order_by("joins", "left", "right")[:6])
    for pair in (*checked, *models.Pair.objects.filter(joins=True, state="undecided").order_by("left", "right")[:3]):
        decide_pair(pair.pk, "confirm" if pair in checked else "reject", user=editor)
