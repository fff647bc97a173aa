"""`manage.py make_user NAME --role ROLE`: a login with any role."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from articles.management.base import ProjectCommand
from newsdedup_site.access.rights import ROLES
from newsdedup_site.management.commands._login import make_login


class Command(ProjectCommand):
    """Create the user, or with --reset give an existing one a new password and role, and print the login."""

    help = "Create a login with this role and a random password, and print both."

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the options."""
        parser.add_argument("name", help="the name to log in with")
        parser.add_argument("--role", choices=ROLES, required=True, help="what the user may do; docs/running.md")
        parser.add_argument("--reset", action="store_true", help="give an existing user a new password and this role")

    def handle(self, **options: Any) -> None:
        """Print name and password."""
        make_login(options["name"], options["role"], self.stdout, reset=options["reset"])
