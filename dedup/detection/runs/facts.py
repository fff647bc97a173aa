"""The settings and counts of a run, with labels and in reading order. Read-only."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Sum

from articles.models import Article
from articles.numbers import counted
from articles.storage.renormalization import outdated_forms
from dedup.declarations import SettingEffect, settings_of
from dedup.detection.bounds import bound_named
from dedup.detection.clustering.rebuild import contradictions
from dedup.detection.passes import PASSES
from dedup.detection.runs.phases import STEPS, all_phases
from dedup.detection.runs.scope import Scope
from dedup.detection.types import Phase, VerdictKind
from dedup.models import Cluster, DenseGroup, DetectionRun, Evidence, Membership, Pair, Verdict

# Labels for the verdicts that a run counts over all proposed pairs.
_KINDS = {"duplicate": "duplicates", "version": "new versions", "template": "templates", "similar": "merely similar"}


# The counts of a run in reading order.
_COUNTS = (
    "articles", "passes", "phases", "pairs", "stale", "outdated", "verdicts", "clusters", "clustered_articles",
    "duplicate_articles", "duplicate_share", "contradictions", "dense_groups", "dense_articles",
)  # fmt: skip

# What a step counts that does not count articles, and the steps that also find something.
_UNITS: Mapping[str, str] = {Phase.VERDICTS: "pairs", Phase.RECURRING: "months of newspapers", Phase.REPORTS: "reports"}
_FINDING = {Phase.BOILERPLATE, *PASSES}

_PASS_COUNTS = ("candidates", "verified", "pairs", "seconds")


@dataclass(frozen=True, slots=True)
class PassCount:
    """What a pass did in a run: its pairs and, if measured, its work and its time in seconds.

    The time is the sum over its blocks, which may have run in parallel.
    """

    label: str
    pairs: int = 0
    candidates: int = 0
    verified: int = 0
    seconds: float | None = None


def pass_counts(run: DetectionRun) -> list[PassCount]:
    """Return the counts of the passes that took part in a run, in their order; empty until it finishes."""
    counted = run.counts.get("passes")
    if counted is None:
        return []
    taken = [name for name in _in_order(run.config) if run.config[name].get("enabled")]
    return [PassCount(label(name), **counted.get(name, {})) for name in taken]


def run_facts(run: DetectionRun) -> list[tuple[str, str]]:
    """Return the counts of a finished run as labels and texts. Counts of rare events are left out when they are 0."""
    counts = run.counts
    if "articles" not in counts:
        return []
    verdicts = counts.get("verdicts", {})
    facts = [
        ("Articles compared", f"{counts['articles']:,}"),
        *((f"Pairs that are {words}", f"{verdicts[kind]:,}") for kind, words in _KINDS.items() if kind in verdicts),
        ("Clusters", f"{counts['clusters']:,}"),
        ("Articles in clusters", f"{counts['clustered_articles']:,}"),
        ("Articles that are duplicates", f"{counts['duplicate_articles']:,}"),
        ("Duplicates as a share of all articles", f"{counts['duplicate_share']:.1%}"),
    ]
    seldom = (
        ("stale", "Evidence no longer found"),
        ("contradictions", "Decisions that contradict each other"),
        ("outdated", "Articles normalised with outdated rules"),
    )
    facts += [(words, f"{counts[name]:,}") for name, words in seldom if counts.get(name)]
    return [*facts, *dense_facts(run)]


def unit(step: str, found: int) -> str:
    """Return what a step of a run counts, and how many pairs or sentences it has found: articles, 1,234 pairs."""
    if step in _FINDING:
        return f"articles, {found:,} {'sentences' if step == Phase.BOILERPLATE else 'pairs'}"
    return _UNITS.get(step, "articles")


def dense_facts(run: DetectionRun) -> list[tuple[str, str]]:
    """Return the number of dense groups after a run, as a label and a text, if there are any."""
    groups, articles = run.counts.get("dense_groups", 0), run.counts.get("dense_articles", 0)
    return [("Dense groups", f"{groups:,} with {articles:,} articles")] if groups else []


def phase_seconds(run: DetectionRun) -> list[tuple[str, float]]:
    """Return the phases of a finished run in their order, as labels, with their seconds."""
    return [(label(name), seconds) for name, seconds in by_names(run.counts.get("phases", {}), all_phases()).items()]


def run_settings(run: DetectionRun) -> list[tuple[str, list[tuple[str, Any]]]]:
    """Return the settings that a run used, pass by pass."""
    return [
        (label(name), list(by_names(run.config[name], _settings_of(name)).items())) for name in _in_order(run.config)
    ]


@dataclass(frozen=True, slots=True)
class RuleFacts:
    """What a rule of a profile says: of which newspapers or collections, and what holds for their pairs, in words."""

    newspapers: tuple[str, ...]
    says: tuple[str, ...]


def rule_facts(stored: Mapping[str, Any]) -> RuleFacts:
    """Return a rule, in the form stored with a run, in words."""
    if stored["left_out"]:
        says = ["left out: no pair is proposed"]
    else:
        settings = stored["settings"]
        says = [
            f"{label(name)}: {bounds_in_words(name, settings[name])}" for name in _in_order(settings) if settings[name]
        ]
    if stored["retired"]:
        says.append("earlier pairs that the rule does not allow are hidden")
    sides = zip(stored["newspapers"], stored.get("members", [None, None]), strict=False)
    named = (name if members is None else f"{name} ({counted(len(members), 'newspaper')})" for name, members in sides)
    return RuleFacts(tuple(named), tuple(says or ["as in the profile"]))


def bounds_in_words(name: str, values: Mapping[str, Any]) -> str:
    """Return which days and scores settings of a pass say, in words; empty if they say none."""
    days, score = (bound_named(name, effect) or "" for effect in (SettingEffect.WITHIN_DAYS, SettingEffect.FROM_SCORE))
    said = [f"at most {counted(int(values[days]), 'day')} apart"] if days in values else []
    return ", ".join([*said, f"score from {values[score]:.12g}"] if score in values else said)


def article_facts(article: Article) -> dict[str, Any]:
    """Return what names an article to people, for programs."""
    return {
        "external_id": article.external_id,
        "newspaper": article.newspaper.name,
        "date": article.date.isoformat(),
        "headline": article.headline,
        "url": article.url,
    }


def label(pass_name: str) -> str:
    """Return the label of a pass or of another step of a run. A pass that is no longer registered keeps its name."""
    return PASSES[pass_name].label if pass_name in PASSES else STEPS.get(pass_name, pass_name)


def run_summary(run: DetectionRun) -> dict[str, Any]:
    """Return everything known about a run, for programs."""
    counts = {name: value for name, value in run.counts.items() if name not in ("fingerprint", "newest")}
    by_pass = counts.get("passes", {})
    if "phases" in counts:
        counts["phases"] = by_names(counts["phases"], all_phases())
    if counts.get("verdicts"):
        counts["verdicts"] = by_names(counts["verdicts"], VerdictKind)
    config = {name: by_names(run.config[name], _settings_of(name)) for name in _in_order(run.config)}
    return {
        "run": run.pk,
        "state": run.state,
        "scope": by_names(run.scope, Scope().stored()),
        **by_names(counts, _COUNTS),
        "passes": {name: by_names(by_pass[name], _PASS_COUNTS) for name in _in_order(by_pass)},
        "config": config,
    }


def _settings_of(pass_name: str) -> list[str]:
    return list(settings_of(PASSES[pass_name].config_class)) if pass_name in PASSES else []


def _in_order(named: Iterable[str]) -> list[str]:
    """Return names of passes in the order of a run, which jsonb does not keep."""
    return list(by_names(dict.fromkeys(named), PASSES))


def by_names(values: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    """Return the values in the order of these names; others come last."""
    known = {name: values[name] for name in names if name in values}
    return known | {name: value for name, value in values.items() if name not in known}


def counts_of(run: DetectionRun, scope: Scope) -> dict[str, Any]:
    """Return what a run found, and what the archive has after it."""
    passes: dict[str, dict[str, Any]] = {}
    for mark in run.blocks.all():
        entry = passes.setdefault(mark.pass_name, {"candidates": 0, "verified": 0, "pairs": 0, "seconds": 0.0})
        entry["candidates"] += mark.candidates
        entry["verified"] += mark.verified
        entry["seconds"] = round(entry["seconds"] + mark.seconds, 3)
    found = Evidence.objects.found_by(run)
    for name, pairs in found.order_by().values_list("pass_name").annotate(Count("id")):
        if name in passes:  # the others are of dense groups, not of a pass
            passes[name]["pairs"] = pairs
    verdicts = Pair.objects.proposed().values_list("verdict").annotate(Count("id")).order_by()
    clusters, members = Cluster.objects.count(), Membership.objects.count()
    articles = Article.objects.count()
    return run.counts | {
        "articles": Article.objects.in_scope(scope.since, scope.until, scope.newspaper_ids).count(),
        "passes": passes,
        "pairs": found.values("pair").distinct().count(),
        "outdated": outdated_forms().count(),
        "verdicts": {verdict: dict(verdicts).get(verdict, 0) for verdict in Verdict.values},
        "clusters": clusters,
        "clustered_articles": members,
        "duplicate_articles": members - clusters,
        "duplicate_share": round((members - clusters) / articles, 6) if articles else 0.0,
        "contradictions": contradictions(),
        "dense_groups": DenseGroup.objects.count(),
        "dense_articles": DenseGroup.objects.aggregate(articles=Sum("size"))["articles"] or 0,
    }
