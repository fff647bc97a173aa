"""`manage.py make_editor NAME`: a login for an editor or an admin."""

from __future__ import annotations

import secrets
from typing import Any

from django.contrib.auth.models import Group, User
from django.core.exceptions import ValidationError
from django.core.management.base import CommandError, CommandParser
from django.db import transaction

from articles.management.base import ProjectCommand


class Command(ProjectCommand):
    """Create the user, or with --reset give an existing one a new password and role, and print the login."""

    help = "Create a login for an editor (or, with --admin, an admin) with a random password, and print both."

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the options."""
        parser.add_argument("name", help="the name to log in with")
        parser.add_argument(
            "--admin", action="store_true", help="make an admin, who may also change newspapers, profiles and users"
        )
        parser.add_argument("--reset", action="store_true", help="give an existing user a new password and this role")

    @transaction.atomic
    def handle(self, **options: Any) -> None:
        """Print name and password; the password is stored only as a hash."""
        name = _checked(options["name"])
        role = "admin" if options["admin"] else "editor"
        user, made = User.objects.get_or_create(username=name)
        if not made and not options["reset"]:
            raise CommandError(
                f"user {name!r} already exists; add --reset to give them a new password and the role {role}"
            )
        password = secrets.token_urlsafe(12)
        user.set_password(password)
        user.is_staff = options["admin"]
        user.save()
        user.groups.set([Group.objects.get(name=role)])
        self.stdout.write(f"Login: {name}   Password: {password}")


def _checked(name: str) -> str:
    """Return the name in the form that the login page compares. Raises CommandError if it is not valid."""
    normalised = User.normalize_username(name)
    try:
        User._meta.get_field("username").clean(normalised, None)  # noqa: SLF001 - documented, despite its name
    except ValidationError as error:
        raise CommandError(f"{name!r} is not a valid name to log in with: {' '.join(error.messages)}") from error
    return normalised
