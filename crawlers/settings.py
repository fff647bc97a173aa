"""Scrapy's settings, for `manage.py crawl` and for `scrapy crawl` in this folder.

To change one for a single crawl: `manage.py crawl --set NAME=VALUE`, `scrapy crawl -s NAME=VALUE`.
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
# Scrapy installs its own handler on the root logger; Django's would log everything twice.
logging.getLogger().handlers.clear()

BOT_NAME = "newsdedup"
USER_AGENT = f"newsdedup/{importlib.metadata.version('newsdedup')}"
SPIDER_MODULES = ["crawlers.spiders"]
ITEM_PIPELINES = {"crawlers.article_store.ArticlePipeline": 100}
# 80, 90: before robots.txt (100), which known URLs do not need.
# 110: after robots.txt, and when a page has arrived, after all redirects, also those inside the page.
# 585: after decompression (590), before Scrapy looks for redirects in the page (580).
DOWNLOADER_MIDDLEWARES = {
    "crawlers.fetching.middlewares.BadAddressMiddleware": 80,
    "crawlers.fetching.middlewares.KnownURLMiddleware": 90,
    "crawlers.fetching.middlewares.BadBaseMiddleware": 585,
    "scrapy.downloadermiddlewares.robotstxt.RobotsTxtMiddleware": None,
    "crawlers.fetching.robots.RobotsMiddleware": 100,
    "crawlers.fetching.robots.ReservationsMiddleware": 110,
    "scrapy.downloadermiddlewares.retry.RetryMiddleware": None,
    "crawlers.fetching.middlewares.PoliteRetryMiddleware": 550,
    "scrapy.downloadermiddlewares.httpcompression.HttpCompressionMiddleware": None,
    "crawlers.fetching.downloads.UnpackingMiddleware": 590,
    "crawlers.fetching.middlewares.ChainCookiesMiddleware": 700,
}
# The pauses follow a site's answers in all crawls together, crawlers/fetching/pacing.py; Scrapy's do so in each crawl.
EXTENSIONS = {"scrapy.extensions.throttle.AutoThrottle": None}
# The first links listed are visited first: the newest.
SCHEDULER_DISK_QUEUE = "scrapy.squeues.PickleFifoDiskQueue"
SCHEDULER_MEMORY_QUEUE = "scrapy.squeues.FifoMemoryQueue"
TWISTED_REACTOR = "twisted.internet.asyncioreactor.AsyncioSelectorReactor"

# Politeness.
ROBOTSTXT_OBEY = True
NOINDEX_OBEY = True
TDM_OBEY = True  # reservations of text and data mining
CONCURRENT_REQUESTS = 8
CONCURRENT_REQUESTS_PER_DOMAIN = 1
DOWNLOAD_DELAY = 0.5  # seconds between two requests to a site, at least
SLOW_DOWN_DELAY = 2.0  # seconds, after a site asked for fewer requests; doubled each time
RETRY_AFTER_LONGEST = 60.0  # seconds that a crawl waits for a site; if it asks for more, a later crawl visits it
SITES_REMEMBERED = True  # the pauses of sites, over crawls
AUTOTHROTTLE_ENABLED = True
AUTOTHROTTLE_START_DELAY = 1.0  # seconds
AUTOTHROTTLE_MAX_DELAY = 30.0  # seconds
COOKIES_ENABLED = False

# For one crawl.
CRAWL_SINCE = ""  # a day, YYYY-MM-DD: only articles published on or after it
CRAWL_LIMIT = 0  # visit no more than this many links of a newspaper; 0: any number

# Bounds.
DOWNLOAD_TIMEOUT = 30  # seconds until the last byte, even of a steady drip
DOWNLOAD_MAXSIZE = 10 * 1024 * 1024  # bytes of a page or feed
DOWNLOAD_WARNSIZE = 0
DOWNLOAD_MAXHEADERS = 256 * 1024  # bytes, as in browsers
FEED_MAX_ENTRIES = 10_000
SITEMAP_MAXSIZE = 50 * 1024 * 1024  # bytes, uncompressed: the limit of the protocol, sitemaps.org/protocol.html
# An index that lists itself under ever new URLs would never end.
SITEMAP_MAX_LEVELS = 3  # levels of nested sitemap indexes
SITEMAP_MAX_NUMBER = 1_000  # sitemaps per newspaper that are visited because an index lists them
# An archive of decades: older links and sitemaps are left out, and a crawl takes no more than the newest new links.
SITEMAP_DAYS = 1_095  # days before today, by publication date or lastmod; 0: any
SITEMAP_MAX_LINKS = 5_000  # new links of a newspaper's sitemaps in one crawl; 0: any number
FEED_MAX_PAGES = 20  # pages of a feed, by following next or prev-archive (RFC 5005)
SECTION_MAX_PAGES = 5  # pages of a section, by following rel=next
ARTICLE_MAX_PAGES = 10  # pages of an article that spans several; 1: only the first one
REDIRECT_MAX_TIMES = 5
RETRY_TIMES = 2
RETRY_HTTP_CODES = [500, 502, 503, 504, 522, 524, 408, 429]
# A refused link is not fetched for this many days. One that failed for a temporary reason waits for the next crawl,
# and is refused after this many tries.
REFUSED_DAYS = 7
REVISION_DAYS = 0  # days for which stored articles are fetched again, unless the newspaper names others
MAX_TRIES = 5

# Processes that extract articles, of all crawls together; and the articles that a thread extracts before these start,
# because starting them takes longer.
EXTRACTION_PROCESSES = os.cpu_count() or 1
EXTRACTION_FEW = 20

# A feed may list any URL: only web URLs are fetched, never local files, and nothing on private networks.
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
WARN_ON_GENERATOR_RETURN_VALUE = False  # it reads the source code of a callback again for every page
REMOTE_CONTROL_ENABLED = False

LOG_LEVEL = site_settings.LOG_LEVEL  # to stderr
