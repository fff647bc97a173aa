"""Tries a newspaper: reads its sources and fetches ten of their articles, as a crawl would, and stores nothing.

A process of its own does it, because a Scrapy reactor runs only once; pages that ask for trials load no Scrapy.
"""

from __future__ import annotations

import dataclasses
import json
import logging
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.conf import settings as site_settings

from articles.extraction.rules import NO_RULE, ExtractionRule
from articles.normalization.url_patterns import pattern_fault

# Seconds after which a trial is ended.
LONGEST = 100
_PAUSE = 0.5
# Not by -m: the models that the spider needs are known only after setup.
_PROGRAM = "import django; django.setup(); from crawlers.requested.trial_spider import main; main()"

logger = logging.getLogger(__name__)


class TrialError(Exception):
    """A trial that could not be finished; the message is a sentence for people."""


@dataclass(frozen=True, slots=True)
class Draft:
    """A newspaper that may not be stored yet, as far as a trial needs it."""

    name: str
    article_url_pattern: str = ""
    feed_urls: Sequence[str] = ()
    sitemap_urls: Sequence[str] = ()
    section_urls: Sequence[str] = ()
    teasers: bool = False
    rule: ExtractionRule = NO_RULE


def try_newspaper(draft: Draft, *, pause: float = _PAUSE) -> dict[str, Any]:
    """Return what a crawl would find: `sources`, each with its number of links or a reason, and `articles`.

    An article has url, headline, day, byline, language, text, paywalled, date_doubt and text_doubt as they would be
    stored, or a reason why it would not be. `pause` is the time between two requests, in seconds. Raises TrialError.
    """
    if fault := pattern_fault(draft.article_url_pattern):
        raise TrialError(f"The article URL pattern cannot be used. {fault}")
    networks = [str(network) for network in site_settings.CRAWL_PRIVATE_ADDRESSES]
    asked = {"draft": dataclasses.asdict(draft), "networks": networks, "pause": pause}
    try:
        done = subprocess.run(
            [sys.executable, "-c", _PROGRAM],
            input=json.dumps(asked),
            capture_output=True,
            text=True,
            encoding="utf-8",
            cwd=site_settings.BASE_DIR,
            timeout=LONGEST + 1,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise TrialError(f"The site did not answer within {LONGEST} seconds.") from error
    if done.returncode == -signal.SIGALRM:
        raise TrialError(f"The site did not answer within {LONGEST} seconds.")
    if done.returncode or not done.stdout:
        logger.error("trying %s failed: %s", draft.name, done.stderr[-2_000:])
        raise TrialError("The trial failed because of an error in this program. The log of the worker has the details.")
    found: dict[str, Any] = json.loads(done.stdout)
    return found
