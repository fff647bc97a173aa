"""Which threshold gives a wanted precision, judged by the pairs that people have decided.

People decide what they are shown, which is not a random sample of what a pass proposes. So each decided pair represents
the proposed pairs of its cell, which is a band of scores and a verdict (post-stratification: Holt and Smith, "Post
stratification", Journal of the Royal Statistical Society A 142, 1979). What decided and undecided pairs of one cell
differ in is not corrected.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from articles.models import Newspaper
from dedup.declarations import SettingEffect
from dedup.detection.article_sql import article_sql
from dedup.detection.bounds import bound_named
from dedup.detection.passes import PASSES
from dedup.detection.runs.scope import Scope
from dedup.models import DetectionRun, ValidationSample
from dedup.models.base import read_rows
from dedup.research.answers import COUNTED
from dedup.research.decided import IdPair, decided_pairs
from dedup.research.labels import in_parts
from dedup.research.precision import weighted_precision
from dedup.research.sampling import read_sample

# With fewer decided pairs, an interval of 95% is wider than 15 percentage points even around a precision of 0.95.
LEAST_DECIDED = 30
BANDS = 20
_TOLERANCE = 1e-6

# A band of scores, 0 to BANDS (the last one has the score 1 alone), and a verdict.
Cell = tuple[int, str]


@dataclass(frozen=True, slots=True)
class DecidedPair:
    """A pair that a pass proposes and people have decided: its score by the pass, and whether it is a duplicate."""

    score: float
    verdict: str
    duplicate: bool

    @property
    def cell(self) -> Cell:
        """The band of its score, and its verdict."""
        return band_of(self.score), self.verdict


@dataclass(frozen=True, slots=True)
class Step:
    """What a threshold gives: the decided pairs from it on, and the precision with its 95% interval.

    `kept`: the share of the duplicates that the pass proposes; None if none was decided. `pairs`: the pairs that it
    would still propose.
    """

    threshold: float
    decided: int
    precision: float | None
    low: float | None
    high: float | None
    kept: float | None
    pairs: int


@dataclass(frozen=True, slots=True)
class Advice:
    """The threshold for a wanted precision, or why there is none; and what every threshold gives.

    `uncovered` is the share of the proposed pairs for which no decided pair stands.
    """

    decided: int
    duplicates: int
    pairs: int
    uncovered: float
    says: str
    advised: Step | None
    steps: tuple[Step, ...]


def band_of(score: float) -> int:
    """Return the band of a score in 0..1."""
    return int(score * BANDS + _TOLERANCE)


def advice(decided: Sequence[DecidedPair], proposed: Mapping[Cell, int], wanted: float) -> Advice:
    """Return the lowest threshold from which on the precision is as wanted, 0..1.

    `proposed` has the number of pairs that the pass proposes by cell, decided ones included. Thresholds are the lower
    ends of the bands. One with fewer than LEAST_DECIDED decided pairs is never advised.
    """
    decisions = Counter(pair.cell for pair in decided)
    weights = {cell: max(proposed.get(cell, 0), count) / count for cell, count in decisions.items()}
    total = sum(proposed.values())
    lowest = min((band for band, _ in [*proposed, *decisions]), default=BANDS)
    steps = tuple(_step(band, decided, proposed, weights) for band in range(lowest, BANDS + 1))
    enough = [step for step in steps if step.decided >= LEAST_DECIDED]
    advised = next((step for step in enough if step.precision is not None and step.precision >= wanted), None)
    covered = sum(count for cell, count in proposed.items() if cell in decisions)
    return Advice(
        len(decided),
        sum(pair.duplicate for pair in decided),
        total,
        1 - covered / total if total else 0.0,
        _says(len(decided), enough, advised, wanted),
        advised,
        steps,
    )


def _step(
    band: int, decided: Sequence[DecidedPair], proposed: Mapping[Cell, int], weights: Mapping[Cell, float]
) -> Step:
    chosen = [pair for pair in decided if band_of(pair.score) >= band]
    amounts = [weights[pair.cell] for pair in chosen]
    right = sum(amount for pair, amount in zip(chosen, amounts, strict=True) if pair.duplicate)
    duplicates = sum(weights[pair.cell] for pair in decided if pair.duplicate)
    precision, low, high = weighted_precision(right, amounts) if chosen else (None, None, None)
    pairs = sum(count for (other, _), count in proposed.items() if other >= band)
    kept = right / duplicates if duplicates else None
    return Step(band / BANDS, len(chosen), precision, low, high, None if kept is None else min(kept, 1.0), pairs)


def _says(decided: int, enough: Sequence[Step], advised: Step | None, wanted: float) -> str:
    if not enough:
        return f"too few decisions: {decided:,} of the {LEAST_DECIDED} needed"
    if advised is None:
        best = max(enough, key=lambda step: step.precision or 0.0)
        return f"none reaches {wanted:.0%}; best {best.precision or 0:.0%} from {best.threshold:.2f}"
    if advised is enough[0] and advised.decided == decided:
        return f"all its scores reach {wanted:.0%}"
    return f"from {advised.threshold:.2f} on"


# Groups, not pairs: their number depends on the newspapers, and not on how many pairs there are.
_PROPOSED_SQL = article_sql(
    """
SELECT evidence.pass_name, left_article.newspaper_id, right_article.newspaper_id,
       floor(evidence.score * 20 + 1e-6)::int, pair.verdict, count(*)
FROM dedup_evidence AS evidence
JOIN dedup_pair AS pair ON pair.id = evidence.pair_id
{pair.both_articles}
WHERE NOT evidence.stale
  AND {pair.in_scope}
GROUP BY 1, 2, 3, 4, 5
"""
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
WHERE {pair.in_scope}
ORDER BY decided.left_id, decided.right_id
"""
)

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
    proposed, decided = _proposed(scope.bounds()), _decided(scope.bounds())
    run = DetectionRun.objects.filter(state=DetectionRun.State.DONE).first()
    config = run.config if run else {}
    names = dict(Newspaper.objects.values_list("pk", "name"))
    parts = sorted(
        (part for part in proposed.keys() | decided.keys() if part[1] is None or part in decided),
        key=lambda part: (list(PASSES).index(part[0]), part[1] is not None, names.get(part[1] or 0, "").casefold()),
    )
    return [
        Advised(
            pass_name,
            "" if newspaper is None else names[newspaper],
            config.get(pass_name, {}).get(bound_named(pass_name, SettingEffect.FROM_SCORE)),
            advice(decided.get((pass_name, newspaper), []), proposed.get((pass_name, newspaper), {}), wanted),
        )
        for pass_name, newspaper in parts
    ]


def _proposed(parameters: Mapping[str, Any]) -> dict[Part, Mapping[Cell, int]]:
    found: defaultdict[Part, Counter[Cell]] = defaultdict(Counter)
    for pass_name, left, right, band, verdict, pairs in read_rows(_PROPOSED_SQL, **parameters):
        if pass_name in PASSES:
            for newspaper in {None, left, right}:
                found[pass_name, newspaper][band, verdict] += pairs
    return dict(found)


def _decided(parameters: Mapping[str, Any]) -> dict[Part, list[DecidedPair]]:
    """Return what each pass says of each pair with a label: that of a decision, or else that of a validation sample."""
    labels: dict[IdPair, str] = {}
    for sample in ValidationSample.objects.order_by("pk"):
        labels.update({(pair.left, pair.right): pair.label for pair in read_sample(sample).pairs})
    labels |= decided_pairs().labels
    counted = [(*ends, label == "D") for ends, label in labels.items() if label in COUNTED]
    found: defaultdict[Part, list[DecidedPair]] = defaultdict(list)
    for some in in_parts(counted):
        lefts, rights, duplicates = map(list, zip(*some, strict=True))
        rows = read_rows(_DECIDED_SQL, left=lefts, right=rights, duplicate=duplicates, **parameters)
        for pass_name, left, right, score, verdict, duplicate in rows:
            if pass_name in PASSES:
                for newspaper in {None, left, right}:
                    found[pass_name, newspaper].append(DecidedPair(score, verdict, duplicate))
    return dict(found)
