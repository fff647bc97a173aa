"""The address of the client, where a proxy stands before the pages."""

from __future__ import annotations

import ipaddress

from django.http import HttpRequest


def client_address(request: HttpRequest) -> str | None:
    """Return the address that our own proxy saw: the last of X-Forwarded-For; REMOTE_ADDR where that is none.

    Entries before the last one are the client's own words, and could be another one with every try.
    """
    last = request.META.get("HTTP_X_FORWARDED_FOR", "").rpartition(",")[2].strip()
    try:
        return str(ipaddress.ip_address(last))
    except ValueError:
        return request.META.get("REMOTE_ADDR") or None
