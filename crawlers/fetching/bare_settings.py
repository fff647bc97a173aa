"""The settings of crawls for a process that fetches a few pages, knows no database and stores nothing."""

from __future__ import annotations

from typing import Any

from scrapy.settings import Settings

_TIMEOUT = 10  # seconds for a response, at most: somebody is waiting


def bare_settings(networks: list[str], pause: float = 0.0) -> Settings:
    """Return the settings; `pause` is in seconds between two requests to a site, and `networks` may be connected to."""
    settings = Settings()
    settings.setmodule("crawlers.settings", priority="project")
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
    }
    known = "crawlers.fetching.middlewares.KnownURLMiddleware"
    own["DOWNLOADER_MIDDLEWARES"] = settings.getdict("DOWNLOADER_MIDDLEWARES") | {known: None}
    for name, value in own.items():
        settings.set(name, value, priority="cmdline")
    return settings
