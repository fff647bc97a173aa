"""What belongs to a user: tokens and webhooks for programs, saved views, a route, and pages that were fetched."""

import uuid

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.text import get_text_list

from articles.models import Collection, Newspaper
from articles.normalization.language import language_name
from dedup.models.base import Row


class Token(Row):
    """A token of a user: what it may do, and until when. Only its hash is stored (integrations/tokens.py)."""

    written = "“{0.name}” ({0.start}…)"

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


class TokenUse(Row):
    """How many requests a token made in the last minute in which it made any. Counted by dedup/api/auth.py."""

    written = "{0.used} requests in minute {0.minute}"
    token = models.OneToOneField(Token, primary_key=True, on_delete=models.CASCADE, related_name="+")
    minute = models.IntegerField(help_text="Minutes since 1970.")
    used = models.IntegerField()


class Webhook(Row):
    """An address that is sent news of clusters, or alarms. Written by dedup/integrations/webhooks.py."""

    written = "{0.url}"

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

    @property
    def event_labels(self) -> list[str]:
        """What it is sent, in words."""
        return [str(self.Event(event).label) for event in self.events]


class Delivery(Row):
    """What is sent to a webhook: one request, tried until it is accepted or given up."""

    written = "{0.event} of {0.made_at:%Y-%m-%d %H:%M}"

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


class SavedView(Row):
    """The filter and the order of a list, under a name of the user's choice."""

    written = "{0.name}"

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


class Route(Row):
    """About what a user is asked; who has no route is asked everything. See review/questions/routes.py."""

    written = "{0.words}"
    user = models.OneToOneField(settings.AUTH_USER_MODEL, primary_key=True, on_delete=models.CASCADE)
    # A newspaper that was merged keeps its number here, so that undoing the merge restores the route.
    units = ArrayField(models.BigIntegerField(), help_text="Newspapers and, below zero, collections. Empty: all.")
    languages = ArrayField(models.CharField(max_length=20), help_text="ISO 639 codes of articles. Empty: all.")

    @property
    def named(self) -> dict[int, str]:
        """The names of its units by their ids, as they are now; without those that are gone."""
        names = {row.current.pk: row.current.name for row in Newspaper.objects.filter(pk__in=self.units)}
        return names | {-row.pk: str(row) for row in Collection.objects.filter(pk__in=[-unit for unit in self.units])}

    @property
    def words(self) -> str:
        """What the user is asked about: "Coast Post and Harbour Post in Dutch"."""
        papers = get_text_list(sorted(self.named.values()), "and") or "newspapers that are gone"
        spoken = get_text_list([language_name(code) for code in self.languages], "or")
        return " in ".join(filter(None, [papers if self.units else "articles" if spoken else "everything", spoken]))


class PageFetch(Row):
    """A page that an editor had fetched to check it. Kept for a day, to bound how many a user fetches."""

    written = "{0.url}"
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    url = models.TextField()
    fetched_at = models.DateTimeField(default=timezone.now)

    class Meta:
        verbose_name_plural = "page fetches"
        indexes = [models.Index(fields=["user", "fetched_at"], name="page_fetches_of_user")]
