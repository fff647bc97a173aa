"""The dashboard."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from dedup.filters.pairs import PairFilter
from dedup.review.queries.dashboard import overview


def dashboard(request: HttpRequest) -> HttpResponse:
    """Show the numbers of articles, clusters and duplicates, and where to begin reviewing."""
    waiting = PairFilter({})
    first = waiting.qs.order_by(*waiting.ordering).values_list("pk", flat=True).first()
    return render(request, "dashboard/dashboard.html", {"first": first, **vars(overview())})
