"""`manage.py version`: the versions to quote in a bug report."""

from typing import Any

from django.db import DatabaseError

from articles.management.base import ProjectCommand
from articles.versions import local_versions, postgresql_version
from newsdedup_site.embedded import EmbeddedServerError


class Command(ProjectCommand):
    help = "Prints the versions of newsdedup, Python, Django and PostgreSQL."

    def handle(self, **_options: Any) -> None:
        for name, version in local_versions().items():
            self.stdout.write(f"{name} {version}")
        try:
            server = postgresql_version()
        except (DatabaseError, EmbeddedServerError):
            server = "unknown: the database is not reachable"
        self.stdout.write(f"PostgreSQL {server}")
