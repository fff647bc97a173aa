"""`/metrics`: for programs with the token of METRICS_TOKEN."""

from __future__ import annotations

import hmac

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.cache import never_cache

from newsdedup_site.metrics.exposition import CONTENT_TYPE, exposition
from newsdedup_site.metrics.gauges import gauges

_SCHEME = "bearer"


@never_cache
def metrics(request: HttpRequest) -> HttpResponse:
    """Answer with all gauges; 401 without the token, and 404 if none is set."""
    if not settings.METRICS_TOKEN:
        raise Http404
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    # Both as bytes: a comparison of texts refuses what is not ASCII.
    given, expected = token.strip().encode("utf-8", "replace"), settings.METRICS_TOKEN.encode()
    if not hmac.compare_digest(given, expected) or scheme.lower() != _SCHEME:
        return HttpResponse(
            "Send the token of METRICS_TOKEN as Authorization: Bearer TOKEN.\n",
            status=401,
            content_type="text/plain; charset=utf-8",
            headers={"WWW-Authenticate": 'Bearer realm="metrics"'},
        )
    return HttpResponse(exposition(gauges()), content_type=CONTENT_TYPE)
