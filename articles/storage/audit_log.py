"""Records what users do on the pages in the log of Django's admin."""

from typing import Any

from django.contrib.admin.models import LogEntry
from django.contrib.contenttypes.models import ContentType
from django.db.models import Model, QuerySet

_SHOWN_CHARACTERS = 200  # of a row; the limit of the column


def log_action(row: Model, flag: int, act: str, *, user: Any, object_id: str | None = None) -> None:
    """Log that a user did this to a row. `flag` is ADDITION, CHANGE or DELETION; `object_id`: if not its key."""
    LogEntry.objects.create(
        user=user,
        content_type=ContentType.objects.get_for_model(row),
        object_id=str(row.pk) if object_id is None else object_id,
        object_repr=str(row)[:_SHOWN_CHARACTERS],
        action_flag=flag,
        change_message=act,
    )


def logged_actions(model: type[Model], **which: Any) -> QuerySet[LogEntry]:
    """Return what users did to rows, the latest first: to all, or as these look-ups say, such as object_id."""
    entries = LogEntry.objects.filter(content_type=ContentType.objects.get_for_model(model), **which)
    return entries.select_related("user").order_by("-pk")
