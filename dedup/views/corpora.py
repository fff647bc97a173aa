"""Corpora that a worker writes: asked for, watched, downloaded, cancelled, deleted."""

from __future__ import annotations

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse

from articles.jobs.work import cancel, may_cancel
from articles.loading import MissingPackageError
from dedup.forms.exports import CorpusForm, query_of_corpus
from dedup.models import CorpusExport
from dedup.rows.corpus.kept import CorpusRefusedError, pieces_of, request_corpus
from dedup.views.requests import EditorRequest, decision_view, query_of

_CONTENT_TYPES = {".gz": "application/gzip", ".parquet": "application/vnd.apache.parquet", ".json": "application/json"}


def _form_page(request: HttpRequest) -> str:
    return f"{reverse('exports')}{query_of(request)}"


@decision_view(_form_page)
def corpus_new(request: EditorRequest) -> HttpResponse:
    """Queue the corpus of the options in the URL."""
    form = CorpusForm(request.GET)
    if not form.is_valid():
        return redirect(_form_page(request))
    try:
        export = request_corpus(form.stored, request.user)
    except (CorpusRefusedError, MissingPackageError) as error:
        messages.error(request, f"Nothing was started: {error}")
        return redirect(_form_page(request))
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


@decision_view(lambda _request, export_id: reverse("corpus_export", args=[export_id]))
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
