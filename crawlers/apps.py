from django.apps import AppConfig


class CrawlersConfig(AppConfig):
    """Makes the crawl commands known to manage.py; there are no models here."""

    name = "crawlers"
