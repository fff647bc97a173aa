"""Validation samples: drawing them, reading their pairs without seeing any result, and what the labels say."""

from typing import Any, Literal

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse

from articles.paging import page_of
from dedup.answers import PairLabel
from dedup.forms.exports import LabelForm, SampleForm
from dedup.models import SampledPair, ValidationSample
from dedup.research.sampling import SampleError, draw
from dedup.review.answers.decisions import MAX_NOTE_CHARACTERS, ReviewError
from dedup.review.readings import validation
from dedup.review.readings.validation import Progress, disagreements, next_unread, progress_of, readers_of, results_of
from dedup.rows.files import FORMATS
from dedup.rows.validation import columns_of, labelled_rows
from dedup.views.pairs import comparison
from dedup.views.questions import Steps
from dedup.views.requests import EditorRequest, attachment, decision_view, note_of, refusals, values_of


def samples(request: EditorRequest) -> HttpResponse:
    """List the samples, the latest first, with how far they are read."""
    page = page_of(ValidationSample.objects.select_related("drawn_by"), request.GET.get("page"))
    progress = progress_of(page.rows, request.user.get_username())
    rows = [(row, progress[row.pk]) for row in page.rows]
    return render(request, "validation/samples.html", {"page": page, "rows": rows})


def sample_new(request: EditorRequest) -> HttpResponse:
    """Draw a sample as the form says."""
    form = SampleForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            drawn = draw(form.plan, seed=form.cleaned_data["seed"], name=form.cleaned_data["name"], user=request.user)
        except SampleError as error:
            form.add_error(None, f"{str(error)[0].upper()}{str(error)[1:]}.")
        else:
            messages.success(request, f"Drew {drawn.size:,} pairs with the seed {drawn.seed}.")
            return redirect("validation_sample", drawn.pk)
    return render(request, "validation/sample_new.html", {"form": form}, status=400 if form.is_bound else 200)


def sample(request: EditorRequest, sample_id: int) -> HttpResponse:
    """Show how far a sample is read and, once they may be seen, its results."""
    shown = _sample(sample_id)
    reader = request.user.get_username()
    progress = progress_of([shown], reader)[shown.pk]
    is_open = _is_open(shown, progress)
    decides = request.user.has_perm("dedup.add_decision")
    position = next_unread(shown.pk, reader) if decides else 1
    context: dict[str, Any] = {
        "sample": shown,
        "progress": progress,
        "readers": readers_of(shown),
        "next": position and reverse("validation_pair", args=[shown.pk, position]),
        "position": position,
        "may_open": decides and validation.may_open(shown, request.user),
        "open": is_open,
        # Readers who are not done see the results only if they ask for them.
        "seen": is_open and (not 0 < progress.mine < progress.size or request.GET.get("results") == "1"),
    }
    if context["seen"]:
        context |= {"results": results_of(shown), "labels": list(PairLabel)}
    return render(request, "validation/sample.html", context)


def _sample(sample_id: int) -> ValidationSample:
    return get_object_or_404(ValidationSample.objects.select_related("drawn_by", "opened_by", "run"), pk=sample_id)


def _is_open(shown: ValidationSample, progress: Progress) -> bool:
    """Return whether the results of a sample can be seen: all labels are in, or its owner has opened them."""
    return progress.finished or shown.opened_at is not None


# ---- reading ---------------------------------------------------------------------------------------


def pair(request: EditorRequest, sample_id: int, position: int) -> HttpResponse:
    """Show the two articles of a pair and their differences, and nothing of what is known or was said about them."""
    full = SampledPair.objects.select_related("sample", "left__newspaper", "right__newspaper")
    shown = get_object_or_404(full, sample=sample_id, position=position)
    reader = request.user.get_username()
    own = shown.labels.filter(reader=reader).first()
    following = next_unread(sample_id, reader, after=position)
    if own or not request.user.has_perm("dedup.add_decision"):
        following = position + 1 if position < shown.sample.size else None
    context = {
        "sampled": shown,
        "own": own,
        "steps": Steps(_pair_address(sample_id, position - 1 or None), _pair_address(sample_id, following)),
        "labels": list(PairLabel),
        **note_of(request, own.note if own else ""),
        "unlinked": True,
        **comparison(request, shown.left, shown.right),
    }
    return render(request, "validation/pair.html", context)


def _pair_address(sample_id: int, position: int | None) -> str | None:
    return reverse("validation_pair", args=[sample_id, position]) if position else None


@decision_view("validation_pair", "sample_id", "position", said_by="layout/_messages.html")
def pair_label(request: EditorRequest, sample_id: int, position: int) -> HttpResponse:
    """Store what the reader says about a pair, and go to the next one without a label."""
    labelled = _sampled(sample_id, position)
    reader = request.user.get_username()
    with refusals(request, ReviewError, page=reverse("validation_pair", args=[sample_id, position])):
        stored = validation.label_pair(labelled, reader=reader, **values_of(LabelForm(request.POST)))
        following = next_unread(sample_id, reader, after=position) or next_unread(sample_id, reader)
        if following is None:
            messages.success(request, "You have labelled every pair of this sample.")
            return redirect("validation_sample", sample_id)
        messages.success(request, f"Pair {position}: {stored.get_label_display()}.")
        position = following
    return redirect("validation_pair", sample_id, position)


def _sampled(sample_id: int, position: int) -> SampledPair:
    return get_object_or_404(SampledPair, sample=sample_id, position=position)


@decision_view("validation_sample", "sample_id")
def label_undo(request: EditorRequest, sample_id: int) -> HttpResponse:
    """Take back the reader's latest label, and show its pair again."""
    shown = get_object_or_404(ValidationSample, pk=sample_id)
    position = validation.take_back(shown, reader=request.user.get_username())
    if position is None:
        messages.info(request, "You have no label in this sample to take back.")
        return redirect("validation_sample", sample_id)
    messages.success(request, f"Your label of pair {position} is taken back.")
    return redirect("validation_pair", sample_id, position)


# ---- afterwards ------------------------------------------------------------------------------------


@decision_view("validation_sample", "sample_id")
def results_open(request: EditorRequest, sample_id: int) -> HttpResponse:
    """Show the results before all labels are in."""
    with refusals(request, ReviewError):
        validation.open_results(_sample(sample_id), user=request.user)
    return redirect(f"{reverse('validation_sample', args=[sample_id])}?results=1")


def sample_disagreements(request: EditorRequest, sample_id: int) -> HttpResponse:
    """List the pairs whose readers disagree with all labels, for somebody who sees both to settle."""
    shown = _sample(sample_id)
    if closed := _closed(request, shown):
        return closed
    full = disagreements(shown).select_related("left__newspaper", "right__newspaper", "settled_by")
    page = page_of(full.prefetch_related("labels"), request.GET.get("page"))
    context = {"sample": shown, "page": page, "labels": list(PairLabel), "note_length": MAX_NOTE_CHARACTERS}
    return render(request, "validation/disagreements.html", context)


def _closed(request: EditorRequest, shown: ValidationSample) -> HttpResponse | None:
    """Lead back to a sample whose results cannot be seen yet; None for any other."""
    if _is_open(shown, progress_of([shown], request.user.get_username())[shown.pk]):
        return None
    messages.info(request, "The results of this sample are shown when all its labels are in.")
    return redirect("validation_sample", shown.pk)


def _settling_address(_request: HttpRequest, sample_id: int, position: int) -> str:
    return f"{reverse('validation_disagreements', args=[sample_id])}#pair-{position}"


@decision_view(_settling_address)
def disagreement_settle(request: EditorRequest, sample_id: int, position: int) -> HttpResponse:
    """Store the label that settles a disagreement."""
    shown = _sample(sample_id)
    settled = _sampled(sample_id, position)
    if closed := _closed(request, shown):
        return closed
    with refusals(request, ReviewError):
        values = values_of(LabelForm(request.POST))
        validation.settle(settled, user=request.user, **values)
        messages.success(request, f"Pair {position} is settled: {PairLabel(values['label']).label}.")
    return redirect(_settling_address(request, sample_id, position))


def labels_file(
    request: EditorRequest, sample_id: int, form: Literal["csv", "jsonl"]
) -> HttpResponse | StreamingHttpResponse:
    """Send the labelled pairs with their weights as CSV, as evaluate reads them, or as JSON lines."""
    shown = _sample(sample_id)
    if closed := _closed(request, shown):
        return closed
    pieces = FORMATS[form](columns_of("newsdedup", blind=False), labelled_rows(shown, "newsdedup"))
    return attachment(pieces, f"labels-{sample_id}", form)
