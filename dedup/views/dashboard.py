"""The dashboard."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import render

from dedup.review.answers.history import progress_of
from dedup.review.queries.dashboard import overview
from dedup.review.questions.tabs import DEFAULT, TABS
from dedup.review.readings.second_readings import agreements, open_disagreements
from dedup.views.requests import EditorRequest


def dashboard(request: EditorRequest) -> HttpResponse:
    """Show the numbers of articles, clusters and duplicates, and where to begin reviewing."""
    questions = TABS[DEFAULT].count(request.user)
    context = {
        "questions": questions,
        "progress": progress_of(request.user, questions) if request.user.has_perm("dedup.add_decision") else None,
        "agreement": agreements().all,
        "disagreements": open_disagreements().count(),
        **vars(overview()),
    }
    return render(request, "dashboard/dashboard.html", context)
