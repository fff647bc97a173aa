"""What the pages of questions share: the tab and the filter in their address, and the way to the next question."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from django.http import HttpRequest, QueryDict
from django.urls import reverse

from dedup.review.questions.question import Question, read_questions, write_questions
from dedup.review.questions.tabs import TABS

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


def carried_query(request: HttpRequest, skip: Iterable[Question] = ()) -> str:
    """Return the query string of another page of the same tab and filter, with its question mark."""
    query = QueryDict(mutable=True)
    for name, values in request.GET.lists():
        filled = [value for value in values if value]
        if filled and name not in _OF_ONE_PAGE:
            query.setlist(name, filled)
    if written := write_questions(list(skip)[-MAX_SKIPPED:]):
        query["skip"] = written
    return f"?{query.urlencode(safe=',')}" if query else ""


def next_address(request: HttpRequest, skip: Iterable[Question] | None = None) -> str:
    """Return the address of the next question; `skip`: the questions to pass over, by default those skipped so far."""
    return reverse("queue_next") + carried_query(request, skipped(request) if skip is None else skip)


@dataclass(frozen=True, slots=True)
class Steps:
    """The addresses before and after a page, if there are any."""

    previous: str | None
    next: str | None


def steps_around(request: HttpRequest, question: Question) -> Steps:
    """Return the addresses of the question that was skipped last, and of the next one without an answer to this."""
    before = [each for each in skipped(request) if each != question]
    back = before[-1].address + carried_query(request, before[:-1]) if before else None
    return Steps(back, next_address(request, [*before, question]))
