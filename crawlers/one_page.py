"""One page, fetched for an editor: as crawls fetch, with their address guard, their bounds and robots.txt.

A process of its own does it, because a Twisted reactor runs only once, and so that a page cannot hold up the site:
whatever it does, the process ends after LONGEST seconds. It needs no database, and stores nothing.
"""

from __future__ import annotations

import dataclasses
import datetime
import json
import logging
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from typing import Any

import scrapy
from django.conf import settings as site_settings
from scrapy.crawler import AsyncCrawlerProcess
from scrapy.http import HtmlResponse, Response
from twisted.python.failure import Failure

from articles.extraction.extract import ExtractedArticle, ExtractionError, extract_article
from articles.extraction.rules import NO_RULE, ExtractionRule
from crawlers.faults import reason_of
from crawlers.fetching.bare_settings import bare_settings
from crawlers.reasons import find_reason

logger = logging.getLogger(__name__)

# Seconds, for which a thread of the pages waits.
LONGEST = 22
# Not by -m: the models that this module needs are known only after setup.
_PROGRAM = "import django; django.setup(); from crawlers.one_page import main; main()"
_PASTE = "Open it in your browser and paste its text instead."


def fetch_article(url: str, rule: ExtractionRule = NO_RULE) -> ExtractedArticle:
    """Return the article on a page, extracted by its newspaper's own rule.

    Raises ValueError, which says for editors why there is none and what helps.
    """
    found = _fetched_elsewhere(url, rule)
    if reason := found.get("reason"):
        raise ValueError(f"{find_reason(reason).meaning} ({reason}) {_PASTE}")
    found["date"] = found["date"] and datetime.date.fromisoformat(found["date"])
    return ExtractedArticle(**found)


def _fetched_elsewhere(url: str, rule: ExtractionRule) -> dict[str, Any]:
    """Return what `main` writes in a process of its own: the fields of an article, or the reason why there is none."""
    networks = [str(network) for network in site_settings.CRAWL_PRIVATE_ADDRESSES]
    try:
        done = subprocess.run(
            [sys.executable, "-c", _PROGRAM],
            input=json.dumps({"url": url, "networks": networks, "rule": dataclasses.asdict(rule)}),
            capture_output=True,
            text=True,
            encoding="utf-8",
            cwd=site_settings.BASE_DIR,
            timeout=LONGEST + 1,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return {"reason": "no answer in time"}
    if done.returncode == -signal.SIGALRM:
        return {"reason": "no answer in time"}
    if done.returncode or not done.stdout:
        logger.error("fetching %s failed: %s", url, done.stderr[-2_000:])
        return {"reason": "fault in the crawler"}
    found: dict[str, Any] = json.loads(done.stdout)
    return found


class _OnePage(scrapy.Spider):
    """Fetches one page and keeps its article, or the reason why there is none."""

    name = "one_page"
    url: str
    rule: ExtractionRule
    found: dict[str, Any]

    async def start(self) -> AsyncIterator[scrapy.Request]:
        yield scrapy.Request(self.url, callback=self.parse, errback=self.failed, dont_filter=True)

    def parse(self, response: Response) -> None:
        if not isinstance(response, HtmlResponse):
            self.found.update(reason="no HTML page")
            return
        content_type = (response.headers.get("Content-Type") or b"").decode("latin-1")
        try:
            article = extract_article(response.body, response.url, content_type, rule=self.rule)
        except ExtractionError as error:
            self.found.update(reason=error.reason)
            return
        self.found.update(dataclasses.asdict(article) | {"time": None, "date": article.date and str(article.date)})

    def failed(self, failure: Failure) -> None:
        self.found.update(reason=reason_of(failure.value or OSError()))


def main() -> None:
    """Read a URL from standard input, and write its article, or why there is none, to standard output."""
    signal.alarm(LONGEST)
    asked = json.load(sys.stdin)
    found: dict[str, Any] = {}
    process = AsyncCrawlerProcess(bare_settings(asked["networks"]), install_root_handler=False)
    process.crawl(_OnePage, url=asked["url"], rule=ExtractionRule.of(asked["rule"]), found=found)
    process.start()
    sys.stdout.write(json.dumps(found or {"reason": "connection failed"}))
