"""The page of exports, and files that are sent at once: what a list shows, all of it, and small corpora."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from django.http import Http404, HttpResponse, QueryDict, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.utils import timezone

from articles.boilerplate.mode import Mode
from articles.files.records import FileFormat
from articles.models import Article
from dedup.forms.exports import CorpusForm
from dedup.models import Cluster, CorpusExport, Pair
from dedup.models.reports import KEPT
from dedup.review.questions.tabs import TABS, tab_named
from dedup.rows.corpus.writing import corpus_pieces
from dedup.rows.exporting import EVERYTHING, EXPORTS, list_filter
from dedup.rows.files import FORMATS
from dedup.rows.pairs import PairFilter
from dedup.views.requests import EditorRequest, query_of

CONTENT_TYPES = {"csv": "text/csv; charset=utf-8", "jsonl": "application/jsonl; charset=utf-8"}

# A page sends a corpus of so many articles at once: more would keep a process of the server busy for minutes. A worker
# writes larger ones: dedup/rows/corpus/kept.py.
MAX_DOWNLOADED = 20_000
_CONTENTS = ("articles", "removed")
# Corpora that were asked for, on the page.
_SHOWN = 20


def exports(request: EditorRequest) -> HttpResponse:
    """Show what can be taken out, and how: the form for a corpus, its files, and its command."""
    form = CorpusForm(request.GET)
    context: dict[str, Any] = {
        "form": form,
        "lists": [(name, f"?{EVERYTHING[name]}" if name in EVERYTHING else "") for name in EXPORTS],
        "most": MAX_DOWNLOADED,
        "kept_days": KEPT.days,
        "kept": CorpusExport.objects.defer("description").select_related("job__requested_by")[:_SHOWN],
        "has_clusters": Cluster.objects.exists(),
        "query": query_of(request),
    }
    if form.is_valid():
        articles = _articles_up_to_bound(form)
        context |= {"articles": articles, "fault": _fault(form, articles), "report_query": _report_query(request)}
    return render(request, "exports/exports.html", context, status=200 if form.is_valid() else 400)


def corpus_csv(request: EditorRequest, content: str) -> HttpResponseBase:
    """Send a small corpus, or its removed articles, as CSV."""
    return _corpus(request, content, "csv")


def corpus_jsonl(request: EditorRequest, content: str) -> HttpResponseBase:
    """Send the same as JSON lines."""
    return _corpus(request, content, "jsonl")


def _corpus(request: EditorRequest, content: str, file_format: FileFormat) -> HttpResponseBase:
    """Send rows while they are read from the database. Raises Http404."""
    if content not in _CONTENTS:
        raise Http404(f"There is no file {content!r} of a corpus; use one of {', '.join(_CONTENTS)}")
    form = CorpusForm(request.GET)
    faults = [f"{name}: {error}" for name, errors in form.errors.items() for error in errors]
    if not faults and (fault := _fault(form, _articles_up_to_bound(form))):
        faults = [f"{fault} Ask for the files on the page Exports, or use: {form.command}"]
    if faults:
        return HttpResponse("\n".join([*faults, ""]), content_type="text/plain; charset=utf-8", status=400)
    name = "corpus" if content == "articles" else "corpus.removed"
    headers = {"Content-Disposition": f'attachment; filename="{name}.{file_format}"'}
    pieces = corpus_pieces(form.asked, content, file_format)
    return StreamingHttpResponse(pieces, content_type=CONTENT_TYPES[file_format], headers=headers)


def _articles_up_to_bound(form: CorpusForm) -> int:
    """Return how many articles are chosen; one more than MAX_DOWNLOADED for any larger number."""
    return Article.objects.in_scope(**form.asked.part.bounds()).order_by()[: MAX_DOWNLOADED + 1].count()


def _fault(form: CorpusForm, articles: int) -> str:
    """Return why a page cannot send this corpus; empty if it can."""
    if articles > MAX_DOWNLOADED:
        return f"These are more than {MAX_DOWNLOADED:,} articles, too many to be sent at once."
    if form.asked.boilerplate is not Mode.KEEP:
        return "Boilerplate is not removed at once, because new boilerplate must be looked for first."
    return ""


def _report_query(request: EditorRequest) -> str:
    """Return the same articles and clusters as options of the report on policies."""
    names = ("since", "until", "newspapers", "confirmed")
    given = QueryDict(mutable=True)
    for name in names:
        given.setlist(name, [value for value in request.GET.getlist(name) if value])
    return f"?{given.urlencode()}" if given.urlencode() else ""


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
    questions = tab_named(request.GET["tab"]).matching(request.user, filterset.selection)
    return Pair.objects.filter(pk__in=questions.order_by().filter(pair__isnull=False).values("pair"))
