"""Asks a process of its own to explore a site, because a Twisted reactor runs only once, and sites may be slow.

It is guarded as crawls are: by their addresses, bounds and robots.txt.
"""

from __future__ import annotations

import json
import logging
import signal
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

from django.conf import settings as site_settings
from scrapy.crawler import AsyncCrawlerProcess

from crawlers.discovery.exploring import Explorer
from crawlers.discovery.found import FoundNewspaper
from crawlers.fetching.bare_settings import bare_settings
from crawlers.fetching.sites import is_visitable
from crawlers.reasons import find_reason

logger = logging.getLogger(__name__)

# Seconds, with the end of the process below the 30 after which gunicorn takes a worker for dead.
LONGEST = 20
_GRACE = 5
PAUSE = 0.3  # seconds between two requests
# Not by -m: the models that this module needs are known only after setup.
_PROGRAM = "import django; django.setup(); from crawlers.discovery.asking import main; main()"


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
    networks = [str(each) for each in (site_settings.CRAWL_PRIVATE_ADDRESSES if private is None else private)]
    found = _found_elsewhere({"url": url, "networks": networks, "seconds": seconds, "pause": pause})
    if reason := found.get("reason"):
        entry = find_reason(reason)
        raise NothingFoundError(f"{entry.meaning} ({reason}) {entry.remedy}".rstrip())
    return FoundNewspaper.of_json(found)


def _found_elsewhere(asked: dict[str, Any]) -> dict[str, Any]:
    """Return what `main` writes in a process of its own."""
    try:
        done = subprocess.run(
            [sys.executable, "-c", _PROGRAM],
            input=json.dumps(asked),
            capture_output=True,
            text=True,
            encoding="utf-8",
            cwd=site_settings.BASE_DIR,
            timeout=asked["seconds"] + _GRACE,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return {"reason": "no answer in time"}
    if done.returncode or not done.stdout:
        logger.error("exploring %s failed: %s", asked["url"], done.stderr[-2_000:])
        return {"reason": "fault in the crawler"}
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def main() -> None:
    """Read a URL from standard input, and write what was found there, or why nothing was, to standard output."""
    asked = json.load(sys.stdin)
    signal.alarm(int(asked["seconds"]) + _GRACE)
    found: dict[str, Any] = {}
    process = AsyncCrawlerProcess(bare_settings(asked["networks"], asked["pause"]), install_root_handler=False)
    process.crawl(Explorer, url=asked["url"], seconds=asked["seconds"], found=found)
    process.start()
    sys.stdout.write(json.dumps(found or {"reason": "connection failed"}))
