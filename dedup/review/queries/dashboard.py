"""The dashboard: numbers of articles and duplicates, and the pairs that wait."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import Count, Q, QuerySet, Sum

from articles.models import Article, Newspaper
from articles.paging import count_up_to_ceiling, write_count
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
    by_verdict: list[tuple[str, str, str]]  # of the pairs that wait: name, label and number, counted up to a ceiling
    series: int  # without a rule
    clusters: dict[str, int]
    duplicates: int
    share: float  # of duplicates among all articles, 0..1
    runs: QuerySet[DetectionRun]


def overview() -> Overview:
    """Return what the dashboard shows."""
    articles = Article.objects.count()
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
        by_verdict=[(name, VERDICTS[name][0], write_count(number)) for name, number in _waiting().items() if number],
        series=Series.objects.filter(ruled_at=None).count(),
        clusters=clusters,
        duplicates=duplicates,
        share=duplicates / articles if articles else 0.0,
        runs=latest_runs()[:RUNS_SHOWN],
    )


def _waiting() -> dict[str, int]:
    """Return how many pairs of each verdict wait, counted up to a ceiling from the index pair_waiting_by_verdict."""
    return {name: count_up_to_ceiling(Pair.objects.in_queue().filter(VERDICTS[name][1])) for name in _NAMED}
