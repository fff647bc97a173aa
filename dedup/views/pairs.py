"""The queue of pairs, the page of one pair, and the decision on it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.db.models import Prefetch, QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse

from articles.models import Article
from articles.paging import count_up_to_ceiling, page_of, rows_after, rows_before, write_count
from dedup.comparison.differences import Segment, compare_texts
from dedup.comparison.highlighting import Passage, highlight_boilerplate, passages
from dedup.filters.pairs import PairFilter
from dedup.forms import PairDecisionForm
from dedup.models import Decision, Evidence, Membership, Pair
from dedup.review import decisions
from dedup.review.series_rules import series_of_both
from dedup.views.requests import (
    EditorRequest,
    decision_view,
    query_of,
    refuse,
    refused_note,
    say_decided,
    values_of,
    with_actors,
)

_SAID = {
    Decision.Kind.CONFIRM: "Confirmed: duplicates.",
    Decision.Kind.REJECT: "Rejected: not duplicates.",
    Decision.Kind.UNSURE: "Left open: unsure.",
}
VIEWS = {"": "Side by side", "merged": "Merged", "plain": "Unmarked"}


def queue(request: HttpRequest) -> HttpResponse:
    """List the pairs that pass the filter; without one, those that wait for a decision."""
    filterset = PairFilter(request.GET)
    # Joins that only the rows need would slow the counting.
    page = page_of(filterset.qs.order_by(*filterset.ordering), request.GET.get("page"))
    rows = {pair.pk: pair for pair in _for_list(Pair.objects.filter(pk__in=[pair.pk for pair in page.rows]))}
    context = {
        "filter": filterset,
        "page": page,
        "pairs": [rows[pair.pk] for pair in page.rows],
        "unjudged": count_up_to_ceiling(filterset.hidden_unjudged),
        "series": filterset.chosen_series,
    }
    return render(request, "pairs/queue.html", context)


def pair(request: EditorRequest, pair_id: int) -> HttpResponse:
    """Show the two articles of a pair beside each other, what differs, and what every pass says."""
    pairs = Pair.objects.with_doubt().select_related("left__newspaper", "right__newspaper")
    shown = get_object_or_404(pairs, pk=pair_id)
    filterset = PairFilter(request.GET)
    ordered = (filterset.qs, filterset.ordering, shown)
    taken = list(with_actors(decisions.decisions_on(shown)).order_by("-pk"))
    context = {
        "pair": shown,
        "evidence": list(shown.evidence.select_related("run").order_by("stale", "-score", "id")),
        "decisions": taken,
        "seen": taken[0].pk if taken else 0,
        "next": rows_after(*ordered).values_list("pk", flat=True).first(),
        "previous": rows_before(*ordered).values_list("pk", flat=True).first(),
        "left_in_queue": write_count(count_up_to_ceiling(filterset.qs)),
        "clusters": _clusters_of(shown.left_id, shown.right_id),
        "series": series_of_both(shown.left, shown.right),
        "note": refused_note(request),
        "note_length": decisions.MAX_NOTE_CHARACTERS,
        **_comparison(request, shown.left, shown.right),
    }
    return render(request, "pairs/pair.html", context)


def _address(request: HttpRequest, pair_id: int) -> str:
    return reverse("pair", args=[pair_id]) + query_of(request)


@decision_view(_address)
def pair_decide(request: EditorRequest, pair_id: int) -> HttpResponse:
    """Take a decision on a pair, and go on to the next one of the same selection."""
    decided = get_object_or_404(Pair.objects.with_doubt().select_related("left"), pk=pair_id)
    try:
        values = values_of(PairDecisionForm(request.POST))
        decision = decisions.decide_pair(pair_id, user=request.user, **values)
    except decisions.ReviewError as error:
        refuse(request, str(error), page=reverse("pair", args=[pair_id]))
        return redirect(_address(request, pair_id))
    say_decided(request, _said(decided, values["kind"]), decision)
    return redirect(_next_address(request, decided))


def _said(decided: Pair, kind: Decision.Kind) -> str:
    clusters = _clusters_of(decided.left_id, decided.right_id)
    if kind == Decision.Kind.REJECT and clusters["shared"]:
        return f"Rejected, but earlier confirmations still hold both in cluster {clusters['left']}."
    return _SAID[kind]


def compare(request: HttpRequest) -> HttpResponse:
    """Show what differs between any two articles; a pair of them has a page of its own."""
    sides = [_article_named(request, side) for side in ("left", "right")]
    left, right = sorted(sides, key=lambda article: article.pk)
    if left == right:
        raise Http404("Both addresses name the same article; choose two.")
    known = Pair.objects.filter(left=left, right=right).first()
    if known:
        return redirect("pair", known.pk)
    context = {"clusters": _clusters_of(left.pk, right.pk), **_comparison(request, left, right)}
    return render(request, "pairs/compare.html", context)


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two articles, and which of its facts are not those of the other."""

    name: str
    article: Article
    urls: list[str]
    words: int
    differs: frozenset[str]
    headline: list[Segment]

    @property
    def passages(self) -> Iterator[Passage]:
        """The content in stretches that are boilerplate and others."""
        return passages(self.article.content, self.article.boilerplate)


def _comparison(request: HttpRequest, left: Article, right: Article) -> dict[str, Any]:
    text = highlight_boilerplate(
        compare_texts(left.content, right.content),
        (left.content, left.boilerplate),
        (right.content, right.boilerplate),
    )
    words = {left.pk: text.same + text.deleted, right.pk: text.same + text.inserted}
    differs = {
        "newspaper": left.newspaper_id != right.newspaper_id,
        "date": left.date != right.date,
        "words": words[left.pk] != words[right.pk],
    }
    marked = frozenset(name for name, fact in differs.items() if fact)
    headline = compare_texts(left.headline, right.headline)
    sides = [
        Side(name, article, _urls(article), words[article.pk], marked, [each for block in blocks for each in block])
        for name, article, blocks in (
            ("First article", left, [block.left for block in headline.blocks]),
            ("Second article", right, [block.right for block in headline.blocks]),
        )
    ]
    view = request.GET.get("view", "")
    return {
        "sides": sides,
        "text": text,
        "has_boilerplate": bool(left.boilerplate or right.boilerplate),
        "view": view if view in VIEWS else "",
        "views": VIEWS,
        "days_apart": abs((left.date - right.date).days),
        "headlines_differ": not headline.equal,
        # Where nothing differs, what the two have in common is all there is to see.
        "unfolded": text.equal or request.GET.get("unfolded") == "1",
    }


def _urls(article: Article) -> list[str]:
    return [each.url for each in article.urls.all()] or [article.url]


def _for_list(pairs: QuerySet[Pair]) -> QuerySet[Pair]:
    current = Evidence.objects.filter(stale=False).order_by("-score", "id")
    return pairs.with_articles().prefetch_related(Prefetch("evidence", queryset=current, to_attr="current_evidence"))  # type: ignore[attr-defined]


def _clusters_of(left: int, right: int) -> dict[str, Any]:
    """Return the cluster of each article, and whether it is one and the same."""
    of = dict(Membership.objects.filter(article__in=[left, right]).values_list("article_id", "cluster_id"))
    first, second = of.get(left), of.get(right)
    return {"left": first, "right": second, "shared": first is not None and first == second}


def _next_address(request: HttpRequest, decided: Pair) -> str:
    filterset = PairFilter(request.GET)
    following = rows_after(filterset.qs, filterset.ordering, decided).values_list("pk", flat=True).first()
    if following is not None:
        return reverse("pair", args=[following]) + query_of(request)
    messages.info(request, "That was the last pair of this selection.")
    return reverse("queue") + query_of(request)


def _article_named(request: HttpRequest, parameter: str) -> Article:
    named = request.GET.get(parameter, "")
    if not (named.isascii() and named.isdigit()):
        raise Http404(f"{parameter}={named!r} is no article number; write /compare/?left=1&right=2.")
    return get_object_or_404(Article.objects.select_related("newspaper"), pk=int(named))
