"""The state of crawls: links that wait or were refused, validators of sources, visits, and what jobs crawl and try."""

from django.conf import settings
from django.db import models
from django.db.models.functions import MD5

from articles.models import Article, ArticleURL, Job, Newspaper


class PendingLink(models.Model):
    """A link to an article that is waiting for a visit or was refused. A link whose article is stored has no row.

    A crawl saves every link before it visits it, so that the next crawl can resume if this one is killed.
    """

    newspaper = models.ForeignKey(Newspaper, on_delete=models.CASCADE, related_name="+")
    key = models.UUIDField(help_text="UUID version 5 of the canonicalised URL, as in ArticleURL.")
    url = models.TextField()
    kind = models.CharField(max_length=9, choices=ArticleURL.Kind.choices)
    published = models.DateField(null=True, help_text="The date given by the source.")
    published_time = models.CharField(
        max_length=25, blank=True, default="", db_default="", help_text="The time given by the source, in ISO 8601."
    )
    headline = models.TextField(
        blank=True, default="", db_default="", help_text="The headline given by the source, for pages without one."
    )
    language = models.CharField(
        max_length=8, blank=True, default="", db_default="", help_text="The ISO 639 code given by the source."
    )
    feed_entry = models.BinaryField(
        default=b"", db_default=b"", help_text="What the feed carries of the article, as in ArticlePage."
    )
    tries = models.PositiveSmallIntegerField(default=0, help_text="Failed visits that may succeed another time.")
    reason = models.TextField(blank=True, help_text="Why the last visit failed.")
    refused_until = models.DateTimeField(null=True, help_text="Not visited before this time. Empty: waiting.")

    class Meta:
        ordering = ["id"]
        constraints = [models.UniqueConstraint(fields=["newspaper", "key"], name="pending_link_key")]
        indexes = [
            models.Index(
                fields=["newspaper", "id"], name="pending_link_waiting", condition=models.Q(refused_until=None)
            )
        ]

    def __str__(self) -> str:
        return self.url


class SitePace(models.Model):
    """How fast a site may be asked, as crawls have learnt it; see crawlers/fetching/pacing.py."""

    site = models.CharField(max_length=300, primary_key=True, help_text="A registered domain, or an address and port.")
    delay = models.FloatField(help_text="Seconds between two requests, from how long its answers took.")
    penalty = models.FloatField(help_text="Seconds between two requests, because it asked for fewer.")
    waits_until = models.DateTimeField(null=True, help_text="Nothing is asked before, as the site wished.")
    seen_at = models.DateTimeField(help_text="When a crawl last asked it.")

    class Meta:
        indexes = [models.Index(fields=["seen_at"], name="site_pace_seen")]

    def __str__(self) -> str:
        return self.site


class SourceValidator(models.Model):
    """The ETag and date that a feed, sitemap or section page sent; the next crawl asks whether it has changed since.

    Stored only after all its links were saved; see RFC 9110, sections 8.8 and 13.1.
    """

    newspaper = models.ForeignKey(Newspaper, on_delete=models.CASCADE, related_name="+")
    url = models.TextField(help_text="The URL of the source, as configured or as listed by another source.")
    article_url_pattern = models.TextField(blank=True, help_text="The newspaper's pattern that the links had to match.")
    etag = models.TextField(blank=True)
    last_modified = models.TextField(blank=True)
    stored_at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints = [models.UniqueConstraint("newspaper", MD5("url"), name="source_validator_url")]

    def __str__(self) -> str:
        return self.url


class Recheck(models.Model):
    """When the page of a stored article is fetched again. An article that was never fetched again may have no row.

    Written by crawlers/rechecks.py.
    """

    article = models.OneToOneField(Article, on_delete=models.CASCADE, primary_key=True, related_name="+")
    due_at = models.DateTimeField(help_text="Not fetched again before this time.")
    checked_at = models.DateTimeField(null=True, help_text="When its page was last fetched again.")
    changed_at = models.DateTimeField(null=True, help_text="When it was last found changed, gone or back.")
    listed_at = models.DateTimeField(
        null=True, help_text="The latest time of a change that a feed or sitemap gave for it."
    )
    etag = models.TextField(blank=True)
    last_modified = models.TextField(blank=True)

    class Meta:
        indexes = [models.Index(fields=["due_at"], name="recheck_due")]

    def __str__(self) -> str:
        return f"{self.article_id}, due {self.due_at:%Y-%m-%d %H:%M}"


class Visit(models.Model):
    """A visit to one newspaper by one spider, and its result."""

    class State(models.TextChoices):
        RUNNING = "running", "running"
        FINISHED = "finished", "finished"
        INTERRUPTED = "interrupted", "interrupted"
        STOPPED_UNEXPECTEDLY = "broken off", "stopped unexpectedly"

    # The counts that a crawl gives under these names; its failures are counted by reason.
    COUNTS = (
        "stored",
        "known",
        "unchanged",
        "refused_earlier",
        "left_out",
        "paywalled",
        "rechecked",
        "changed",
        "gone",
    )

    newspaper = models.ForeignKey(Newspaper, on_delete=models.CASCADE, related_name="visits")
    spider = models.CharField(max_length=20)
    state = models.CharField(max_length=11, choices=State.choices, default=State.RUNNING)
    started_at = models.DateTimeField(auto_now_add=True)
    seen_at = models.DateTimeField(auto_now=True, help_text="When the visit last reported that it was running.")
    stored = models.PositiveIntegerField(default=0, help_text="Articles stored.")
    known = models.PositiveIntegerField(default=0, help_text="Links to articles that were already stored.")
    unchanged = models.PositiveIntegerField(default=0, help_text="Sources that reported no change.")
    refused_earlier = models.PositiveIntegerField(
        default=0, help_text="Links that an earlier visit refused; they were not visited."
    )
    left_out = models.PositiveIntegerField(
        default=0,
        db_default=0,
        help_text="Links and sitemaps that are too old, or beyond the number that was asked for.",
    )
    paywalled = models.PositiveIntegerField(default=0, help_text="Articles stored whose page shows only a part.")
    rechecked = models.PositiveIntegerField(
        default=0, db_default=0, help_text="Stored articles whose pages were fetched again."
    )
    changed = models.PositiveIntegerField(default=0, db_default=0, help_text="Those of them whose text had changed.")
    gone = models.PositiveIntegerField(default=0, db_default=0, help_text="Those of them that were gone.")
    failed = models.PositiveIntegerField(default=0, help_text="Sources and links that failed or were refused.")
    failures = models.JSONField(default=list, help_text="Objects with a reason, a number and the url of an example.")

    class Meta:
        ordering = ["-started_at", "-id"]
        indexes = [models.Index(fields=["newspaper", "-started_at"], name="visit_newspaper")]

    def __str__(self) -> str:
        return f"{self.newspaper} ({self.spider}), {self.started_at:%Y-%m-%d %H:%M}"


class CrawlQuerySet(models.QuerySet["Crawl"]):
    """Crawls of newspapers by one job."""

    def reasons(self) -> list[str]:
        """Return why a job crawls these newspapers, each reason once, in words."""
        users = sorted({str(crawl.asked_by) for crawl in self if crawl.asked_by})
        others = sorted({crawl.get_why_display() for crawl in self if not crawl.asked_by})
        return [f"asked for by {' and '.join(users)}", *others] if users else others


class Crawl(models.Model):
    """The crawl of a newspaper that a job does, together with its other newspapers; and why."""

    class Why(models.TextChoices):
        ASKED = "asked", "asked for"
        DUE = "due", "by its schedule"
        AGAIN = "again", "again, because a crawl stopped unexpectedly"

    job = models.ForeignKey(Job, on_delete=models.CASCADE, related_name="crawls")
    newspaper = models.ForeignKey(Newspaper, on_delete=models.CASCADE, related_name="crawls")
    why = models.CharField(max_length=5, choices=Why.choices)
    asked_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    asked_at = models.DateTimeField(auto_now_add=True)

    objects = CrawlQuerySet.as_manager()

    class Meta:
        ordering = ["id"]
        constraints = [models.UniqueConstraint(fields=["job", "newspaper"], name="newspaper_once_a_crawl")]

    def __str__(self) -> str:
        return f"{self.newspaper} in job {self.job_id}"


class CrawlSchedule(models.Model):
    """When the worker crawls a newspaper: every so many hours, or daily at a time of the site's time zone."""

    newspaper = models.OneToOneField(Newspaper, on_delete=models.CASCADE, related_name="crawl_schedule")
    every_hours = models.PositiveSmallIntegerField(null=True)
    daily_at = models.TimeField(null=True)
    due_at = models.DateTimeField(db_index=True, help_text="The next time.")

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(every_hours__gt=0, daily_at=None)
                | models.Q(every_hours=None, daily_at__isnull=False),
                name="every_hours_or_daily",
            )
        ]

    def __str__(self) -> str:
        if self.daily_at is not None:
            return f"every day at {self.daily_at:%H:%M}"
        return "every hour" if self.every_hours == 1 else f"every {self.every_hours} hours"


class Trial(models.Model):
    """A newspaper that an admin tries out: its sources are looked for, and ten of its articles fetched, but not stored.

    Each of the two is a job, and the first is left out if the sources are known.
    """

    job = models.ForeignKey(Job, null=True, on_delete=models.CASCADE, related_name="+", help_text="The latest of them.")
    newspaper = models.ForeignKey(
        Newspaper, null=True, on_delete=models.CASCADE, related_name="+", help_text="Null until it is saved."
    )
    url = models.TextField(blank=True, help_text="The home page that sources are looked for from.")
    found = models.JSONField(null=True, help_text="The newspaper and its sources, as discovery found them.")
    draft = models.JSONField(default=dict, help_text="The fields of the newspaper that is tried.")
    results = models.JSONField(null=True, help_text="What reading the sources and fetching articles gave.")

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"Trial {self.pk}"
