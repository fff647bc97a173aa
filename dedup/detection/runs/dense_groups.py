"""The writer of dense groups: the hubs that kept pairs connect, and the pairs of theirs that clusters need."""

import datetime
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from django.db import connection, transaction

from articles.models import Article
from articles.storage.fingerprints import fingerprint
from dedup.detection.clustering.constraints import constraints_in_force, lock_review
from dedup.detection.clustering.group_pairs import IdPair, compared_in_groups
from dedup.detection.judging.judge import JudgedPair, JudgedRow, Terms
from dedup.detection.kernels.disjoint_sets import lowest_connected
from dedup.detection.runs.evidence import numbers_of, store_candidates, update_best_scores
from dedup.detection.runs.judging import judged_rows, store_rows
from dedup.detection.runs.outdated_verdicts import note_input_digests
from dedup.detection.types import DENSE_GROUPS, Candidate
from dedup.models import DenseGroup, DetectionRun, Evidence, GroupMember

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
        with connection.cursor() as cursor, cursor.copy(_COPY_SQL) as copy:
            for member in moved.items():
                copy.write_row(member)
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


# ---- more pairs, compared where clusters need them (clustering/group_pairs.py) --------------------------------------

# The members are new rows, of which PostgreSQL would expect only a few.
_ANALYZE_MEMBERS_SQL = "ANALYZE dedup_groupmember, dedup_pair, dedup_evidence"
_KNOWN_SQL = """
SELECT pair.id, pair.left_id, pair.right_id, pair.verdict, pair.probability, pair.duplicate_probability,
       pair.reasons::text, pair.joins, pair.left_matched, pair.right_matched, pair.relation,
       pair.relation_probability, pair.left_own, pair.right_own, pair.new_text, pair.quoted,
       bool_or(evidence.pass_name <> %(checks)s)
FROM dedup_groupmember AS left_member
JOIN dedup_pair AS pair ON pair.left_id = left_member.article_id
JOIN dedup_groupmember AS right_member
    ON right_member.article_id = pair.right_id AND right_member.group_id = left_member.group_id
JOIN dedup_evidence AS evidence ON evidence.pair_id = pair.id AND NOT evidence.stale
WHERE pair.relation <> ''
GROUP BY pair.id
ORDER BY pair.left_id, pair.right_id
"""


def check_groups(run: DetectionRun, terms: Terms) -> int:
    """Compare the pairs that clusters of dense groups need, and store them; return how many there are.

    Call it when all proposed pairs are judged. What it stores depends on them alone, not on what earlier runs compared.
    """
    groups = dict(GroupMember.objects.values_list("article", "group"))
    proposed, known = _known_verdicts() if groups else ({}, {})
    must, cannot, _ = constraints_in_force(groups)
    checked = compared_in_groups(proposed, groups, must, cannot, _days_of, partial(_judged_checks, terms, known))
    stale = Evidence.objects.filter(pass_name=DENSE_GROUPS, stale=False)
    if checked or stale.exists():
        with transaction.atomic():
            stale.exclude(pair__in=_store_checks(run, checked, terms)).update(stale=True)
            update_best_scores()
    return len(checked)


def _known_verdicts() -> tuple[dict[IdPair, JudgedRow], dict[IdPair, JudgedRow]]:
    """Return the verdicts on the pairs of dense groups that passes propose, and on those compared by an earlier run."""
    proposed: dict[IdPair, JudgedRow] = {}
    checked: dict[IdPair, JudgedRow] = {}
    with connection.cursor() as cursor:
        cursor.execute(_ANALYZE_MEMBERS_SQL)
        cursor.execute(_KNOWN_SQL, {"checks": DENSE_GROUPS})
        for number, left, right, *columns, is_proposed in cursor:
            (proposed if is_proposed else checked)[left, right] = JudgedRow(number, *columns)
    return proposed, checked


def _days_of(pairs: Collection[IdPair]) -> dict[int, datetime.date]:
    return dict(Article.objects.filter(pk__in={end for ends in pairs for end in ends}).values_list("pk", "date"))


def _judged_checks(
    terms: Terms, known: Mapping[IdPair, JudgedRow], month: datetime.date, pairs: Sequence[IdPair]
) -> Iterator[JudgedRow]:
    """Yield the verdicts on pairs of a month: those known, and the others as they are made, without numbers."""
    unknown = [JudgedPair(0, *ends, leftover=0) for ends in pairs if ends not in known]
    made = judged_rows(month, unknown, terms) if unknown else iter(())
    for ends in pairs:
        yield known[ends] if ends in known else next(made)


def _store_checks(run: DetectionRun, checked: Mapping[IdPair, JudgedRow], terms: Terms) -> list[int]:
    """Store these pairs; return their numbers."""
    pairs = (group_check(*ends, row.left_matched, row.right_matched) for ends, row in checked.items())
    store_candidates(run.pk, pairs)
    numbers = numbers_of(checked)
    store_rows((row._replace(id=numbers[ends]) for ends, row in checked.items()), {})
    stored = [numbers[ends] for ends in checked]
    if stored:
        note_input_digests(stored, terms)
    return stored


def group_check(left: int, right: int, left_matched: float, right_matched: float) -> Candidate:
    """Return a pair that was compared for its group; its score is how much of the shorter article matches."""
    # More than nothing, which would mean that no pass proposes the pair.
    return Candidate(left, right, DENSE_GROUPS, max(left_matched, right_matched, 0.001))
