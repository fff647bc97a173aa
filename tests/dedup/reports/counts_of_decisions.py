"""What the reports on advice, methods, decisions and lineage count, counted again with pandas."""

from __future__ import annotations

import dataclasses
import io
import json
from typing import Any

import numpy as np
import pandas as pd
import pytest
from django.core.management import call_command

from articles.models import Article, Newspaper
from dedup.detection.runs.scope import Scope
from dedup.models import Cluster, Evidence, Membership, Pair
from dedup.reports import REPORTS
from dedup.reports.advice import AdviceOptions

LABELS = {"confirmed": True, "rejected": False, "template": False}


def pairs_of(scope: Scope) -> pd.DataFrame:
    """Return the proposed pairs whose articles are both of the newspapers, with their days and newspapers."""
    columns = ("id", "state", "implied", "verdict", "left", "right")
    sides = [f"{side}__{name}" for side in ("left", "right") for name in ("date", "newspaper_id")]
    names = [*columns, "left_day", "left_paper", "right_day", "right_paper"]
    rows = Pair.objects.filter(evidence__stale=False).distinct().values_list(*columns, *sides)
    frame = pd.DataFrame(rows, columns=names)
    if scope.newspaper_ids is None:
        return frame
    return frame[frame["left_paper"].isin(scope.newspaper_ids) & frame["right_paper"].isin(scope.newspaper_ids)]


def check_advice(scope: Scope) -> None:
    """Compare every number of the advice for all newspapers."""
    pairs = pairs_of(scope)
    later = pairs[["left_day", "right_day"]].max(axis=1)
    if scope.since and scope.until:
        pairs = pairs[(later >= scope.since) & (later <= scope.until)]
    known = pairs["state"].isin(LABELS) & ~((pairs["state"] == "rejected") & pairs["implied"])
    pairs = pairs.assign(duplicate=pairs["state"].map(LABELS).where(known))
    evidence = pd.DataFrame(
        Evidence.objects.filter(stale=False).values_list("pair", "pass_name", "score"), columns=["id", "pass", "score"]
    )
    found = evidence.merge(pairs, on="id").assign(band=lambda rows: np.floor(rows["score"] * 20 + 1e-6))
    result = REPORTS["advice"].result(scope, AdviceOptions())
    whole = {row.pass_name: row.advice for row in result.advised if not row.newspaper}
    assert set(whole) == set(found["pass"])
    for name, rows in found.groupby("pass"):
        _check_steps(whole[str(name)], rows)


def _check_steps(advice: Any, rows: pd.DataFrame) -> None:
    decided = rows[rows["duplicate"].notna()]
    assert (advice.pairs, advice.decided, advice.duplicates) == (len(rows), len(decided), decided["duplicate"].sum())
    cells = ["band", "verdict"]
    weights = rows.groupby(cells).size() / decided.groupby(cells).size()
    decided = decided.join(weights.rename("weight"), on=cells)
    right = decided["weight"] * decided["duplicate"].astype(float)
    for step in advice.steps:
        above = decided["band"] >= round(step.threshold * 20)
        assert (step.decided, step.pairs) == (above.sum(), (rows["band"] >= round(step.threshold * 20)).sum())
        if above.any():
            assert step.precision == pytest.approx(right[above].sum() / decided["weight"][above].sum())
        if right.sum():
            assert step.kept == pytest.approx(right[above].sum() / right.sum())


def check_methods(scope: Scope) -> None:
    """Compare every count of the methods section."""
    columns = ("id", "date", "newspaper_id")
    articles = pd.DataFrame(Article.objects.values_list(*columns), columns=list(columns))
    pairs = pairs_of(scope)
    if scope.since and scope.until:
        articles = articles[articles["date"].between(scope.since, scope.until)]
        for side in ("left_day", "right_day"):
            pairs = pairs[pairs[side].between(scope.since, scope.until)]
    if scope.newspaper_ids is not None:
        articles = articles[articles["newspaper_id"].isin(scope.newspaper_ids)]
    members = pd.DataFrame(Membership.objects.values_list("article", "cluster"), columns=["id", "cluster"])
    members = members[members["id"].isin(articles["id"])]
    kept = set(Cluster.objects.values_list("kept", flat=True))
    assert dataclasses.asdict(REPORTS["methods"].result(scope, None).facts.counts) == {
        "articles": len(articles),
        "newspapers": articles["newspaper_id"].nunique(),
        "first_day": articles["date"].min(),
        "last_day": articles["date"].max(),
        "pairs": len(pairs),
        "verdicts": {
            kind: (pairs["verdict"] == kind).sum() for kind in ("duplicate", "version", "template", "similar")
        },
        "clusters": members["cluster"].nunique(),
        "clustered_articles": len(members),
        "duplicate_articles": (~members["id"].isin(kept)).sum(),
        "decided_pairs": (pairs["state"] != "undecided").sum(),
        "changed_since_run": 0,
    }


def check_quality(scope: Scope) -> None:
    """Compare the precision of every pass and newspaper; both articles of a pair are within the days."""
    pairs = pairs_of(scope)
    for side in ("left_day", "right_day"):
        if scope.since and scope.until:
            pairs = pairs[(pairs[side] >= scope.since) & (pairs[side] <= scope.until)]
    decided = pairs[pairs["state"].isin(LABELS) & ~pairs["implied"].astype(bool)]
    decided = decided.assign(confirmed=decided["state"] == "confirmed")
    evidence = pd.DataFrame(
        Evidence.objects.filter(stale=False).values_list("pair", "pass_name"), columns=["id", "pass_name"]
    )
    names = dict(Newspaper.objects.values_list("pk", "name"))
    sides = [decided.assign(newspaper=decided[side].map(names)) for side in ("left_paper", "right_paper")]
    of_newspapers = pd.concat(sides).drop_duplicates(["id", "newspaper"])
    expected = {("", ""): (len(decided), int(decided["confirmed"].sum()))}
    for rows, keys in (
        (decided.merge(evidence, on="id").assign(newspaper=""), ["pass_name", "newspaper"]),
        (of_newspapers.assign(pass_name=""), ["pass_name", "newspaper"]),
        (of_newspapers.merge(evidence, on="id"), ["pass_name", "newspaper"]),
    ):
        for key, some in rows.groupby(keys):
            expected[key] = (len(some), int(some["confirmed"].sum()))
    found = REPORTS["quality"].result(scope, None).precision
    assert {(row.pass_name, row.newspaper): (row.decided, row.confirmed) for row in found} == expected
    assert all(row.precision == pytest.approx(row.confirmed / row.decided) for row in found)


def check_lineage() -> None:
    """Compare the counts of all clusters with the rows of the export, and with the newspapers of each cluster."""
    out = io.StringIO()
    call_command("export", "lineage", format="jsonl", no_progress=True, stdout=out, stderr=io.StringIO())
    edges = pd.DataFrame([json.loads(line) for line in out.getvalue().splitlines()])
    members = pd.DataFrame(
        Membership.objects.values_list("cluster", "article__newspaper__name"), columns=["cluster", "name"]
    )
    several = members.groupby("cluster")["name"].transform("nunique") > 1
    present = members[several].drop_duplicates()["name"].value_counts().to_dict()
    found = REPORTS["lineage"].result(Scope(), None)
    assert (found.clusters, found.between) == (
        members["cluster"].nunique(),
        members[several]["cluster"].nunique(),
    )
    kinds = edges.drop_duplicates("cluster")["cluster_kind"].value_counts().to_dict()
    assert {kind.kind: kind.clusters for kind in found.kinds if kind.clusters} == kinds
    doubtful = edges["direction"] == "doubtful"
    assert (found.arrows, found.unordered) == (len(edges), doubtful.sum())
    ordered = edges[~doubtful & (edges["source_newspaper"] != edges["follower_newspaper"])]
    followed = ordered.groupby(["source_newspaper", "follower_newspaper"]).size().to_dict()
    assert {(following.source, following.follower): following.articles for following in found.followings} == followed
    assert {leader.newspaper: leader.clusters for leader in found.leaders} == present
    assert sum(leader.led for leader in found.leaders) == found.between - found.unknown_first
