"""What the views share: decisions by POST, filters carried from page to page, messages."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from http import HTTPStatus
from typing import Any

from django.contrib import messages
from django.db.models import Model, QuerySet
from django.forms import BaseForm, Form
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_POST
from django_htmx.middleware import HtmxDetails

from articles.forms import UserRequest
from articles.numbers import read_number
from articles.paging import rows_after, rows_before
from dedup.models import Cluster, Decision, Pair
from dedup.review.answers.decisions import MAX_NOTE_CHARACTERS, ReviewError
from dedup.review.questions.tabs import Question, read_questions, write_questions
from dedup.review.saved_views import filled_query

_REFUSED_NOTE = "refused_note"


class EditorRequest(UserRequest):
    """A request that may be one of HTMX."""

    htmx: HtmxDetails


def decision_view(
    page: str | Callable[..., str], *parts: str, query: bool = False, said_by: str = "pairs/_answered.html"
) -> Callable[[Callable[..., HttpResponse]], Callable[..., HttpResponse]]:
    """Make a view that makes a decision: POST only (405). Who may decide is in newsdedup_site/access/addresses.py.

    `page` names the page with the form; `parts`, which values of the view's address that page's address has; `query`,
    whether it keeps the filter. Or `page` is a function that returns the address. A GET is redirected there: browsers
    send one after a login if the session had ended when the form was posted. `said_by` is the template of what a
    script gets.
    """

    def address(request: EditorRequest, values: dict[str, Any]) -> str:
        if not isinstance(page, str):
            return page(request, **values)
        return reverse(page, args=[values[name] for name in parts]) + (query_of(request) if query else "")

    def decorate(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
        guarded = require_POST(view)

        @wraps(view)
        def answer(request: EditorRequest, **values: Any) -> HttpResponse:
            if request.method == "GET":
                messages.warning(request, "Nothing was changed. If you had to log in first, send the form again.")
                return redirect(address(request, values))
            return _in_background(request, guarded(request, **values), said_by)

        return answer

    return decorate


def _in_background(request: HttpRequest, response: HttpResponse, template: str) -> HttpResponse:
    """Return the response; for a script that shows the next question itself, only what happened to the answer.

    That is the messages and the strip of the last answers as HTML, and in headers whether the answer was stored or
    refused, the page that would have been shown, and which of the questions that were fetched ahead need no answer now.
    """
    if request.headers.get("X-Answer") != "background" or response.status_code != HTTPStatus.FOUND:
        return response
    said = list(messages.get_messages(request))
    refused = any(message.level >= messages.ERROR for message in said)
    answered = render(request, template, {"messages": said})
    answered["X-Answer"] = "refused" if refused else "stored"
    answered["X-Next"] = response["Location"]
    answered["X-Settled"] = write_questions(_settled(read_questions(request.POST.get("ahead", ""))))
    return answered


def _settled(questions: Sequence[Question]) -> list[Question]:
    """Return those of these questions that decisions imply, or whose cluster is gone."""
    pairs = [question.number for question in questions if question.kind == "pair"]
    clusters = [question.number for question in questions if question.kind == "cluster"]
    implied = set(Pair.objects.filter(pk__in=pairs, implied=True).values_list("pk", flat=True)) if pairs else set()
    left = set(Cluster.objects.filter(pk__in=clusters).values_list("pk", flat=True)) if clusters else set()
    gone = {"pair": implied, "cluster": set(clusters) - left}
    return [question for question in questions if question.number in gone[question.kind]]


def safe_next(request: HttpRequest, otherwise: str) -> str:
    """Return the URL that the form asks for if it is on this site, or `otherwise`."""
    wanted = request.POST.get("next", "")
    allowed = url_has_allowed_host_and_scheme(
        wanted, allowed_hosts={request.get_host()}, require_https=request.is_secure()
    )
    return wanted if allowed else otherwise


def query_of(request: HttpRequest) -> str:
    """Return the query string, which carries the filter from page to page, with its question mark."""
    query = request.META.get("QUERY_STRING", "")
    return f"?{query}" if query else ""


def query_with(request: HttpRequest, **changes: Any) -> str:
    """Return the query string with these changes, with its question mark; None removes a field, as if it were empty."""
    query = filled_query(request.GET.urlencode(), changes)
    query.update({name: str(value) for name, value in changes.items() if value is not None})
    return f"?{query.urlencode(safe=',')}" if query else ""


def tab_to(label: str, address: str, *, shown: bool, number: int | None = None) -> dict[str, Any]:
    """Return a tab for layout/_tabs.html, with the number of what is behind it."""
    return {"label": label, "address": address, "current": "page" if shown else "", "number": number}


def address_of(request: HttpRequest, page: str, *parts: Any) -> str:
    """Return the address of a page, with the filter that this one has."""
    return reverse(page, args=parts) + query_of(request)


def back_address(request: HttpRequest) -> str | None:
    """Return the address of the cluster that an editor came from: `back` in the query. None if there is none."""
    number = read_number(request.GET.get("back", ""))
    return f"{reverse('cluster', args=[number])}#ties-title" if number else None


def neighbours(rows: QuerySet[Any], ordering: Sequence[str], row: Model) -> dict[str, int | None]:
    """Return the ids of the `next` and the `previous` row of a selection, or None."""
    return {"next": next_of(rows, ordering, row), "previous": _first(rows_before(rows, ordering, row))}


def next_of(rows: QuerySet[Any], ordering: Sequence[str], row: Model) -> int | None:
    """Return the id of the row that follows this one in the ordered selection, or None."""
    return _first(rows_after(rows, ordering, row))


def _first(rows: QuerySet[Any]) -> int | None:
    number: int | None = rows.values_list("pk", flat=True).first()
    return number


def say_decided(request: HttpRequest, text: str, decision: Decision) -> None:
    """Show the editor what was decided; layout/_messages.html offers to undo the decision whose id is the tag."""
    messages.success(request, text, extra_tags=str(decision.pk))


def refuse(request: HttpRequest, reason: str, *, page: str) -> None:
    """Show why nothing was decided, and keep the note for the form on the page that is shown next."""
    messages.error(request, reason)
    if note := request.POST.get("note", "")[:MAX_NOTE_CHARACTERS]:
        request.session[_REFUSED_NOTE] = {"page": page, "note": note}


@contextmanager
def refusals(request: HttpRequest, *errors: type[Exception], text: str = "{}", page: str = "") -> Iterator[None]:
    """Show an editor why nothing was done if the lines inside raise one of these errors; with `page`, keep the note."""
    try:
        yield
    except errors as error:
        if page:
            refuse(request, text.format(error), page=page)
        else:
            messages.error(request, text.format(error))


@contextmanager
def faults_of(form: Form, *errors: type[Exception], field: str | None = None, text: str = "{}") -> Iterator[None]:
    """Show on a form, at this field, why nothing was done if the lines inside raise one of these errors."""
    try:
        yield
    except errors as error:
        form.add_error(field, text.format(error))


def note_of(request: HttpRequest, otherwise: str = "") -> dict[str, Any]:
    """Return what the field of a note shows: once, the note of a decision that was refused on this page."""
    refused = request.session.get(_REFUSED_NOTE, {}).get("page") == request.path
    note = request.session.pop(_REFUSED_NOTE)["note"] if refused else ""
    return {"note": note or otherwise, "note_length": MAX_NOTE_CHARACTERS}


def reasons_of(form: BaseForm) -> list[str]:
    """Return what is wrong with a form, a sentence for each error."""
    return [f"{name}: {error}" for name, errors in form.errors.items() for error in errors]


def values_of(form: Form) -> dict[str, Any]:
    """Return the values of a posted form. Raises ReviewError with a sentence for each error."""
    if form.is_valid():
        return form.cleaned_data
    raise ReviewError(" ".join(reasons_of(form)))


def say(request: HttpRequest, done: Any, text: str, otherwise: str, level: int = messages.WARNING) -> None:
    """Show that something was done; or else, at this level, what was there instead."""
    messages.add_message(request, messages.SUCCESS if done else level, text if done else otherwise)


def bad_request(*reasons: str) -> HttpResponse:
    """Return why there is no file, a line for each reason."""
    return HttpResponse("\n".join([*reasons, ""]), content_type="text/plain; charset=utf-8", status=400)


def attachment(pieces: Iterable[str], name: str, form: str) -> StreamingHttpResponse:
    """Send a file while its pieces are made."""
    headers = {"Content-Disposition": f'attachment; filename="{name}.{form}"'}
    kind = {"csv": "text/csv", "jsonl": "application/jsonl"}[form]
    return StreamingHttpResponse(pieces, content_type=f"{kind}; charset=utf-8", headers=headers)
