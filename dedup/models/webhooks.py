"""Webhooks, which tell programs of clusters and alarms, and what was sent to each."""

from __future__ import annotations

import uuid

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.utils import timezone


class Webhook(models.Model):
    """An address that is sent news of clusters, or alarms. Written by dedup/integrations/webhooks.py."""

    class Event(models.TextChoices):
        NEW = "cluster.new", "a cluster is new"
        CHANGED = "cluster.changed", "the articles of a cluster, or the one to keep, change"
        CONFIRMED = "cluster.confirmed", "editors confirm a cluster"
        ALARM = "alarm", "something needs an admin: an alarm begins, lasts or is over"

    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="webhooks")
    url = models.TextField()
    secret = models.CharField(max_length=80, help_text="With it, the receiver checks the signature.")
    events = ArrayField(models.CharField(max_length=20, choices=Event.choices))
    active = models.BooleanField(default=True)
    fault = models.TextField(blank=True, help_text="Why the program has switched it off; empty if it has not.")
    made_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return self.url

    @property
    def event_labels(self) -> list[str]:
        """What it is sent, in words."""
        return [str(self.Event(event).label) for event in self.events]


class Delivery(models.Model):
    """What is sent to a webhook: one request, tried until it is accepted or given up."""

    class State(models.TextChoices):
        WAITING = "waiting", "waiting"
        DELIVERED = "delivered", "delivered"
        GIVEN_UP = "given up", "given up"

    webhook = models.ForeignKey(Webhook, on_delete=models.CASCADE, related_name="deliveries")
    message = models.UUIDField(default=uuid.uuid4, help_text="Its id for the receiver, the same at every attempt.")
    event = models.CharField(max_length=20)
    body = models.TextField()
    state = models.CharField(max_length=9, choices=State.choices, default=State.WAITING)
    made_at = models.DateTimeField(default=timezone.now)
    due_at = models.DateTimeField(default=timezone.now, help_text="When it is tried next.")
    tried_at = models.DateTimeField(null=True)
    attempts = models.PositiveSmallIntegerField(default=0)
    answer = models.TextField(blank=True, help_text="What came back last: a status, or why there was none.")

    class Meta:
        ordering = ["-id"]
        verbose_name_plural = "deliveries"
        indexes = [models.Index(fields=["due_at", "id"], condition=Q(state="waiting"), name="delivery_due")]

    def __str__(self) -> str:
        return f"{self.event} of {self.made_at:%Y-%m-%d %H:%M}"
