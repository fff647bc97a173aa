"""What `make_user` and `make_editor` share: a login with a random password, printed once."""

from __future__ import annotations

import secrets

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.core.management.base import CommandError, OutputWrapper
from django.db import transaction

from newsdedup_site.logins import forget
from newsdedup_site.people.actions import record_on_server, set_role


@transaction.atomic
def make_login(name: str, role: str, output: OutputWrapper, *, reset: bool) -> None:
    """Make a user with this role, or with `reset` give an existing one a new password and this role; print the login.

    The password is stored only as a hash. Raises CommandError if the name is not valid, or is there without `reset`.
    """
    name = _checked(name)
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


def _checked(name: str) -> str:
    """Return the name in the form that the login page compares. Raises CommandError if it is not valid."""
    normalised = User.normalize_username(name)
    try:
        User._meta.get_field("username").clean(normalised, None)  # noqa: SLF001 - documented, despite its name
    except ValidationError as error:
        raise CommandError(f"{name!r} is not a valid name to log in with: {' '.join(error.messages)}") from error
    return normalised
