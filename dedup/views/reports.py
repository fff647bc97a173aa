"""The list of reports, the page of a report, and its files."""

from collections.abc import Callable
from contextlib import suppress
from functools import cached_property, wraps
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST

from dedup.forms.base import ReportForm
from dedup.models import StoredReport
from dedup.reports import REPORTS, computing, pages
from dedup.reports.base import ReportError
from dedup.reports.computing import QUICK_SECONDS, changes_since, compute, drawn, request_report, stored_report
from dedup.reports.formats import as_csv
from dedup.views.requests import EditorRequest, address_of, bad_request, query_of, reasons_of, tab_to


def reports(request: HttpRequest) -> HttpResponse:
    """List the pages of reports, without running them."""
    return render(request, "reports/reports.html", {"pages": pages().items()})


class _Asked:
    """The report of this name with the options of the URL, and what is known of its result. Raises Http404."""

    def __init__(self, request: HttpRequest, name: str) -> None:
        if name not in REPORTS:
            raise Http404(f"There is no report {name!r}; use one of {', '.join(REPORTS)}")
        self.report = REPORTS[name]
        self.form = ReportForm(request.GET, report=self.report)

    @cached_property
    def stored(self) -> StoredReport | None:
        return stored_report(self.report, self.form.scope, self.form.options)

    @cached_property
    def result(self) -> StoredReport | None:
        """The result: the one that is kept if computing takes long. Raises ReportError."""
        kept, is_heavy = self.stored, computing.is_heavy(self.report, self.form.options)
        if kept and kept.result and (is_heavy or kept.seconds >= QUICK_SECONDS):
            with suppress(ReportError):  # kept by a version whose results this one cannot read
                drawn(kept)
                return kept
        return None if is_heavy else compute(self.report, self.form.scope, self.form.options)

    @property
    def found(self) -> StoredReport:
        """The result. Raises ReportError if there is none yet."""
        if self.result is None:
            raise ReportError(f"The report {self.report.name} was not computed yet. Compute it on its page.")
        return self.result

    @property
    def changes(self) -> dict[str, int] | None:
        """What has changed since the shown result was computed; None if it was computed just now."""
        return changes_since(self.stored) if self.stored and self.result is self.stored else None


def report(request: HttpRequest, name: str) -> HttpResponse:
    """Show the result of a report with the options of the URL: its summary, charts and tables."""
    asked = _Asked(request, name)
    context: dict[str, Any] = {"report": asked.report, "form": asked.form, "query": query_of(request)}
    context["tabs"] = [
        tab_to(part.label, address_of(request, "report", part.name), shown=part is asked.report)
        for part in pages()[asked.report.page]
    ]
    if not asked.form.is_valid():
        return render(request, "reports/report.html", context, status=400)
    try:
        result = asked.result
        shown = result and drawn(result)
    except ReportError as error:
        return render(request, "reports/report.html", context | {"refused": str(error)}, status=400)
    context |= {"stored": result or asked.stored, "computed": result, "changes": asked.changes}
    if shown:
        context |= {"summary": shown.summary, "tables": shown.tables, "pictures": shown.pictures, "files": shown.files}
    return render(request, "reports/report.html", context)


def _or_reasons(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """Hand a view the report with the options of the URL, or answer why it cannot be computed like this."""

    @wraps(view)
    def answer(request: HttpRequest, name: str, **values: str) -> HttpResponse:
        asked = _Asked(request, name)
        if not asked.form.is_valid():
            return bad_request(*reasons_of(asked.form))
        try:
            return view(request, asked, **values)
        except ReportError as error:
            return bad_request(str(error))

    return answer


@require_POST
@_or_reasons
def report_count(request: EditorRequest, asked: _Asked) -> HttpResponse:
    """Compute a report again; one that is heavy is queued for a worker."""
    page = address_of(request, "report", asked.report.name)
    if computing.is_heavy(asked.report, asked.form.options):
        request_report(asked.report, asked.form.scope, asked.form.options, request.user, page)
        messages.success(request, "A worker will compute this report.")
    else:
        compute(asked.report, asked.form.scope, asked.form.options)
    return redirect(page)


@_or_reasons
def report_csv(_request: HttpRequest, asked: _Asked) -> HttpResponse:
    """Send the tables of a report with the options of the URL as CSV."""
    return _file(as_csv(drawn(asked.found).tables), "text/csv", f"{asked.report.name}.csv")


@_or_reasons
def report_json(_request: HttpRequest, asked: _Asked) -> HttpResponse:
    """Send the result of a report with the options of the URL as JSON."""
    return HttpResponse(asked.found.result, content_type="application/json")


@_or_reasons
def report_svg(request: HttpRequest, asked: _Asked) -> HttpResponse:
    """Send a chart of a report, the one that ?chart= names or else the first."""
    pictures = {picture.name: picture for picture in drawn(asked.found).pictures}
    chart = request.GET.get("chart") or next(iter(pictures), "")
    if chart not in pictures:
        raise Http404(f"The report has no chart {chart!r}; it has {', '.join(pictures) or 'none'}")
    return _file(pictures[chart].svg, "image/svg+xml", f"{asked.report.name}-{chart}.svg")


@_or_reasons
def report_file(_request: HttpRequest, asked: _Asked, file: str) -> HttpResponse:
    """Send one more file of a report."""
    files = {shown_file.name: shown_file for shown_file in drawn(asked.found).files}
    if file not in files:
        raise Http404(f"The report has no file {file!r}; it has {', '.join(files) or 'none'}")
    return _file(files[file].text, files[file].content_type, file)


def _file(text: str, content_type: str, name: str) -> HttpResponse:
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return HttpResponse(text, content_type=f"{content_type}; charset=utf-8", headers=headers)
