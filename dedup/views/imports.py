"""The pages on which admins import a file: uploaded, previewed, imported by a worker, its rejected rows taken home."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.core.files.uploadhandler import FileUploadHandler, SkipFile
from django.db import transaction
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.csrf import csrf_exempt, csrf_protect

from articles.files.formats import FileUsageError
from articles.files.records import UnreadableFileError
from articles.files.uploads import MAX_KEPT_REJECTS, PART_BYTES, keep_upload, request_import
from articles.jobs.work import cancel
from articles.models import FileImport
from articles.paging import page_of
from dedup.forms.exports import ImportForm
from dedup.views.requests import EditorRequest, attachment, decision_view, faults_of


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
        form.add_error("file", f"The file is too large: at most {settings.IMPORT_BYTES:,} bytes are taken. {_OTHER}")
    if form.is_valid():
        file = form.cleaned_data["file"]
        with faults_of(form, FileUsageError, UnreadableFileError, field="file"):
            pieces = file.chunks(PART_BYTES)
            kept = keep_upload(file.name, pieces, newspaper=form.cleaned_data["newspaper"], user=request.user)
            return redirect("import", kept.pk)
    return _list(request, form)


_OTHER = "An admin can raise IMPORT_MEGABYTES, or use manage.py import_articles on the server."


def _list(request: HttpRequest, form: ImportForm) -> HttpResponse:
    page = page_of(_rows(), request.GET.get("page"))
    context = {"form": form, "page": page, "megabytes": settings.IMPORT_BYTES // 1_000_000}
    return render(request, "imports/imports.html", context, status=400 if form.errors else 200)


def _rows() -> Any:
    return FileImport.objects.select_related("uploaded_by", "job__requested_by").order_by("-pk")


def file_import(request: EditorRequest, import_id: int) -> HttpResponse:
    """Show what a file would become, or how far its import is."""
    kept = get_object_or_404(_rows(), pk=import_id)
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
    return attachment(_lines(kept), f"rejects-{kept.pk}", "jsonl")


def _lines(kept: FileImport) -> Iterator[str]:
    for row in kept.rejects.order_by("pk").iterator(chunk_size=1_000):
        entry = {"file": kept.name, "line": row.line, "reason": row.reason, "raw": row.raw}
        yield json.dumps(entry, ensure_ascii=False) + "\n"
