"""The files of the lists: what a list shows, all of it, as CSV or JSON lines."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from django.http import Http404, StreamingHttpResponse
from django.utils import timezone

from dedup.exports import EXPORTS
from dedup.exports.formats import FORMATS
from dedup.filters.exports import list_filter
from dedup.filters.pairs import PairFilter
from dedup.models import Pair
from dedup.review.questions.tabs import TABS, tab_named
from dedup.views.requests import EditorRequest

CONTENT_TYPES = {"csv": "text/csv; charset=utf-8", "jsonl": "application/jsonl; charset=utf-8"}


def export_csv(request: EditorRequest, name: str) -> StreamingHttpResponse:
    """Send a list, with the filter of the URL, as CSV."""
    return _file(request, name, "csv")


def export_jsonl(request: EditorRequest, name: str) -> StreamingHttpResponse:
    """Send a list, with the filter of the URL, as JSON lines."""
    return _file(request, name, "jsonl")


def _file(request: EditorRequest, name: str, form: str) -> StreamingHttpResponse:
    """Send rows while they are read from the database. Raises Http404."""
    if name not in EXPORTS:
        raise Http404(f"There is no export {name!r}; use one of {', '.join(EXPORTS)}")
    export = EXPORTS[name]
    pieces = FORMATS[form](export.columns, export.rows(_listed(request, name)))
    file = f"{name}-{timezone.localdate().isoformat()}.{form}"
    headers = {"Content-Disposition": f'attachment; filename="{file}"'}
    return StreamingHttpResponse(pieces, content_type=CONTENT_TYPES[form], headers=headers)


def _listed(request: EditorRequest, name: str) -> QuerySet[Any]:
    """Return the rows of the list; in a tab of questions, the pairs that it asks about one by one."""
    filterset = list_filter(name, request.GET)
    if not isinstance(filterset, PairFilter) or request.GET.get("tab") not in TABS:
        return filterset.qs
    questions = tab_named(request.GET["tab"]).matching(request.user, filterset.narrowing)
    return Pair.objects.filter(pk__in=questions.order_by().filter(pair__isnull=False).values("pair"))
