"""What admins do with people. Each action is one transaction with its entry in the log of Django's admin."""

import datetime
import smtplib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.contrib.admin.models import ADDITION, CHANGE
from django.contrib.auth import SESSION_KEY
from django.contrib.auth.models import Group, User
from django.contrib.auth.tokens import default_token_generator
from django.contrib.sessions.models import Session
from django.core.mail import send_mail
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone
from django.utils.encoding import force_bytes
from django.utils.http import urlsafe_base64_encode

from articles.storage.audit_log import log_action
from dedup.review.questions.routes import set_route
from newsdedup_site.access.addresses import ROLES, admins
from newsdedup_site.logins import Locked, forget


class PersonError(Exception):
    """An action that is not possible; the message is a sentence for the page."""


def role_of(user: User) -> str:
    """Return the highest role of a user, or "" if they have none."""
    names = {group.name for group in user.groups.all()}
    return next((role for role in reversed(ROLES) if role in names), "")


def checked_name(name: str) -> str:
    """Return a name in the form that the login page compares. Raises ValidationError if nobody can have it."""
    name = User.normalize_username(name)
    User._meta.get_field("username").clean(name, None)  # noqa: SLF001 - documented, despite its name
    return name


def invite(name: str, email: str, role: str, *, by: User, **route: Any) -> User:
    """Make a user who can log in once they have set a password. Raises PersonError if the name is taken."""
    with transaction.atomic():
        person, made = User.objects.get_or_create(
            username=User.normalize_username(name), defaults={"email": User.objects.normalize_email(email)}
        )
        if not made:
            raise PersonError(f"“{person.get_username()}” is taken. Choose another name.")
        person.set_unusable_password()
        set_role(person, role)
        acts = filter(None, [f"was invited as {role}", set_route(person, **route)])
        log_action(person, ADDITION, f"{'; '.join(acts)}.", user=by)
    return person


def change(person_id: int, *, email: str, role: str, by: User, **route: Any) -> list[str]:
    """Give a person another role, e-mail address or route (see set_route); return what changed. Raises PersonError."""
    with _held(person_id) as person:
        changes = []
        before = role_of(person)
        if role != before:
            _refuse_oneself(person, by, "give yourself another role")
            if before == "admin":
                _refuse_last_admin(person)
            set_role(person, role)
            changes.append(f"has the role {role} now (before: {before or 'none'})")
        if email != person.email:
            person.email = email
            person.save(update_fields=["email"])
            changes.append(f"has the e-mail address {email} now" if email else "has no e-mail address now")
        if routed := set_route(person, **route):
            changes.append(routed)
        if changes:
            log_action(person, CHANGE, f"{'; '.join(changes)}.", user=by)
    return changes


def block(person_id: int, *, by: User) -> int:
    """Shut a person out at once, and return how many of their sessions that ended. Raises PersonError."""
    with _held(person_id) as person:
        _refuse_oneself(person, by, "block yourself")
        if not person.is_active:
            raise PersonError(f"{person.get_username()} is blocked already.")
        if role_of(person) == "admin":
            _refuse_last_admin(person)
        person.is_active = False
        person.save(update_fields=["is_active"])
        ended = end_sessions(person)
        log_action(person, CHANGE, f"was blocked; {ended} session{'' if ended == 1 else 's'} ended.", user=by)
    return ended


def unblock(person_id: int, *, by: User) -> None:
    """Let a blocked person log in again; no session from before comes back. Raises PersonError."""
    with _held(person_id) as person:
        if person.is_active:
            raise PersonError(f"{person.get_username()} is not blocked.")
        end_sessions(person)
        person.is_active = True
        person.save(update_fields=["is_active"])
        log_action(person, CHANGE, "was unblocked.", user=by)


def record_password(person: User) -> None:
    """Log that a person set their password with a one-time link, and forget the wrong passwords before it."""
    forget(name=person.get_username())
    log_action(person, CHANGE, "set a password with a one-time link.", user=person)


def unlock(name: str, address: str, *, by: User) -> bool:
    """Forget the wrong passwords for a name, from an address, or for both together; return whether there were any."""
    with transaction.atomic():
        forgotten = forget(name=name, address=address)
        if forgotten:
            # Perhaps nobody has this name; and nobody knows whose an address is.
            row = User.objects.filter(username=name).first() or User(username=name or address)
            where = f" from {address}" if name and address else ""
            act = f"was unlocked{where} after wrong passwords."
            log_action(row, CHANGE, act, user=by, object_id=str(row.pk or ""))
    return bool(forgotten)


def record_on_server(person: User, role: str, *, made: bool) -> None:
    """Log that a login was made, or reset, on the command line, which knows no user: the entry is the person's own."""
    act = "was added" if made else "got a new password"
    log_action(person, ADDITION if made else CHANGE, f"{act} on the command line, with the role {role}.", user=person)


def set_role(person: User, role: str) -> None:
    """Give a user this role and no other, in the caller's transaction; groups of your own stay. Save the user."""
    person.save()
    person.groups.remove(*Group.objects.filter(name__in=ROLES).exclude(name=role))
    person.groups.add(Group.objects.get(name=role))


def end_sessions(person: User) -> int:
    """Delete the sessions of a user, and return how many there were."""
    current = Session.objects.filter(expire_date__gte=timezone.now()).iterator()
    keys = [session.session_key for session in current if session.get_decoded().get(SESSION_KEY) == str(person.pk)]
    Session.objects.filter(session_key__in=keys).delete()
    return len(keys)


@contextmanager
def _held(person_id: int) -> Iterator[User]:
    """Yield a person, locked together with the role admin: two admins cannot demote each other at the same time."""
    with transaction.atomic():
        Group.objects.select_for_update().get(name="admin")
        yield User.objects.select_for_update().get(pk=person_id, is_superuser=False)


def _refuse_oneself(person: User, by: User, what: str) -> None:
    if person.pk == by.pk:
        raise PersonError(f"You cannot {what}. Ask another admin.")


def _refuse_last_admin(person: User) -> None:
    if person.is_active and not admins().exclude(pk=person.pk).exists():
        raise PersonError(f"{person.get_username()} is the last admin. Make somebody else an admin first.")


SHOWN_CHANGES = 20


def people() -> QuerySet[User]:
    """Return everybody except superusers, whom only superusers manage, in Django's admin; blocked people come last."""
    rows = User.objects.filter(is_superuser=False).prefetch_related("groups", "route")
    return rows.order_by("-is_active", "username")


def describe(person: User, locks: Sequence[Locked]) -> dict[str, object]:
    """Return a person with their role and state, given all that is locked by wrong passwords."""
    state = "active" if person.has_usable_password() else "invited"
    if any(lock.name == person.get_username() for lock in locks):
        state = "locked"
    if not person.is_active:
        state = "blocked"
    return {"user": person, "role": role_of(person), "state": state}


@dataclass(frozen=True)
class Link:
    """A link that works once, and what became of the e-mail with it: sent, failed, or "" if there was none."""

    url: str
    expires: datetime.datetime
    mail: str = ""


def make_link(request: HttpRequest, person: User, *, by: User) -> Link:
    """Return a new link for a person, and send it to them if e-mail is set up and their address is known.

    Raises PersonError for a blocked person, who could not use it. Django's token is signed with SECRET_KEY and is void
    once the password or the e-mail address changes or the person logs in, at the latest after PASSWORD_RESET_TIMEOUT
    seconds.
    """
    if not person.is_active:
        raise PersonError(f"{person.get_username()} is blocked. Unblock them first.")
    log_action(person, CHANGE, "got a one-time link to set a password.", user=by)
    number = urlsafe_base64_encode(force_bytes(person.pk))
    path = reverse("set_password", args=[number, default_token_generator.make_token(person)])
    url = request.build_absolute_uri(path)
    expires = timezone.now() + datetime.timedelta(seconds=settings.PASSWORD_RESET_TIMEOUT)
    if not settings.SEND_EMAIL or not person.email:
        return Link(url, expires)
    text = render_to_string("people/link_mail.txt", {"person": person, "url": url, "expires": expires})
    try:
        send_mail("Set your newsdedup password", text, None, [person.email])
    except (smtplib.SMTPException, OSError):
        return Link(url, expires, "failed")
    return Link(url, expires, "sent")
