"""Threshold advice for every pass and newspaper, from decisions in force and the labels of validation samples."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django.db import connection

from articles.models import Newspaper
from dedup.declarations import Finds
from dedup.detection.article_sql import article_sql
from dedup.detection.bounds import bound_named
from dedup.detection.passes import PASSES
from dedup.detection.runs.scope import Scope
from dedup.models import DetectionRun, ValidationSample
from dedup.research.advice import Advice, Cell, DecidedPair, advice
from dedup.research.decided import decided_pairs
from dedup.research.metrics import COUNTED
from dedup.research.samples import read_sample

# Groups, not pairs: their number depends on the newspapers, and not on how many pairs there are.
_PROPOSED_SQL = article_sql(
    """
SELECT evidence.pass_name, left_article.newspaper_id, right_article.newspaper_id,
       floor(evidence.score * 20 + 1e-6)::int, pair.verdict, count(*)
FROM dedup_evidence AS evidence
JOIN dedup_pair AS pair ON pair.id = evidence.pair_id
{pair.both_articles}
WHERE NOT evidence.stale
  AND {left_article.in_newspapers} AND {right_article.in_newspapers}
  AND (%(since)s::date IS NULL OR {pair.later_day} >= %(since)s)
  AND (%(until)s::date IS NULL OR {pair.later_day} <= %(until)s)
GROUP BY 1, 2, 3, 4, 5
""",
    "left_article",
    "right_article",
)
# By the constraint one_row_a_pair.
_DECIDED_SQL = article_sql(
    """
SELECT evidence.pass_name, left_article.newspaper_id, right_article.newspaper_id, evidence.score, pair.verdict,
       decided.duplicate
FROM unnest(%(left)s::bigint[], %(right)s::bigint[], %(duplicate)s::boolean[])
    AS decided (left_id, right_id, duplicate)
JOIN dedup_pair AS pair ON pair.left_id = decided.left_id AND pair.right_id = decided.right_id
JOIN dedup_evidence AS evidence ON evidence.pair_id = pair.id AND NOT evidence.stale
{pair.both_articles}
WHERE {left_article.in_newspapers} AND {right_article.in_newspapers}
  AND (%(since)s::date IS NULL OR {pair.later_day} >= %(since)s)
  AND (%(until)s::date IS NULL OR {pair.later_day} <= %(until)s)
ORDER BY decided.left_id, decided.right_id
""",
    "left_article",
    "right_article",
)
_LOOKED_UP_AT_ONCE = 5_000

Ends = tuple[int, int]
# A pass and the id of a newspaper; None: all newspapers.
Part = tuple[str, int | None]


@dataclass(frozen=True, slots=True)
class Advised:
    """The advice for a pass, and for one newspaper or, with an empty name, for all.

    `used` is the lowest score of the last run; None for a pass without one.
    """

    pass_name: str
    newspaper: str
    used: float | None
    advice: Advice


def advised(scope: Scope, wanted: float) -> list[Advised]:
    """Return the advice for every pass that proposes pairs, and for its newspapers with a decided pair.

    A pair of two newspapers counts for both. Pairs called versions are left out, as in `evaluate`.
    """
    parameters = {
        "since": scope.since,
        "until": scope.until,
        "newspaper_ids": None if scope.newspaper_ids is None else list(scope.newspaper_ids),
    }
    proposed, decided = _proposed(parameters), _decided(parameters)
    used = _used()
    names = dict(Newspaper.objects.values_list("pk", "name"))
    parts = sorted(
        (part for part in proposed.keys() | decided.keys() if part[1] is None or part in decided),
        key=lambda part: (list(PASSES).index(part[0]), part[1] is not None, names.get(part[1] or 0, "").casefold()),
    )
    return [
        Advised(
            pass_name,
            "" if newspaper is None else names[newspaper],
            used.get(pass_name),
            advice(decided.get((pass_name, newspaper), []), proposed.get((pass_name, newspaper), {}), wanted),
        )
        for pass_name, newspaper in parts
    ]


def labelled_pairs() -> dict[Ends, str]:
    """Return the labels of decided pairs, and those of validation samples for pairs that nobody decided."""
    labels: dict[Ends, str] = {}
    for sample in ValidationSample.objects.order_by("pk"):
        labels.update({(pair.left, pair.right): pair.label.label for pair in read_sample(sample).pairs})
    return labels | decided_pairs().labels


def _used() -> dict[str, float]:
    """Return the lowest score of each pass in the last run."""
    run = DetectionRun.objects.filter(state=DetectionRun.State.DONE).first()
    bounds = {name: bound_named(name, Finds.FROM_SCORE) for name in PASSES}
    config = run.config if run else {}
    return {name: config[name][bound] for name, bound in bounds.items() if bound and bound in config.get(name, {})}


def _proposed(parameters: Mapping[str, Any]) -> dict[Part, Mapping[Cell, int]]:
    found: defaultdict[Part, Counter[Cell]] = defaultdict(Counter)
    with connection.cursor() as cursor:
        cursor.execute(_PROPOSED_SQL, parameters)
        for pass_name, left, right, band, verdict, pairs in cursor:
            if pass_name in PASSES:
                for newspaper in {None, left, right}:
                    found[pass_name, newspaper][band, verdict] += pairs
    return dict(found)


def _decided(parameters: Mapping[str, Any]) -> dict[Part, list[DecidedPair]]:
    found: defaultdict[Part, list[DecidedPair]] = defaultdict(list)
    for pass_name, left, right, score, verdict, duplicate in _evidence(parameters):
        if pass_name in PASSES:
            for newspaper in {None, left, right}:
                found[pass_name, newspaper].append(DecidedPair(score, verdict, duplicate))
    return dict(found)


def _evidence(parameters: Mapping[str, Any]) -> Iterator[tuple[Any, ...]]:
    """Yield what each pass says of each decided pair, and whether it is a duplicate."""
    labels = [(ends, label == "D") for ends, label in labelled_pairs().items() if label in COUNTED]
    for start in range(0, len(labels), _LOOKED_UP_AT_ONCE):
        some = labels[start : start + _LOOKED_UP_AT_ONCE]
        with connection.cursor() as cursor:
            cursor.execute(
                _DECIDED_SQL,
                {
                    **parameters,
                    "left": [ends[0] for ends, _ in some],
                    "right": [ends[1] for ends, _ in some],
                    "duplicate": [yes for _, yes in some],
                },
            )
            yield from cursor.fetchall()
