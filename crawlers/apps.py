from django.apps import AppConfig


class CrawlersConfig(AppConfig):
    name = "crawlers"
