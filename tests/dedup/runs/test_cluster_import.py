"""Results of a cluster are stored as if a run here had found them."""

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError
from django.db import OperationalError
from django.db.models import F
from django.utils.module_loading import import_string

from articles.models import Article
from articles.storage.ingest import store_articles
from dedup.answers import Answer
from dedup.detection.runs import judging
from dedup.detection.spark.manifest import Manifest, Result
from dedup.detection.types import DENSE_GROUPS
from dedup.models import CrowdedArticle, DetectionRun, Evidence, GroupMember, Membership, Pair, Profile, RunBlock
from dedup.review.answers.decisions import decide_pair
from tests.conftest import StoreArticle
from tests.databases import undone
from tests.dedup.runs.cluster_results import write_results
from tests.dedup.runs.made_up_news import forms_with_copies, made_up_news, store_copies
from tests.dedup.runs.running import command as run_command
from tests.dedup.runs.running import forget_runs
from tests.factories import make_user

pytestmark = pytest.mark.django_db

SEED = 20_260_311
# With contained texts, no pair of the dense group would be left to compare for its clusters.
SETTINGS = {"trigram": {"dense_from": 10, "kept_pairs": 2}, "containment": {"enabled": False}}


def command(name: str, *options: str) -> str:
    return "".join(run_command(name, *options))


def stored_rows() -> dict[str, Any]:
    """Return what a run stores, without numbers and times."""
    ends = ("pair__left", "pair__right")
    pairs = Pair.objects.order_by("left", "right")
    columns = [field.name for field in Pair._meta.fields if field.name not in {"id", "found_at"}]
    clusters: dict[int, list[Any]] = {}
    for article, cluster, *facts in Membership.objects.order_by("article").values_list(
        "article", "cluster", "cluster__kept", "cluster__state", "cluster__lowest_score"
    ):
        clusters.setdefault(cluster, facts).append(article)
    run = DetectionRun.objects.latest("pk")
    return {
        "pairs": list(pairs.values_list(*columns)),
        "evidence": sorted(Evidence.objects.values_list(*ends, "pass_name", "score", "details__shared", "stale")),
        "crowded": sorted(CrowdedArticle.objects.values_list("pass_name", "article", "near")),
        "groups": sorted(GroupMember.objects.values_list("article", "group__fingerprint", "group__pairs")),
        "clusters": sorted(clusters.values(), key=lambda facts: facts[3]),
        "counts": {name: value for name, value in run.counts.items() if name not in ("passes", "phases", "stale")},
        "passes": {name: {**numbers, "seconds": 0} for name, numbers in run.counts["passes"].items()},
        "config": run.config,
        "scope": run.scope,
    }


@pytest.fixture
def news(db: None) -> None:
    store_articles(made_up_news(SEED)[:60])
    store_copies(forms_with_copies(2, 70))
    Profile.objects.filter(is_default=True).update(settings=SETTINGS)


@pytest.fixture
def judged_here(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return a list that gets the number of proposed pairs of every month that is judged in this process."""
    judged: list[int] = []
    whole: Callable[..., Any] = judging.judged_rows

    def counted(task: Any, pairs: Any, *more: Any, **options: Any) -> Any:
        judged.append(len(pairs))
        return whole(task, pairs, *more, **options)

    monkeypatch.setattr("dedup.detection.runs.judging.judged_rows", counted)
    # Those that clusters of dense groups need are none of them.
    monkeypatch.setattr("dedup.detection.runs.dense_groups.judged_rows", whole)
    return judged


def test_an_import_stores_the_rows_of_a_run(news: None, tmp_path: Path, judged_here: list[int]) -> None:
    command("find_duplicates")
    found = stored_rows()
    assert {"trigram", "url", DENSE_GROUPS} <= {row[2] for row in found["evidence"]}
    assert found["groups"]
    assert found["clusters"]
    command("export_detection", str(tmp_path))
    write_results(tmp_path)
    forget_runs()
    judged_here.clear()

    assert "Nothing was stored." in command("import_detection", str(tmp_path), "--dry-run")
    assert not DetectionRun.objects.exists()
    said = command("import_detection", str(tmp_path), "--audit", "3")
    assert stored_rows() == found
    assert judged_here == []
    assert "The same pairs with the same scores on 3 of 3 days." in said

    # Twice is once.
    blocks = RunBlock.objects.count()
    assert "has stored these results; nothing to do" in command("import_detection", str(tmp_path))
    assert (stored_rows(), RunBlock.objects.count(), DetectionRun.objects.count()) == (found, blocks, 1)
    # Nothing is left to do for a run of new articles, and one that stopped goes on.
    command("find_duplicates", "--new")
    assert stored_rows()["pairs"] == found["pairs"]
    assert judged_here == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("step", "times"),
    [
        ("dedup.detection.runs.cluster.importing.write_block", 3),
        ("dedup.detection.runs.cluster.importing.store_rows", 1),
        ("dedup.detection.runs.dense_groups.store_rows", 0),
        ("dedup.detection.runs.pipeline.update_clusters", 0),
    ],
)
def test_an_import_that_was_killed_goes_on_with_the_same_command(
    news: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str, times: int
) -> None:
    command("find_duplicates")
    found = stored_rows()
    command("export_detection", str(tmp_path))
    write_results(tmp_path)
    forget_runs()
    real, done = import_string(step), []

    def lost(*arguments: Any, **options: Any) -> Any:
        if len(done) == times:
            # Like a kill -9, a lost database leaves the run as it is; what was not committed is undone.
            raise OperationalError("killed")
        done.append(1)
        return real(*arguments, **options)

    with monkeypatch.context() as patched:
        patched.setattr(step, lost)
        with pytest.raises((CommandError, OperationalError)):
            command("import_detection", str(tmp_path))
    assert DetectionRun.objects.get().state == DetectionRun.State.RUNNING
    command("import_detection", str(tmp_path))
    assert stored_rows() == found
    assert DetectionRun.objects.count() == 1


@pytest.mark.slow
def test_an_import_into_a_reviewed_database_is_a_run_on_it(
    news: None, store: StoreArticle, tmp_path: Path, judged_here: list[int]
) -> None:
    editor = make_user("Edda", "editor")
    command("export_detection", str(tmp_path))
    with undone():
        command("find_duplicates")
        write_results(tmp_path)
    command("find_duplicates", "--passes=trigram", "--threshold=0.95")
    for pair in Pair.objects.filter(joins=True).order_by("left", "right")[:2]:
        decide_pair(pair.pk, Answer.REJECT, user=editor)
    with undone():
        command("find_duplicates")
        found = stored_rows()
    assert "rejected" in [row[2] for row in found["pairs"]]
    command("import_detection", str(tmp_path))
    assert stored_rows() == found

    # Of articles that came since, the results say nothing.
    new = store(Article.objects.earliest("pk").content, newspaper="Evening Echo", date="2026-02-10")
    command("find_duplicates", "--new")
    of_new = Evidence.objects.filter(pair__right=new.pk, stale=False).count()
    assert of_new
    DetectionRun.objects.exclude(results="").update(results="forgotten")
    judged_here.clear()
    command("import_detection", str(tmp_path))
    assert Evidence.objects.filter(pair__right=new.pk, stale=False).count() == of_new
    assert sum(judged_here) >= of_new


def test_what_does_not_fit_is_refused_by_name(news: None, tmp_path: Path) -> None:
    command("find_duplicates", "--passes=url")
    command("export_detection", str(tmp_path), "--passes=url")

    def is_refused(message: str, *options: str) -> None:
        with pytest.raises(CommandError, match=message):
            command("import_detection", str(tmp_path), *options)

    is_refused(r"there is no result\.json in .*; finish the run with newsdedup-spark run")
    result = write_results(tmp_path)
    path = tmp_path / "results" / "result.json"

    dataclasses.replace(result, versions={**result.versions, "Unicode": "1.0"}).write(path)
    is_refused(r"the versions differ: Unicode 1\.0 in the cluster")
    dataclasses.replace(result, manifest="other").write(path)
    is_refused("are of an earlier export into the same folder")
    result.write(path)
    manifest = Manifest.read(tmp_path / "manifest.json")
    other = dataclasses.replace(manifest, comparison=1)
    other.write(tmp_path / "manifest.json")
    dataclasses.replace(Result.read(path), manifest=other.fingerprint()).write(path)
    is_refused("the export was made by comparison 1")
    manifest.write(tmp_path / "manifest.json")
    result.write(path)

    is_refused("--audit checks what the trigram pass has stored", "--audit=1")
    article = Article.objects.earliest("pk")
    Article.objects.filter(pk=article.pk).update(content=F("content"))
    assert Article.objects.get(pk=article.pk).revision != article.revision
    is_refused(rf"articles have changed since the export: {article.pk}, “.*” \({article.newspaper.name}\); export")
    assert DetectionRun.objects.filter(results="").count() == DetectionRun.objects.count()


def test_options_of_the_engine_that_do_not_go_together_are_refused() -> None:
    for options, message in (
        (["--master=local[1]"], "--master is an option of --engine spark"),
        (["--engine=spark", "--new"], "leave out --new"),
        (["--engine=spark", "--resume"], "--resume needs the folder"),
    ):
        with pytest.raises(CommandError, match=message):
            command("find_duplicates", *options)
