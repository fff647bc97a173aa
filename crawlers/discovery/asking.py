"""Asks a process of its own to explore a site, because a Twisted reactor runs only once, and sites may be slow.

It is guarded as crawls are: by their addresses, bounds and robots.txt. Pages that ask load no Scrapy.
"""

from __future__ import annotations

import json
import logging
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

from django.conf import settings as site_settings

from crawlers.discovery.found import FoundNewspaper
from crawlers.fetching.sites import is_visitable
from crawlers.reasons import find_reason

logger = logging.getLogger(__name__)

# Seconds, for which a thread of the pages waits.
LONGEST = 20
GRACE = 5
PAUSE = 0.3  # seconds between two requests
# Not by -m: the models that the explorer needs are known only after setup.
_PROGRAM = "import django; django.setup(); from crawlers.discovery.exploring import main; main()"


class NothingFoundError(ValueError):
    """A site that cannot be explored; the message says for people why, and what helps."""


def discover(
    url: str, *, seconds: float = LONGEST, pause: float = PAUSE, private: Sequence[str] | None = None
) -> FoundNewspaper:
    """Return the newspaper whose home page, feed or sitemap has this URL, with its sources. Raises NothingFoundError.

    A URL without a scheme is one of https. It takes up to `seconds`, and some more to start; what was not looked at by
    then is left out, with a note. `pause` is the time between two requests, in seconds. `private` are networks that may
    be asked though they are private; by default those of CRAWL_PRIVATE_ADDRESSES.
    """
    url = url.strip()
    url = url if "://" in url else f"https://{url}"
    if not is_visitable(url):
        raise NothingFoundError(f"{url[:200]} is not a web address. Enter the address of the newspaper's home page.")
    networks = [str(network) for network in (site_settings.CRAWL_PRIVATE_ADDRESSES if private is None else private)]
    found = _found_elsewhere({"url": url, "networks": networks, "seconds": seconds, "pause": pause})
    if reason := found.get("reason"):
        entry = find_reason(reason)
        raise NothingFoundError(f"{entry.meaning} ({reason}) {entry.remedy}".rstrip())
    return FoundNewspaper.of_json(found)


def _found_elsewhere(asked: dict[str, Any]) -> dict[str, Any]:
    """Return what `exploring.main` writes in a process of its own."""
    try:
        done = subprocess.run(
            [sys.executable, "-c", _PROGRAM],
            input=json.dumps(asked),
            capture_output=True,
            text=True,
            encoding="utf-8",
            cwd=site_settings.BASE_DIR,
            timeout=asked["seconds"] + GRACE,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return {"reason": "no answer in time"}
    if done.returncode or not done.stdout:
        logger.error("exploring %s failed: %s", asked["url"], done.stderr[-2_000:])
        return {"reason": "fault in the crawler"}
    found: dict[str, Any] = json.loads(done.stdout)
    return found
