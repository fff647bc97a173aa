"""`python -m newsdedup_site.healthcheck`: exit 0 while the pages on this machine answer at /healthz."""

import sys
import urllib.error
import urllib.request

from newsdedup_site import environment

ADDRESS = "http://127.0.0.1:8000/healthz"
TIMEOUT_SECONDS = 4


def healthy(address: str, headers: dict[str, str]) -> bool:
    """Return whether the URL answers with status 200."""
    request = urllib.request.Request(address, headers=headers)  # noqa: S310 - a constant address, or a test's
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS) as answer:  # noqa: S310
            return bool(answer.status == 200)
    except (urllib.error.URLError, OSError):
        return False


def main() -> int:
    """Send the request as the proxy would: with an allowed host, and marked as TLS."""
    hosts = [host.lstrip(".") for host in environment.words("ALLOWED_HOSTS", default=[])]
    host = next((host for host in hosts if host not in ("", "*")), "localhost")
    return 0 if healthy(ADDRESS, {"Host": host, "X-Forwarded-Proto": "https"}) else 1


if __name__ == "__main__":
    sys.exit(main())
