"""What the views of the desk have in common: who asks, where to go next, what may be said."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import permission_required
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_POST

from dedup.models import Decision

DECIDE = "dedup.add_decision"


class EditorRequest(HttpRequest):
    """A request of somebody who is logged in; the middleware lets no other through."""

    user: User


def decision_view(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """Make a view that takes a decision: POST only (405), and only from those who may decide (403)."""
    guarded = permission_required(DECIDE, raise_exception=True)(view)
    return wraps(view)(require_POST(guarded))


def safe_next(request: HttpRequest, otherwise: str) -> str:
    """Return where the form asks to go, if that is a page of this site."""
    wanted = request.POST.get("next", "")
    allowed = url_has_allowed_host_and_scheme(
        wanted, allowed_hosts={request.get_host()}, require_https=request.is_secure()
    )
    return wanted if allowed else otherwise


def query_of(request: HttpRequest) -> str:
    """Return the query string, with its question mark, that carries the filter from page to page."""
    query = request.META.get("QUERY_STRING", "")
    return f"?{query}" if query else ""


def say_decided(request: HttpRequest, text: str, decision: Decision) -> None:
    """Tell the editor what was decided; base.html offers to undo the decision whose id is the tag."""
    messages.success(request, text, extra_tags=str(decision.pk))


def form_fault(errors: dict[str, Any]) -> str:
    """Return the faults of a posted form in one sentence each."""
    return " ".join(f"{name}: {error}" for name, found in errors.items() for error in found)
