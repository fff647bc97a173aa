"""The writer of dense groups: the hubs that kept pairs connect."""

from __future__ import annotations

import datetime
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from django.db import connection, transaction

from articles.models import Article
from articles.storage.fingerprints import fingerprint
from dedup.detection.clustering.components import lowest_connected
from dedup.detection.clustering.constraints import lock_review
from dedup.models import DenseGroup, DetectionRun, GroupMember

# The pairs that a pass kept between two articles that it found to be hubs. Without statistics of the new rows,
# PostgreSQL would expect only a few, and look up each pair by itself.
_ANALYZE_SQL = "ANALYZE dedup_crowdedarticle"
_KEPT_PAIRS_SQL = """
SELECT pair.left_id, pair.right_id, array_agg(evidence.pass_name)
FROM dedup_crowdedarticle AS left_hub
JOIN dedup_pair AS pair ON pair.left_id = left_hub.article_id
JOIN dedup_crowdedarticle AS right_hub
    ON right_hub.article_id = pair.right_id AND right_hub.pass_name = left_hub.pass_name
JOIN dedup_evidence AS evidence
    ON evidence.pair_id = pair.id AND evidence.pass_name = left_hub.pass_name AND NOT evidence.stale
GROUP BY pair.left_id, pair.right_id
"""
_COPY_SQL = "COPY dedup_groupmember (article_id, group_id) FROM STDIN"


class KeptPair(NamedTuple):
    """Two hubs, and the passes that kept this pair of theirs; none if a rule alone holds them together."""

    left: int
    right: int
    passes: Sequence[str]


@dataclass(frozen=True, slots=True)
class Part:
    """Articles that kept pairs connect, ascending, with the number of these pairs and their passes in order."""

    articles: tuple[int, ...]
    pairs: int
    passes: tuple[str, ...]


def connected(kept: Iterable[KeptPair]) -> list[Part]:
    """Return the parts that these pairs connect, in the order of their first articles. Linear in the pairs."""
    kept = list(kept)
    firsts = lowest_connected((left, right) for left, right, _ in kept)
    members: defaultdict[int, list[int]] = defaultdict(list)
    for article in sorted(firsts):
        members[firsts[article]].append(article)
    pairs: Counter[int] = Counter()
    passes: defaultdict[int, set[str]] = defaultdict(set)
    for left, _, kept_by in kept:
        pairs[firsts[left]] += bool(kept_by)
        passes[firsts[left]].update(kept_by)
    return [Part(tuple(articles), pairs[first], tuple(sorted(passes[first]))) for first, articles in members.items()]


def update_groups() -> None:
    """Bring the dense groups up to date with the hubs and the evidence.

    A group keeps its number while most of its articles stay together. One with a rule keeps its articles too, and
    takes in what becomes connected with them. Work and memory grow linearly with the articles and their kept pairs.
    """
    with transaction.atomic():
        lock_review()
        groups = DenseGroup.objects.in_bulk()
        before = dict(GroupMember.objects.values_list("article", "group"))
        ruled = [(article, groups[number]) for article, number in before.items() if groups[number].ruled_at]
        held_by_rules = [KeptPair(group.first_id, article, ()) for article, group in ruled]
        parts = connected([*_kept_pairs(), *held_by_rules])
        wanted = Article.objects.filter(pk__in={article for part in parts for article in part.articles}).order_by()
        articles = {pk: (day, newspaper) for pk, day, newspaper in wanted.values_list("pk", "date", "newspaper")}
        numbers = _numbers(parts, groups, before)
        after: dict[int, int] = {}
        for part, number in zip(parts, numbers, strict=True):
            row = _stored(part, groups.get(number or 0), articles)
            after |= dict.fromkeys(part.articles, row.pk)
        moved = {article: number for article, number in after.items() if before.get(article) != number}
        gone = [article for article in before if article not in after or article in moved]
        GroupMember.objects.filter(article__in=gone).delete()
        with connection.cursor() as cursor:
            _copy(cursor, _COPY_SQL, moved.items())
        DenseGroup.objects.filter(pk__in=groups.keys() - set(numbers)).delete()


def _kept_pairs() -> Iterator[KeptPair]:
    with connection.cursor() as cursor:
        cursor.execute(_ANALYZE_SQL)
        cursor.execute(_KEPT_PAIRS_SQL)
        yield from map(KeptPair._make, cursor)


def _numbers(parts: Sequence[Part], groups: Mapping[int, DenseGroup], before: Mapping[int, int]) -> list[int | None]:
    """Return the group whose number each part keeps: one with a rule, else the one that most articles were in."""
    overlaps = sorted(
        (groups[number].ruled_at is None, -shared, number, place)
        for place, part in enumerate(parts)
        for number, shared in Counter(before[article] for article in part.articles if article in before).items()
    )
    numbers: list[int | None] = [None] * len(parts)
    taken: set[int] = set()
    for *_, number, place in overlaps:
        if number not in taken and numbers[place] is None:
            numbers[place] = number
            taken.add(number)
    return numbers


def _stored(part: Part, row: DenseGroup | None, articles: Mapping[int, tuple[datetime.date, int]]) -> DenseGroup:
    """Write the group of a part, if it is new or has changed; return it. `articles` has their days and newspapers."""
    days, newspapers = zip(*(articles[article] for article in part.articles), strict=True)
    values = {
        "first_id": min(part.articles, key=lambda article: (articles[article][0], article)),
        "size": len(part.articles),
        "newspapers": len(set(newspapers)),
        "first_day": min(days),
        "last_day": max(days),
        "pairs": part.pairs,
        "passes": list(part.passes),
        "fingerprint": fingerprint(part.articles),
    }
    if row is None:
        return DenseGroup.objects.create(**values)
    if any(getattr(row, name) != value for name, value in values.items()):
        for name, value in values.items():
            setattr(row, name, value)
        row.save(update_fields=list(values))
    return row


def _copy(cursor: Any, statement: str, rows: Iterable[tuple[int, int]]) -> None:
    with cursor.copy(statement) as copy:
        for row in rows:
            copy.write_row(row)


_CREATE_HUBS_SQL = "CREATE TEMPORARY TABLE found_hubs (article_id bigint, near integer) ON COMMIT DROP"
_COPY_HUBS_SQL = "COPY found_hubs (article_id, near) FROM STDIN"
# Blocks of one run see different neighbours of an article, and a run of new articles sees some of them: the highest
# number counts.
_UPSERT_SQL = """
INSERT INTO dedup_crowdedarticle AS known (article_id, pass_name, near, run_id)
SELECT article_id, %(pass_name)s, near, %(run_id)s FROM found_hubs ORDER BY article_id
ON CONFLICT (pass_name, article_id) DO UPDATE
SET near = CASE
        WHEN %(only_new)s OR known.run_id = excluded.run_id THEN greatest(known.near, excluded.near)
        ELSE excluded.near
    END,
    run_id = excluded.run_id
"""
# Evidence of an earlier run that is not stale is from outside what the run covered: its articles stay hubs.
_FORGET_SQL = """
DELETE FROM dedup_crowdedarticle AS hub
WHERE hub.pass_name = %(pass_name)s
  AND hub.run_id <> %(run_id)s
  AND NOT EXISTS (
      SELECT FROM dedup_pair AS pair JOIN dedup_evidence AS evidence ON evidence.pair_id = pair.id
      WHERE pair.left_id = hub.article_id
        AND evidence.pass_name = %(pass_name)s AND NOT evidence.stale AND evidence.run_id <> %(run_id)s
  )
  AND NOT EXISTS (
      SELECT FROM dedup_pair AS pair JOIN dedup_evidence AS evidence ON evidence.pair_id = pair.id
      WHERE pair.right_id = hub.article_id
        AND evidence.pass_name = %(pass_name)s AND NOT evidence.stale AND evidence.run_id <> %(run_id)s
  )
"""


def store_hubs(run_id: int, pass_name: str, neighbours: Mapping[int, int], *, only_new: bool) -> None:
    """Store the hubs of a block, each with the number of its neighbours. Call in its transaction.

    `only_new`: the run compares new articles alone, so it may have counted fewer than there are.
    """
    if not neighbours:
        return
    lock_review()
    with connection.cursor() as cursor:
        cursor.execute(_CREATE_HUBS_SQL)
        _copy(cursor, _COPY_HUBS_SQL, neighbours.items())
        cursor.execute(_UPSERT_SQL, {"run_id": run_id, "pass_name": pass_name, "only_new": only_new})
        cursor.execute("DROP TABLE found_hubs")


def forget_hubs(run: DetectionRun, pass_name: str, *, only_new: bool) -> int:
    """Remove the articles that a finished run covered in this pass and did not find to be hubs; return how many.

    Call it after `mark_stale`. A run of new articles alone removes none.
    """
    if only_new:
        return 0
    with transaction.atomic(), connection.cursor() as cursor:
        lock_review()
        cursor.execute(_FORGET_SQL, {"run_id": run.pk, "pass_name": pass_name})
        return int(cursor.rowcount)
