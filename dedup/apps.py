from django.apps import AppConfig


class DedupConfig(AppConfig):
    name = "dedup"

    def ready(self) -> None:
        """Register the system checks."""
        from dedup import checks  # noqa: F401, PLC0415 - where Django wants checks registered
