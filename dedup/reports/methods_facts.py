"""What a methods section states of the archive: its counts, the last run, its settings, and what was measured."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from functools import partial
from typing import Annotated, Any

from django.db.models import Count, Max, Min

from articles.models import Article
from articles.querysets import given
from articles.versions import versions
from dedup.declarations import SettingEffect
from dedup.detection.bounds import bound_named
from dedup.detection.passes import PASSES
from dedup.detection.runs.facts import label as label_of_pass
from dedup.detection.runs.scope import Scope
from dedup.detection.runs.terms import model_in_use
from dedup.detection.types import VerdictKind
from dedup.models import Cluster, DetectionRun, Evidence, Membership, Pair, ValidationSample
from dedup.reports.base import of_both
from dedup.reports.columns import NUMBER, SHARE, column
from dedup.research.answers import score_numbers
from dedup.research.measure import Judged, judged_pairs
from dedup.research.precision import precision, recall
from dedup.research.samples import read_sample
from dedup.research.strata import NOT_PROPOSED
from dedup.review.readings.second_readings import agreements
from dedup.review.readings.validation import agreements_of, is_finished, tally_of


@dataclass(frozen=True, slots=True)
class PassFacts:
    """A pass of the run: its lowest score and most days apart, None if it has no such bound, and its pairs now."""

    name: str
    label: str
    lowest_score: float | None
    most_days: int | None
    pairs: int
    settings: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Counts:
    """What is stored now, in the scope. `verdicts` counts proposed pairs; `decided` the pairs with a decision."""

    articles: int
    newspapers: int
    first_day: date | None
    last_day: date | None
    pairs: int
    verdicts: dict[str, int]
    clusters: int
    clustered_articles: int
    duplicate_articles: int
    decided_pairs: int
    changed_since_run: int


@dataclass(frozen=True, slots=True)
class Measured:
    """Precision, recall and F1 on a validation sample, of the verdict and of each pass; the first two with intervals.

    `of_all`: pairs that no pass proposes were drawn too; without them, recall is that among proposed pairs.
    """

    sample: str
    seed: int
    options: dict[str, Any]
    pairs: int
    unlabelled: int
    readers: int
    labels: str
    of_all: bool
    verdict: dict[str, Any]
    passes: dict[str, dict[str, Any]]


@dataclass(frozen=True, slots=True)
class AgreementFacts:
    """How well two readers agree; kappa is None with fewer than 20 pairs."""

    of: Annotated[str, column("Of")]
    readings: Annotated[int, column("Pairs")]
    share: Annotated[float, column("Agreed", SHARE, named="agreed")]
    kappa: Annotated[float | None, column("Kappa")]
    kappa_interval: Annotated[
        tuple[float, float] | None,
        column("95% from", NUMBER, named="kappa_low", item=0),
        column("95% to", NUMBER, named="kappa_high", item=1),
    ]


@dataclass(frozen=True, slots=True)
class Facts:
    """All that a methods section states."""

    versions: dict[str, str]
    model: dict[str, Any]
    run: dict[str, Any] | None
    passes: list[PassFacts]
    counts: Counts
    measured: Measured | None
    agreement: list[AgreementFacts]
    seeds: dict[str, int]


def facts_of(scope: Scope) -> Facts:
    """Return what is known of the stored articles of a scope, of the last run, and of the latest sample."""
    run = DetectionRun.objects.filter(state=DetectionRun.State.DONE).first()
    sample = _latest_sample()
    model = model_in_use()
    return Facts(
        versions(),
        {"version": model.version, "threshold": model.threshold, "learnt_from": dict(model.learnt_from)},
        None if run is None else _run_facts(run),
        [] if run is None else _passes_of(run, scope),
        _counts(scope, run),
        None if sample is None else _measured(sample),
        _agreements(sample),
        {} if sample is None else {"sample": sample.seed},
    )


def _latest_sample() -> ValidationSample | None:
    """Return the latest sample with labels whose results may be seen: all labels are in, or they were opened."""
    some = ValidationSample.objects.filter(pairs__labels__isnull=False).distinct()
    return next((sample for sample in some if sample.opened_at or is_finished(sample)), None)


def _run_facts(run: DetectionRun) -> dict[str, Any]:
    return {
        "number": run.pk,
        "profile": run.profile_name,
        "finished_at": run.finished_at and run.finished_at.isoformat(timespec="seconds"),
        "boilerplate": run.boilerplate.value,
        "scope": run.scope,
    }


def _passes_of(run: DetectionRun, scope: Scope) -> list[PassFacts]:
    found = Evidence.objects.filter(given(**of_both(scope, "pair__")), stale=False)
    counts = dict(found.order_by().values_list("pass_name").annotate(Count("pk")))
    enabled = {name: run.config[name] for name in PASSES if run.config.get(name, {}).get("enabled")}
    return [
        PassFacts(
            name,
            label_of_pass(name),
            settings.get(bound_named(name, SettingEffect.FROM_SCORE)),
            settings.get(bound_named(name, SettingEffect.WITHIN_DAYS)),
            counts.get(name, 0),
            settings,
        )
        for name, settings in enabled.items()
    ]


def _counts(scope: Scope, run: DetectionRun | None) -> Counts:
    articles = Article.objects.in_scope(**scope.bounds()).order_by()
    facts = articles.aggregate(
        articles=Count("pk"), newspapers=Count("newspaper", distinct=True), first_day=Min("date"), last_day=Max("date")
    )
    members = Membership.objects.filter(article__in=articles).order_by()
    clustered = members.aggregate(clustered_articles=Count("pk"), clusters=Count("cluster", distinct=True))
    kept = Cluster.objects.filter(kept__in=articles).order_by().count()
    pairs = Pair.objects.proposed().filter(given(**of_both(scope)))
    verdicts = dict(pairs.order_by().values_list("verdict").annotate(Count("pk")))
    newest = run.counts.get("newest") if run else None
    return Counts(
        **facts,
        **clustered,
        pairs=sum(verdicts.values()),
        verdicts={kind.value: verdicts.get(kind.value, 0) for kind in VerdictKind},
        duplicate_articles=clustered["clustered_articles"] - kept,
        decided_pairs=pairs.exclude(state=Pair.State.UNDECIDED).order_by().count(),
        changed_since_run=0 if newest is None else articles.filter(revision__gt=newest).count(),
    )


def _measured(sample: ValidationSample) -> Measured:
    read = read_sample(sample)
    judged = judged_pairs(read.pairs)
    passes = dict.fromkeys(name for pair in judged for name in pair.passes)
    score = partial(_score, sample, judged)
    return Measured(
        sample.name,
        sample.seed,
        sample.options,
        len(judged),
        read.unlabelled,
        sample.readers,
        read.summary(),
        any(stratum["name"].startswith(NOT_PROPOSED) for stratum in sample.strata),
        score([pair.called for pair in judged]),
        {name: score([name in pair.passes for pair in judged]) for name in PASSES if name in passes},
    )


def _score(sample: ValidationSample, judged: Sequence[Judged], calls: Sequence[bool]) -> dict[str, Any]:
    """Return precision, recall and F1 of these calls; the first two with intervals, as the sample's page has them."""
    numbers = score_numbers([pair.label for pair in judged], [pair.found.weight for pair in judged], calls)
    tables: defaultdict[str, Counter[tuple[str, bool]]] = defaultdict(Counter)
    for pair, call in zip(judged, calls, strict=True):
        tables[pair.found.stratum][pair.label, call] += 1
    tallies = [tally_of(stored, tables[stored["name"]]) for stored in sample.strata]
    found: dict[str, Any] = {name: numbers[name] for name in ("called", "duplicates", "f1")}
    for name, estimated in (("precision", precision(tallies)), ("recall", recall(tallies))):
        found |= {name: estimated and estimated.value, f"{name}_interval": estimated and estimated[1:]}
    return found


def _agreements(sample: ValidationSample | None) -> list[AgreementFacts]:
    """Return how well editors agree, and the readers of the sample, by numbers in the order of their first labels."""
    editors = agreements().all
    found = [("editors, on pairs read a second time", editors)] if editors.readings else []
    if sample is not None:
        rows = sample.pairs.order_by().values_list("labels__reader").annotate(first=Min("labels__labelled_at"))
        readers = [reader for reader, _ in rows.order_by("first", "labels__reader") if reader]
        for one, other, agreement in agreements_of(sample):
            numbers = f"{readers.index(one) + 1} and {readers.index(other) + 1}"
            found.append((f"readers {numbers} of the sample “{sample.name}”", agreement))
    return [
        AgreementFacts(of, agreement.readings, agreement.share, kappa and kappa.value, kappa and kappa[1:])
        for of, agreement in found
        for kappa in [agreement.kappa]
    ]
