"""Why a pair has its verdict, and why the passes propose two articles, or not."""

from __future__ import annotations

import dataclasses
import datetime
import json
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from django.db import connection

from articles.models import Article
from dedup.detection.bounds import Rules, bounded, bounds_of, general_bounds, widened
from dedup.detection.judging.judge import JudgedRow
from dedup.detection.passes import PASSES
from dedup.detection.passes.base import Explanation, PassConfig
from dedup.detection.passes.exact import ExactPass
from dedup.detection.runs.judging import JudgedNow, boilerplate_of_last_run, judge_now, judged_now
from dedup.detection.runs.profiles import configs_of, rules_of
from dedup.detection.types import VerdictKind, Window
from dedup.detection.verdicts.reasons import Step, shares_of, steps_of
from dedup.detection.verdicts.verdict import kind_of
from dedup.models import CrowdedArticle, Evidence, Pair, Profile, Verdict

# Stored and calculated probabilities that differ by no more are the same.
_SAME = 0.005
_ASKED = {
    "duplicate": "Are they duplicates?",
    "template": "If not: is it one form with other facts?",
    "version": "If neither: are they versions of one article?",
}
# Of the questions after the first one, those that decide about a verdict.
_DECIDING = {
    VerdictKind.DUPLICATE: ("duplicate",),
    VerdictKind.TEMPLATE: ("duplicate", "template"),
    VerdictKind.VERSION: ("duplicate", "template", "version"),
    VerdictKind.SIMILAR: ("duplicate", "template", "version"),
}


class Bar(NamedTuple):
    """A step of a waterfall and its bar, from `x` on and `width` wide, on a scale of 0..100."""

    step: Step
    x: str
    width: str


class Waterfall(NamedTuple):
    """The sum behind the answer to one question. `half`: where on the scale of the bars the chance is one half."""

    title: str
    bars: list[Bar]
    half: str
    points: float
    probability: float


def why(pair: Pair) -> dict[str, Any]:
    """Return what a pair's verdict rests on, as the next run would judge it; nothing if that cannot be calculated."""
    exact = pair.evidence.filter(pass_name=ExactPass.name, stale=False).first()
    now = judge_now(pair.left_id, pair.right_id, leftover=exact.details.get("leftover", 0) if exact else 0)
    if now is None:
        return {}
    probabilities = now.model.probabilities(now.features)
    by_model = kind_of(probabilities, now.model.threshold)
    judged = (now.judgement.kind, now.judgement.probability)
    labels = {kind.value: kind.value for kind in VerdictKind}
    return {
        "differs": _differs(pair, now),  # from what is stored
        "by_rule": "" if judged == by_model else now.judgement.reasons[0],  # why the model was not asked
        "threshold": now.model.threshold,
        "shares": shares_of(labels, [getattr(probabilities, kind) for kind in labels]),
        "waterfalls": list(_waterfalls(now, by_model[0])),
    }


def _differs(pair: Pair, now: JudgedNow) -> bool:
    stored = (pair.probability or 0.0, pair.duplicate_probability or 0.0)
    calculated = (now.judgement.probability, now.judgement.duplicate_probability)
    apart = max(abs(one - other) for one, other in zip(stored, calculated, strict=True))
    return bool(pair.verdict) and (pair.verdict != now.judgement.kind or apart > _SAME)


def _waterfalls(now: JudgedNow, kind: VerdictKind) -> Iterator[Waterfall]:
    for name in _DECIDING[kind]:
        asked = now.model.questions[name]
        yield _waterfall(_ASKED[name], steps_of(asked, now.features), asked.probability(now.features))


def _waterfall(title: str, steps: Sequence[Step], probability: float) -> Waterfall:
    reached = [0.0, *(step.after for step in steps)]
    low, high = min(reached) - 0.5, max(reached) + 0.5

    def place(points: float) -> float:
        return 100 * (points - low) / (high - low)

    def bar(step: Step) -> Bar:
        start, end = sorted((place(step.before), place(step.after)))
        return Bar(step, f"{start:.2f}", f"{end - start:.2f}")

    return Waterfall(title, [bar(step) for step in steps], f"{place(0):.2f}", steps[-1].after, probability)


class PassRow(NamedTuple):
    """What a pass says of two articles. `state`: proposed, next run, left out, or off in the profile."""

    name: str
    state: str
    why: str
    score: float | None
    threshold: float | None


class Explained(NamedTuple):
    """What every pass says of two articles, and what the full comparison says of them now."""

    profile: Profile
    rows: list[PassRow]
    judged: JudgedRow

    @property
    def verdict(self) -> str:
        """The name of the verdict, for the page."""
        return Verdict(self.judged.verdict).label

    @property
    def reasons(self) -> list[str]:
        """The reasons for the verdict."""
        reasons: list[str] = json.loads(self.judged.reasons)
        return reasons

    @property
    def proposing(self) -> int:
        """The number of passes that propose the two articles."""
        return sum(row.state == "proposed" for row in self.rows)


def explained(left: Article, right: Article, profile: Profile) -> Explained:
    """Return why the passes of a profile propose two articles, given in order of id, or not.

    Raises ProfileError if the settings of the profile are not valid. With the containment or the sentence pass it reads
    the shingles of all articles.
    """
    configs, rules = configs_of(profile.settings), rules_of(profile)
    window = _window()
    proposed, hubs_in = _stored_of(left, right)
    found = {name: _explanation(name, config, rules, window, left, right) for name, config in configs.items()}
    rows = [
        _row(name, configs[name], said, profile, is_stored=name in proposed, is_crowded=name in hubs_in)
        for name, said in found.items()
    ]
    return Explained(profile, rows, judgement_now(left, right, profile))


def _explanation(
    name: str, config: PassConfig, rules: Rules, window: Window, left: Article, right: Article
) -> Explanation:
    """Return why a pass proposes two articles, by the bounds of their newspapers."""

    def explain(by: PassConfig) -> Explanation:
        return PASSES[name].explain(left.pk, right.pk, window, by, connection)

    bounds = bounds_of(name, config, rules, left.newspaper_id, right.newspaper_id)
    own = explain(bounded(config, bounds))
    if bounds.left_out:
        return dataclasses.replace(own, proposed=False, why="A rule of the profile leaves out these newspapers.")
    if bounds == general_bounds(config) and not rules:
        return own
    # The pass runs at the loosest bounds of all rules; pairs outside their own ones are left out then.
    loosest = explain(widened(name, config, rules))
    proposed = loosest.proposed and bounds.allow(loosest.score or 0.0, abs((left.date - right.date).days))
    said = own if own.proposed == proposed else loosest
    ruled = bounds != general_bounds(config)
    why = f"{said.why} A rule of the profile sets other bounds for these newspapers." if ruled else said.why
    return dataclasses.replace(said, proposed=proposed, why=why, threshold=own.threshold)


def judgement_now(left: Article, right: Article, profile: Profile) -> JudgedRow:
    """Return the verdict that a run with this profile would give two articles, given in order of id.

    Raises ProfileError if the settings of the profile are not valid.
    """
    window, exact = _window(), configs_of(profile.settings)[ExactPass.name]
    leftover = 0
    if exact.enabled:
        found = PASSES[ExactPass.name].explain(left.pk, right.pk, window, exact, connection)
        leftover = found.evidence.get("leftover", 0)
    joins, mode = profile.versions_join, window.boilerplate
    return judged_now(left.pk, right.pk, versions_join=joins, boilerplate=mode, leftover=leftover)


def _window() -> Window:
    """Return all days, with or without boilerplate as the last run compared."""
    return Window(datetime.date.min, datetime.date.max, boilerplate=boilerplate_of_last_run())


def _stored_of(left: Article, right: Article) -> tuple[set[str], set[str]]:
    """Return the passes with evidence of two articles, and those that found both to be hubs."""
    evidence = Evidence.objects.filter(pair__left=left, pair__right=right, stale=False)
    one, other = (
        set(CrowdedArticle.objects.filter(article=article).values_list("pass_name", flat=True))
        for article in (left, right)
    )
    return set(evidence.values_list("pass_name", flat=True)), one & other


def _row(
    name: str, config: PassConfig, found: Explanation, profile: Profile, *, is_stored: bool, is_crowded: bool
) -> PassRow:
    state, why = "left out", found.why
    if is_stored:
        state = "proposed"
        if not (found.proposed and config.enabled):
            why = f"The last run proposed them. With the settings and articles of now it would not: {why}"
    elif not config.enabled:
        state = "off"
        why = f"Off in the profile “{profile}”. {why}"
    elif found.proposed and is_crowded:
        why = f"{why} But both are in a dense group, of which only the most similar pairs are kept."
    elif found.proposed:
        state, why = "next run", f"{why} No run has proposed them so far; the next run over these days will."
    return PassRow(name, state, why, found.score, found.threshold)
