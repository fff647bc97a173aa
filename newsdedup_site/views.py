"""What is asked of the site by machines: the icon, and the check for a load balancer."""

from __future__ import annotations

from django.contrib.auth.decorators import login_not_required
from django.db import DatabaseError, connection
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.templatetags.static import static
from django.views.decorators.cache import never_cache


@login_not_required
def favicon(_request: HttpRequest) -> HttpResponse:
    """Send a browser to the icon: it asks here where a page names none, as the admin's pages do."""
    return redirect(static("newsdedup/icon.svg"))


@login_not_required
@never_cache
def healthz(_request: HttpRequest) -> HttpResponse:
    """Answer 200 while the database answers, and 503 while it does not."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError:
        return HttpResponse("the database does not answer\n", content_type="text/plain", status=503)
    return HttpResponse("ok\n", content_type="text/plain")
