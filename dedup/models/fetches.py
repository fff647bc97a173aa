"""The pages that editors had fetched."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils import timezone


class PageFetch(models.Model):
    """A page that an editor had fetched to check it. Kept for a day, to bound how many a user fetches."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    url = models.TextField()
    fetched_at = models.DateTimeField(default=timezone.now)

    class Meta:
        verbose_name_plural = "page fetches"
        indexes = [models.Index(fields=["user", "fetched_at"], name="page_fetches_of_user")]

    def __str__(self) -> str:
        return self.url
