from django.apps import AppConfig


class CrawlersConfig(AppConfig):
    """Registers the models and commands of crawls with Django."""

    name = "crawlers"
