"""The strip of an editor's last answers, below every question."""

from __future__ import annotations

from typing import Any

from django import template

from dedup.models import Decision
from dedup.review.queries.answers import LastAnswer, last_answers

register = template.Library()

_WORDS = {
    Decision.Kind.CONFIRM: "Duplicate",
    Decision.Kind.VERSION: "Version",
    Decision.Kind.TEMPLATE: "Template",
    Decision.Kind.REJECT: "Not a duplicate",
    Decision.Kind.UNSURE: "Unsure",
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
    return _WORDS.get(given.kind, given.kind.label)


@register.inclusion_tag("pairs/_strip.html", takes_context=True)
def strip(context: dict[str, Any]) -> dict[str, Any]:
    """Show the last answers of the user, each with a way to change it."""
    request = context["request"]
    return {"answers": last_answers(request.user), "request": request}
