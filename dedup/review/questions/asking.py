"""The next question for an editor, questions put off until later, and leases.

An editor who reads a question has it alone for two minutes, unless the page renews the lease.
"""

from __future__ import annotations

import datetime
from collections.abc import Collection
from typing import Any

from django.contrib.auth.models import User
from django.db import connection, transaction
from django.db.models import Exists, OuterRef
from django.utils import timezone
from psycopg.sql import SQL, Identifier

from dedup.models import Lease, Postponement
from dedup.review.queries.lists import PairSelection
from dedup.review.questions.tabs import Question, Rows, Tab, question_of, tab_named, without

DURATION = datetime.timedelta(minutes=2)

# One row a question: whoever writes it first has the lease.
_TAKE_SQL = SQL("""
INSERT INTO dedup_lease AS lease ({question}, user_id, until) VALUES (%(number)s, %(user)s, %(until)s)
ON CONFLICT ({question}) DO UPDATE SET user_id = excluded.user_id, until = excluded.until
WHERE lease.user_id = excluded.user_id OR lease.until <= %(now)s
RETURNING lease.id
""")


def take_lease(question: Question, user: User) -> bool:
    """Take or renew the lease of a question; return False if another editor has it. The question must exist."""
    now = timezone.now()
    values: dict[str, Any] = {"number": question.number, "user": user.pk, "until": now + DURATION, "now": now}
    with connection.cursor() as cursor:
        cursor.execute(_TAKE_SQL.format(question=Identifier(f"{question.kind}_id")), values)
        return cursor.fetchone() is not None


def reader_of(question: Question, user: User) -> User | None:
    """Return the other editor who is reading a question."""
    held = Lease.objects.filter(until__gt=timezone.now(), **question.key).exclude(user=user).select_related("user")
    lease = held.first()
    return lease.user if lease else None


def give_back(question: Question, user: User) -> None:
    """End the lease of a question that this editor has answered or put off."""
    Lease.objects.filter(user=user, **question.key).delete()


# Another editor may take a question between reading its row and taking its lease.
_TRIES = 20


def next_question(
    user: User,
    tab: str | None = None,
    filters: PairSelection | None = None,
    skip: Collection[Question] = (),
    *,
    lease: bool = True,
) -> Question | None:
    """Return the first question of a tab that no other editor is reading, and take its lease; None if there is none.

    `filters` are the pairs to which the questions are limited, None for all. `skip` is passed over. Without `lease`,
    for users who cannot decide, questions that others read are not passed over either.
    """
    chosen = tab_named(tab)
    rows = without(chosen.matching(user, filters), skip, cards=chosen.cards)
    if not lease:
        row = rows.first()
        return question_of(row) if row else None
    for _ in range(_TRIES):
        with transaction.atomic():
            row = _free(rows, chosen, user).select_for_update(skip_locked=True, of=("self",)).first()
            if row is None:
                return None
            if take_lease(found := question_of(row), user):
                return found
    return None


def _free(rows: Rows, tab: Tab, user: User) -> Rows:
    """Return the rows whose question no other editor is reading."""
    held = Lease.objects.filter(until__gt=timezone.now()).exclude(user=user)
    for kind in ("pair", "cluster") if tab.cards else ("pair",):
        rows = rows.filter(~Exists(held.filter(**{kind: OuterRef(kind)})))
    return rows


def put_off(question: Question, user: User) -> None:
    """Put a question off until later, for this user alone; behind those that were put off before."""
    named: dict[str, Any] = {"user": user, f"{question.kind}_id": question.number}
    Postponement.objects.update_or_create(**named, defaults={"postponed_at": timezone.now()})
    give_back(question, user)
