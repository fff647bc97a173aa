"""The reports on duplicates of real news, against counts with pandas."""

from __future__ import annotations

import datetime
import gzip
import io
import json
from collections import Counter
from itertools import combinations, islice
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from django.core.management import call_command

from articles.models import Article
from articles.storage.incoming import IncomingArticle
from articles.storage.ingest import store_articles
from dedup.detection.kernels.masked_shingles import masked_shingle_sets
from dedup.detection.runs.scope import Scope
from dedup.models import Cluster, Evidence, Membership, Pair
from dedup.reports import REPORTS
from dedup.reports.network import NetworkOptions
from dedup.reports.terms import TermsOptions
from tests.dedup.reports.counts_of_decisions import check_advice, check_lineage, check_methods, check_quality

DATA = Path(__file__).parents[4] / "shared" / "data"
# Some of the days and all but one newspaper.
SINCE, UNTIL = datetime.date(2024, 1, 20), datetime.date(2024, 2, 5)


def store_news(first: int, last: int) -> None:
    path = DATA / "lk_news_en.jsonl.gz"
    if not path.exists():
        pytest.skip(f"{path.name} is not in {DATA}")
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in islice(lines, first, last)]
    store_articles([
        IncomingArticle(
            datetime.date.fromisoformat(row["date"]), row["headline"], row["url"], row["content"], row["newspaper"]
        )
        for row in rows
    ])  # fmt: skip


def articles_of(scope: Scope) -> pd.DataFrame:
    """Return the articles that count, with what their clusters say of them."""
    columns = ("id", "newspaper_id", "newspaper__name", "date", "content", "normalized_text")
    frame = pd.DataFrame(Article.objects.values_list(*columns), columns=["id", "paper_id", "paper", *columns[3:]])
    members = pd.DataFrame(Membership.objects.values_list("article", "cluster"), columns=["id", "cluster"])
    clusters = pd.DataFrame(Cluster.objects.values_list("pk", "kept"), columns=["cluster", "kept"])
    frame = frame.merge(members.merge(clusters, on="cluster"), on="id", how="left")
    kept = frame[["id", "paper", "date"]].set_axis(["kept", "kept_paper", "kept_date"], axis=1)
    frame = frame.merge(kept, on="kept", how="left")
    frame["duplicate"] = frame["kept"].notna() & (frame["kept"] != frame["id"])
    counts = pd.Series(True, index=frame.index)
    if scope.since and scope.until:
        counts &= (frame["date"] >= scope.since) & (frame["date"] <= scope.until)
    if scope.newspaper_ids is not None:
        counts &= frame["paper_id"].isin(scope.newspaper_ids)
    return frame[counts]


def check_sources(scope: Scope, articles: pd.DataFrame) -> None:
    found = REPORTS["sources"].result(scope, None)
    for newspaper in found.newspapers:
        own = articles[articles["paper"] == newspaper.name]
        copies = own[own["duplicate"]]
        same_paper, same_day = copies["kept_paper"] == newspaper.name, copies["kept_date"] == copies["date"]
        kinds = [sum(one & other) for one in (same_paper, ~same_paper) for other in (same_day, ~same_day)]
        assert [
            newspaper.own_same_day,
            newspaper.own_other_day,
            newspaper.others_same_day,
            newspaper.others_other_day,
        ] == kinds
        assert (newspaper.articles, newspaper.duplicates) == (len(own), len(copies))
    assert {newspaper.name for newspaper in found.newspapers} == set(articles["paper"])
    clusters, pairs, firsts = together(articles)
    assert {(pair.left, pair.right): pair.clusters for pair in found.pairs} == clusters
    assert {(pair.left, pair.right): pair.pairs for pair in found.pairs} == pairs
    for pair in found.pairs:
        both = (pair.left, pair.right)
        counted = (pair.left_first, pair.right_first, pair.same_day)
        assert counted == tuple(firsts[both, order] for order in (-1, 1, 0))
    check_network(scope, articles, clusters, pairs)


def together(articles: pd.DataFrame) -> tuple[Counter[Any], Counter[Any], Counter[Any]]:
    """Return the clusters and pairs of every two newspapers, and which was first, by going through all pairs."""
    clusters: Counter[Any] = Counter()
    pairs: Counter[Any] = Counter()
    firsts: Counter[Any] = Counter()
    for _, members in articles.dropna(subset="cluster").groupby("cluster"):
        two = [tuple(sorted(combination)) for combination in combinations(members["paper"], 2)]
        pairs.update(two)
        clusters.update(set(two))
        first = members.groupby("paper")["date"].min()
        for left, right in set(two):
            firsts[(left, right), int(np.sign((first[left] - first[right]).days))] += 1
    return clusters, pairs, firsts


def check_network(scope: Scope, articles: pd.DataFrame, clusters: Counter[Any], pairs: Counter[Any]) -> None:
    found = REPORTS["network"].result(scope, NetworkOptions(least=3))
    edges = {both: count for both, count in pairs.items() if count >= 3 and both[0] != both[1]}
    assert {(edge.left, edge.right): (edge.clusters, edge.pairs) for edge in found.edges} == {
        both: (clusters[both], count) for both, count in edges.items()
    }
    for node in found.nodes:
        own = [count for both, count in edges.items() if node.name in both]
        assert (node.newspapers, node.pairs) == (len(own), sum(own))
        assert node.duplicates == sum(articles[articles["paper"] == node.name]["duplicate"])


def check_passes(scope: Scope, articles: pd.DataFrame) -> pd.DataFrame:
    """Check the report on passes; return the passes that find each duplicate."""
    columns = ("pair", "pass_name", "pair__left", "pair__right", "pair__state", "pair__implied")
    evidence = pd.DataFrame(Evidence.objects.filter(stale=False).values_list(*columns), columns=columns)
    known = articles.set_index("id")
    evidence = evidence[evidence["pair__left"].isin(known.index) & evidence["pair__right"].isin(known.index)]
    left, right = (evidence[f"pair__{side}"].map(known["cluster"]) for side in ("left", "right"))
    evidence = evidence.assign(clustered=left == right, passes=evidence.groupby("pair")["pass_name"].transform("count"))
    ends = pd.concat([evidence.assign(id=evidence[f"pair__{side}"]) for side in ("left", "right")])
    found_articles = ends[ends["clustered"] & ends["id"].map(known["duplicate"]).astype(bool)]
    found_articles = found_articles[["id", "pass_name"]].drop_duplicates()
    found_articles["passes"] = found_articles.groupby("id")["pass_name"].transform("count")
    result = REPORTS["passes"].result(scope, None)
    assert {detection_pass.name for detection_pass in result.passes} == set(evidence["pass_name"])
    assert result.pairs == evidence["pair"].nunique()
    for detection_pass in result.passes:
        own = evidence[evidence["pass_name"] == detection_pass.name]
        alone = own[own["passes"] == 1]
        copies = found_articles[found_articles["pass_name"] == detection_pass.name]
        assert (detection_pass.pairs, detection_pass.pairs_alone) == (len(own), len(alone))
        assert (detection_pass.clustered, detection_pass.clustered_alone) == (
            sum(own["clustered"]),
            sum(alone["clustered"]),
        )
        assert (detection_pass.duplicates, detection_pass.duplicates_alone) == (len(copies), sum(copies["passes"] == 1))
        states = own[~own["pair__implied"]]["pair__state"]
        assert detection_pass.confirmed == sum(states == "confirmed")
        assert detection_pass.decided == sum(states.isin(["confirmed", "rejected", "template"]))
        if detection_pass.decided:
            assert (detection_pass.low, detection_pass.high) == pytest.approx(
                wilson(detection_pass.confirmed, detection_pass.decided)
            )
    for row in result.overlap:
        for counted, rows, key in ((row.pairs, evidence, "pair"), (row.duplicates, found_articles, "id")):
            one, other = (set(rows[rows["pass_name"] == name][key]) for name in (row.one, row.other))
            assert counted == len(one & other)
    return found_articles


def wilson(right: int, drawn: int) -> tuple[float, float]:
    """Return the roots of (p - share)² = z² p (1 - p) / n."""
    z2, share = 1.959963984540054**2 / drawn, right / drawn
    low, high = sorted(np.roots([1 + z2, -2 * share - z2, share**2]).real)
    return max(low, 0.0), min(high, 1.0)


def check_overview(scope: Scope, articles: pd.DataFrame, found_articles: pd.DataFrame) -> None:
    result = REPORTS["overview"].result(scope, None)
    for parts, key in (
        (result.months, articles["date"].map("{:%Y-%m}".format)),
        (result.newspapers, articles["paper"]),
    ):
        counted = articles.groupby(key)["duplicate"].agg(["count", "sum"])
        assert {part.name: (part.articles, part.duplicates) for part in parts} == {
            name: tuple(row) for name, row in zip(counted.index, counted.to_numpy(), strict=True)
        }
    assert {method.name: method.duplicates for method in result.methods if method.duplicates} == dict(
        found_articles["pass_name"].value_counts()
    )
    shingles = masked_shingle_sets(list(articles["normalized_text"])).sizes
    for kind, sizes in (("characters", articles["content"].str.len().to_numpy()), ("shingles", shingles)):
        found = result.sizes[kind]
        assert found.mean == pytest.approx(sizes.mean())
        shares = (0, 0.05, 0.25, 0.5, 0.75, 0.95, 1)
        assert found.quantiles == list(np.quantile(sizes, shares, method="inverted_cdf"))
        for bar in found.bars:
            assert bar.articles == sum((sizes >= bar.low) & (sizes <= bar.high))
        assert sum(bar.articles for bar in found.bars) == found.articles == len(articles)


def check_terms(scope: Scope, articles: pd.DataFrame) -> None:
    result = REPORTS["terms"].result(scope, TermsOptions())
    left = articles[~articles["duplicate"]]
    before, after = (Counter(" ".join(article["normalized_text"]).split()) for article in (articles, left))
    moves = {word: abs(after[word] / after.total() - times / before.total()) for word, times in before.items()}
    assert [term.word for term in result.terms] == sorted(moves, key=lambda word: (-moves[word], word))[:50]
    for term in result.terms:
        assert (term.before, term.after) == (before[term.word], after[term.word])
    assert (result.words_before, result.words_after) == (before.total(), after.total())


@pytest.mark.real_data
@pytest.mark.django_db
def test_every_number_of_the_reports_on_duplicates_equals_a_count_with_pandas() -> None:
    store_news(1_000, 1_500)
    said = io.StringIO()
    call_command("find_duplicates", "--no-progress", "--workers", "1", stdout=said, stderr=said)
    decided = list(Pair.objects.filter(best_score__gt=0).order_by("pk")[::3])
    states = ("confirmed", "rejected", "template", "version")
    for place, pair in enumerate(decided):
        Pair.objects.filter(pk=pair.pk).update(state=states[place % 4], implied=place % 5 == 0)
    papers = sorted(Article.objects.values_list("newspaper_id", flat=True).distinct())
    assert Membership.objects.count() > 15
    for scope in (Scope(), Scope(SINCE, UNTIL, tuple(papers[1:]))):
        articles = articles_of(scope)
        assert articles["duplicate"].sum() > 5
        check_sources(scope, articles)
        check_overview(scope, articles, check_passes(scope, articles))
        check_terms(scope, articles)
        check_advice(scope)
        check_methods(scope)
        check_quality(scope)
    check_lineage()
