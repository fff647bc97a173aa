from django.apps import AppConfig


class SiteConfig(AppConfig):
    name = "newsdedup_site"

    def ready(self) -> None:
        """Register the system checks."""
        from newsdedup_site.access import checks  # noqa: F401, PLC0415 - where Django wants checks registered
