"""The page of exports, and their files: sent at once, or written by a worker and watched, downloaded and deleted."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import Http404, HttpResponse, QueryDict, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone

from articles.boilerplate.mode import Mode
from articles.files.records import FileFormat
from articles.jobs.work import cancel, may_cancel
from articles.loading import MissingPackageError
from articles.models import Article
from dedup.corpora import CorpusRefusedError, pieces_of, request_corpus
from dedup.forms.exports import CorpusForm, query_of_corpus
from dedup.models import Cluster, CorpusExport, Pair
from dedup.models.reports import KEPT
from dedup.review.questions.tabs import TABS, tab_named
from dedup.rows.corpus.writing import corpus_pieces
from dedup.rows.exporting import EVERYTHING, EXPORTS, list_filter
from dedup.rows.files import FORMATS
from dedup.rows.pairs import PairFilter
from dedup.views.requests import EditorRequest, address_of, attachment, decision_view, query_of, reasons_of, refused

# A page sends a corpus of so many articles at once: more would keep a process of the server busy for minutes. A worker
# writes larger ones: dedup/corpora.py.
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


def corpus(request: EditorRequest, content: str, form: FileFormat) -> HttpResponseBase:
    """Send a small corpus, or its removed articles, while it is read from the database. Raises Http404."""
    if content not in _CONTENTS:
        raise Http404(f"There is no file {content!r} of a corpus; use one of {', '.join(_CONTENTS)}")
    chosen = CorpusForm(request.GET)
    faults = reasons_of(chosen)
    if not faults and (fault := _fault(chosen, _articles_up_to_bound(chosen))):
        faults = [f"{fault} Ask for the files on the page Exports, or use: {chosen.command}"]
    if faults:
        return refused(*faults)
    name = "corpus" if content == "articles" else "corpus.removed"
    return attachment(corpus_pieces(chosen.asked, content, form), name, form)


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


def export_file(request: EditorRequest, name: str, form: str) -> StreamingHttpResponse:
    """Send a list, with the filter of the URL, while it is read from the database. Raises Http404."""
    if name not in EXPORTS:
        raise Http404(f"There is no export {name!r}; use one of {', '.join(EXPORTS)}")
    export = EXPORTS[name]
    pieces = FORMATS[form](export.columns, export.rows(_listed(request, name)))
    return attachment(pieces, f"{name}-{timezone.localdate().isoformat()}", form)


def _listed(request: EditorRequest, name: str) -> QuerySet[Any]:
    """Return the rows of the list; in a tab of questions, the pairs that it asks about one by one."""
    filterset = list_filter(name, request.GET)
    if not isinstance(filterset, PairFilter) or request.GET.get("tab") not in TABS:
        return filterset.qs
    questions = tab_named(request.GET["tab"]).matching(request.user, filterset.selection)
    return Pair.objects.filter(pk__in=questions.order_by().filter(pair__isnull=False).values("pair"))


_CONTENT_TYPES = {".gz": "application/gzip", ".parquet": "application/vnd.apache.parquet", ".json": "application/json"}


@decision_view("exports", query=True)
def corpus_new(request: EditorRequest) -> HttpResponse:
    """Queue the corpus of the options in the URL."""
    form = CorpusForm(request.GET)
    if not form.is_valid():
        return redirect(address_of(request, "exports"))
    try:
        export = request_corpus(form.stored, request.user)
    except (CorpusRefusedError, MissingPackageError) as error:
        messages.error(request, f"Nothing was started: {error}")
        return redirect(address_of(request, "exports"))
    return redirect("corpus_export", export.pk)


def corpus_export(request: EditorRequest, export_id: int) -> HttpResponse:
    """Show how far a corpus is, or its files and what is in them."""
    export = _export(export_id)
    query = query_of_corpus(export.asked)
    form = CorpusForm(query)
    context = {
        "export": export,
        "form": form if form.is_valid() else None,
        "query": f"?{query.urlencode()}",
        "may_drop": may_cancel(request.user, export.job),
    }
    return render(request, "exports/corpus.html", context)


def _export(export_id: int) -> CorpusExport:
    return get_object_or_404(CorpusExport.objects.select_related("job__requested_by"), pk=export_id)


@decision_view("corpus_export", "export_id")
def corpus_drop(request: EditorRequest, export_id: int) -> HttpResponse:
    """Delete the files of a corpus, and cancel one that is under way."""
    export = _export(export_id)
    if not may_cancel(request.user, export.job):
        raise PermissionDenied("Only who asked for this export, or an admin, may end it.")
    if cancel(export.job, request.user):
        messages.success(request, "The export was cancelled.")
    else:
        export.job.delete()
        messages.success(request, "The files were deleted.")
    return redirect("exports")


def corpus_file(request: EditorRequest, export_id: int, content: str) -> StreamingHttpResponse:  # noqa: ARG001 - Django's signature
    """Send a file of a corpus while it is read from the database. Raises Http404."""
    export = _export(export_id)
    file = next((entry for entry in export.files if entry["content"] == content), None)
    if file is None:
        raise Http404(f"Corpus {export_id} has no file {content!r}")
    headers = {
        "Content-Type": _CONTENT_TYPES[f".{file['name'].rpartition('.')[2]}"],
        "Content-Disposition": f'attachment; filename="{file["name"]}"',
        "Content-Length": str(file["bytes"]),
    }
    return StreamingHttpResponse(pieces_of(export, content), headers=headers)
