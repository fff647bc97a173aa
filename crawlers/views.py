"""The pages about crawls: each newspaper's latest visits, and why they failed."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render

from articles.paging import page_of
from crawlers.visit_reports import newspaper_report, newspapers_by_need, reports_of

VISITS_SHOWN = 60


def crawls(request: HttpRequest) -> HttpResponse:
    """List the newspapers, those that have failed longest first."""
    page = page_of(newspapers_by_need(), request.GET.get("page"))
    return render(request, "crawlers/crawls.html", {"page": page, "reports": reports_of(page.rows)})


def newspaper_crawls(request: HttpRequest, newspaper_id: int) -> HttpResponse:
    """Show the visits of a newspaper, the latest first, and how many links wait or were refused."""
    newspaper = get_object_or_404(newspapers_by_need(), pk=newspaper_id)
    report = newspaper_report(newspaper, VISITS_SHOWN)
    return render(request, "crawlers/newspaper.html", {"newspaper": newspaper, "report": report})
