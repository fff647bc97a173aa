"""The tokens with which programs act for a user."""

from __future__ import annotations

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils import timezone


class Token(models.Model):
    """A token of a user: what it may do, and until when. Only its hash is stored (integrations/tokens.py)."""

    class Scope(models.TextChoices):
        READ = "read", "read articles, pairs, clusters, stories, decisions and runs, and check texts"
        STORE = "store", "store articles"
        DECIDE = "decide", "decide on pairs, and undo decisions"
        RUN = "run", "start runs"
        WEBHOOKS = "webhooks", "make, change and delete your webhooks"
        FEED = "feed", "read feeds, with the token in the address"

    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="tokens")
    name = models.CharField(max_length=60)
    start = models.CharField(max_length=16, help_text="Its first characters, by which its owner recognises it.")
    digest = models.CharField(max_length=64, unique=True, help_text="The SHA-256 of the token, in hexadecimal.")
    scopes = ArrayField(models.CharField(max_length=10, choices=Scope.choices))
    made_at = models.DateTimeField(default=timezone.now)
    used_at = models.DateTimeField(null=True, help_text="When it was last used, to the minute.")
    expires_at = models.DateTimeField(null=True)
    revoked_at = models.DateTimeField(null=True)
    revoked_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")

    class Meta:
        ordering = ["-pk"]

    def __str__(self) -> str:
        return f"“{self.name}” ({self.start}…)"

    @property
    def state(self) -> str:
        """Whether it works, as a word for a page."""
        if self.revoked_at:
            return "revoked"
        if self.expires_at and self.expires_at <= timezone.now():
            return "expired"
        return "active" if self.owner.is_active else "owner blocked"

    @property
    def scope_labels(self) -> list[str]:
        """What it may do, in words."""
        return [str(self.Scope(scope).label) for scope in self.scopes]


class TokenUse(models.Model):
    """How many requests a token made in the last minute in which it made any. Counted by dedup/api/auth.py."""

    token = models.OneToOneField(Token, primary_key=True, on_delete=models.CASCADE, related_name="+")
    minute = models.IntegerField(help_text="Minutes since 1970.")
    used = models.IntegerField()

    def __str__(self) -> str:
        return f"{self.used} requests in minute {self.minute}"
