"""The strip of an editor's last answers, below every question."""

from __future__ import annotations

from typing import Any

from django import template

from dedup.answers import BUTTONS, Answer
from dedup.models import Decision
from dedup.review.answers.history import LastAnswer, last_answers, progress_of
from dedup.review.questions.tabs import tab_named

register = template.Library()

_WORDS = {
    **{answer.value: answer.facts.button for answer in Answer},
    Decision.Kind.CONFIRM_CLUSTER: "All the same",
    Decision.Kind.REJECT_CLUSTER: "Dissolved",
    Decision.Kind.SPLIT_CLUSTER: "Split",
    Decision.Kind.MERGE_CLUSTERS: "Merged",
    Decision.Kind.TAKE_OUT: "Taken out",
    Decision.Kind.KEEP: "Kept",
}


@register.filter
def answer(given: LastAnswer) -> str:
    """Write what an editor answered, in the words of the buttons."""
    return _WORDS.get(given.kind) or Decision.Kind(given.kind).label


@register.simple_tag
def answers() -> list[Answer]:
    """Return what can be answered about a pair, in the order of the buttons."""
    return BUTTONS


@register.inclusion_tag("questions/_left.html", takes_context=True)
def left(context: dict[str, Any]) -> dict[str, Any]:
    """Show how many questions are left in the tab, and how far the user is, after the answer that was just stored."""
    request = context["request"]
    number = tab_named(request.GET.get("tab")).count(request.user)
    return {"in_tab": f"{number:,}", "progress": progress_of(request.user, number)}


@register.inclusion_tag("pairs/_strip.html", takes_context=True)
def strip(context: dict[str, Any]) -> dict[str, Any]:
    """Show the last answers of the user, each with a way to change it."""
    request = context["request"]
    return {"answers": last_answers(request.user), "request": request}
