"""The writer of the whitelist: sentences that editors have declared not to be boilerplate.

After a change, the next `find_boilerplate`, or the next run that compares texts without boilerplate, processes the
newspaper's weeks again.
"""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.contrib.admin.models import ADDITION, DELETION, LogEntry
from django.db import transaction
from django.db.models import QuerySet

from articles.models import RepeatedSentence, WhitelistedSentence
from articles.storage.audit_log import log_action, logged_actions

WHITELISTED = "whitelisted it"
ENDED = "took it off the whitelist"


class WhitelistError(ValueError):
    """A sentence that cannot be added to the whitelist or removed from it; the message is for the editor."""


def whitelist_sentence(newspaper_id: int, digest: UUID, *, user: Any) -> None:
    """Keep a sentence in all articles of a newspaper. Raises WhitelistError."""
    found = RepeatedSentence.objects.filter(newspaper_id=newspaper_id, digest=digest).first()
    if found is None:
        raise WhitelistError("No week repeats this sentence any longer, so there is nothing to whitelist.")
    with transaction.atomic():
        row, created = WhitelistedSentence.objects.select_related("whitelisted_by").get_or_create(
            newspaper_id=newspaper_id, digest=digest, defaults={"sentence": found.sentence, "whitelisted_by": user}
        )
        if not created:
            raise WhitelistError(
                f"{row.whitelisted_by} already whitelisted this sentence on {row.whitelisted_at:%Y-%m-%d}."
            )
        log_action(row, ADDITION, WHITELISTED, user=user, object_id=_key(newspaper_id, digest))


def end_whitelisting(newspaper_id: int, digest: UUID, *, user: Any) -> None:
    """Let a sentence be boilerplate again. Raises WhitelistError."""
    with transaction.atomic():
        row = WhitelistedSentence.objects.select_for_update().filter(newspaper_id=newspaper_id, digest=digest).first()
        if row is None:
            raise WhitelistError("This sentence is not whitelisted; someone may have removed it from the whitelist.")
        log_action(row, DELETION, ENDED, user=user, object_id=_key(newspaper_id, digest))
        row.delete()


def history_of(newspaper_id: int, digest: UUID) -> QuerySet[LogEntry]:
    """Return who added a sentence to the whitelist or removed it, the latest first."""
    return logged_actions(WhitelistedSentence, _key(newspaper_id, digest))


def _key(newspaper_id: int, digest: UUID) -> str:
    """Return the key of the sentence in the log, the same when it is removed and added again."""
    return f"{newspaper_id} {digest}"
