"""The queue of questions, the card of a cluster, leases and "later"; and batches, which answer many at once."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, JsonResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse

from articles.paging import COUNT_CEILING, DEAR_CEILING, count_up_to_ceiling, page_of
from dedup.answers import Answer
from dedup.forms.base import BatchForm, NoteForm
from dedup.models import Batch, Cluster, Pair
from dedup.models.base import read_each
from dedup.research.precision import upper_bound
from dedup.review.answers import batches
from dedup.review.answers.batches import listed_batches, preview_of
from dedup.review.answers.decisions import ReviewError
from dedup.review.answers.history import LastAnswer, ask_last, ask_progress, progress_of
from dedup.review.queries.clusters import find_cluster
from dedup.review.queries.lists import rows_of_queue
from dedup.review.questions.cards import Row, card_of, rows_of_tab
from dedup.review.questions.tabs import (
    DEFAULT,
    KINDS,
    SAMPLE,
    TABS,
    Kind,
    Question,
    ask_counts,
    ask_lease,
    give_back,
    next_question,
    put_off,
    question_of,
    read_questions,
    reader_of,
    tab_counts,
    tab_named,
    take_lease,
    write_questions,
)
from dedup.rows.pairs import PairFilter
from dedup.views.requests import (
    EditorRequest,
    address_of,
    decision_view,
    note_of,
    query_of,
    query_with,
    refusals,
    say_decided,
    tab_to,
    values_of,
)

# What an address carries from question to question; the rest belongs to one page.
_OF_ONE_PAGE = ("page", "unfolded", "evidence", "skip")
# More would make addresses that some proxies refuse.
MAX_SKIPPED = 100


def tab_of(request: HttpRequest) -> str | None:
    """Return the name of the tab whose questions the editor answers, or None on a page outside of the tabs."""
    name = request.GET.get("tab", "")
    return name if name in TABS else None


def skipped(request: HttpRequest) -> list[Question]:
    """Return the questions that the editor skipped on the way here, the last one last."""
    return read_questions(request.GET.get("skip", ""))


def carried_query(request: HttpRequest, skip: Iterable[Question] = (), **more: str) -> str:
    """Return the query string of another page of the same tab and filter, with its question mark."""
    written = write_questions(list(skip)[-MAX_SKIPPED:])
    return query_with(request, **{**dict.fromkeys(_OF_ONE_PAGE), "skip": written or None, **more})


def next_address(request: HttpRequest, skip: Iterable[Question] | None = None) -> str:
    """Return the address of the next question; `skip`: the questions to pass over, by default those skipped so far."""
    return reverse("queue_next") + carried_query(request, skipped(request) if skip is None else skip)


class Steps(NamedTuple):
    """The addresses before and after a page, if there are any."""

    previous: str | None
    next: str | None


def steps_around(request: HttpRequest, question: Question) -> Steps:
    """Return the addresses of the question that was skipped last, and of the next one without an answer to this."""
    before = [earlier for earlier in skipped(request) if earlier != question]
    back = before[-1].address + carried_query(request, before[:-1]) if before else None
    return Steps(back, next_address(request, [*before, question]))


# The tab that lists pairs, whether they are asked about or not. It is also meant by addresses without a tab that have
# one of these fields.
PAIRS = "pairs"
_OF_PAIRS = ("verdict", "state", "sort", "series", "group")


def queue(request: EditorRequest) -> HttpResponse:
    """List the questions of a tab or, in the tab of pairs, the pairs that match the filter."""
    filterset = PairFilter(request.GET)
    lists_pairs = _lists_pairs(request)
    counts = tab_counts(request.user)
    shown = PAIRS if lists_pairs else tab_of(request) or DEFAULT
    context = {"filter": filterset, "tabs": _tabs(request, counts, shown), "tab": shown}
    listed = _pairs(request, filterset) if lists_pairs else _questions(request, filterset, counts)
    if request.user.has_perm("dedup.add_decision"):
        context["progress"] = progress_of(request.user, counts[DEFAULT])
    return render(request, "pairs/queue.html", context | listed)


def _tabs(request: HttpRequest, counts: dict[str, int], shown: str) -> list[dict[str, Any]]:
    """Return the tabs with their counts, without quiet ones that have no questions, and at last the one of pairs."""
    named = [(tab.name, tab.label, counts[tab.name], tab.quiet) for tab in TABS.values()]
    return [
        tab_to(
            label,
            reverse("queue") + query_with(request, tab=name, state=None, sort=None, page=None),
            shown=name == shown,
            number=number,
        )
        for name, label, number, quiet in [*named, (PAIRS, "All pairs", None, False)]
        if number or not quiet or name == shown
    ]


def _lists_pairs(request: HttpRequest) -> bool:
    asked = request.GET.get("tab", "")
    return asked == PAIRS or (not asked and any(request.GET.get(name) for name in _OF_PAIRS))


def _pairs(request: HttpRequest, filterset: PairFilter) -> dict[str, Any]:
    rows = filterset.qs.order_by(*filterset.ordering)
    page = page_of(rows, request.GET.get("page"), ceiling=filterset.ceiling, by_key=True)
    rows = [Row(Question("pair", pair.pk), pair) for pair in rows_of_queue(pair.pk for pair in page.rows)]
    query = carried_query(request)
    return {
        "page": page,
        "rows": rows,
        "total": page.shown_total,
        "query": query,
        "start": rows[0].question.address + query if rows else None,
        "unjudged": count_up_to_ceiling(filterset.hidden_unjudged, filterset.ceiling),
        "series": filterset.values().get("series"),
        "group": filterset.values().get("group"),
    }


def _questions(request: EditorRequest, filterset: PairFilter, counts: dict[str, int]) -> dict[str, Any]:
    tab, selection = tab_named(tab_of(request)), filterset.selection
    for name in ("state", "sort"):
        del filterset.form.fields[name]
    ceiling = COUNT_CEILING if selection is None else DEAR_CEILING
    page = page_of(tab.matching(request.user, selection), request.GET.get("page"), ceiling=ceiling)
    query = _with_tab(request)
    rows = rows_of_tab(page.rows)
    if tab.blind:
        rows = [row.as_undecided() for row in rows]
    return {
        "chosen_tab": tab,
        "page": page,
        "rows": rows,
        "total": page.shown_total if selection is not None else f"{counts[tab.name]:,}",
        "query": query,
        "start": reverse("queue_next") + query,
    }


def queue_next(request: EditorRequest) -> HttpResponse:
    """Redirect to the first question that is free and was not skipped, or to the queue if there is none."""
    skip = skipped(request)
    if found := _first_address(request, skip):
        return redirect(found)
    begun = Batch.objects.filter(made_by=request.user, decision=None).first() if tab_of(request) == SAMPLE else None
    if begun and not TABS[SAMPLE].rows(request.user).exists():
        return redirect("batch", begun.pk)
    left = " but those you skipped" if skip else ""
    messages.info(request, f"No question is left here{left}.")
    return redirect(reverse("queue") + carried_query(request))


def after_answer(request: EditorRequest, answered: Question | None = None) -> str:
    """Return where an editor goes after an answer, which ends its lease: to the next question, which is then theirs.

    A script that answers in the background has fetched that question already.
    """
    if request.headers.get("X-Answer") != "background":
        return _first_address(request, skipped(request), answered) or next_address(request)
    if answered:
        give_back(answered, request.user)
    return next_address(request)


def _first_address(request: EditorRequest, skip: Sequence[Question], answered: Question | None = None) -> str | None:
    """Return the address of the first question that is free and was not skipped, or None.

    With `answered`, end the lease of that question.
    """
    decides = request.user.has_perm("dedup.add_decision")
    if _lists_pairs(request):
        filterset = PairFilter(request.GET)
        numbers = [question.number for question in skip if question.kind == "pair"]
        rows = filterset.qs.exclude(pk__in=numbers) if numbers else filterset.qs
        first = rows.order_by(*filterset.ordering).values_list("pk", flat=True).first()
        found = Question("pair", first) if first is not None else None
    else:
        # To make the form of the filter takes a while.
        limited = any(request.GET.get(name) for name in PairFilter.base_filters)
        selection = PairFilter(request.GET).selection if limited else None
        found = next_question(request.user, tab_of(request), selection, skip, lease=decides, answered=answered)
    return found.address + _with_tab(request, skip) if found else None


def _chosen_questions(request: EditorRequest, most: int) -> tuple[list[int], list[int]]:
    """Return the questions that wait in a list, at most so many: the numbers of their pairs, and of their clusters."""
    filterset = PairFilter(request.GET)
    if _lists_pairs(request):
        waiting = filterset.qs.in_queue().order_by(*filterset.ordering)
        return list(waiting.values_list("pk", flat=True)[:most]), []
    tab = tab_named(tab_of(request))
    found = [question_of(row) for row in tab.matching(request.user, filterset.selection)[:most]]
    pairs, clusters = ([question.number for question in found if question.kind == kind] for kind in KINDS)
    return pairs, clusters


def _with_tab(request: HttpRequest, skip: Iterable[Question] = ()) -> str:
    """Return what is carried with the default tab named, so that the pages know that they are part of one."""
    return carried_query(request, skip, **({} if _lists_pairs(request) or tab_of(request) else {"tab": DEFAULT}))


def cluster_card(request: EditorRequest, cluster_id: int) -> HttpResponse:
    """Ask whether all articles of a cluster are the same, and show in what they differ."""
    shown = find_cluster(cluster_id)
    card = card_of(shown) if shown and shown.state != Cluster.State.CONFIRMED else None
    if shown is None or card is None:
        return redirect(reverse("cluster", args=[cluster_id]) + carried_query(request, skipped(request)))
    question = Question("cluster", cluster_id)
    context = {
        "cluster": shown,
        "card": card,
        "steps": steps_around(request, question),
        "query": query_of(request),
        **note_of(request),
        **asking(request, question),
    }
    return render(request, "clusters/card.html", context)


def asking(request: EditorRequest, question: Question) -> dict[str, Any]:
    """Return what the page of a question in a tab shows of it, and take or renew its lease."""
    tab, user = tab_named(tab_of(request)), request.user
    shown: dict[str, Any] = {"tab": tab, "question": question}
    if not user.has_perm("dedup.add_decision"):
        return shown | {"in_tab": f"{tab.count(user):,}"}
    # Each asked by itself, these would be half of what the page waits for.
    lease, counted, last, *done = read_each(
        ask_lease(question, user), ask_counts(user), ask_last(user), *ask_progress(user)
    )
    left = tab.count(user, counted)
    return shown | {
        "in_tab": f"{left:,}",
        "progress": progress_of(user, left, done),
        "reader": None if lease[0][2] else reader_of(question, user),
        "last_answers": [LastAnswer(*row) for row in last],
    }


def lease(request: EditorRequest, kind: Kind, number: int) -> JsonResponse:
    """Renew the lease of a question that is being read; say who has it if somebody else does."""
    question = _existing(kind, number)
    free = take_lease(question, request.user)
    reader = None if free else reader_of(question, request.user)
    return JsonResponse({"reader": reader.get_username() if reader else ""})


def _address(request: HttpRequest, kind: Kind, number: int) -> str:
    return _existing(kind, number).address + query_of(request)


@decision_view(_address)
def later(request: EditorRequest, kind: Kind, number: int) -> HttpResponse:
    """Put a question off for this editor, and go to the next one."""
    question = _existing(kind, number)
    if tab_named(tab_of(request)).keeps:
        messages.info(request, "Skipped. The question stays in this list.")
        return redirect(next_address(request, [*skipped(request), question]))
    put_off(question, request.user)
    messages.info(request, "Put off. You find the question again under “Later”.")
    # Where it would still come first, it is passed over.
    listed = tab_of(request) in (None, "later")
    return redirect(next_address(request, [*skipped(request), question] if listed else None))


def _existing(kind: Kind, number: int) -> Question:
    get_object_or_404(Pair if kind == "pair" else Cluster, pk=number)
    return Question(kind, number)


# Chosen at first, unless the list is shorter: it proves that at most one in twenty is wrong.
USUAL_SAMPLE = 59


def batch_list(request: HttpRequest) -> HttpResponse:
    """List the batches, the latest first."""
    return render(request, "batches/batches.html", {"page": page_of(listed_batches(), request.GET.get("page"))})


def batch_new(request: EditorRequest) -> HttpResponse:
    """Begin a batch with the questions of the list that the query string names."""
    pairs, clusters = _chosen_questions(request, batches.MOST_QUESTIONS + 1)
    form = BatchForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        query = query_of(request).removeprefix("?")
        with refusals(request, ReviewError):
            begun = batches.begin(**form.cleaned_data, pairs=pairs, clusters=clusters, query=query, user=request.user)
            return redirect("batch", begun.pk)
    samples = list(_samples(len(pairs) + len(clusters)))
    context = {
        "form": form,
        "pairs": len(pairs),
        "clusters": len(clusters),
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
        "next": f"{question_of(sample.next).address}?tab={SAMPLE}&batch={shown.pk}" if sample.next else None,
        "preview": preview_of(shown) if sample.next is None and shown.decision is None else None,
        "answer": Answer(shown.kind).label,
        "list_address": f"{reverse('queue')}?{shown.query}" if shown.query else reverse("queue"),
        "filter": QueryDict(shown.query),
        **note_of(request),
    }
    return render(request, "batches/batch.html", context)


@decision_view("batch", "batch_id")
def batch_decide(request: EditorRequest, batch_id: int) -> HttpResponse:
    """Decide a batch whose sample is answered."""
    get_object_or_404(Batch, pk=batch_id)
    with refusals(request, ReviewError, page=reverse("batch", args=[batch_id])):
        decision = batches.decide(batch_id, user=request.user, **values_of(NoteForm(request.POST)))
        say_decided(request, "Decided. This is one decision; Undo takes all of it back.", decision)
    return redirect("batch", batch_id)
