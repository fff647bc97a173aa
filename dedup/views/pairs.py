"""The page of a pair, the decision on it, the comparison of any two articles, and what happens when editors meet."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.html import format_html

from articles.models import Article, in_order
from articles.normalization.logins import without_login
from articles.paging import count_up_to_ceiling, write_count
from dedup.answers import Answer, Effect
from dedup.detection.comparison.prepared import MAX_CHARACTERS
from dedup.detection.runs.profiles import ProfileError, default_profile
from dedup.forms.base import DeclarationForm, PairDecisionForm
from dedup.models import Decision, Pair
from dedup.review.answers import decisions
from dedup.review.answers.decisions import declare_pair, latest_decision
from dedup.review.queries.articles import Search, search
from dedup.review.queries.pair_page import (
    ClustersOf,
    MarkedEvidence,
    Urls,
    clusters_of,
    explained,
    judgement_now,
    markable,
    marked_evidence,
    pair_details,
    side_by_side,
    urls_of,
    why,
)
from dedup.review.queries.series_and_groups import series_of_both, templates_for_a_rule
from dedup.review.questions.tabs import SECOND, Question
from dedup.review.readings import second_readings
from dedup.review.readings.second_readings import with_outcomes
from dedup.rows.pairs import PairFilter
from dedup.views.questions import Steps, after_answer, asking, carried_query, steps_around, tab_of
from dedup.views.requests import (
    EditorRequest,
    address_of,
    back_address,
    decision_view,
    neighbours,
    next_of,
    note_of,
    refusals,
    refuse,
    say_decided,
    values_of,
)

_COLLISION = "collision"


def _blinded(shown: Pair, details: dict[str, Any]) -> dict[str, Any]:
    """Return the details without anything that the first answer shows through, and make the pair undecided."""
    shown.state, shown.implied = Pair.State.UNDECIDED, False
    nothing = {"decisions": [], "seen": 0, "implied_by": [], "declared": None, "kept_apart": False}
    doubts = [doubt for doubt in details["doubts"] if doubt.name != "apart"]
    return details | nothing | {"clusters": ClustersOf(None, None), "doubts": doubts}


def _collision_on(request: HttpRequest, shown: Pair) -> dict[str, Any] | None:
    """Return the editor's answer that came too late, and the decision that came first; once."""
    if request.session.get(_COLLISION, {}).get("pair") != shown.pk:
        return None
    kept = request.session.pop(_COLLISION)
    decision = Decision.objects.select_related("decided_by").filter(pk=kept["decision"], undone_by=None).first()
    if decision is None or decision.decided_by_id == request.user.pk:
        return None
    mine, said = Answer(kept["kind"]), second_readings.said_about(decision, shown)
    if said is None:
        return None
    return {"decision": decision, "said": said, "mine": mine, "note": kept["note"], "agrees": said == mine}


NO_EVIDENCE = MarkedEvidence()
VIEWS = {"": "Side by side", "merged": "Merged", "plain": "Unmarked"}


def pair(request: EditorRequest, pair_id: int) -> HttpResponse:
    """Show the two articles of a pair side by side, their differences, and the evidence of every pass."""
    pairs = Pair.objects.with_doubt().select_related("left__newspaper", "right__newspaper")
    shown = get_object_or_404(pairs, pk=pair_id)
    details = pair_details(shown)
    urls = details["urls"]
    # A second reader does not see the first answer.
    reads_again = request.GET.get("tab") == SECOND and request.user.has_perm("dedup.add_decision")
    blind = reads_again and second_readings.waits_for(pair_id, request.user)
    if blind:
        details = _blinded(shown, details)
    asked = "" if request.GET.get("view") == "merged" else request.GET.get("evidence", "")
    marked = marked_evidence(shown, details["evidence"], asked, urls)
    markable_here = [found.pass_name for found in details["evidence"] if found.pass_name in markable()]
    disputes = second_readings.disagreements().filter(pair=pair_id)
    context = {
        "pair": shown,
        **details,
        **_place(request, shown),
        "blind": blind,
        "disputes": with_outcomes(disputes) if details["read_again"] and not blind else [],
        "collision": _collision_on(request, shown),
        **note_of(request),
        "markable": markable_here,
        "next_marked": _after(markable_here, marked.marked),
        **comparison(request, shown.left, shown.right, marked, urls),
    }
    return render(request, "pairs/pair.html", context)


def _place(request: EditorRequest, shown: Pair) -> dict[str, Any]:
    """Return what comes before and after the pair, in its tab of the queue or in the list of pairs."""
    if tab_of(request):
        question = Question("pair", shown.pk)
        return {"steps": steps_around(request, question), **asking(request, question)}
    filterset = PairFilter(request.GET)
    around = neighbours(filterset.qs, filterset.ordering, shown)
    query = carried_query(request)
    addresses = {name: reverse("pair", args=[pk]) + query if pk else None for name, pk in around.items()}
    left = count_up_to_ceiling(filterset.qs, filterset.ceiling)
    return {"steps": Steps(**addresses), "left_in_queue": write_count(left, filterset.ceiling)}


def pair_why(request: HttpRequest, pair_id: int) -> HttpResponse:
    """Show how the probability of a verdict is calculated; the page of the pair loads it when it is asked for."""
    pairs = Pair.objects.select_related("left__newspaper", "right__newspaper")
    shown = get_object_or_404(pairs, pk=pair_id)
    return render(request, "pairs/why.html", {"pair": shown, "why": why(shown)})


@decision_view("pair", "pair_id", query=True)
def pair_decide(request: EditorRequest, pair_id: int) -> HttpResponse:
    """Decide on a pair, and go to the next one in the selection."""
    try:
        values = values_of(PairDecisionForm(request.POST))
        if request.GET.get("tab") == SECOND:
            second_readings.read_again(pair_id, values["kind"], user=request.user, note=values["note"])
            said = "Stored as a second reading. If it differs from the first answer, it is listed under Disagreements."
            messages.success(request, said)
            return redirect(_next_address(request, pair_id))
        decision = decisions.decide_pair(pair_id, user=request.user, **values)
    except decisions.ReviewError as error:
        get_object_or_404(Pair, pk=pair_id)
        if isinstance(error, decisions.AlreadyDecidedError):
            late = {"pair": pair_id, "decision": error.decision.pk, "kind": values["kind"], "note": values["note"]}
            request.session[_COLLISION] = late  # for the page that is shown next
        refuse(request, str(error), page=reverse("pair", args=[pair_id]))
        return redirect(address_of(request, "pair", pair_id))
    say_decided(request, _said(decision, values["kind"]), decision)
    if values["kind"] is Answer.TEMPLATE and decision.pair:
        _offer_rule(request, decision.pair)
    return redirect(back_address(request) or _next_address(request, pair_id))


def _said(decision: Decision, answer: Answer) -> str:
    said, apart = answer.facts.stored, answer.facts.effect is Effect.CANNOT
    if apart and (clusters := clusters_of(*decision.articles)).shared:
        return f"{said} But earlier confirmations still hold both in cluster {clusters.left}."
    return said


def _offer_rule(request: HttpRequest, decided: Pair) -> None:
    """Name the series of a template pair if its other answers suggest a rule."""
    series = series_of_both(decided.left, decided.right)
    if series is not None and (templates := templates_for_a_rule(series)):
        messages.info(
            request,
            format_html(
                'Editors called {} pairs of the series <a href="{}">{}</a> templates. You can make it a rule.',
                templates,
                reverse("series", args=[series.pk]),
                series.headline or "(no headline)",
            ),
        )


def comparison(
    request: HttpRequest, left: Article, right: Article, found: MarkedEvidence = NO_EVIDENCE, urls: Urls | None = None
) -> dict[str, Any]:
    """Return what the comparison of two texts shows, as the request asks for it; `urls`, if they are read already."""
    compared = side_by_side(left, right, found.marks, urls_of(left, right) if urls is None else urls)
    view = request.GET.get("view", "")
    shown = view if view in VIEWS else ""
    return {
        **compared,
        **found._asdict(),
        "view": shown,
        "views": VIEWS,
        "next_view": _after(list(VIEWS), shown),
        "most_characters": MAX_CHARACTERS,
        # If nothing differs, the common text is all there is to see.
        "unfolded": compared["text"].equal or request.GET.get("unfolded") == "1",
    }


def _after(names: Sequence[str], one: str) -> str:
    """Return the name after this one, the first one after the last or after none; "" if there are none."""
    return next((after for before, after in pairwise([*names, *names]) if before == one), names[0] if names else "")


def _next_address(request: EditorRequest, pair_id: int) -> str:
    if tab_of(request):
        return after_answer(request, Question("pair", pair_id))
    filterset = PairFilter(request.GET)
    following = next_of(filterset.qs, filterset.ordering, Pair.objects.with_doubt().get(pk=pair_id))
    if following is not None:
        return address_of(request, "pair", following)
    messages.info(request, "That was the last pair in this selection.")
    return address_of(request, "queue")


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
            boxes[0].side, boxes[1].side = boxes[1].side, boxes[0].side
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
        articles = self.found.articles
        self.article: Article | None = articles[0] if len(articles) == 1 else None
        others = {other_side: request.GET.get(other_side, "") for other_side in SIDES if other_side != side}
        # Each choice keeps what was typed on the other side.
        choices = [] if self.article else articles
        self.choices = [(article, urlencode({side: article.pk, **others})) for article in choices]

    @property
    def label(self) -> str:
        return SIDES[self.side]


def _compared(request: HttpRequest, left: Article, right: Article) -> dict[str, Any]:
    said: dict[str, Any]
    try:
        said = {"explained": explained(left, right, default_profile())}
    except ProfileError as error:
        said = {"profile_fault": str(error)}
    return {
        "pair": Pair.objects.filter(left=left, right=right).first(),
        **said,
        "clusters": clusters_of(*(article.pk for article in in_order(left, right))),
        "seen": latest_decision(left.pk, right.pk),
        **note_of(request),
        **comparison(request, left, right),
    }


def _compare_address(request: HttpRequest) -> str:
    numbers = {side: request.POST.get(side, request.GET.get(side, "")) for side in SIDES}
    back = {"back": request.GET["back"]} if "back" in request.GET else {}
    return f"{reverse('compare')}?{urlencode({**numbers, **back})}"


@decision_view(_compare_address)
def compare_decide(request: EditorRequest) -> HttpResponse:
    """Make two articles a pair by a decision on them."""
    with refusals(request, decisions.ReviewError, ProfileError, page=reverse("compare")):
        values = values_of(DeclarationForm(request.POST))
        left, right = _two(values.pop("left"), values.pop("right"))
        judged = judgement_now(left, right, default_profile())
        decision = declare_pair(left, right, judged=judged, user=request.user, **values)
        say_decided(request, "Decided. These two are now a pair.", decision)
        return redirect(back_address(request) or reverse("pair", args=[decision.pair_id]))
    return redirect(_compare_address(request))


def _two(*numbers: int) -> list[Article]:
    """Return two articles in order of id. Raises ReviewError."""
    two = Article.objects.in_bulk(numbers)
    if len(two) != 2:
        raise decisions.ReviewError("Choose two different articles that are stored.")
    return [two[number] for number in sorted(two)]
