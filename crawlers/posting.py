"""A request to an address that a user chose, as webhooks send it: with the address guard of crawls, and no redirects.

The name is resolved once, and the connection goes to the very address that was checked.
"""

import http.client
import socket
import ssl
import threading
from collections.abc import Mapping
from contextlib import suppress
from urllib.parse import urlsplit

from django.conf import settings

from crawlers.fetching.addresses import may_connect

# Seconds for each step, and for all together.
STEP, LONGEST = 10, 20


def post(url: str, body: bytes, headers: Mapping[str, str]) -> int:
    """Send a POST to a valid URL; return the status of the answer. Raises ValueError: why there is none."""
    parts = urlsplit(url)
    host, port = parts.hostname or "", parts.port or (443 if parts.scheme.lower() == "https" else 80)
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    try:
        with _connected(_address(host, port), port, host if parts.scheme.lower() == "https" else "") as connected:
            # A receiver that sends a byte now and then must not hold up the others.
            timer = threading.Timer(LONGEST, _cut, [connected])
            timer.start()
            try:
                if isinstance(connected, ssl.SSLSocket):
                    connected.do_handshake()
                connection = http.client.HTTPConnection(host, port)
                connection.sock = connected
                connection.request("POST", target, body, {**headers, "Host": parts.netloc, "Connection": "close"})
                return connection.getresponse().status
            finally:
                timer.cancel()
    except TimeoutError as error:
        raise ValueError(f"{host[:100]} did not answer within {STEP} seconds.") from error
    except ssl.SSLCertVerificationError as error:
        raise ValueError(f"The certificate of {host[:100]} is not valid: {error.verify_message}.") from error
    except (OSError, http.client.HTTPException) as error:
        reason = str(error) or type(error).__name__
        raise ValueError(f"The connection to {host[:100]} failed: {reason}.") from error


def _address(host: str, port: int) -> str:
    """Return an address of a host that may be connected to. Raises ValueError and OSError."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (UnicodeError, socket.gaierror) as error:
        raise ValueError(f"The host name {host[:100]} does not resolve.") from error
    addresses = [str(info[4][0]) for info in found]
    for address in addresses:
        if may_connect(address, settings.CRAWL_PRIVATE_ADDRESSES):
            return address
    raise ValueError(
        f"The address {addresses[0]} belongs to this machine or a private network. "
        "To allow it, an admin sets CRAWL_PRIVATE_ADDRESSES."
    )


def _connected(address: str, port: int, name: str) -> socket.socket:
    """Return a connection to an address; with a name, one whose TLS handshake, for this name, is still to come."""
    plain = socket.create_connection((address, port), timeout=STEP)
    if not name:
        return plain
    return ssl.create_default_context().wrap_socket(plain, server_hostname=name, do_handshake_on_connect=False)


def _cut(connected: socket.socket) -> None:
    with suppress(OSError):
        connected.shutdown(socket.SHUT_RDWR)
