"""The dashboard: numbers of articles and duplicates, and the pairs that wait."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import Count, Q, QuerySet, Sum

from articles.models import Article, Newspaper
from articles.paging import COUNT_CEILING, count_up_to_ceiling, write_count
from dedup.models import Cluster, DetectionRun, Pair, Series
from dedup.review.queries.lists import ANY, VERDICTS, count_by_verdict
from dedup.review.queries.runs import last_finished_run, latest_runs

RUNS_SHOWN = 5
_NAMED = [name for name in VERDICTS if name not in ("", ANY)]


@dataclass(frozen=True)
class Overview:
    """The numbers on the dashboard, and the latest runs."""

    articles: int
    newspapers: int
    by_verdict: list[tuple[str, str, str]]  # of the pairs that wait: name, label and number
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
        by_verdict=[(name, VERDICTS[name][0], number) for name, number in _waiting().items()],
        series=Series.objects.filter(ruled_at=None).count(),
        clusters=clusters,
        duplicates=duplicates,
        share=duplicates / articles if articles else 0.0,
        runs=latest_runs()[:RUNS_SHOWN],
    )


def _waiting() -> dict[str, str]:
    """Return how many pairs of each verdict wait, without those of which none does.

    They are counted up to a ceiling from the index pair_waiting_by_verdict. Beyond it, the last run has counted all
    pairs of a verdict, and those that are decided are fewer.
    """
    counted = {name: count_up_to_ceiling(Pair.objects.in_queue().filter(VERDICTS[name][1])) for name in _NAMED}
    known = _known() if any(number > COUNT_CEILING for number in counted.values()) else {}
    return {
        # Less than the ceiling is known only if pairs have come since that run.
        name: f"{known[name]:,}" if number > COUNT_CEILING < known.get(name, 0) else write_count(number)
        for name, number in counted.items()
        if number
    }


def _known() -> dict[str, int]:
    """Return how many pairs of each verdict wait, from the counts of the last run."""
    run = last_finished_run()
    decided = count_by_verdict(Pair.objects.proposed().exclude(state=Pair.State.UNDECIDED))
    found = run.counts.get("verdicts", {}) if run else {}
    return {name: number - decided.get(name, 0) for name, number in found.items()}
