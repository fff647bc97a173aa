"""The page of alarms, for admins."""

from __future__ import annotations

from django.conf import settings
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from articles.paging import page_of
from newsdedup_site.alarms.mail import recipients
from newsdedup_site.alarms.queries import history, present

_MOST = 1_000


class AdminRequest(HttpRequest):
    """A request of somebody who is logged in, as the table of addresses asks for."""

    user: User


def alarms(request: AdminRequest) -> HttpResponse:
    """Show what is wrong now, whom it is sent to, and every alarm before."""
    context = {
        "now": present(request.user, most=_MOST),
        "page": page_of(history(), request.GET.get("page")),
        "mail_server": settings.SEND_EMAIL,
        "recipients": recipients(),
        "days": settings.ALARM_REPEAT_DAYS,
    }
    return render(request, "alarms/alarms.html", context)
