"""The list of reports, the page of a report, and its files."""

from __future__ import annotations

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render

from dedup.forms import ReportForm
from dedup.reports import REPORTS
from dedup.reports.base import Report
from dedup.reports.formats import as_csv, as_json
from dedup.views.requests import query_of


def reports(request: HttpRequest) -> HttpResponse:
    """List the reports, without running them."""
    return render(request, "reports/reports.html", {"reports": REPORTS.values()})


def report(request: HttpRequest, name: str) -> HttpResponse:
    """Run a report with the options of the URL, and show its summary and its tables."""
    shown, form = _asked(request, name)
    context: dict[str, Any] = {"report": shown, "form": form, "query": query_of(request)}
    if not form.is_valid():
        return render(request, "reports/report.html", context, status=400)
    result = shown.result(form.scope, form.options)
    context |= {"says": shown.says(result), "tables": shown.tables(result)}
    return render(request, "reports/report.html", context)


def report_csv(request: HttpRequest, name: str) -> HttpResponse:
    """Run a report with the options of the URL, and send its tables as CSV."""
    shown, form = _asked(request, name)
    if not form.is_valid():
        return _refused(form)
    text = as_csv(shown.tables(shown.result(form.scope, form.options)))
    headers = {"Content-Disposition": f'attachment; filename="{name}.csv"'}
    return HttpResponse(text, content_type="text/csv; charset=utf-8", headers=headers)


def report_json(request: HttpRequest, name: str) -> HttpResponse:
    """Run a report with the options of the URL, and send its result as JSON."""
    shown, form = _asked(request, name)
    if not form.is_valid():
        return _refused(form)
    return HttpResponse(as_json(shown.result(form.scope, form.options)), content_type="application/json")


def _asked(request: HttpRequest, name: str) -> tuple[Report, ReportForm]:
    """Return the report of this name, and the form with the options of the URL. Raises Http404."""
    if name not in REPORTS:
        raise Http404(f"There is no report {name!r}; use one of {', '.join(REPORTS)}")
    return REPORTS[name], ReportForm(request.GET, report=REPORTS[name])


def _refused(form: ReportForm) -> HttpResponse:
    reasons = [f"{name}: {error}" for name, errors in form.errors.items() for error in errors]
    return HttpResponse("\n".join([*reasons, ""]), content_type="text/plain; charset=utf-8", status=400)
