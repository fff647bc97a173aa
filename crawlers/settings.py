"""Scrapy's settings, for `manage.py crawl` and for `scrapy crawl` in this folder.

Each can be changed for one crawl: `manage.py crawl --set NAME=VALUE`, `scrapy crawl -s NAME=VALUE`.
"""

import importlib.metadata
import logging
import os

import django
from django.apps import apps
from django.conf import settings as site_settings

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "newsdedup_site.settings")
if not apps.ready:
    django.setup()
# Scrapy installs a handler of its own on the root logger; Django's would say everything a second time.
logging.getLogger().handlers.clear()


def _without_traceback(record: logging.LogRecord) -> bool:
    record.exc_info = None
    return True


# A robots.txt that cannot be reached is no fault of ours: a line says it. A filter, because Scrapy resets the levels.
logging.getLogger("scrapy.downloadermiddlewares.robotstxt").addFilter(_without_traceback)

BOT_NAME = "newsdedup"
USER_AGENT = f"newsdedup/{importlib.metadata.version('newsdedup')}"
SPIDER_MODULES = ["crawlers.spiders"]
ITEM_PIPELINES = {"crawlers.pipelines.ArticlePipeline": 100}
# Before robots.txt (100): what is known needs no look at the robots.txt of its host.
# After unpacking (590), before Scrapy looks for redirects in the page (580).
DOWNLOADER_MIDDLEWARES = {
    "crawlers.fetching.middlewares.BadAddressMiddleware": 80,
    "crawlers.fetching.middlewares.KnownURLMiddleware": 90,
    "crawlers.fetching.middlewares.BadBaseMiddleware": 585,
    "scrapy.downloadermiddlewares.httpcompression.HttpCompressionMiddleware": None,
    "crawlers.fetching.downloads.UnpackingMiddleware": 590,
}
DUPEFILTER_CLASS = "crawlers.fetching.middlewares.RedirectAwareDupeFilter"
TWISTED_REACTOR = "twisted.internet.asyncioreactor.AsyncioSelectorReactor"

# Politeness.
ROBOTSTXT_OBEY = True
CONCURRENT_REQUESTS = 8
CONCURRENT_REQUESTS_PER_DOMAIN = 1
DOWNLOAD_DELAY = 0.5  # seconds between two requests to a domain, at least
AUTOTHROTTLE_ENABLED = True
AUTOTHROTTLE_START_DELAY = 1.0  # seconds
AUTOTHROTTLE_MAX_DELAY = 30.0  # seconds
COOKIES_ENABLED = False

# Bounds.
DOWNLOAD_TIMEOUT = 30  # seconds until the last byte, however steadily they drip
DOWNLOAD_MAXSIZE = 10 * 1024 * 1024  # bytes of a page or feed
DOWNLOAD_WARNSIZE = 0
DOWNLOAD_MAXHEADERS = 256 * 1024  # bytes, as browsers have it
FEED_MAX_ENTRIES = 10_000
SITEMAP_MAXSIZE = 50 * 1024 * 1024  # bytes unpacked: the bound of the protocol, sitemaps.org/protocol.html
# An index that names itself under ever new addresses would never end.
SITEMAP_MAX_LEVELS = 3  # sitemap indexes within one another
SITEMAP_MAX_NUMBER = 1_000  # sitemaps that are visited because indexes of a newspaper name them
SECTION_MAX_PAGES = 5  # pages of a section that are read by following rel=next
REDIRECT_MAX_TIMES = 5
RETRY_TIMES = 2
# Scrapy's, without 429: a site that asks for fewer visits is not asked again at once.
RETRY_HTTP_CODES = [500, 502, 503, 504, 522, 524, 408]
# A link that was refused is left alone for so many days; one that failed for a reason that may pass waits for the
# next crawl, and is refused after so many.
REFUSED_DAYS = 7
MAX_TRIES = 5

# A feed may name any address: only the web is visited, never a file of this machine, and never its own network.
DOWNLOAD_HANDLERS = {
    "data": None,
    "file": None,
    "ftp": None,
    "s3": None,
    "http": "crawlers.fetching.downloads.BoundedDownloadHandler",
    "https": "crawlers.fetching.downloads.BoundedDownloadHandler",
}
TWISTED_DNS_RESOLVER = "crawlers.fetching.addresses.GuardedResolver"
CRAWL_PRIVATE_ADDRESSES = [str(network) for network in site_settings.CRAWL_PRIVATE_ADDRESSES]
TELNETCONSOLE_ENABLED = False
REMOTE_CONTROL_ENABLED = False

LOG_LEVEL = site_settings.LOG_LEVEL  # to stderr
