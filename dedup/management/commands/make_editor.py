"""`manage.py make_editor NAME`: a login for an editor or an admin."""

from __future__ import annotations

import secrets
from typing import Any

from django.contrib.auth import get_user_model
from django.contrib.auth.models import Group
from django.core.management.base import BaseCommand, CommandParser
from django.db import transaction


class Command(BaseCommand):
    """Make the user, or give an existing one a new password, and print the login."""

    help = "Make a login for an editor (or, with --admin, an admin) with a new random password, and print it."

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the options."""
        parser.add_argument("name", help="the name to log in with")
        parser.add_argument("--admin", action="store_true", help="may also change newspapers, profiles and users")

    @transaction.atomic
    def handle(self, **options: Any) -> None:
        """Print name and password; the password is stored only as a hash."""
        password = secrets.token_urlsafe(12)
        user, _ = get_user_model().objects.get_or_create(username=options["name"])
        user.set_password(password)
        user.is_staff = options["admin"]
        user.save()
        user.groups.set([Group.objects.get(name="admin" if options["admin"] else "editor")])
        self.stdout.write(f"Login: {options['name']}   Password: {password}")
