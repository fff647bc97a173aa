"""The first page."""

from __future__ import annotations

from django.db.models import Count, Q, Sum
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from articles.models import Article, Newspaper
from dedup.filters.pairs import ANY, VERDICTS, PairFilter
from dedup.models import Cluster, DetectionRun, Pair, Series

RUNS_SHOWN = 5
_NAMED = [name for name in VERDICTS if name not in ("", ANY)]


def dashboard(request: HttpRequest) -> HttpResponse:
    """Show how much there is, how much of it is duplicate, and where to begin."""
    articles = Article.objects.count()
    waiting = PairFilter({})
    counts = _waiting()
    clusters = Cluster.objects.aggregate(
        proposed=Count("pk", filter=Q(state=Cluster.State.PROPOSED)),
        confirmed=Count("pk", filter=Q(state=Cluster.State.CONFIRMED)),
        number=Count("pk"),
        members=Sum("size", default=0),
    )
    duplicates = clusters["members"] - clusters["number"]
    context = {
        "articles": articles,
        "newspapers": Newspaper.objects.count(),
        "waiting": counts,
        "by_verdict": [(name, VERDICTS[name][0], counts[name]) for name in counts if name in _NAMED and counts[name]],
        "first": waiting.qs.order_by(*waiting.ordering).values_list("pk", flat=True).first(),
        "series": Series.objects.filter(ruled_at=None).count(),
        "clusters": clusters,
        "duplicates": duplicates,
        "share": duplicates / articles if articles else 0.0,
        "runs": DetectionRun.objects.select_related("requested_by")[:RUNS_SHOWN],
    }
    return render(request, "dashboard/dashboard.html", context)


def _waiting() -> dict[str, int]:
    """Return how many pairs wait: those an editor is asked about first, all, and those of each verdict."""
    counts = {name or "asked": Count("pk", filter=condition) for name, (_, condition) in VERDICTS.items()}
    return Pair.objects.in_queue().order_by().aggregate(**counts)
