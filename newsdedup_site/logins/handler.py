"""The limits as a handler of django-axes (AXES_HANDLER), and the page that it shows (AXES_LOCKOUT_CALLABLE)."""

from __future__ import annotations

import math
from datetime import timedelta
from typing import Any

from axes.handlers.database import AxesDatabaseHandler
from axes.helpers import get_client_username
from axes.models import AccessFailureLog
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.cache import never_cache

from newsdedup_site.logins.failures import forget, forget_old, lock_for
from newsdedup_site.logins.limits import ADDRESS, KNOWN, NAME, PAIR


class LimitsHandler(AxesDatabaseHandler):
    """Counts failures one by one, each limit in its own window; django-axes has one limit and one window for all.

    A login clears the failures of its name at its address alone: with an own account nobody clears their guesses at
    others. An attempt while locked is refused unread and not counted, so a lock always ends.
    """

    def is_locked(self, request: Any, credentials: dict[str, Any] | None = None) -> bool:
        """Return whether a limit is reached, and leave the lock for the page."""
        name = get_client_username(request, credentials) or ""
        request.login_lock = lock_for(name, request.axes_ip_address, request.axes_attempt_time)
        return request.login_lock is not None

    def user_login_failed(self, _sender: Any, credentials: dict[str, Any], request: Any = None, **_kwargs: Any) -> None:
        """Store a failure, and lock if it was one too many."""
        if request is None or request.axes_locked_out:
            return
        AccessFailureLog.objects.create(
            username=get_client_username(request, credentials) or "",
            ip_address=request.axes_ip_address,
            user_agent=request.axes_user_agent,
            http_accept=request.axes_http_accept,
            path_info=request.axes_path_info,
        )
        forget_old(request.axes_attempt_time)
        request.axes_locked_out = self.is_locked(request, credentials)

    def user_logged_in(self, sender: Any, request: Any, user: Any, **kwargs: Any) -> None:
        """Store the login, which makes the name known at this address, and clear its failures here."""
        super().user_logged_in(sender, request, user, **kwargs)
        if request.axes_ip_address:
            forget(name=user.get_username(), address=request.axes_ip_address)

    def reset_attempts(
        self, *, ip_address: str | None = None, username: str | None = None, ip_or_username: bool = False
    ) -> int:
        """Clear failures for the commands axes_reset, axes_reset_ip and axes_reset_username."""
        if ip_or_username:
            return forget(name=username or "") + forget(address=ip_address or "")
        if username or ip_address:
            return forget(name=username or "", address=ip_address or "")
        cleared: int = AccessFailureLog.objects.all().delete()[0]
        return cleared


_LIMITS = {"pair": PAIR, "address": ADDRESS, "name": NAME, "known": KNOWN}


@never_cache
def locked_out(request: HttpRequest, _response: object, _credentials: object) -> HttpResponse:
    """Answer 429 with a page that says until when, and Retry-After."""
    lock = request.login_lock  # type: ignore[attr-defined]
    seconds = max(1, math.ceil((lock.until - timezone.now()).total_seconds()))
    minutes = math.ceil(seconds / 60)
    shown = {
        "kind": lock.kind,
        "limit": _LIMITS[lock.kind],
        "minutes": minutes,
        # Whole minutes, and never too early.
        "until": timezone.now() + timedelta(minutes=minutes),
    }
    answer = render(request, "accounts/locked_out.html", shown, status=429)
    answer["Retry-After"] = str(seconds)
    return answer
