"""What editors decided of pairs of articles, as far as it stands: the links that runs and reviews both obey."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from django.db import connection

from articles.storage.locks import Lock, lock_transaction
from dedup.models import Link

# The view dedup_standing_link holds the latest link of each two articles whose decision has not been undone.
_STANDING_LINKS_SQL = """
SELECT left_id, right_id, kind
FROM dedup_standing_link
WHERE %(articles)s::bigint[] IS NULL OR left_id = ANY (%(articles)s) OR right_id = ANY (%(articles)s)
ORDER BY left_id, right_id
"""


class Links(NamedTuple):
    """Pairs of article ids, left < right, ordered."""

    must: list[tuple[int, int]]
    cannot: list[tuple[int, int]]
    stay: list[tuple[int, int]]


def lock_review() -> None:
    """Wait until nobody else changes pairs and clusters, and keep others waiting until the transaction ends."""
    lock_transaction(Lock.REVIEW)


def standing_links(articles: Collection[int] | None = None) -> Links:
    """Return the links that stand and tie or part articles: of these articles, or of all."""
    links = Links([], [], [])
    lists = {Link.Kind.MUST: links.must, Link.Kind.CANNOT: links.cannot, Link.Kind.STAY: links.stay}
    with connection.cursor() as cursor:
        cursor.execute(_STANDING_LINKS_SQL, {"articles": None if articles is None else list(articles)})
        for left, right, kind in cursor:
            if kind in lists:
                lists[kind].append((left, right))
    return links
