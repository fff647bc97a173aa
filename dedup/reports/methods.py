"""The report for a paper: a methods paragraph, BibTeX, and every number with the commands that give it again."""

import shlex
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from functools import partial
from typing import Annotated, Any

from django.db.models import Count, Max, Min
from django.template.loader import render_to_string

from articles.models import Article, Newspaper
from articles.numbers import counted
from articles.querysets import given
from articles.versions import versions
from dedup.declarations import SettingEffect, Settings
from dedup.detection.bounds import bound_named
from dedup.detection.passes import PASSES
from dedup.detection.runs.facts import label as label_of_pass
from dedup.detection.runs.judging import model_in_use
from dedup.detection.runs.scope import Scope
from dedup.detection.types import VerdictKind
from dedup.models import Cluster, DetectionRun, Evidence, Membership, NewspaperMonth, Pair, ValidationSample
from dedup.reports.base import File, Report, of_both
from dedup.reports.columns import COUNT, NUMBER, SHARE, TEXT, Table, column, drawn, listed
from dedup.reports.scored_pairs import NO_WINDOW
from dedup.research.answers import MEASURES, score_numbers
from dedup.research.measure import Judged, judged_pairs
from dedup.research.precision import precision, recall
from dedup.research.sampling import Plan, option_of, read_sample
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
    """All that a methods section states of the archive: its counts, the last run, its settings, and what was measured.

    `counts`: what is stored now, in the scope; its `verdicts` count proposed pairs. `measured`: precision, recall and
    F1 on a validation sample, of the verdict and of each pass, the first two with intervals; `of_all` if pairs that no
    pass proposes were drawn too, without which recall is that among proposed pairs.
    """

    versions: dict[str, str]
    model: dict[str, Any]
    run: dict[str, Any] | None
    passes: list[PassFacts]
    counts: dict[str, Any]
    measured: dict[str, Any] | None
    agreement: list[AgreementFacts]
    seeds: dict[str, int]


@dataclass(frozen=True, slots=True)
class Methods:
    """The texts for a paper, and the facts that they state."""

    paragraph: str
    bibtex: str
    commands: list[str]
    facts: Facts


class MethodsReport(Report, name="methods", label="Methods", after_run=True, names_run=True):
    """Writes the methods paragraph of a paper, and lists the commands that repeat every number."""

    def result(self, scope: Scope, _options: Settings) -> Methods:
        """Collect what is known of the last run and of the archive."""
        facts, newspapers = facts_of(scope), Newspaper.objects.filter(pk__in=scope.newspaper_ids or ())
        names = newspapers.order_by("name").values_list("name", flat=True)
        searched = ["--search", scope.words] if scope.words else []
        again = commands(facts, [*_part_options(scope.since, scope.until, names), *searched])
        return Methods(paragraph(facts), bibtex(facts), again, facts)

    def summary(self, result: Methods) -> str:
        """Return the paragraph."""
        return result.paragraph

    def tables(self, result: Methods) -> list[Table]:
        """Return the counts, what was measured, the settings, and the commands."""
        facts = result.facts
        shares = [
            (f"{name}{end}", words, SHARE)
            for name, label in MEASURES[:2]
            for end, words in (("", label), ("_low", "95% from"), ("_high", "95% to"))
        ]
        parts = (("part", "Part", TEXT), ("setting", "Setting", TEXT), ("value", "Value", TEXT))
        commands = ((command,) for command in result.commands)
        return [
            listed("counts", "Counts", _counts(facts), ("counted", "Counted", TEXT), ("count", "Count", COUNT)),
            listed(
                *("measured", "Measured on the validation sample", _measured(facts)),
                *(("called", "Called duplicates by", TEXT), *shares, ("f1", "F1", SHARE)),
            ),
            drawn(facts.agreement, AgreementFacts, "agreement", "Agreement of readers"),
            listed("settings", "Settings, versions and seeds", _settings(facts), *parts),
            listed("commands", "Commands that repeat every number", commands, ("command", "Command", TEXT)),
        ]

    def files(self, result: Methods) -> list[File]:
        """Return the paragraph and the BibTeX entries."""
        return [
            File("methods.txt", "text/plain", "Methods paragraph", f"{result.paragraph}\n"),
            File("methods.bib", "application/x-bibtex", "BibTeX", result.bibtex, shown=True),
        ]


# ---- the facts -----------------------------------------------------------------------------------------


def facts_of(scope: Scope) -> Facts:
    """Return what is known of the stored articles of a scope, of the last run, and of the latest sample."""
    run = DetectionRun.objects.filter(state=DetectionRun.State.DONE).first()
    # A sample whose results may be seen: all labels are in, or they were opened.
    some = ValidationSample.objects.filter(pairs__labels__isnull=False).distinct()
    sample = next((sample for sample in some if sample.opened_at or is_finished(sample)), None)
    model = model_in_use()
    return Facts(
        versions(),
        {"version": model.version, "threshold": model.threshold, "learnt_from": dict(model.learnt_from)},
        None if run is None else _run_facts(run),
        [] if run is None else _passes_of(run, scope),
        _count(scope, run),
        None if sample is None else _measure(sample),
        _agreements(sample),
        {} if sample is None else {"sample": sample.seed},
    )


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


def _count(scope: Scope, run: DetectionRun | None) -> dict[str, Any]:
    articles = Article.objects.in_scope(**scope.bounds()).order_by()
    facts = articles.aggregate(
        articles=Count("pk"), newspapers=Count("newspaper", distinct=True), first_day=Min("date"), last_day=Max("date")
    )
    members = Membership.objects.filter(article__in=articles).order_by()
    clustered = members.aggregate(clusters=Count("cluster", distinct=True), clustered_articles=Count("pk"))
    kept = Cluster.objects.filter(kept__in=articles).order_by().count()
    pairs = Pair.objects.proposed().filter(given(**of_both(scope)))
    verdicts = dict(pairs.order_by().values_list("verdict").annotate(Count("pk")))
    newest = run.counts.get("newest") if run else None
    return {
        **facts,
        "pairs": sum(verdicts.values()),
        "verdicts": {kind.value: verdicts.get(kind.value, 0) for kind in VerdictKind},
        **clustered,
        "duplicate_articles": clustered["clustered_articles"] - kept,
        "young_months": NewspaperMonth.objects.filter(young=True, newspaper__in=articles.values("newspaper")).count(),
        "decided_pairs": pairs.exclude(state=Pair.State.UNDECIDED).order_by().count(),
        "changed_since_run": 0 if newest is None else articles.filter(revision__gt=newest).count(),
    }


def _measure(sample: ValidationSample) -> dict[str, Any]:
    read = read_sample(sample)
    judged = judged_pairs(read.pairs)
    passes = dict.fromkeys(name for pair in judged for name in pair.passes)
    score = partial(_score, sample, judged)
    return {
        "sample": sample.name,
        "seed": sample.seed,
        "options": sample.options,
        "pairs": len(judged),
        "unlabelled": read.unlabelled,
        "readers": sample.readers,
        "labels": read.summary(),
        "of_all": any(stratum["name"].startswith(NOT_PROPOSED) for stratum in sample.strata),
        "verdict": score([pair.called for pair in judged]),
        "passes": {name: score([name in pair.passes for pair in judged]) for name in PASSES if name in passes},
    }


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


# ---- the tables -----------------------------------------------------------------------------------------


def _counts(facts: Facts) -> Iterator[tuple[str, int]]:
    counts = facts.counts
    yield "articles", counts["articles"]
    yield "newspapers", counts["newspapers"]
    yield "proposed pairs", counts["pairs"]
    for verdict, pairs in counts["verdicts"].items():
        yield f"of them with the verdict {verdict}", pairs
    for detection_pass in facts.passes:
        yield f"pairs of the pass {detection_pass.label}", detection_pass.pairs
    yield "months of newspapers judged with later ones in view", counts["young_months"]
    yield "pairs that editors have decided", counts["decided_pairs"]
    yield "clusters", counts["clusters"]
    yield "articles in clusters", counts["clustered_articles"]
    yield "articles that duplicate another one", counts["duplicate_articles"]
    yield "articles stored or changed since the run", counts["changed_since_run"]


def _measured(facts: Facts) -> Iterator[tuple[Any, ...]]:
    if facts.measured is None:
        return
    rows = {"the verdict": facts.measured["verdict"]}
    rows |= {label_of_pass(name): numbers for name, numbers in facts.measured["passes"].items()}
    for name, numbers in rows.items():
        yield name, *_interval(numbers, "precision"), *_interval(numbers, "recall"), numbers["f1"]


def _interval(numbers: dict[str, Any], name: str) -> tuple[float | None, ...]:
    return numbers[name], *(numbers[f"{name}_interval"] or (None, None))


def _settings(facts: Facts) -> Iterator[tuple[str, str, str]]:
    for name, version in facts.versions.items():
        yield "versions", name, version
    yield "model", "version", str(facts.model["version"])
    yield "model", "called duplicate from", f"{facts.model['threshold']:g}"
    for name, seed in facts.seeds.items():
        yield "seeds", name, str(seed)
    if facts.run:
        yield "run", "profile", str(facts.run["profile"])
        yield "run", "boilerplate", str(facts.run["boilerplate"])
    for detection_pass in facts.passes:
        for name, value in detection_pass.settings.items():
            yield detection_pass.label, name, str(value)


def _part_options(since: object, until: object, newspapers: Iterable[str]) -> Iterator[str]:
    """Yield the options of a command for a part of the archive."""
    for name, value in (("since", since), ("until", until), *(("newspaper", newspaper) for newspaper in newspapers)):
        if value:
            yield from (f"--{name}", str(value))


# ---- the paragraph -----------------------------------------------------------------------------------


def paragraph(facts: Facts) -> str:
    """Return a paragraph of about 120 words for the methods section of a paper. What was not measured is said."""
    if facts.run is None:
        return "No run has finished yet, so there is nothing to describe."
    if not facts.counts["articles"]:
        return "There are no articles to describe."
    measured, agreement = facts.measured, facts.agreement
    text = render_to_string(
        "reports/methods.txt",
        {
            "facts": facts,
            "counts": facts.counts,
            "passes": [_pass(found) for found in facts.passes],
            "duplicates": f"{facts.counts['duplicate_articles'] / facts.counts['articles']:.1%}",
            "measured": measured,
            "precision": measured and _estimate(measured["verdict"], "precision", "called"),
            "recall": measured and _estimate(measured["verdict"], "recall", "duplicates"),
            "kappas": [_kappa(found) for found in agreement if found.kappa is not None],
            "most_readings": max((found.readings for found in agreement), default=0),
        },
    )
    return " ".join(text.split())


def methods_of(part: Scope) -> str:
    """Return the paragraph for the articles of a corpus."""
    return paragraph(facts_of(part))


def _pass(found: PassFacts) -> str:
    bounds = []
    if found.lowest_score is not None:
        bounds.append(f"score from {found.lowest_score:g}")
    if found.most_days is not None and found.most_days < NO_WINDOW:
        bounds.append(f"at most {counted(found.most_days, 'day')} apart" if found.most_days else "of the same day")
    name = found.label[:1].lower() + found.label[1:]
    return f"{name} ({', '.join([*bounds, counted(found.pairs, 'pair')])})"


def _estimate(numbers: dict[str, Any], name: str, whole: str) -> str:
    """Return a share with its interval; a sample of all pairs that there are has none."""
    if numbers[name] is None:
        return "unknown value"
    low, high = numbers[f"{name}_interval"]
    if low == high:
        return f"{numbers[name]:.2f} (of all {counted(numbers[whole], 'such pair')}, so without an interval)"
    return f"{numbers[name]:.2f} (95% interval {low:.2f}–{high:.2f})"


def _kappa(found: AgreementFacts) -> str:
    low, high = found.kappa_interval or (0.0, 0.0)
    return f"{found.kappa:.2f} ({low:.2f}–{high:.2f}; {found.of}, {counted(found.readings, 'pair')})"


def bibtex(facts: Facts) -> str:
    """Return the entries for newsdedup and for the works that the run's passes and the measurement follow."""
    works = dict.fromkeys(work for found in facts.passes if found.name in PASSES for work in PASSES[found.name].cites)
    kappa = any(row.kappa is not None for row in facts.agreement)
    return render_to_string("reports/methods.bib", {"facts": facts, "works": works, "kappa": kappa})


def commands(facts: Facts, bounds: Sequence[str]) -> list[str]:
    """Return the commands that give every number again, in order. `bounds` are the options of the report's scope."""
    if facts.run is None or not facts.counts["articles"]:
        return []
    found = [["version"], _find(facts.run), ["report", "methods", *bounds, "--format", "json"]]
    if facts.measured:
        found += [
            ["export", "validation", *_drawing(facts.measured), "--output", "again.csv"],
            ["evaluate", "--sample", facts.measured["sample"]],
        ]
    return [shlex.join(["manage.py", *command]) for command in found]


def _find(run: dict[str, Any]) -> list[str]:
    scope = run["scope"]
    profile = ["--profile", run["profile"]] if run["profile"] else []
    part = _part_options(scope.get("since"), scope.get("until"), scope.get("newspapers") or ())
    passes = ["--passes", ",".join(scope["passes"])] if scope.get("passes") else []
    return ["find_duplicates", *profile, *part, *passes, "--boilerplate", run["boilerplate"]]


def _drawing(measured: dict[str, Any]) -> Iterator[str]:
    """Yield the options that draw the sample again, from the same archive."""
    for field in fields(Plan):
        if (value := measured["options"].get(field.name)) not in (None, ""):
            yield from (option_of(field.name), ",".join(map(str, value)) if isinstance(value, list) else str(value))
    yield from ("--seed", str(measured["seed"]))
