"""What keeps the two articles of a pair in different clusters although the pair was judged to be duplicates."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

from articles.models import Article, in_order
from dedup.detection.clustering.constraints import constraints_in_force
from dedup.models import Membership, Pair


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two articles that would come together and must not: by a decision, by their pair, or because they have none."""

    left: Article
    right: Article
    decided: bool
    pair: Pair | None


def conflict_between(pair: Pair, earlier_cluster: int | None, later_cluster: int | None) -> Conflict | None:
    """Return what keeps the clusters of a pair apart, or the articles that are in none; None if nothing does any more.

    A decision comes before a pair that was judged, the least alike first, and that before one that no pass proposed.
    """
    one, other = _part(earlier_cluster, pair.earlier.pk), _part(later_cluster, pair.later.pk)
    pairs = {(each.left_id, each.right_id): each for each in Pair.objects.among([*one, *other]).proposed()}
    ends = {(min(both), max(both)) for both in product(one, other)}
    decided = [each for each in constraints_in_force({*one, *other}).cannot if each in ends]
    unlike = [each for each in ends & pairs.keys() if not pairs[each].joins]
    unlike.sort(key=lambda each: (pairs[each].duplicate_probability or 0.0, each))
    found = next(iter([*decided, *unlike, *sorted(ends - pairs.keys())]), None)
    if found is None:
        return None
    articles = in_order(*Article.objects.in_bulk(found).values())
    return Conflict(*articles, found in decided, pairs.get(found))


def _part(cluster: int | None, article: int) -> list[int]:
    if cluster is None:
        return [article]
    return list(Membership.objects.filter(cluster=cluster).order_by().values_list("article", flat=True))
