"""The last answers of an editor, which can be changed from below every question."""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from typing import LiteralString

from django.contrib.auth.models import User
from django.db import connection
from django.utils import timezone

from dedup.models.decisions import NEVER_UNDONE

# A working day; older decisions are undone from the history.
RECENT = datetime.timedelta(hours=8)
SHOWN = 10
# Every question shows them: a statement of Django's own takes longer to make than to run. The undo of each decision is
# looked up; from the index decision_of_editor.
_LAST_SQL: LiteralString = """
SELECT decision.id, decision.kind, decision.cluster_number, decision.pair_id, article.headline, article.language
FROM dedup_decision AS decision
LEFT JOIN dedup_pair AS pair ON pair.id = decision.pair_id
LEFT JOIN articles_article AS article ON article.id = pair.left_id
WHERE decision.decided_by_id = %(user)s AND decision.decided_at >= %(since)s AND decision.kind <> ALL (%(never)s)
    AND (SELECT id FROM dedup_decision AS undo WHERE undo.undoes_id = decision.id LIMIT 1) IS NULL
ORDER BY decision.decided_at DESC, decision.id DESC
LIMIT %(most)s
"""


@dataclass(frozen=True, slots=True)
class LastAnswer:
    """A decision of an editor, with the headline of the first article if it is on a pair."""

    pk: int
    kind: str
    cluster_number: int | None
    pair_id: int | None
    headline: str | None
    language: str | None


def last_answers(user: User) -> list[LastAnswer]:
    """Return the latest decisions of an editor that are in force and can be undone, the latest first.

    At most SHOWN, and none that is older than RECENT.
    """
    with connection.cursor() as cursor:
        since = timezone.now() - RECENT
        cursor.execute(_LAST_SQL, {"user": user.pk, "since": since, "never": list(NEVER_UNDONE), "most": SHOWN})
        return [LastAnswer(*row) for row in cursor]
