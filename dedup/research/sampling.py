"""Draws a validation sample, and reads its labels.

It has pairs at random from each stratum, by their hash with the seed, and random other pairs. PostgreSQL counts the
strata and chooses the pairs; memory holds no more than the sample. The same stored pairs and the same seed give the
same sample.
"""

import datetime
import random
import secrets
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal, NamedTuple

from django.db import IntegrityError, connection, transaction
from django.db.models import Count

from articles.grouping import by_key
from articles.models import Article
from articles.numbers import read_number
from dedup.declarations import Setting, Settings, setting, settings_of
from dedup.detection.passes import PASSES
from dedup.models import DetectionRun, Pair, SampledPair, SampleLabel, ValidationSample
from dedup.models.base import read_rows
from dedup.research.labels import Label, LabelsError, Named
from dedup.research.strata import NOT_PROPOSED, PairsOfDays, Stratum, name_of, shared_out

# What strata can differ in.
DIMENSIONS = {
    "band": "the band of the score",
    "verdict": "the verdict",
    "newspaper": "same newspaper or two",
    "days": "near or far in days",
}
NEAR_DAYS = 3
MOST_PAIRS = 10_000
MOST_BANDS = 20
MOST_DAYS = 36_500
SEEDS = 2**31
_NAME_CHARACTERS = 100


class SampleError(ValueError):
    """The sample cannot be drawn this way; the message says what to change."""


def _planned(default: Any, unit: str, label: str, help_text: str, **facts: Any) -> Any:
    return setting(default, unit=unit, label=label, help=help_text, source="a choice", **facts)


@dataclass(frozen=True, slots=True)
class Plan(Settings):
    """How to draw: `size` pairs in all, or `per_stratum` from each stratum; and `not_proposed` others.

    Strata are the combinations of what `by` names: the band of the score (`bands` are lower bounds, rising) that the
    pass `pass_name` gave, or of the best score of all passes; the verdict; same or two newspapers; up to `near_days`
    apart or further. The others are pairs that no pass proposes, up to `window_days` apart. Days are inclusive.
    """

    # In the order in which the methods report states them.
    size: int | None = _planned(
        200, "pairs", "Pairs in all", "As evenly from all strata as their sizes allow.", range=(1, MOST_PAIRS)
    )
    per_stratum: int | None = _planned(
        None, "pairs", "Or pairs from each stratum", "Then leave out “Pairs in all”.", range=(1, MOST_PAIRS)
    )
    not_proposed: int = _planned(
        *(0, "pairs", "Pairs that no pass proposes"),
        "Drawn in addition, at random. Without them you can estimate precision, but not recall.",
        range=(0, MOST_PAIRS),
    )
    window_days: int = _planned(
        *(NEAR_DAYS, "days", "Their window"),
        "Pairs that no pass proposes are at most so many days apart.",
        range=(0, MOST_DAYS),
    )
    pass_name: str = _planned("", "pass", "Score", "That of this pass; else the best one.", choices=tuple(PASSES))
    near_days: int = _planned(NEAR_DAYS, "days", "Near means", "At most so many days apart.", range=(0, MOST_DAYS))
    readers: int = _planned(
        1, "readers", "Readers of each pair", "With two or more, the results say how well they agree.", range=(1, 20)
    )
    by: tuple[str, ...] = _planned(
        tuple(DIMENSIONS), "names", "Strata differ in", "Separated by commas.", choices=tuple(DIMENSIONS)
    )
    bands: tuple[float, ...] = _planned(
        (0.6, 0.8, 0.9),
        *("scores", "Lower bounds of the score bands", "Above 0 and below 1, rising, separated by commas."),
    )

    def __post_init__(self) -> None:
        if (self.size is None) == (self.per_stratum is None):
            raise SampleError("give either the size of the sample or the number per stratum, not both")
        for name, (_, declared) in settings_of(Plan).items():
            _check(option_of(name), getattr(self, name), declared)
        rising = all(low < high for low, high in zip((0.0, *self.bands), (*self.bands, 1.0), strict=True))
        if len(self.bands) > MOST_BANDS or not rising:
            given = ", ".join(f"{band:g}" for band in self.bands)
            raise SampleError(
                f"the score bands are {given}; give at most {MOST_BANDS} bounds above 0 and below 1, rising"
            )


def _check(option: str, value: Any, declared: Setting) -> None:
    """Raise SampleError for a value that the declaration does not allow."""
    least, most, known = declared.minimum, declared.maximum, declared.choices
    if value is not None and least is not None and most is not None and not least <= value <= most:
        raise SampleError(f"{option} is {value}; it must be from {least} to {most:,}")
    chosen = (value,) if isinstance(value, str) else value
    if known and (unknown := [name for name in chosen if name not in ("", *known)]):
        raise SampleError(f"{option} has no {unknown[0]!r}; choose among {', '.join(known)}")


def option_of(field: str) -> str:
    """Return the option of `export validation` that sets a field of a plan.

    >>> option_of("window_days"), option_of("pass_name"), option_of("per_stratum")
    ('--window', '--pass', '--per-stratum')
    """
    return f"--{field.removesuffix('_days').removesuffix('_name').replace('_', '-')}"


class Chosen(NamedTuple):
    """A drawn pair: its articles, the lower id first, and its stratum."""

    left: int
    right: int
    stratum: Stratum


@transaction.atomic
def draw(plan: Plan, *, seed: int | None = None, name: str = "", user: Any = None) -> ValidationSample:
    """Draw a sample and store it. Raises SampleError. Without a name, it is called by its number: "sample 3"."""
    _check_name(name)
    seed = secrets.randbelow(SEEDS) if seed is None else seed
    if not 0 <= seed < SEEDS:
        raise SampleError(f"the seed is {seed}; it must be from 0 to {SEEDS - 1}")
    strata, chosen = _of_proposed(plan, seed)
    if plan.not_proposed:
        others, drawn = _of_not_proposed(plan, seed)
        strata, chosen = [*strata, others], [*chosen, *drawn]
    if not chosen:
        raise SampleError("no pass proposes any pair; start a run first")
    random.Random(seed).shuffle(chosen)  # noqa: S311 - drawn again from the seed, not secret
    sample = _stored(plan, strata, len(chosen), seed=seed, name=name, user=user)
    ends = {end for pair in chosen for end in (pair.left, pair.right)}
    revisions = dict(Article.objects.filter(pk__in=ends).order_by().values_list("pk", "revision"))
    SampledPair.objects.bulk_create(
        SampledPair(
            sample=sample,
            position=position,
            left_id=pair.left,
            right_id=pair.right,
            stratum=pair.stratum.name,
            weight=pair.stratum.weight,
            revision=max(revisions[pair.left], revisions[pair.right]),
        )
        for position, pair in enumerate(chosen, start=1)
    )
    return sample


def _check_name(name: str) -> None:
    if len(name) > _NAME_CHARACTERS:
        raise SampleError(f"the name has {len(name)} characters; at most {_NAME_CHARACTERS} are allowed")
    if name.isdigit():
        raise SampleError(f"the name {name!r} is a number, which names a sample already; add a letter")
    if name and ValidationSample.objects.filter(name=name).exists():
        raise SampleError(f"a sample is called {name!r} already; choose another name")


def _stored(plan: Plan, strata: Sequence[Stratum], size: int, *, seed: int, name: str, user: Any) -> ValidationSample:
    run = DetectionRun.objects.filter(state=DetectionRun.State.DONE).first()
    sample = ValidationSample(
        # Until its number is known, a name that nobody can give.
        name=name or str(random.SystemRandom().getrandbits(64)),
        seed=seed,
        options=asdict(plan),
        strata=[asdict(stratum) for stratum in strata],
        size=size,
        readers=plan.readers,
        run=run,
        drawn_by=user,
    )
    try:
        with transaction.atomic():
            sample.save()
            if not name:
                sample.name = f"sample {sample.pk}"
                sample.save(update_fields=["name"])
    except IntegrityError:
        raise SampleError(f"a sample is called {sample.name!r} already; choose another name") from None
    return sample


# ---- pairs that a pass proposes ----------------------------------------------------------------------

# The cell of each pair, as name_of describes it.
_CELLS_SQL = """
CREATE TEMPORARY TABLE sampled_cells ON COMMIT DROP AS
SELECT pair.left_id, pair.right_id, concat_ws('|',
    CASE WHEN 'band' = ANY (%(by)s) THEN coalesce(width_bucket(
        CASE WHEN %(pass)s = '' THEN pair.best_score ELSE evidence.score END, %(bands)s::float8[]), -1)::text
        ELSE '-' END,
    CASE WHEN 'verdict' = ANY (%(by)s) THEN pair.verdict ELSE '-' END,
    CASE WHEN 'newspaper' = ANY (%(by)s) THEN pair.same_newspaper::int::text ELSE '-' END,
    CASE WHEN 'days' = ANY (%(by)s) THEN (pair.days_apart <= %(near)s)::int::text ELSE '-' END) AS cell
FROM dedup_pair AS pair
LEFT JOIN dedup_evidence AS evidence ON %(pass)s <> '' AND evidence.pair_id = pair.id
    AND evidence.pass_name = %(pass)s AND NOT evidence.stale
WHERE pair.best_score > 0
"""
_COUNT_SQL = "SELECT cell, count(*) FROM sampled_cells GROUP BY cell"
# The pairs of each cell with the smallest hashes. Only hashes below a bound are sorted.
_DRAW_SQL = """
SELECT left_id, right_id, number
FROM (
    SELECT left_id, right_id, number, pairs, row_number() OVER (PARTITION BY number ORDER BY hash) AS place
    FROM (
        SELECT cells.left_id, cells.right_id, wanted.number, wanted.pairs, wanted.bound,
            md5(concat_ws(' ', %(seed)s::text, cells.left_id, cells.right_id)) COLLATE "C" AS hash
        FROM sampled_cells AS cells
        JOIN unnest(%(cells)s::text[], %(pairs)s::bigint[], %(bounds)s::text[])
            WITH ORDINALITY AS wanted (cell, pairs, bound, number) ON wanted.cell = cells.cell
        OFFSET 0
    ) AS hashed
    WHERE hash < bound
) AS placed
WHERE place <= pairs
ORDER BY number, place
"""
# How many pairs of a stratum are sorted to draw so many: these times as many, and these more. The chance that they are
# too few is below 1 in 10 billion; then all are sorted.
_TIMES, _MORE = 3, 50
_NO_BOUND = "g"  # above every hexadecimal digit


def _of_proposed(plan: Plan, seed: int) -> tuple[list[Stratum], list[Chosen]]:
    """Return the strata of the proposed pairs, and the pairs drawn from them."""
    by, near = list(plan.by), plan.near_days
    asked: dict[str, Any] = {"by": by, "pass": plan.pass_name, "bands": list(plan.bands), "near": near}
    with connection.cursor() as cursor:
        cursor.execute(_CELLS_SQL, asked)
        cursor.execute(_COUNT_SQL)
        # The highest band first; by text otherwise.
        counted = sorted(cursor.fetchall(), key=lambda row: (-_band(row[0]), row[0]))
        cells, sizes = [cell for cell, _ in counted], [size for _, size in counted]
        numbers = _numbers(plan, sizes)
        names = [name_of(cell, plan.bands, near, plan.pass_name) for cell in cells]
        wanted = [plan.per_stratum or number for number in numbers]
        strata = list(map(Stratum, names, sizes, wanted, numbers))
        asked = {"seed": seed, "cells": cells, "pairs": numbers}
        shares = ((_TIMES * number + _MORE) / size for number, size in zip(numbers, sizes, strict=True))
        cursor.execute(_DRAW_SQL, {**asked, "bounds": list(map(hash_bound, shares))})
        drawn = cursor.fetchall()
        if len(drawn) < sum(numbers):
            cursor.execute(_DRAW_SQL, {**asked, "bounds": [_NO_BOUND] * len(cells)})
            drawn = cursor.fetchall()
        chosen = [Chosen(left, right, strata[number - 1]) for left, right, number in drawn]
        cursor.execute("DROP TABLE sampled_cells")
    return strata, chosen


def hash_bound(share: float) -> str:
    """Return the text below which this share of all MD5 sums is: the first eight hexadecimal digits."""
    return f"{round(share * 2**32):08x}" if share < 1 else _NO_BOUND


def _numbers(plan: Plan, sizes: Sequence[int]) -> list[int]:
    """Return how many pairs to draw from strata of these sizes. Raises SampleError."""
    if plan.size is None:
        numbers = [min(plan.per_stratum or 0, size) for size in sizes]
        if sum(numbers) > MOST_PAIRS:
            raise SampleError(
                f"{len(sizes)} strata with {plan.per_stratum} pairs each are {sum(numbers):,} pairs; a sample has at "
                f"most {MOST_PAIRS:,}. Draw fewer per stratum"
            )
        return numbers
    if plan.size < len(sizes):
        raise SampleError(
            f"the archive has {len(sizes)} strata, and a sample of {plan.size} would leave some out; draw at least "
            f"{len(sizes)} pairs, or tell fewer strata apart"
        )
    return shared_out(plan.size, sizes)


def _band(cell: str) -> int:
    band, *_ = cell.split("|")
    return 0 if band == "-" else int(band)


# ---- pairs that no pass proposes ---------------------------------------------------------------------

# Articles by their day and position, from the index article_date.
_NOT_PROPOSED_SQL = """
SELECT least(one.id, other.id), greatest(one.id, other.id)
FROM unnest(%(one_days)s::date[], %(one_offsets)s::int[], %(other_days)s::date[], %(other_offsets)s::int[])
    WITH ORDINALITY AS asked (one_day, one_offset, other_day, other_offset, place)
CROSS JOIN LATERAL (
    SELECT id FROM articles_article WHERE date = asked.one_day ORDER BY id OFFSET asked.one_offset LIMIT 1
) AS one
CROSS JOIN LATERAL (
    SELECT id FROM articles_article WHERE date = asked.other_day ORDER BY id OFFSET asked.other_offset LIMIT 1
) AS other
WHERE NOT EXISTS (
    SELECT FROM dedup_pair AS pair
    WHERE pair.left_id = least(one.id, other.id) AND pair.right_id = greatest(one.id, other.id) AND pair.best_score > 0
)
ORDER BY asked.place
LIMIT %(wanted)s
"""


def _of_not_proposed(plan: Plan, seed: int) -> tuple[Stratum, list[Chosen]]:
    """Return the stratum of the pairs inside the window that no pass proposes, and the pairs drawn from it."""
    per_day = Article.objects.order_by("date").values_list("date").annotate(Count("pk"))
    every = PairsOfDays([(day.toordinal(), count) for day, count in per_day], plan.window_days)
    proposed = Pair.objects.proposed().filter(days_apart__lte=plan.window_days).count()
    found = _not_proposed(every, plan.not_proposed, seed)
    pairs = max(every.total - proposed, len(found))
    stratum = Stratum(f"{NOT_PROPOSED} / 0-{plan.window_days} days", pairs, plan.not_proposed, len(found))
    return stratum, [Chosen(left, right, stratum) for left, right in found]


def _not_proposed(every: PairsOfDays, wanted: int, seed: int) -> list[tuple[Any, ...]]:
    """Return random pairs that no pass proposes, each once; fewer than wanted if there are no more.

    The first of a random order of all pairs; if too many of these are proposed, of a longer one.
    """
    looked_at = 0
    found: list[tuple[Any, ...]] = []
    while len(found) < wanted and looked_at < every.total:
        looked_at = min(max(2 * wanted, 4 * looked_at), every.total)
        rng = random.Random(f"{NOT_PROPOSED} {seed}")  # noqa: S311 - drawn again from the seed, not secret
        places = [every.pair(number) for number in rng.sample(range(every.total), looked_at)]
        columns: dict[str, list[Any]] = {}
        for name, side in zip(("one", "other"), zip(*places, strict=True), strict=True):
            columns[f"{name}_days"] = [datetime.date.fromordinal(place.day) for place in side]
            columns[f"{name}_offsets"] = [place.offset for place in side]
        found = read_rows(_NOT_PROPOSED_SQL, wanted=wanted, **columns)
    return found


# ---- the labels of a sample, as the measurement uses them: one for each pair, with its weight ------------------------

# Where the label of a pair comes from: a disagreement that was settled, readers who agree, the only reader, or the
# first of readers who disagree.
Origin = Literal["settled", "unanimous", "single", "first"]


@dataclass(frozen=True, slots=True)
class SampleReading:
    """The labelled pairs of a sample, in its order.

    The weights of a stratum add up to its pairs in the archive, also while some of its pairs have no label: reading in
    the order of the sample, the others are a random part of it. `unread` names the strata without any label, which
    nothing represents.
    """

    pairs: list[Label]
    origins: Mapping[Origin, int]
    unlabelled: int
    unread: list[str]

    def summary(self) -> str:
        """Return in a sentence where the labels come from."""
        of = self.origins
        parts = [
            f"{of.get('single', 0):,} by one reader",
            f"{of.get('unanimous', 0):,} by readers who agree",
            f"{of.get('settled', 0):,} settled after a disagreement",
            f"{of.get('first', 0):,} by the first of readers who disagree",
        ]
        missing = f"; {self.unlabelled:,} without a label" if self.unlabelled else ""
        unread = f"; no label in the strata {', '.join(self.unread)}" if self.unread else ""
        return f"Labels of {len(self.pairs):,} pairs: {', '.join(parts)}{missing}{unread}."


def find_sample(named: str) -> ValidationSample:
    """Return the sample of this name or number. Raises LabelsError with the names that there are."""
    number = read_number(named)
    samples = ValidationSample.objects.all()
    found = samples.filter(name=named).first() if number is None else samples.filter(pk=number).first()
    if found is None:
        known = ", ".join(f"{sample.pk} ({sample.name})" for sample in samples[:10])
        raise LabelsError(
            f"there is no validation sample {named!r}; "
            + (f"the latest are {known}" if known else "draw one with manage.py export validation")
        )
    return found


def read_sample(sample: ValidationSample) -> SampleReading:
    """Return the labelled pairs of a sample with their articles, and where their labels come from."""
    labels = SampleLabel.objects.filter(pair__sample=sample).order_by("labelled_at", "id")
    given = by_key(labels.values_list("pair", "label"))
    pairs = list(sample.pairs.order_by("position").values_list(*_PAIR_COLUMNS, named=True))
    origins: Counter[Origin] = Counter()
    found = []
    for row in pairs:
        if chosen := label_of(row.settled, given[row.pk]):
            label, origin = chosen
            origins[origin] += 1
            found.append(_label(row, label, sample.name))
    strata = {stratum["name"]: stratum["pairs"] for stratum in sample.strata}
    labelled = Counter(pair.stratum for pair in found)
    weighted = [replace(pair, weight=strata[pair.stratum] / labelled[pair.stratum]) for pair in found]
    unread = {pair.stratum for pair in pairs} - labelled.keys()
    return SampleReading(weighted, origins, len(pairs) - len(found), sorted(unread))


def label_of(settled: str, given: Sequence[str]) -> tuple[str, Origin] | None:
    """Return the label of a pair and where it comes from, by what its readers said, the first one first."""
    if settled:
        return settled, "settled"
    if not given:
        return None
    if len(given) == 1:
        return given[0], "single"
    return given[0], "unanimous" if len(set(given)) == 1 else "first"


# A pair of a sample, and what names its articles. Objects of the models would take three times as long.
_PAIR_COLUMNS = (
    *("pk", "position", "stratum", "weight", "settled"),
    *("left", "left__external_id", "left__url", "left__date"),
    *("right", "right__external_id", "right__url", "right__date"),
)


def _label(row: Any, label: str, file: str) -> Label:
    left, right = Named(row.left__external_id, row.left__url), Named(row.right__external_id, row.right__url)
    days = abs((row.left__date - row.right__date).days)
    return Label(row.position, (left, right), label, row.weight, row.stratum, days, file, row.left, row.right)
