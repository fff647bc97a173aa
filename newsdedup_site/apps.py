from collections.abc import Sequence
from typing import Any

from django.apps import AppConfig
from django.contrib import admin
from django.contrib.admin.apps import SimpleAdminConfig
from django.contrib.admin.checks import check_admin_app, check_dependencies
from django.core.checks import CheckMessage, Tags, register


class SiteConfig(AppConfig):
    name = "newsdedup_site"
    default = True

    def ready(self) -> None:
        """Register the system checks of the addresses."""
        from newsdedup_site.access import addresses  # noqa: F401, PLC0415 - where Django wants checks registered


class AdminConfig(SimpleAdminConfig):
    """Django's admin, whose pages are loaded with the URLs, or when they are checked.

    Commands and their worker processes need none of them; loading them takes as long as all models together.
    """

    def ready(self) -> None:
        """Register the system checks of the admin."""
        register(check_dependencies, Tags.admin)
        register(check_admin_pages, Tags.admin)


def check_admin_pages(app_configs: Sequence[AppConfig] | None, **options: Any) -> list[CheckMessage]:
    """Check the pages of the admin, all of them loaded."""
    admin.autodiscover()
    return check_admin_app(app_configs, **options)
