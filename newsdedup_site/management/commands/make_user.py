"""`manage.py make_user NAME --role ROLE`: a login with any role."""

import secrets
from typing import Any

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.core.management.base import CommandError, CommandParser
from django.db import transaction

from articles.management.base import ProjectCommand
from newsdedup_site.access.addresses import ROLES
from newsdedup_site.logins import forget
from newsdedup_site.people.actions import checked_name, record_on_server, set_role


class Command(ProjectCommand):
    """Create the user, or with --reset give an existing one a new password and role, and print the login."""

    help = "Create a login with this role and a random password, and print both."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", help="the name to log in with")
        self.add_role_option(parser)
        parser.add_argument("--reset", action="store_true", help="give an existing user a new password and this role")

    def add_role_option(self, parser: CommandParser) -> None:
        parser.add_argument("--role", choices=ROLES, required=True, help="what the user may do; docs/running.md")

    @transaction.atomic
    def handle(self, **options: Any) -> None:
        """Make the user, or give an existing one a new password and this role; the password is stored as a hash."""
        role = options["role"]
        try:
            name = checked_name(options["name"])
        except ValidationError as error:
            faults = " ".join(error.messages)
            raise CommandError(f"{options['name']!r} is not a valid name to log in with: {faults}") from error
        user, made = User.objects.get_or_create(username=name)
        if not made and not options["reset"]:
            remedy = f"add --reset to give them a new password and the role {role}"
            raise CommandError(f"user {name!r} already exists; {remedy}")
        password = secrets.token_urlsafe(12)
        user.set_password(password)
        set_role(user, role)
        forget(name=name)
        record_on_server(user, role, made=made)
        self.stdout.write(f"Login: {name}   Password: {password}")
        if not user.is_active:
            self.stdout.write(f"{name} is blocked and cannot log in until an admin unblocks them.")
