"""`manage.py make_editor NAME`: a login for an editor or an admin."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from articles.management.base import ProjectCommand
from newsdedup_site.management.commands._login import make_login


class Command(ProjectCommand):
    """Create the user, or with --reset give an existing one a new password and role, and print the login."""

    help = (
        "Create a login for an editor (or, with --admin, an admin) with a random password, and print both. "
        "make_user does the same for any role."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the options."""
        parser.add_argument("name", help="the name to log in with")
        parser.add_argument(
            "--admin", action="store_true", help="make an admin, who may also change newspapers, profiles and users"
        )
        parser.add_argument("--reset", action="store_true", help="give an existing user a new password and this role")

    def handle(self, **options: Any) -> None:
        """Print name and password."""
        role = "admin" if options["admin"] else "editor"
        make_login(options["name"], role, self.stdout, reset=options["reset"])
