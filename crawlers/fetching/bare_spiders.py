"""Spiders that fetch a few pages, know no database and store nothing; each in the process of elsewhere.py."""

import json
import math
import signal
import sys
from abc import abstractmethod
from collections.abc import AsyncIterator
from typing import Any

import scrapy
from django.utils.module_loading import import_string
from scrapy.crawler import AsyncCrawlerProcess
from scrapy.http import Response
from scrapy.settings import Settings

from crawlers.fetching.downloads import fetch

_TIMEOUT = 10  # seconds for a response, at most: somebody is waiting


class BareSpider(scrapy.Spider):
    """Puts what it finds into `found`, as JSON."""

    found: dict[str, Any]

    async def start(self) -> AsyncIterator[Any]:
        await self.look()
        return
        yield

    @abstractmethod
    async def look(self) -> None:
        """Ask, and record what is found."""

    async def ask(self, url: str, **meta: Any) -> Response | str:
        """Return the response to a request, or the reason why there is none."""
        return await fetch(self, url, **meta)


def bare_settings(networks: list[str], pause: float = 0.0) -> Settings:
    """Return the settings; `pause` is in seconds between two requests to a site, and `networks` may be connected to."""
    settings = Settings()
    settings.setmodule("crawlers.settings", priority="project")
    known = "crawlers.fetching.middlewares.KnownURLMiddleware"
    own: dict[str, Any] = {
        "CRAWL_PRIVATE_ADDRESSES": networks,
        "DOWNLOAD_TIMEOUT": min(_TIMEOUT, settings.getfloat("DOWNLOAD_TIMEOUT")),
        "DOWNLOAD_DELAY": pause,
        "AUTOTHROTTLE_ENABLED": False,
        "RETRY_ENABLED": False,
        "RETRY_AFTER_LONGEST": 0,
        "SITES_REMEMBERED": False,
        "ITEM_PIPELINES": {},
        "LOG_ENABLED": False,
        "DOWNLOADER_MIDDLEWARES": settings.getdict("DOWNLOADER_MIDDLEWARES") | {known: None},
    }
    settings.setdict(own, priority="cmdline")
    return settings


def main(spider: str, seconds: float, networks: list[str], pause: float, asked: dict[str, Any]) -> None:
    """Write what a spider found that was asked for this to standard output, as JSON."""
    signal.alarm(math.ceil(seconds))
    found: dict[str, Any] = {}
    process = AsyncCrawlerProcess(bare_settings(networks, pause), install_root_handler=False)
    process.crawl(import_string(spider), found=found, **asked)
    process.start()
    sys.stdout.write(json.dumps(found or {"reason": "connection failed"}))
