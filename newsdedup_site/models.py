"""What the site stores itself: the keys that users chose, and alarms with what was sent about them."""

import pgtrigger
from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone


class KeyMap(models.Model):
    """The keys of one user, written by newsdedup_site/keys.py. Who has changed nothing has no row."""

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, primary_key=True, on_delete=models.CASCADE, related_name="key_map"
    )
    on = models.BooleanField(default=True)
    keys = models.JSONField(default=dict, help_text="The chosen key by action, empty for none; others are as usual.")

    def __str__(self) -> str:
        return f"Keys of {self.user}"


class Alarm(models.Model):
    """Something that an admin has to see to, from its beginning to its end. Written by alarms/recording.py.

    Never deleted; the database refuses to change one that is over.
    """

    kind = models.CharField(max_length=20, help_text="A key of KINDS in alarms/kinds.py.")
    subject = models.CharField(max_length=200, blank=True, help_text="Which of its kind: a profile, a disk.")
    what = models.TextField(help_text="What is wrong, as last seen, in a sentence that every reader may see.")
    detail = models.TextField(blank=True, help_text="What only admins see of it: the text of an error, a path.")
    remedy = models.TextField(help_text="What an admin can do.")
    address = models.TextField(blank=True, help_text="The path of the page that shows more.")
    since = models.DateTimeField()
    found_at = models.DateTimeField(help_text="When a check first found it.")
    seen_at = models.DateTimeField(help_text="When a check last found it.")
    gone_at = models.DateTimeField(null=True, help_text="When a check found it gone; it may come back soon.")
    notified_at = models.DateTimeField(null=True, help_text="When people were last notified.")
    over_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(fields=["kind", "subject"], condition=Q(over_at=None), name="one_active_alarm")
        ]
        indexes = [models.Index(fields=["kind", "subject", "-notified_at"], name="alarm_notified")]
        triggers = [
            pgtrigger.Protect(name="never_deleted", operation=pgtrigger.Delete),
            pgtrigger.Protect(
                name="over_for_good", operation=pgtrigger.Update, condition=pgtrigger.Q(old__over_at__isnull=False)
            ),
        ]

    def __str__(self) -> str:
        return self.what


class AlarmNotice(models.Model):
    """What was told of an alarm, and what became of the e-mail. Appended; the database refuses other changes."""

    class Event(models.TextChoices):
        BEGAN = "began", "began"
        LASTS = "lasts", "still lasts"
        OVER = "over", "is over"

    class Mail(models.TextChoices):
        WAITING = "waiting", "waiting"
        SENT = "sent", "sent"
        NONE = "none", "nobody to send to"

    alarm = models.ForeignKey(Alarm, on_delete=models.PROTECT, related_name="notices")
    event = models.CharField(max_length=5, choices=Event.choices)
    what = models.TextField(help_text="What was wrong then.")
    made_at = models.DateTimeField(default=timezone.now)
    webhooks = models.PositiveIntegerField(default=0, help_text="To how many webhooks it is sent.")
    mail = models.CharField(max_length=7, choices=Mail.choices)
    mail_tries = models.PositiveIntegerField(default=0)
    mail_tried_at = models.DateTimeField(null=True)
    mail_answer = models.TextField(blank=True, help_text="Why the last try failed.")

    class Meta:
        ordering = ["-id"]
        indexes = [models.Index(fields=["id"], condition=Q(mail="waiting"), name="alarm_mail_waiting")]
        triggers = [
            pgtrigger.Protect(name="never_deleted", operation=pgtrigger.Delete),
            pgtrigger.ReadOnly(name="appended", fields=["alarm", "event", "what", "made_at", "webhooks"]),
        ]

    def __str__(self) -> str:
        return f"{self.get_event_display()}: {self.what}"
