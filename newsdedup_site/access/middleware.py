"""Refuses a request unless the table of addresses allows it."""

from __future__ import annotations

import logging
from collections.abc import Callable
from http import HTTPStatus
from typing import Any

from django.contrib import messages
from django.contrib.auth.models import User
from django.contrib.auth.views import redirect_to_login
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, HttpResponseNotAllowed
from django.shortcuts import redirect, render
from django.urls import is_valid_path

from articles.numbers import MAX_NUMBER
from newsdedup_site.access.addresses import READ, SHOWN_ADMINS, Right, admins, has_right, rule_of

_NOTHING_CHANGED = "Nothing was changed. If you had to log in first, send the form again."
_SAFE_METHODS = ("GET", "HEAD", "OPTIONS")

log = logging.getLogger(__name__)


class UserRequest(HttpRequest):
    """A request of somebody who is logged in, as a rule of the table of addresses asks for."""

    user: User


class RightsMiddleware:
    """Sends users without a login to the login page, and answers 403 to those without the right.

    An address without a rule is refused for everybody. A page, which changes nothing, answers 405 to a POST. A GET of
    an address that takes only POST is sent to the page above it: browsers send one after a login if the session had
    ended when a form was posted.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        if request.method == "GET" and response.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
            match = request.resolver_match
            if match and not match.namespaces and request.user.is_authenticated:
                messages.warning(request, _NOTHING_CHANGED)
                query = request.META.get("QUERY_STRING", "")
                return redirect(_page_above(request.path) + (f"?{query}" if query else ""))
        return response

    def process_view(
        self, request: HttpRequest, _view: Any, _args: Any, kwargs: dict[str, Any]
    ) -> HttpResponseBase | None:
        """Return the refusal, or None for a request that may go on to its view.

        Raises Http404 for a number that no row can have; the API answers these in its own form.
        """
        match = request.resolver_match
        rule = rule_of(match.namespaces, match.url_name) if match else None
        if rule is None:
            log.error("%s has no rule in newsdedup_site/access/addresses.py and is refused.", request.path)
            return _refusal(request, None)
        if not has_right(request.user, rule.right):
            if not request.user.is_authenticated:
                return redirect_to_login(request.get_full_path())
            return _refusal(request, rule.right)
        if request.method not in _SAFE_METHODS and not rule.is_form:
            return HttpResponseNotAllowed(_SAFE_METHODS)
        if (
            match
            and not match.namespaces
            and any(isinstance(value, int) and value > MAX_NUMBER for value in kwargs.values())
        ):
            raise Http404(f"No row has so high a number: the highest is {MAX_NUMBER}.")
        return None


def _page_above(path: str) -> str:
    """Return the longest beginning of a path that is an address too."""
    while path != "/":
        path = path.rstrip("/").rpartition("/")[0] + "/"
        if is_valid_path(path):
            break
    return path


def _refusal(request: HttpRequest, right: Right | None) -> HttpResponse:
    """Answer 403: with the missing right, or for users who may not even read, with whom to ask."""
    if right is None or has_right(request.user, READ):
        return render(request, "403.html", {"missing": right}, status=403)
    asked = {"admins": admins()[:SHOWN_ADMINS]}
    return render(request, "accounts/no_role.html", asked, status=403)
