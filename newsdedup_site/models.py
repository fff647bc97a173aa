"""What the site stores itself: the keys that users chose."""

from __future__ import annotations

from django.conf import settings
from django.db import models


class KeyMap(models.Model):
    """The keys of one user, written by newsdedup_site/keys/maps.py. Who has changed nothing has no row."""

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, primary_key=True, on_delete=models.CASCADE, related_name="key_map"
    )
    on = models.BooleanField(default=True)
    keys = models.JSONField(default=dict, help_text="The chosen key by action, empty for none; others are as usual.")

    def __str__(self) -> str:
        return f"Keys of {self.user}"
