"""What every pass gives labelled pairs, computed afresh: below the threshold of the run too, and by passes left out."""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Collection
from dataclasses import dataclass

from django.db import connection

from dedup.declarations import Finds, make_config, settings_of
from dedup.detection.bounds import bound_named
from dedup.detection.passes import PASSES
from dedup.detection.passes.base import PassConfig
from dedup.detection.runs.profiles import Configs, ProfileError, configs_of
from dedup.detection.types import Window
from dedup.models import DetectionRun

Ends = tuple[int, int]


@dataclass(frozen=True, slots=True)
class PassScores:
    """The scores of pairs by one pass. A pair without one is found at no threshold that the pass allows.

    `lowest` is the lowest threshold that the pass allows, `used` that of the run; both are 1 for a pass without one.
    `enabled` says whether the pass took part in the run.
    """

    scores: dict[Ends, float]
    lowest: float
    used: float
    enabled: bool


def pass_scores(run: DetectionRun, pairs: Collection[Ends]) -> dict[str, PassScores]:
    """Return the scores that every pass gives pairs of stored articles, given in order of id, by the run's settings.

    A pass that did not take part has its default settings. Pairs further apart than the pass looks have no score. Rules
    of newspapers, and what a dense group leaves out, are not asked. Takes about a tenth of a second a pair.
    """
    window = Window(datetime.date.min, datetime.date.max, boilerplate=run.boilerplate)
    return {name: _scores_of(name, config, pairs, window) for name, config in _configs_of(run).items()}


def _configs_of(run: DetectionRun) -> Configs:
    """Return the run's settings; the defaults for a pass whose settings of then are none of today's."""
    configs: Configs = {}
    for name in PASSES:
        try:
            configs[name] = configs_of({name: run.config.get(name, {"enabled": False})})[name]
        except ProfileError:
            configs[name] = configs_of({})[name]
    return configs


def _scores_of(name: str, config: PassConfig, pairs: Collection[Ends], window: Window) -> PassScores:
    bound = bound_named(name, Finds.FROM_SCORE)
    if bound is None:
        lowest = used = 1.0
    else:
        lowest, used = settings_of(type(config))[bound][1].minimum or 0.0, getattr(config, bound)
        config = make_config(type(config), dataclasses.asdict(config) | {bound: lowest})
    scores: dict[Ends, float] = {}
    for left, right in pairs:
        found = PASSES[name].explain(left, right, window, config, connection)
        if found.proposed and found.score is not None:
            scores[left, right] = found.score
    return PassScores(scores, lowest, used, config.enabled)
