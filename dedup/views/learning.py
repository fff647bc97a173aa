"""Learning from the decisions: what there is to learn from, what a lesson would change, and which model is in use."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from articles.models import Job
from articles.numbers import read_number
from dedup.forms.base import ModelForm
from dedup.models import FittedModel
from dedup.research.lessons import HeldBackError, answers_missing, ask_for_lesson, check_use, verification_of
from dedup.views.requests import EditorRequest, decision_view, say

LESSONS_SHOWN = 10
MODELS_SHOWN = 10
ANSWERED_FIRST = 10


def learning(request: HttpRequest) -> HttpResponse:
    """Show the latest lesson and the models, and offer to learn."""
    jobs = list(Job.objects.filter(kind="lesson").select_related("requested_by", "lesson__model")[:LESSONS_SHOWN])
    latest = jobs[0] if jobs else None
    lesson = getattr(latest, "lesson", None)
    verification = verification_of(lesson) if lesson else None
    models = FittedModel.objects.prefetch_related("lessons")[:MODELS_SHOWN]
    context = {
        "verification": verification,
        "to_answer": verification.to_answer[:ANSWERED_FIRST] if verification else [],
        "missing": answers_missing(),
        "job": latest,
        "lesson": lesson,
        "earlier": jobs[1:],
        "models": [(model, _is_held_back(model)) for model in models],
        "in_use": FittedModel.objects.filter(in_use=True).first(),
    }
    return render(request, "learning/learning.html", context)


def _is_held_back(model: FittedModel) -> bool:
    found = [verification_of(lesson) for lesson in model.lessons.all()]
    return any(verification and verification.held_back for verification in found)


@decision_view("learning")
def learn(request: EditorRequest) -> HttpResponse:
    """Queue a lesson."""
    _, is_new = ask_for_lesson(request.user)
    queued = "The lesson is queued. Reload this page to see how far it is."
    say(request, is_new, queued, "A lesson is under way already; there is one at a time.", messages.INFO)
    return redirect("learning")


@decision_view("learning")
def model_use(request: EditorRequest) -> HttpResponse:
    """Put a model into use, the one that ships or one learnt here."""
    from dedup.research.learning import LearningError, use  # noqa: PLC0415 - imports the comparison and its kernels

    form = ModelForm(request.POST)
    try:
        if (number := read_number(request.POST.get("model", ""))) is not None:
            check_use(number)
        fitted = use(form.cleaned_data["model"]) if form.is_valid() else None
    except (LearningError, HeldBackError) as error:
        messages.error(request, f"Nothing was switched: {error}.")
        return redirect("learning")
    if form.errors:
        messages.error(request, "Nothing was switched: the form named no model.")
        return redirect("learning")
    name = f"Model {fitted.pk}" if fitted else "The shipped model"
    messages.success(request, f"{name} is in use. The next run judges all pairs with it.")
    return redirect("learning")
