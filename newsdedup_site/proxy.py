"""The IP address of the client, behind a proxy or not, and the address that its wrong passwords count for."""

from __future__ import annotations

import ipaddress

from django.conf import settings
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


def counted_address(request: HttpRequest) -> str | None:
    """Return the address for which a wrong password counts; None for a Unix socket without a proxy's header.

    X-Forwarded-For is believed only behind a proxy. IPv6 addresses of one network of 64 bits count together, because
    every customer has at least one such network (RFC 6177) and could change the address with every attempt.
    """
    seen = client_address(request) if settings.BEHIND_TLS_PROXY else request.META.get("REMOTE_ADDR")
    try:
        address = ipaddress.ip_address(seen or "")
    except ValueError:
        return None
    if isinstance(address, ipaddress.IPv4Address):
        return str(address)
    if address.ipv4_mapped:
        return str(address.ipv4_mapped)
    return str(ipaddress.ip_network((int(address), 64), strict=False).network_address)
