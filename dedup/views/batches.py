"""Batches: beginning one from a list of questions, its sample, its preview, and the decision."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse

from articles.paging import page_of
from dedup.answers import Answer
from dedup.forms.base import BatchForm, NoteForm
from dedup.models import Batch
from dedup.research.precision import upper_bound
from dedup.review.answers import batches
from dedup.review.answers.batches import listed_batches, preview_of
from dedup.review.answers.decisions import ReviewError
from dedup.review.questions.tabs import SAMPLE
from dedup.views.questions import chosen_questions
from dedup.views.requests import (
    EditorRequest,
    address_of,
    decision_view,
    note_of,
    query_of,
    refusals,
    say_decided,
    values_of,
)

# Chosen at first, unless the list is shorter: it proves that at most one in twenty is wrong.
USUAL_SAMPLE = 59


def batch_list(request: HttpRequest) -> HttpResponse:
    """List the batches, the latest first."""
    return render(request, "batches/batches.html", {"page": page_of(listed_batches(), request.GET.get("page"))})


def batch_new(request: EditorRequest) -> HttpResponse:
    """Begin a batch with the questions of the list that the query string names."""
    found = chosen_questions(request, batches.MOST_QUESTIONS + 1)
    form = BatchForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        query = query_of(request).removeprefix("?")
        with refusals(request, ReviewError):
            begun = batches.begin(**found._asdict(), **form.cleaned_data, query=query, user=request.user)
            return redirect("batch", begun.pk)
    samples = list(_samples(len(found.pairs) + len(found.clusters)))
    context = {
        "form": form,
        "pairs": len(found.pairs),
        "clusters": len(found.clusters),
        "most": batches.MOST_QUESTIONS,
        "samples": samples,
        "usual": max((size for size, bound in samples if bound and size <= USUAL_SAMPLE), default=samples[0][0]),
        "list_address": address_of(request, "queue"),
    }
    return render(request, "batches/batch_new.html", context, status=400 if form.is_bound else 200)


def _samples(questions: int) -> Iterator[tuple[int, float | None]]:
    """Yield the sizes of a sample that make sense for a list, with what each proves; None if it is the whole list."""
    for size in batches.SAMPLES:
        if size >= questions:
            yield size, None
            return
        yield size, upper_bound(size, 0)


def batch(request: HttpRequest, batch_id: int) -> HttpResponse:
    """Show how far the sample is answered, what it says, and what the decision would change."""
    shown = get_object_or_404(listed_batches(), pk=batch_id)
    sample = batches.sample_of(shown)
    context: dict[str, Any] = {
        "batch": shown,
        "sample": sample,
        "next": _address_of(sample.next, shown) if sample.next else None,
        "preview": preview_of(shown) if sample.next is None and shown.decision is None else None,
        "answer": Answer(shown.kind).label,
        "list_address": f"{reverse('queue')}?{shown.query}" if shown.query else reverse("queue"),
        "filter": QueryDict(shown.query),
        **note_of(request),
    }
    return render(request, "batches/batch.html", context)


def _address_of(asked: batches.SampleAnswer, shown: Batch) -> str:
    name, number = ("pair", asked.pair) if asked.pair else ("cluster_card", asked.cluster)
    return f"{reverse(name, args=[number])}?tab={SAMPLE}&batch={shown.pk}"


@decision_view("batch", "batch_id")
def batch_decide(request: EditorRequest, batch_id: int) -> HttpResponse:
    """Decide a batch whose sample is answered."""
    get_object_or_404(Batch, pk=batch_id)
    with refusals(request, ReviewError, page=reverse("batch", args=[batch_id])):
        decision = batches.decide(batch_id, user=request.user, **values_of(NoteForm(request.POST)))
        say_decided(request, "Decided. This is one decision; Undo takes all of it back.", decision)
    return redirect("batch", batch_id)
