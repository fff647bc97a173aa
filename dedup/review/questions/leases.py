"""Leases: an editor who reads a question has it alone for two minutes, unless the page renews the lease."""

from __future__ import annotations

import datetime
from typing import Any, LiteralString

from django.contrib.auth.models import User
from django.db import connection
from django.utils import timezone

from dedup.models import Lease
from dedup.review.questions.question import Question

DURATION = datetime.timedelta(minutes=2)

# One row a question: whoever writes it first has the lease.
_TAKE_PAIR_SQL = """
INSERT INTO dedup_lease AS lease (pair_id, user_id, until) VALUES (%(number)s, %(user)s, %(until)s)
ON CONFLICT (pair_id) DO UPDATE SET user_id = excluded.user_id, until = excluded.until
WHERE lease.user_id = excluded.user_id OR lease.until <= %(now)s
RETURNING lease.id
"""
_TAKE_CLUSTER_SQL = """
INSERT INTO dedup_lease AS lease (cluster_id, user_id, until) VALUES (%(number)s, %(user)s, %(until)s)
ON CONFLICT (cluster_id) DO UPDATE SET user_id = excluded.user_id, until = excluded.until
WHERE lease.user_id = excluded.user_id OR lease.until <= %(now)s
RETURNING lease.id
"""
_TAKE_SQL = {"pair": _TAKE_PAIR_SQL, "cluster": _TAKE_CLUSTER_SQL}

_GIVE_BACK_SQL: dict[str, LiteralString] = {
    "pair": "DELETE FROM dedup_lease WHERE pair_id = %(number)s AND user_id = %(user)s",
    "cluster": "DELETE FROM dedup_lease WHERE cluster_id = %(number)s AND user_id = %(user)s",
}


def take_lease(question: Question, user: User) -> bool:
    """Take or renew the lease of a question; return False if another editor has it. The question must exist."""
    now = timezone.now()
    values: dict[str, Any] = {"number": question.number, "user": user.pk, "until": now + DURATION, "now": now}
    with connection.cursor() as cursor:
        cursor.execute(_TAKE_SQL[question.kind], values)
        return cursor.fetchone() is not None


def reader_of(question: Question, user: User) -> User | None:
    """Return the other editor who is reading a question."""
    held = Lease.objects.filter(until__gt=timezone.now(), **question.key).exclude(user=user).select_related("user")
    lease = held.first()
    return lease.user if lease else None


def give_back(question: Question, user: User) -> None:
    """End the lease of a question that this editor has answered or put off."""
    with connection.cursor() as cursor:
        cursor.execute(_GIVE_BACK_SQL[question.kind], {"number": question.number, "user": user.pk})
