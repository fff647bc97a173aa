"""The last answers of an editor, which can be changed from below every question."""

from __future__ import annotations

import datetime

from django.contrib.auth.models import User
from django.utils import timezone

from dedup.models import Decision
from dedup.review.queries.history import every_decision

# A working day; older decisions are undone from the history.
RECENT = datetime.timedelta(hours=8)
SHOWN = 10


def last_answers(user: User) -> list[Decision]:
    """Return the latest decisions of an editor that are in force and can be undone, the latest first.

    At most SHOWN, and none that is older than RECENT. Relies on the index decision_of_editor.
    """
    rows = every_decision().filter(decided_by=user, undone_by=None, decided_at__gte=timezone.now() - RECENT)
    rows = rows.exclude(kind=Decision.Kind.UNDO).order_by("-decided_at", "-id")
    return [each for each in rows[:SHOWN] if each.is_undoable]
