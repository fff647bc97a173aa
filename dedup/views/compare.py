"""The comparison of any two articles, what every pass says of them, and the decision that makes them a pair."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse

from articles.models import Article, in_order
from articles.normalization.logins import without_login
from dedup.detection.runs.profiles import ProfileError, default_profile
from dedup.forms.base import DeclarationForm
from dedup.review.answers import decisions
from dedup.review.answers.decisions import declare_pair, latest_decision
from dedup.review.queries.articles import Search, search
from dedup.review.queries.pair_page import clusters_of, pair_of
from dedup.review.queries.why import Explained, explained, judgement_now
from dedup.views.pairs import comparison
from dedup.views.requests import (
    EditorRequest,
    back_address,
    decision_view,
    refuse,
    refused_note,
    say_decided,
    values_of,
)

SIDES = {"left": "First article", "right": "Second article"}


def compare(request: HttpRequest) -> HttpResponse:
    """Let the reader choose two articles, and show what every pass says of them and how they differ."""
    chosen = {side: _Chosen(request, side) for side in SIDES}
    boxes = list(chosen.values())
    two = [box.article for box in boxes if box.article]
    context: dict[str, Any] = {}
    if len(two) == 2:
        left, right = sorted(two, key=lambda article: article.pk)
        if in_order(left, right)[0] != two[0]:
            # The boxes show the two in the order in which they are compared.
            _swap(*boxes)
            boxes.reverse()
        context |= {"same": left} if left == right else _compared(request, left, right)
    context["boxes"] = boxes
    return render(request, "pairs/compare.html", context)


class _Chosen:
    """One of the two articles: what was typed, the article if it is clear which, else the ones to choose from."""

    def __init__(self, request: HttpRequest, side: str) -> None:
        self.side = side
        self.typed = without_login(request.GET.get(side, "").strip())
        self.found: Search = search(self.typed) if self.typed else Search([], "")
        self.article: Article | None = self.found.articles[0] if len(self.found.articles) == 1 else None
        others = {each: request.GET.get(each, "") for each in SIDES if each != side}
        # Each choice keeps what was typed on the other side.
        self.choices = [
            (each, urlencode({side: each.pk, **others})) for each in self.found.articles if self.article is None
        ]

    @property
    def label(self) -> str:
        return SIDES[self.side]


def _swap(one: _Chosen, other: _Chosen) -> None:
    one.side, other.side = other.side, one.side


def _compared(request: HttpRequest, left: Article, right: Article) -> dict[str, Any]:
    known = pair_of(left, right)
    try:
        said: Explained | None = explained(left, right, default_profile())
        fault = ""
    except ProfileError as error:
        said, fault = None, str(error)
    return {
        "pair": known,
        "explained": said,
        "profile_fault": fault,
        "clusters": clusters_of(*(article.pk for article in in_order(left, right))),
        "seen": latest_decision(left.pk, right.pk),
        "note": refused_note(request),
        "note_length": decisions.MAX_NOTE_CHARACTERS,
        **comparison(request, left, right),
    }


def _address(request: HttpRequest) -> str:
    numbers = {side: request.POST.get(side, request.GET.get(side, "")) for side in SIDES}
    back = {"back": request.GET["back"]} if "back" in request.GET else {}
    return f"{reverse('compare')}?{urlencode({**numbers, **back})}"


@decision_view(_address)
def compare_decide(request: EditorRequest) -> HttpResponse:
    """Make two articles a pair by a decision on them."""
    try:
        values = values_of(DeclarationForm(request.POST))
        left, right = _two(values.pop("left"), values.pop("right"))
        judged = judgement_now(left, right, default_profile())
        decision = declare_pair(left, right, judged=judged, user=request.user, **values)
    except (decisions.ReviewError, ProfileError) as error:
        refuse(request, str(error), page=reverse("compare"))
        return redirect(_address(request))
    say_decided(request, "Decided. These two are now a pair.", decision)
    return redirect(back_address(request) or reverse("pair", args=[decision.pair_id]))


def _two(*numbers: int) -> list[Article]:
    """Return two articles in order of id. Raises ReviewError."""
    two = Article.objects.in_bulk(numbers)
    if len(two) != 2:
        raise decisions.ReviewError("Choose two different articles that are stored.")
    return [two[number] for number in sorted(two)]
