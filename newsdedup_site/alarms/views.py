"""The page of alarms, for admins."""

from typing import Any

from django.conf import settings
from django.contrib.auth.models import AnonymousUser, User
from django.http import HttpResponse
from django.shortcuts import render
from django.utils import timezone

from articles.forms import UserRequest
from articles.paging import page_of
from newsdedup_site.access.addresses import SEE_ALARMS, has_right
from newsdedup_site.alarms.finding import find_everywhere
from newsdedup_site.alarms.kinds import grouped, kind_of
from newsdedup_site.alarms.recording import recipients
from newsdedup_site.models import Alarm

# Of one kind, the dashboard lists so many.
SHOWN_OF_A_KIND = 3


def present(user: User | AnonymousUser, most: int = SHOWN_OF_A_KIND) -> dict[str, Any]:
    """Return what is wrong now, as far as a user may know it: the groups of alarms, their number in all, and whether
    the remedies are shown. It is found on the spot, and true also while no worker checks.
    """
    for_admin = has_right(user, SEE_ALARMS)
    found = [alarm for alarm in find_everywhere(timezone.now()) if for_admin or kind_of(alarm).for_all]
    return {"groups": grouped(found, most), "number": len(found), "for_admin": for_admin}


def alarms(request: UserRequest) -> HttpResponse:
    """Show what is wrong now, whom it is sent to, and every alarm before."""
    context = {
        "now": present(request.user, most=1_000),
        "page": page_of(Alarm.objects.prefetch_related("notices"), request.GET.get("page")),
        "mail_server": settings.SEND_EMAIL,
        "recipients": recipients(),
        "days": settings.ALARM_REPEAT_DAYS,
    }
    return render(request, "alarms/alarms.html", context)
