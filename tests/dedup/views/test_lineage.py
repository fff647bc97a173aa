"""The page of a cluster's lineage, its files, the command, and the report over all clusters."""

import csv
import io
import json
from collections import Counter

import pytest
from django.test import Client
from django.urls import reverse

from dedup.declarations import Settings
from dedup.detection.lineage.trace import NO_ORIGIN
from dedup.detection.runs.scope import Scope
from dedup.models import Cluster
from dedup.reports.lineage import LineageReport
from tests.commands import called
from tests.conftest import StoreArticle
from tests.factories import make_cluster
from tests.pages import opened

pytestmark = pytest.mark.django_db

PIER = (
    "The old pier of Fenwick closes for repairs on Monday, the town said.",
    "Divers found that eleven of its oak piles had rotted below the water line.",
    "The work will take five months and cost two million.",
    "Fishermen may use the northern steps until the end of March.",
)

ADDED = "Readers remember the winter when <ice> carried half of it away."


def text(*sentences: str) -> str:
    return "\n\n".join(sentences)


@pytest.fixture
def cluster(store: StoreArticle) -> Cluster:
    """Return a newspaper's article, one that crops and adds and names it, and one of the same day without a time."""
    first = store(text(*PIER), newspaper="Harbour Post", time="2026-03-02T08:00+01:00", headline="Pier closes")
    second = store(
        text(PIER[0], ADDED, PIER[1].replace("eleven", "twelve"), PIER[2], "Source: Harbour Post"),
        newspaper="Coast Telegraph",
        time="2026-03-02T11:30+01:00",
    )
    third = store(text(*PIER[:3]), newspaper="Inland Gazette")
    return make_cluster(first, second, third)


def test_shows_who_ran_it_first_and_what_each_changed(
    visitor: Client, cluster: Cluster, django_assert_max_num_queries: object
) -> None:
    with django_assert_max_num_queries(14):  # type: ignore[operator]
        page = opened(visitor, "cluster_lineage", cluster.pk)

    assert "2 added, 1 dropped, 1 changed" in page
    assert "Readers remember the winter when &lt;ice&gt; carried half of it away." in page
    assert "3.5 hours later" in page
    assert "Coast Telegraph credits Harbour Post." in page
    assert NO_ORIGIN in page
    assert "only the day" in page
    assert page.count('marker-end="url(#arrow-head)"') == 2
    assert reverse("cluster_lineage", args=[cluster.pk]) in opened(visitor, "cluster", cluster.pk)
    gone = visitor.get(reverse("cluster_lineage", args=[cluster.pk + 999]))
    assert (gone.status_code, visitor.get(f"/clusters/{cluster.pk + 999}/lineage.csv").status_code) == (404, 404)


def test_page_files_and_command_give_the_same_edges(visitor: Client, cluster: Cluster, store: StoreArticle) -> None:
    make_cluster(store("One text.", newspaper="Harbour Post"), store("One text.", newspaper="Inland Gazette"))
    lines = visitor.get(reverse("cluster_lineage_jsonl", args=[cluster.pk])).getvalue()
    table = visitor.get(reverse("cluster_lineage_csv", args=[cluster.pk])).getvalue()
    exported, _ = called("export", "lineage", format="jsonl")

    edges = [json.loads(line) for line in lines.decode().splitlines()]
    everything = [json.loads(line) for line in exported.splitlines()]
    assert [article for article in everything if article["cluster"] == cluster.pk] == edges
    assert len(everything) == 3
    assert [int(row["follower"]) for row in csv.DictReader(io.StringIO(table.decode()))] == [
        edge["follower"] for edge in edges
    ]
    of_telegraph = next(edge for edge in edges if edge["follower_newspaper"] == "Coast Telegraph")
    assert (of_telegraph["source_newspaper"], of_telegraph["hours"], of_telegraph["direction"]) == (
        "Harbour Post",
        3.5,
        "clear",
    )
    assert (of_telegraph["added"], of_telegraph["dropped"], of_telegraph["changed"]) == (2, 1, 1)
    assert of_telegraph["source_published"] == "2026-03-02T08:00+01:00"


def test_the_report_counts_what_the_export_has(cluster: Cluster, store: StoreArticle) -> None:
    make_cluster(store("One text.", newspaper="Harbour Post"), store("One text.", newspaper="Inland Gazette"))
    make_cluster(store("Two texts."), store("Two texts.", date="2026-03-05"))
    edges = [json.loads(line) for line in called("export", "lineage", format="jsonl")[0].splitlines()]

    result = LineageReport().result(Scope(), Settings())

    kinds = {edge["cluster"]: edge["cluster_kind"] for edge in edges}
    assert {kind.kind: kind.clusters for kind in result.kinds if kind.clusters} == Counter(kinds.values())
    assert (result.clusters, result.between, result.arrows) == (3, 2, len(edges))
    assert result.unordered == sum(edge["direction"] == "doubtful" for edge in edges)
    ordered = [edge for edge in edges if edge["direction"] != "doubtful"]
    followed = Counter((row["source_newspaper"], row["follower_newspaper"]) for row in ordered)
    del followed["Harbour Post", "Harbour Post"]
    assert {(following.source, following.follower): following.articles for following in result.followings} == followed
    telegraph = next(following for following in result.followings if following.follower == "Coast Telegraph")
    assert (telegraph.copying, telegraph.timed, telegraph.median_hours) == (1, 1, 3.5)
    assert sum(leader.led for leader in result.leaders) == result.between - result.unknown_first
    assert LineageReport().result(Scope(newspaper_ids=()), Settings()).clusters == 0
