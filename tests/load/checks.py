"""Compares what people were told with the rows, and the rows with each other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from django.db import connection

from articles.models import ArticleURL
from dedup.models import Decision
from tests.load.people import Answer

_DEADLOCKS = "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()"
# Each URL once, though imports and crawls met; no article without one.
_TWICE = "SELECT url FROM articles_articleurl GROUP BY url HAVING count(*) > 1"


def lost_or_doubled(answers: Iterable[Answer]) -> Iterator[str]:
    """Yield a sentence for each answer whose row is missing, is there twice, or should not be there.

    An answer that got no reply may be stored or not, but only once.
    """
    fields = ("note", "kind", "decided_by__username", "pair", "undoes")
    rows: dict[str, list[tuple[object, ...]]] = {}
    for note, *rest in Decision.objects.exclude(note="").values_list(*fields):
        rows.setdefault(note, []).append(tuple(rest))
    for answer in answers:
        found = rows.pop(answer.note, [])
        meant = (answer.kind, answer.editor, answer.pair, answer.undoes)
        wanted = {"stored": (1,), "refused": (0,), "nothing": (0, 1)}[answer.told]
        if len(found) not in wanted:
            yield f"“{answer.note}” ({answer.kind}) was {answer.told}, and there are {len(found)} rows of it"
        elif found and found != [meant]:
            yield f"“{answer.note}” was stored as {found[0]} instead of {meant}"
    yield from (f"“{note}” is stored, and nobody sent it" for note in rows)


def missing_articles(urls: Sequence[str]) -> Iterator[str]:
    """Yield a sentence for each imported URL that is not stored, and for each that is stored twice."""
    stored = Counter(ArticleURL.objects.filter(url__in=urls).values_list("url", flat=True))
    yield from (f"{url} was imported and is not stored" for url in urls if not stored[url])
    with connection.cursor() as cursor:
        cursor.execute(_TWICE)
        yield from (f"{url} is stored more than once" for (url,) in cursor)


def deadlocks() -> int:
    """Return how many deadlocks PostgreSQL has ended in this database."""
    with connection.cursor() as cursor:
        cursor.execute(_DEADLOCKS)
        (number,) = cursor.fetchone()
    return int(number)
