from django.apps import AppConfig


class CrawlersConfig(AppConfig):
    """Makes the crawl commands known to manage.py."""

    name = "crawlers"
