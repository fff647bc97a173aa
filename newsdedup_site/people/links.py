"""One-time links with which a person sets a password, shown to an admin and, if e-mail is set up, sent."""

from __future__ import annotations

import datetime
import smtplib
from dataclasses import dataclass

from django.conf import settings
from django.contrib.auth.models import User
from django.contrib.auth.tokens import default_token_generator
from django.core.mail import send_mail
from django.http import HttpRequest
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone
from django.utils.encoding import force_bytes
from django.utils.http import urlsafe_base64_encode


@dataclass(frozen=True)
class Link:
    """A link that works once, and what became of the e-mail with it: sent, failed, or "" if there was none."""

    url: str
    expires: datetime.datetime
    mail: str = ""


def make_link(request: HttpRequest, person: User) -> Link:
    """Return a new link for a person, and send it to them if e-mail is set up and their address is known.

    Django's token is signed with SECRET_KEY and is void once the password or the e-mail address changes or the
    person logs in, at the latest after PASSWORD_RESET_TIMEOUT seconds.
    """
    number = urlsafe_base64_encode(force_bytes(person.pk))
    path = reverse("set_password", args=[number, default_token_generator.make_token(person)])
    url = request.build_absolute_uri(path)
    expires = timezone.now() + datetime.timedelta(seconds=settings.PASSWORD_RESET_TIMEOUT)
    mail = _send(person, url, expires) if settings.SEND_EMAIL and person.email else ""
    return Link(url, expires, mail)


def _send(person: User, url: str, expires: datetime.datetime) -> str:
    text = render_to_string("people/link_mail.txt", {"person": person, "url": url, "expires": expires})
    try:
        send_mail("Set your newsdedup password", text, None, [person.email])
    except (smtplib.SMTPException, OSError):
        return "failed"
    return "sent"
