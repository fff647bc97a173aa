"""Tokens, with which programs act for a user: made, found and revoked here.

A token is shown once, when it is made. Only its SHA-256 is stored: a token has 256 random bits, so nobody can guess it
from its hash, and a slow hash as for passwords would add nothing. What a token may do is the lesser of its scopes and
of the rights of its owner at the moment, so that a role that is taken away is gone with the next request.
"""

import datetime
import hashlib
import secrets
from collections.abc import Collection

from django.contrib.admin.models import ADDITION, CHANGE
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from articles.storage.audit_log import log_action
from dedup.models import Token

MOST_TOKENS = 50
NAME_CHARACTERS = 60
# The permission that each scope needs, apart from reading.
NEEDS = {
    Token.Scope.READ: "articles.view_article",
    Token.Scope.STORE: "articles.add_article",
    Token.Scope.DECIDE: "dedup.add_decision",
    Token.Scope.RUN: "dedup.add_detectionrun",
    Token.Scope.WEBHOOKS: "articles.view_article",
    Token.Scope.FEED: "articles.view_article",
}
_READ = NEEDS[Token.Scope.READ]
# Begins every token, so that scanners of secrets recognise one that leaked.
_PREFIX = "newsdedup_"
_RANDOM_BYTES = 32
_SHOWN_CHARACTERS = len(_PREFIX) + 5
_NOTED_EVERY = datetime.timedelta(minutes=1)


class TokenError(ValueError):
    """A token cannot be made; the message says why."""


def scopes_of(user: User) -> list[Token.Scope]:
    """Return the scopes that a token of this user may have now."""
    return [scope for scope in Token.Scope if user.has_perms([_READ, NEEDS[scope]])]


def make_token(owner: User, name: str, scopes: Collection[str], *, days: int | None = None) -> tuple[Token, str]:
    """Make a token that works for so many days, or until it is revoked; return it with its text.

    Raises TokenError.
    """
    name = " ".join(name.replace("\0", "").split())
    if not 1 <= len(name) <= NAME_CHARACTERS:
        raise TokenError(f"The name has {len(name)} characters; it must have from 1 to {NAME_CHARACTERS}.")
    if missing := sorted(set(scopes) - set(scopes_of(owner))):
        raise TokenError(f"Your role does not allow: {', '.join(missing)}. Choose only what you may do yourself.")
    if not scopes:
        raise TokenError("Choose at least one thing that the token may do.")
    text = _PREFIX + secrets.token_urlsafe(_RANDOM_BYTES)
    with transaction.atomic():
        User.objects.select_for_update().get(pk=owner.pk)
        if working().filter(owner=owner).count() >= MOST_TOKENS:
            raise TokenError(f"You have {MOST_TOKENS} tokens that work, which is the most. Revoke one first.")
        token = Token.objects.create(
            owner=owner,
            name=name,
            start=text[:_SHOWN_CHARACTERS],
            digest=_digest(text),
            scopes=[scope for scope in Token.Scope if scope in scopes],
            expires_at=timezone.now() + datetime.timedelta(days=days) if days else None,
        )
        log_action(token.owner, ADDITION, f"made the token {token}: {', '.join(token.scopes)}.", user=owner)
    return token, text


def revoke_token(token: Token, *, by: User) -> bool:
    """Make a token useless for ever; return False if it was revoked before."""
    with transaction.atomic():
        left = Token.objects.filter(pk=token.pk, revoked_at=None)
        revoked = bool(left.update(revoked_at=timezone.now(), revoked_by=by))
        if revoked:
            log_action(token.owner, CHANGE, f"no longer has the token {token}: it was revoked.", user=by)
    return revoked


def working() -> QuerySet[Token]:
    """Return the tokens that are neither revoked nor expired."""
    return Token.objects.filter(Q(expires_at=None) | Q(expires_at__gt=timezone.now()), revoked_at=None)


def find_token(text: str) -> Token | None:
    """Return the token with this text if it works and its owner may still read, and note its use; otherwise None.

    What it may do: `allows`.
    """
    if not text.startswith(_PREFIX):
        return None
    token = working().select_related("owner").filter(digest=_digest(text), owner__is_active=True).first()
    if token is None or not token.owner.has_perm(_READ):
        return None
    now = timezone.now()
    if token.used_at is None or now - token.used_at >= _NOTED_EVERY:
        Token.objects.filter(pk=token.pk).update(used_at=now)
    return token


def allows(token: Token, scope: Token.Scope) -> bool:
    """Return whether a token that works has this scope, and its owner still the right for it."""
    return scope in token.scopes and token.owner.has_perms([_READ, NEEDS[scope]])


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode(errors="replace")).hexdigest()
