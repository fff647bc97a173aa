"""Has a spider ask a site in a process of its own, which knows no database and stores nothing.

A Twisted reactor runs only once in a process, and sites may be slow: whatever they do, the process ends in time. It is
guarded as crawls are: by their addresses, bounds and robots.txt. Pages that ask load no Scrapy.
"""

import json
import logging
import pickle
import signal
import subprocess
import sys
from collections.abc import Iterable
from typing import Any

from django.conf import settings

# Not by -m: the models that spiders need are known only after setup.
_PROGRAM = (
    "import pickle, sys, django; django.setup(); from crawlers.fetching.bare_spiders import main; "
    "main(**pickle.load(sys.stdin.buffer))"
)
NO_ANSWER = "no answer in time"

logger = logging.getLogger(__name__)


def ask_spider(
    spider: str, seconds: float, *, networks: Iterable[object] | None = None, pause: float = 0.0, **asked: Any
) -> dict[str, Any]:
    """Return what a BareSpider found, which is named by its path and gets `asked`; or a `reason` why it found nothing.

    It ends after so many seconds. `pause` is in seconds between two requests to a site. `networks` may be connected to
    though they are private; by default those of CRAWL_PRIVATE_ADDRESSES.
    """
    networks = settings.CRAWL_PRIVATE_ADDRESSES if networks is None else networks
    request = {"spider": spider, "seconds": seconds, "networks": list(map(str, networks)), "pause": pause}
    try:
        done = subprocess.run(
            [sys.executable, "-c", _PROGRAM],
            input=pickle.dumps(request | {"asked": asked}),
            capture_output=True,
            cwd=settings.BASE_DIR,
            timeout=seconds + 1,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return {"reason": NO_ANSWER}
    if done.returncode == -signal.SIGALRM:
        return {"reason": NO_ANSWER}
    if done.returncode or not done.stdout:
        logger.error("%s failed: %s", spider, done.stderr[-2_000:].decode(errors="replace"))
        return {"reason": "fault in the crawler"}
    found: dict[str, Any] = json.loads(done.stdout)
    return found
