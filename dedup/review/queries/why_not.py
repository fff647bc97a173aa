"""Why the passes propose two articles, or not: the settings of the default profile, and what the last run found."""

from __future__ import annotations

import dataclasses
import datetime
import json
from collections.abc import Collection
from dataclasses import dataclass

from django.db import connection

from articles.boilerplate.mode import Mode
from articles.models import Article
from dedup.detection.bounds import Rules, bounded, bounds_of, general_bounds, widened
from dedup.detection.judging.judge import JudgedRow
from dedup.detection.passes import PASSES
from dedup.detection.passes.base import Explanation, PassConfig
from dedup.detection.passes.exact import ExactPass
from dedup.detection.runs.judging import judged_now
from dedup.detection.runs.profiles import configs_of, rules_of
from dedup.detection.types import Window
from dedup.models import CrowdedArticle, DetectionRun, Evidence, Profile, Verdict


@dataclass(frozen=True, slots=True)
class PassRow:
    """What a pass says of two articles. `state`: proposed, next run, left out, or off in the profile."""

    name: str
    state: str
    why: str
    score: float | None
    threshold: float | None


@dataclass(frozen=True)
class Explained:
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
    facts, window = _Facts.of(left, right), _window()
    rows = [
        _row(name, config, _explanation(name, config, rules, window, left, right), facts, profile)
        for name, config in configs.items()
    ]
    return Explained(profile, rows, judgement_now(left, right, profile))


def _explanation(
    name: str, config: PassConfig, rules: Rules, window: Window, left: Article, right: Article
) -> Explanation:
    """Return why a pass proposes two articles, by the bounds of their newspapers."""

    def explain(by: PassConfig) -> Explanation:
        return PASSES[name].explain(left.pk, right.pk, window, by, connection)

    bounds = bounds_of(name, config, rules, left.newspaper_id, right.newspaper_id)
    own = explain(bounded(name, config, bounds))
    if bounds.left_out:
        return dataclasses.replace(own, proposed=False, why="A rule of the profile leaves out these newspapers.")
    if bounds == general_bounds(name, config) and not rules:
        return own
    # The pass runs at the loosest bounds of all rules; pairs outside their own ones are left out then.
    loosest = explain(widened(name, config, rules))
    proposed = loosest.proposed and bounds.allow(loosest.score or 0.0, abs((left.date - right.date).days))
    said = own if own.proposed == proposed else loosest
    ruled = bounds != general_bounds(name, config)
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
    return judged_now(
        left.pk,
        right.pk,
        versions_join=profile.versions_join,
        boilerplate=window.boilerplate,
        leftover=leftover,
    )


def _window() -> Window:
    """Return all days, with or without boilerplate as the last run compared."""
    last = DetectionRun.objects.filter(state=DetectionRun.State.DONE).first()
    boilerplate = last.boilerplate if last else Mode.KEEP
    return Window(datetime.date.min, datetime.date.max, boilerplate=boilerplate)


@dataclass(frozen=True, slots=True)
class _Facts:
    """What runs have stored of two articles: the passes with evidence, and those that found both crowded."""

    proposed: Collection[str]
    crowded: Collection[str]

    @classmethod
    def of(cls, left: Article, right: Article) -> _Facts:
        evidence = Evidence.objects.filter(pair__left=left, pair__right=right, stale=False)
        crowded = [
            set(CrowdedArticle.objects.filter(article=each).values_list("pass_name", flat=True))
            for each in (left, right)
        ]
        return cls(set(evidence.values_list("pass_name", flat=True)), crowded[0] & crowded[1])


def _row(name: str, config: PassConfig, found: Explanation, facts: _Facts, profile: Profile) -> PassRow:
    state, why = "left out", found.why
    if name in facts.proposed:
        state = "proposed"
        if not (found.proposed and config.enabled):
            why = f"The last run proposed them. With the settings and articles of now it would not: {why}"
    elif not config.enabled:
        state = "off"
        why = f"Off in the profile “{profile}”. {why}"
    elif found.proposed and name in facts.crowded:
        why = f"{why} But both are in a dense group, of which only the most similar pairs are kept."
    elif found.proposed:
        state, why = "next run", f"{why} No run has proposed them so far; the next run over these days will."
    return PassRow(name, state, why, found.score, found.threshold)
