"""The dashboard: numbers of articles and duplicates, and the pairs that wait."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import Count, Q, QuerySet, Sum

from articles.models import Article, Newspaper
from dedup.models import Cluster, DetectionRun, Pair, Series
from dedup.review.queries.pairs import ANY, VERDICTS
from dedup.review.queries.runs import latest_runs

RUNS_SHOWN = 5
_NAMED = [name for name in VERDICTS if name not in ("", ANY)]


@dataclass(frozen=True)
class Overview:
    """The numbers on the dashboard, and the latest runs."""

    articles: int
    newspapers: int
    waiting: dict[str, int]  # pairs that may be duplicates (`likely`), `any`, and those of each verdict
    by_verdict: list[tuple[str, str, int]]  # name, label and number
    series: int  # without a rule
    clusters: dict[str, int]
    duplicates: int
    share: float  # of duplicates among all articles, 0..1
    runs: QuerySet[DetectionRun]


def overview() -> Overview:
    """Return what the dashboard shows."""
    articles = Article.objects.count()
    waiting = _waiting()
    clusters = Cluster.objects.aggregate(
        proposed=Count("pk", filter=Q(state=Cluster.State.PROPOSED)),
        confirmed=Count("pk", filter=Q(state=Cluster.State.CONFIRMED)),
        number=Count("pk"),
        members=Sum("size", default=0),
    )
    duplicates = clusters["members"] - clusters["number"]
    return Overview(
        articles=articles,
        newspapers=Newspaper.objects.in_use().count(),
        waiting=waiting,
        by_verdict=[(name, VERDICTS[name][0], waiting[name]) for name in _NAMED if waiting[name]],
        series=Series.objects.filter(ruled_at=None).count(),
        clusters=clusters,
        duplicates=duplicates,
        share=duplicates / articles if articles else 0.0,
        runs=latest_runs()[:RUNS_SHOWN],
    )


def _waiting() -> dict[str, int]:
    counts = {name or "likely": Count("pk", filter=condition) for name, (_, condition) in VERDICTS.items()}
    return Pair.objects.in_queue().order_by().aggregate(**counts)
