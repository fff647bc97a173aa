"""What machines request: the icon, and the load balancer's check."""

from __future__ import annotations

from django.db import DatabaseError, InterfaceError, connection
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.templatetags.static import static
from django.views.decorators.cache import never_cache

from newsdedup_site.embedded import EmbeddedServerError
from newsdedup_site.unavailable import RETRY_SECONDS


def favicon(_request: HttpRequest) -> HttpResponse:
    """Redirect a browser to the icon: it asks here if a page names none, as on the admin's pages."""
    return redirect(static("newsdedup/icon.svg"))


@never_cache
def healthz(_request: HttpRequest) -> HttpResponse:
    """Answer 200 if the database answers, otherwise 503 within a few seconds."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except (DatabaseError, InterfaceError, EmbeddedServerError):
        retry = {"Retry-After": str(RETRY_SECONDS)}
        return HttpResponse("the database does not answer\n", content_type="text/plain", status=503, headers=retry)
    return HttpResponse("ok\n", content_type="text/plain")
