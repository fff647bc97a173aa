"""The next question for an editor, and questions put off until later."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Exists, OuterRef
from django.utils import timezone

from dedup.models import Lease, Postponement
from dedup.review.queries.few import Narrowing
from dedup.review.questions.leases import give_back, take_lease
from dedup.review.questions.question import Question, question_of
from dedup.review.questions.tabs import Rows, Tab, tab_named, without

# Another editor may take a question between reading its row and taking its lease.
_TRIES = 20


def next_question(
    user: User,
    tab: str | None = None,
    filters: Narrowing | None = None,
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
