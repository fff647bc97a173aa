"""`manage.py make_user NAME --role ROLE`: a login with any role."""

from __future__ import annotations

import secrets
from typing import Any

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.core.management.base import CommandError, CommandParser, OutputWrapper
from django.db import transaction

from articles.management.base import ProjectCommand
from newsdedup_site.access.rights import ROLES
from newsdedup_site.logins import forget
from newsdedup_site.people.actions import checked_name, record_on_server, set_role


class Command(ProjectCommand):
    """Create the user, or with --reset give an existing one a new password and role, and print the login."""

    help = "Create a login with this role and a random password, and print both."

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the options."""
        parser.add_argument("name", help="the name to log in with")
        self.add_role_option(parser)
        parser.add_argument("--reset", action="store_true", help="give an existing user a new password and this role")

    def add_role_option(self, parser: CommandParser) -> None:
        """Declare the option that says the role."""
        parser.add_argument("--role", choices=ROLES, required=True, help="what the user may do; docs/running.md")

    def handle(self, **options: Any) -> None:
        """Print name and password."""
        _make_login(options["name"], options["role"], self.stdout, reset=options["reset"])


@transaction.atomic
def _make_login(name: str, role: str, output: OutputWrapper, *, reset: bool) -> None:
    """Make a user with this role, or with `reset` give an existing one a new password and this role; print the login.

    The password is stored only as a hash. Raises CommandError if the name is not valid, or is there without `reset`.
    """
    try:
        name = checked_name(name)
    except ValidationError as error:
        raise CommandError(f"{name!r} is not a valid name to log in with: {' '.join(error.messages)}") from error
    user, made = User.objects.get_or_create(username=name)
    if not made and not reset:
        raise CommandError(f"user {name!r} already exists; add --reset to give them a new password and the role {role}")
    password = secrets.token_urlsafe(12)
    user.set_password(password)
    set_role(user, role)
    forget(name=name)
    record_on_server(user, role, made=made)
    output.write(f"Login: {name}   Password: {password}")
    if not user.is_active:
        output.write(f"{name} is blocked and cannot log in until an admin unblocks them.")
