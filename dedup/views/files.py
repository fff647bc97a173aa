"""Files: the page of exports and what a worker writes of them, and the pages on which admins import a file."""

import json
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.core.files.uploadhandler import FileUploadHandler, SkipFile
from django.db import transaction
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.csrf import csrf_exempt, csrf_protect

from articles.boilerplate.mode import Mode
from articles.files.formats import FileUsageError
from articles.files.records import FileFormat, UnreadableFileError
from articles.files.uploads import MAX_KEPT_REJECTS, PART_BYTES, keep_upload, request_import
from articles.jobs.work import cancel, may_cancel
from articles.loading import MissingPackageError
from articles.models import Article, FileImport
from articles.paging import page_of
from dedup.corpora import CorpusRefusedError, pieces_of, request_corpus
from dedup.forms.exports import CorpusForm, ImportForm, query_of_corpus
from dedup.models import Cluster, CorpusExport, Pair
from dedup.models.reports import KEPT
from dedup.review.questions.tabs import TABS, tab_named
from dedup.rows.corpus.writing import corpus_pieces
from dedup.rows.exporting import EVERYTHING, EXPORTS
from dedup.rows.files import FORMATS
from dedup.rows.pairs import PairFilter
from dedup.views.requests import (
    EditorRequest,
    address_of,
    attachment,
    bad_request,
    decision_view,
    faults_of,
    query_of,
    reasons_of,
    refusals,
)

# A page sends a corpus of so many articles at once: more would keep a process of the server busy for minutes. A worker
# writes larger ones: dedup/corpora.py.
MAX_DOWNLOADED = 20_000
_CONTENTS = ("articles", "removed")


def exports(request: EditorRequest) -> HttpResponse:
    """Show what can be taken out, and how: the form for a corpus, its files, and its command."""
    form = CorpusForm(request.GET)
    context: dict[str, Any] = {
        "form": form,
        "lists": [(name, f"?{EVERYTHING[name]}" if name in EVERYTHING else "") for name in EXPORTS],
        "most": MAX_DOWNLOADED,
        "kept_days": KEPT.days,
        "kept": CorpusExport.objects.defer("description").select_related("job__requested_by")[:20],
        "has_clusters": Cluster.objects.exists(),
        "query": query_of(request),
    }
    if form.is_valid():
        articles = _articles_up_to_bound(form)
        # The same articles and clusters as options of the report on policies.
        options = {
            name: request.GET.getlist(name) for name in ("since", "until", "newspapers", "confirmed", "together")
        }
        report_query = query_of_corpus(options).urlencode()
        context |= {"articles": articles, "fault": _fault(form, articles)}
        context["report_query"] = f"?{report_query}" if report_query else ""
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
        return bad_request(*faults)
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


def export_file(request: EditorRequest, name: str, form: str) -> StreamingHttpResponse:
    """Send a list, with the filter of the URL, while it is read from the database. Raises Http404."""
    if name not in EXPORTS:
        raise Http404(f"There is no export {name!r}; use one of {', '.join(EXPORTS)}")
    export = EXPORTS[name]
    pieces = FORMATS[form](export.columns, export.rows(_listed(request, name)))
    return attachment(pieces, f"{name}-{timezone.localdate().isoformat()}", form)


def _listed(request: EditorRequest, name: str) -> QuerySet[Any]:
    """Return the rows of the list; in a tab of questions, the pairs that it asks about one by one."""
    filterset = EXPORTS[name].filter(request.GET)
    if not isinstance(filterset, PairFilter) or request.GET.get("tab") not in TABS:
        return filterset.qs
    questions = tab_named(request.GET["tab"]).matching(request.user, filterset.selection)
    return Pair.objects.filter(pk__in=questions.order_by().filter(pair__isnull=False).values("pair"))


_CONTENT_TYPES = {".gz": "application/gzip", ".parquet": "application/vnd.apache.parquet", ".json": "application/json"}


@decision_view("exports", query=True)
def corpus_new(request: EditorRequest) -> HttpResponse:
    """Queue the corpus of the options in the URL."""
    form = CorpusForm(request.GET)
    if form.is_valid():
        with refusals(request, CorpusRefusedError, MissingPackageError, text="Nothing was started: {}"):
            return redirect("corpus_export", request_corpus(form.stored, request.user).pk)
    return redirect(address_of(request, "exports"))


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


class _Bounded(FileUploadHandler):
    """Takes nothing of a file that has more bytes than an import may have, and notes that on the request."""

    def receive_data_chunk(self, raw_data: bytes, start: int) -> bytes:
        if start + len(raw_data) > settings.IMPORT_BYTES:
            self.request.META["upload_too_large"] = True  # type: ignore[union-attr]
            raise SkipFile
        return raw_data

    def file_complete(self, file_size: int) -> None:  # noqa: ARG002 - Django's signature
        return None


def imports(request: EditorRequest) -> HttpResponse:
    """List the files that were uploaded, and take another one."""
    return _list(request, ImportForm())


@csrf_exempt
def import_new(request: EditorRequest) -> HttpResponse:
    """Take a file, and show what it would become."""
    # Before anything is read of the request, also by the check of its token.
    request.upload_handlers.insert(0, _Bounded(request))
    return _import_new(request)


@csrf_protect
def _import_new(request: EditorRequest) -> HttpResponse:
    if request.method != "POST":
        return redirect("imports")
    form = ImportForm(request.POST, request.FILES)
    if request.META.get("upload_too_large"):
        form.errors.pop("file", None)
        form.add_error(
            "file",
            f"The file is too large: at most {settings.IMPORT_BYTES:,} bytes are taken. An admin can raise "
            "IMPORT_MEGABYTES, or use manage.py import_articles on the server.",
        )
    if form.is_valid():
        file = form.cleaned_data["file"]
        with faults_of(form, FileUsageError, UnreadableFileError, field="file"):
            pieces = file.chunks(PART_BYTES)
            kept = keep_upload(file.name, pieces, newspaper=form.cleaned_data["newspaper"], user=request.user)
            return redirect("import", kept.pk)
    return _list(request, form)


def _list(request: HttpRequest, form: ImportForm) -> HttpResponse:
    page = page_of(_uploads(), request.GET.get("page"))
    context = {"form": form, "page": page, "megabytes": settings.IMPORT_BYTES // 1_000_000}
    return render(request, "imports/imports.html", context, status=400 if form.errors else 200)


def _uploads() -> Any:
    return FileImport.objects.select_related("uploaded_by", "job__requested_by").order_by("-pk")


def file_import(request: EditorRequest, import_id: int) -> HttpResponse:
    """Show what a file would become, or how far its import is."""
    kept = get_object_or_404(_uploads(), pk=import_id)
    context = {
        "kept": kept,
        "can_start": not (kept.job and kept.job.is_active) and kept.parts.exists(),
        "reasons": sorted(kept.reasons.items(), key=lambda reason: -reason[1]),
        "most_rejects": MAX_KEPT_REJECTS,
    }
    return render(request, "imports/import.html", context)


@decision_view("import", "import_id")
def import_start(request: EditorRequest, import_id: int) -> HttpResponse:
    """Queue an import, also one that failed, was cancelled or was interrupted."""
    if not request_import(get_object_or_404(FileImport, pk=import_id), request.user):
        messages.warning(request, "Nothing was started: it waits already, is under way, or its file is gone.")
    return redirect("import", import_id)


@decision_view("import", "import_id")
@transaction.atomic
def import_cancel(request: EditorRequest, import_id: int) -> HttpResponse:
    """Leave a file that was never imported."""
    kept = get_object_or_404(FileImport, pk=import_id, job=None)
    if request_import(kept, request.user) and kept.job:
        cancel(kept.job, request.user)
    return redirect("import", import_id)


def import_rejects(request: EditorRequest, import_id: int) -> StreamingHttpResponse:  # noqa: ARG001 - Django's signature
    """Send the rejected rows with their reasons, as import_articles --rejects writes them."""
    kept = get_object_or_404(FileImport, pk=import_id)
    rows = kept.rejects.order_by("pk").iterator(chunk_size=1_000)
    entries = ({"file": kept.name, "line": row.line, "reason": row.reason, "raw": row.raw} for row in rows)
    lines = (json.dumps(entry, ensure_ascii=False) + "\n" for entry in entries)
    return attachment(lines, f"rejects-{kept.pk}", "jsonl")
