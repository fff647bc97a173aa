"""Lists with a filter and an order that a user has saved."""

from __future__ import annotations

from django.conf import settings
from django.db import models


class SavedView(models.Model):
    """The filter and the order of a list, under a name of the user's choice."""

    class Page(models.TextChoices):
        QUEUE = "queue", "Queue"
        CLUSTERS = "clusters", "Clusters"
        SERIES = "series_list", "Series"
        GROUPS = "groups", "Dense groups"
        BOILERPLATE = "boilerplate_list", "Boilerplate"
        ARTICLES = "articles", "Articles"
        HISTORY = "history", "History"
        DISAGREEMENTS = "disagreements", "Disagreements"

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="saved_views")
    page = models.CharField(max_length=20, choices=Page.choices, help_text="The name of its address.")
    name = models.CharField(max_length=60)
    query = models.CharField(max_length=1000, help_text="What the address has behind its question mark.")

    class Meta:
        ordering = ["page", "name"]
        constraints = [models.UniqueConstraint(fields=["user", "page", "name"], name="one_view_a_name")]

    def __str__(self) -> str:
        return self.name
