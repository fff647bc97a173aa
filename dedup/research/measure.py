"""How well verdicts, and each pass alone, agree with labelled pairs."""

from __future__ import annotations

import dataclasses
import datetime
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from django.db import connection

from articles.models import Article
from dedup.declarations import SettingEffect, make_config, settings_of
from dedup.detection.bounds import bound_named
from dedup.detection.passes import PASSES
from dedup.detection.passes.base import PassConfig
from dedup.detection.runs.facts import article_facts
from dedup.detection.runs.judging import features_of_pairs, model_in_use
from dedup.detection.runs.profiles import ProfileError, configs_of
from dedup.detection.types import Window
from dedup.detection.verdicts.model import LABELS, ModelError
from dedup.models import DetectionRun, Evidence, Pair, Verdict
from dedup.research import answers
from dedup.research.apart import Detected
from dedup.research.decided import IdPair
from dedup.research.labels import Label, in_parts

_FOLDS = 6
_LOOKED_UP_AT_ONCE = 2_000

Row = tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Judged:
    """A labelled pair with what is stored about it; `pair` is None if no pass proposes it."""

    found: Label
    left: Article
    right: Article
    pair: Pair | None = None
    passes: tuple[str, ...] = ()

    @property
    def ends(self) -> IdPair:
        """Return the ids of the two articles, the lower one first."""
        return (self.found.left, self.found.right)

    @property
    def days(self) -> int:
        """Return the days between the two: those of the label, or else those between the articles."""
        days = self.found.days
        return abs((self.left.date - self.right.date).days) if days is None else days

    @property
    def called(self) -> bool:
        """Return whether the verdict is duplicate."""
        return self.pair is not None and self.pair.verdict == Verdict.DUPLICATE

    @property
    def label(self) -> str:
        """Return the letter of the label."""
        return self.found.label

    @property
    def by_the_model(self) -> bool:
        """Return whether it was proposed and judged by the model, which never gives exactly 0; a rule does."""
        return self.pair is not None and self.pair.duplicate_probability != 0

    def answer(self, features: Mapping[IdPair, Row]) -> answers.Answer:
        """Return the stored verdict on it, and what another model needs, as far as that is among these features."""
        verdict, probability = (self.pair.verdict, self.pair.duplicate_probability) if self.pair else (None, None)
        own = features.get(self.ends)
        return answers.Answer(self.label, self.found.weight, self.days, verdict, probability, own, self.by_the_model)

    @property
    def labelled(self) -> answers.LabelledPair:
        """Return it as a pair to learn from."""
        later = max(self.left.date, self.right.date)
        return answers.LabelledPair((str(self.left.pk), str(self.right.pk)), later, self.label, self.found.weight)


def judged_pairs(found: Sequence[Label]) -> list[Judged]:
    """Return labelled pairs with what is stored about them."""
    judged = []
    for some in in_parts(found, _LOOKED_UP_AT_ONCE):
        ids = {article for label in some for article in (label.left, label.right)}
        articles = Article.objects.without_texts().select_related("newspaper").in_bulk(ids)
        pairs = {(pair.left_id, pair.right_id): pair for pair in Pair.objects.proposed().among(ids)}
        evidence = Evidence.objects.filter(pair__in=pairs.values(), stale=False)
        saying = set(evidence.values_list("pair", "pass_name"))
        for label in some:
            pair = pairs.get((label.left, label.right))
            passes = tuple(name for name in PASSES if pair and (pair.pk, name) in saying)
            judged.append(Judged(label, articles[label.left], articles[label.right], pair, passes))
    return judged


@dataclass(frozen=True, slots=True)
class Measured:
    """The report on a run, as JSON has it, and its labelled pairs for other models to judge."""

    report: dict[str, Any]
    samples: Sequence[answers.Answer]


def samples_of(found: Sequence[Label]) -> list[answers.Answer]:
    """Return labelled pairs with their features, to fit a model on."""
    judged = judged_pairs(found)
    features = features_of_pairs([pair.ends for pair in judged])
    return [pair.answer(features) for pair in judged]


def measured(
    what: Detected, articles: Path | None = None, *, cross_validated: bool, sampled: bool, thresholds: bool = False
) -> Measured:
    """Measure a run against its labelled pairs; `articles` is the file they were imported from for that.

    Without `sampled`, the samples have no features. With `thresholds`, every pass scores every labelled pair.
    """
    judged = judged_pairs(what.found)
    features = features_of_pairs([pair.ends for pair in judged]) if cross_validated or sampled else {}
    passes = [name for name in PASSES if what.run.config.get(name, {}).get("enabled")]
    result = {
        "about": about(what.run, articles),
        "run": run_facts(what.run, stored=articles is None),
        "labels": {
            "read": len(what.found) + len(what.problems),
            "bad": sum(problem.stored for problem in what.problems),
            "not_stored": sum(not problem.stored for problem in what.problems),
            **counts_of(judged),
            "problems": [asdict(problem) for problem in what.problems],
        },
        **report(judged, passes, features if cross_validated else None),
        "thresholds": _curves(judged, pass_scores(what.run, [pair.ends for pair in judged])) if thresholds else None,
    }
    return Measured(result, [pair.answer(features) for pair in judged])


def run_facts(run: DetectionRun, *, stored: bool) -> dict[str, Any]:
    """Return what a report says of the run that it measures; a run apart has no number."""
    return {
        "number": run.pk if stored else None,
        "finished_at": run.finished_at and run.finished_at.isoformat(timespec="seconds"),
        "profile": run.profile_name,
        "articles": run.counts.get("articles"),
        "pairs": run.counts.get("pairs"),
    }


def about(run: DetectionRun, articles: Path | None) -> str:
    """Return a sentence on the run, and on the file of articles that it ran on if they were not stored."""
    if articles is None:
        return f"Stored verdicts; the last run was run {run.pk}, finished {run.finished_at:%Y-%m-%d %H:%M} UTC."
    counts = run.counts
    return f"{counts['articles']:,} articles of {articles.name}, {counts['pairs']:,} pairs proposed."


def report(judged: Sequence[Judged], passes: Sequence[str], features: Mapping[IdPair, Row] | None) -> dict[str, Any]:
    """Return all numbers: shares in 0..1, null for a share of nothing, and 95% intervals.

    `passes` are those that took part. Pairs that no pass proposed count as not called. With the `features` of the
    pairs, models learnt from the labels of other dates are measured too.
    """
    strata = sorted({pair.found.stratum for pair in judged} - {""})
    files = dict.fromkeys(pair.found.file for pair in judged)
    wrong = [pair for pair in judged if pair.label in answers.COUNTED and pair.called != (pair.label == "D")]
    # False duplicates before missed ones, those with the largest weight first.
    wrong.sort(key=lambda pair: (not pair.called, -pair.found.weight, pair.found.line))
    return {
        **_scores(judged, passes),
        "within_3_days": _scores(_near(judged), passes),
        "cross_validated": None if features is None else _cross_validated(judged, features),
        "strata": {name: score_of([pair for pair in judged if pair.found.stratum == name]) for name in strata},
        "files": {
            name: {"verdict": score_of(own), "within_3_days": score_of(_near(own))}
            for name in files
            for own in [[pair for pair in judged if pair.found.file == name]]
        },
        "errors": [_error(pair) for pair in wrong],
    }


def counts_of(judged: Sequence[Judged]) -> dict[str, Any]:
    """Return the number of labelled pairs, by label, and how many of them some pass proposed."""
    by_label = Counter(pair.label for pair in judged)
    proposed = Counter(pair.label for pair in judged if pair.pair)
    return {
        "evaluated": len(judged),
        "by_label": {label: by_label[label] for label in LABELS},
        "proposed": {label: proposed[label] for label in LABELS},
        "within_3_days": sum(pair.days <= answers.NEAR_DAYS for pair in judged),
    }


def _scores(judged: Sequence[Judged], passes: Sequence[str]) -> dict[str, Any]:
    return {
        **answers.numbers_of([pair.answer({}) for pair in judged]),
        "passes": {name: score_of(judged, [name in pair.passes for pair in judged]) for name in passes},
    }


def _near(judged: Iterable[Judged]) -> list[Judged]:
    return [pair for pair in judged if pair.days <= answers.NEAR_DAYS]


def score_of(judged: Sequence[Judged], calls: Sequence[bool] | None = None) -> answers.NumbersByName:
    """Return the numbers of these calls, or else of the verdicts."""
    calls = [pair.called for pair in judged] if calls is None else calls
    return answers.score_numbers([pair.label for pair in judged], [pair.found.weight for pair in judged], calls)


# ---- thresholds ------------------------------------------------------------------------------------


def _curves(judged: Sequence[Judged], by_pass: Mapping[str, PassScores]) -> dict[str, Any]:
    """Return precision, recall and F1 by threshold: of the verdict's probability, and of each pass's score."""
    probabilities = {pair.ends: pair.pair.duplicate_probability or 0.0 for pair in judged if pair.pair}
    verdict = PassScores(probabilities, 0.05, model_in_use().threshold, enabled=True)
    return {
        "verdict": _curves_of(judged, verdict),
        "passes": {name: _curves_of(judged, scored) for name, scored in by_pass.items()},
    }


def _curves_of(judged: Sequence[Judged], scored: PassScores) -> dict[str, Any]:
    curves = {}
    for name, pairs in {"all": judged, "within_3_days": _near(judged)}.items():
        labels, weights = [pair.label for pair in pairs], [pair.found.weight for pair in pairs]
        found = [scored.scores.get(pair.ends) for pair in pairs]
        curves[name] = answers.threshold_curve(labels, weights, found, answers.grid(scored.lowest, scored.used))
    return {"used": scored.used, "enabled": scored.enabled, **curves}


# ---- cross-validation ------------------------------------------------------------------------------


def _cross_validated(judged: Sequence[Judged], features: Mapping[IdPair, Row]) -> dict[str, Any]:
    """Return the scores of verdicts by models fitted to these labels, each on other dates than those it judges.

    Pairs that no pass proposed are used for fitting too, but are not called duplicates.
    """
    known = [pair for pair in judged if pair.ends in features]
    rows = [features[pair.ends] for pair in known]
    reason = "the labelled pairs are from too few days; label pairs from more days"
    try:
        probabilities = answers.cross_validate([pair.labelled for pair in known], rows, folds=_FOLDS)
    except ModelError as error:
        probabilities, reason = {}, str(error)
    if not probabilities:
        return {"verdict": None, "within_3_days": None, "folds": 0, "reason": reason}
    threshold = model_in_use().threshold
    calls = {pair.ends: False for pair in judged if pair.ends not in features}
    for place, probability in probabilities.items():
        pair = known[place]
        calls[pair.ends] = probability >= threshold and pair.by_the_model
    tested = [pair for pair in judged if pair.ends in calls]
    near = _near(tested)
    return {
        "verdict": score_of(tested, [calls[pair.ends] for pair in tested]),
        "within_3_days": score_of(near, [calls[pair.ends] for pair in near]),
        "folds": _FOLDS,
    }


# ---- errors ----------------------------------------------------------------------------------------


def _error(judged: Judged) -> dict[str, Any]:
    label, pair = judged.found, judged.pair
    return {
        "kind": "false duplicate" if judged.called else "missed duplicate",
        "file": label.file,
        "line": label.line,
        "label": label.label,
        "weight": label.weight,
        "stratum": label.stratum,
        "days": judged.days,
        "articles": [article_facts(judged.left), article_facts(judged.right)],
        "verdict": pair.verdict if pair else None,
        "probability": pair.probability if pair else None,
        "duplicate_probability": pair.duplicate_probability if pair else None,
        "passes": list(judged.passes),
        "reasons": pair.reasons if pair else [],
    }


@dataclass(frozen=True, slots=True)
class PassScores:
    """The scores of pairs by one pass. A pair without one is found at no threshold that the pass allows.

    `lowest` is the lowest threshold that the pass allows, `used` that of the run; both are 1 for a pass without one.
    `enabled` says whether the pass took part in the run.
    """

    scores: dict[IdPair, float]
    lowest: float
    used: float
    enabled: bool


def pass_scores(run: DetectionRun, pairs: Collection[IdPair]) -> dict[str, PassScores]:
    """Return the scores that every pass gives pairs of stored articles, given in order of id, by the run's settings.

    A pass that did not take part has its default settings. Pairs further apart than the pass looks have no score. Rules
    of newspapers, and what a dense group leaves out, are not asked. Takes about a tenth of a second a pair.
    """
    window = Window(datetime.date.min, datetime.date.max, boilerplate=run.boilerplate)
    scores = {}
    for name in PASSES:
        try:
            config = configs_of({name: run.config.get(name, {"enabled": False})})[name]
        except ProfileError:  # its settings of then are none of today's
            config = configs_of({})[name]
        scores[name] = _scores_of(name, config, pairs, window)
    return scores


def _scores_of(name: str, config: PassConfig, pairs: Collection[IdPair], window: Window) -> PassScores:
    bound = bound_named(name, SettingEffect.FROM_SCORE)
    if bound is None:
        lowest = used = 1.0
    else:
        lowest, used = settings_of(type(config))[bound][1].minimum or 0.0, getattr(config, bound)
        config = make_config(type(config), dataclasses.asdict(config) | {bound: lowest})
    scores: dict[IdPair, float] = {}
    for left, right in pairs:
        found = PASSES[name].explain(left, right, window, config, connection)
        if found.proposed and found.score is not None:
            scores[left, right] = found.score
    return PassScores(scores, lowest, used, config.enabled)
