"""The IP address of the client behind a proxy."""

from __future__ import annotations

import ipaddress

from django.http import HttpRequest


def client_address(request: HttpRequest) -> str | None:
    """Return the address that our own proxy saw: the last of X-Forwarded-For, or REMOTE_ADDR if that is not an address.

    The client writes the earlier entries and could change them with every attempt.
    """
    last = request.META.get("HTTP_X_FORWARDED_FOR", "").rpartition(",")[2].strip()
    try:
        return str(ipaddress.ip_address(last))
    except ValueError:
        return request.META.get("REMOTE_ADDR") or None
