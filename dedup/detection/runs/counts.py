"""The counts of a run, which are stored with it."""

from __future__ import annotations

from typing import Any

from django.db.models import Count, Sum

from articles.models import Article
from articles.storage.renormalization import outdated_forms
from dedup.detection.clustering.changes import contradictions
from dedup.detection.runs.scope import Scope
from dedup.models import Cluster, DenseGroup, DetectionRun, Evidence, Membership, Pair, Verdict


def counts_of(run: DetectionRun, scope: Scope) -> dict[str, Any]:
    """Return what a run found, and what the archive has after it."""
    passes: dict[str, dict[str, Any]] = {}
    for mark in run.blocks.all():
        entry = passes.setdefault(mark.pass_name, {"candidates": 0, "verified": 0, "pairs": 0, "seconds": 0.0})
        entry["candidates"] += mark.candidates
        entry["verified"] += mark.verified
        entry["seconds"] = round(entry["seconds"] + mark.seconds, 3)
    found = Evidence.objects.found_by(run)
    for name, pairs in found.order_by().values_list("pass_name").annotate(Count("id")):
        if name in passes:  # the others are of dense groups, not of a pass
            passes[name]["pairs"] = pairs
    verdicts = Pair.objects.proposed().values_list("verdict").annotate(Count("id")).order_by()
    clusters, members = Cluster.objects.count(), Membership.objects.count()
    articles = Article.objects.count()
    return run.counts | {
        "articles": Article.objects.in_scope(scope.since, scope.until, scope.newspaper_ids).count(),
        "passes": passes,
        "pairs": found.values("pair").distinct().count(),
        "outdated": outdated_forms().count(),
        "verdicts": {verdict: dict(verdicts).get(verdict, 0) for verdict in Verdict.values},
        "clusters": clusters,
        "clustered_articles": members,
        "duplicate_articles": members - clusters,
        "duplicate_share": round((members - clusters) / articles, 6) if articles else 0.0,
        "contradictions": contradictions(),
        "dense_groups": DenseGroup.objects.count(),
        "dense_articles": DenseGroup.objects.aggregate(articles=Sum("size"))["articles"] or 0,
    }
