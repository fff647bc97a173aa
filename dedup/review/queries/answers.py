"""The last answers of an editor, which can be changed from below every question."""

from __future__ import annotations

import datetime

from django.contrib.auth.models import User
from django.utils import timezone

from dedup.models import Decision

# A working day; older decisions are undone from the history.
RECENT = datetime.timedelta(hours=8)
SHOWN = 10
_SHOWN = ("kind", "cluster_number", "pair__left__headline", "pair__left__language")


def last_answers(user: User) -> list[Decision]:
    """Return the latest decisions of an editor that are in force and can be undone, the latest first.

    At most SHOWN, and none that is older than RECENT. Relies on the index decision_of_editor.
    """
    rows = Decision.objects.in_force().filter(decided_by=user, decided_at__gte=timezone.now() - RECENT)
    rows = (
        rows.exclude(kind=Decision.Kind.UNDO).order_by("-decided_at", "-id").select_related("pair__left").only(*_SHOWN)
    )
    return [each for each in rows[:SHOWN] if each.is_undoable]
