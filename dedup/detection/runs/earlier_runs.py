"""What a run says of pairs that earlier runs found: nothing of those that its own settings would not find."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import Exists, OuterRef

from articles.boilerplate.mode import Mode
from articles.models import Newspaper
from dedup.declarations import SettingEffect, settings_of
from dedup.detection.bounds import Bounds, Rules, bounds_of, general_bounds
from dedup.detection.passes import PASSES
from dedup.detection.passes.base import PassConfig
from dedup.detection.runs.scope import Scope
from dedup.models import DetectionRun, Evidence


@dataclass(frozen=True, slots=True)
class EarlierRuns:
    """The numbers of the runs whose evidence of a pass is current, by how their settings compare with others.

    Those with the `same` settings and rules, and those with `comparable` ones: what they found is found again, if it is
    inside the bounds. Of the evidence of any other run, nothing can be said.
    """

    same: list[int]
    comparable: list[int]


def earlier_runs(pass_name: str, config: PassConfig, scope: Scope) -> EarlierRuns:
    """Return the runs that a run of a pass with these settings can be compared with."""
    found = Evidence.objects.filter(run=OuterRef("pk"), pass_name=pass_name, stale=False)
    runs = DetectionRun.objects.filter(Exists(found)).order_by("pk").values_list("pk", "config", "scope")
    rules = scope.stored()["rules"]
    same, comparable = [], []
    for number, configs, of_run in runs:
        used = configs.get(pass_name, {})
        if PASSES[pass_name].compares_texts and of_run.get("boilerplate", Mode.KEEP) != scope.boilerplate.value:
            continue
        if _is_same(config, used) and of_run.get("rules", []) == rules:
            same.append(number)
        elif config.comparable(used):
            comparable.append(number)
    return EarlierRuns(same, comparable)


def _is_same(config: PassConfig, used: Mapping[str, Any]) -> bool:
    """Return whether settings of an earlier run are these, apart from those that find the same with any value."""
    chosen = dataclasses.asdict(config)
    declared = settings_of(type(config)).items()
    return all(
        declared_setting.effect is SettingEffect.SAME or chosen[name] == used.get(name, field.default)
        for name, (field, declared_setting) in declared
    )


def judged_by(pass_name: str, config: PassConfig, scope: Scope) -> dict[str, Any]:
    """Return of which evidence a run of a pass can say that it is no longer found, as parameters of an SQL statement.

    Bounds of pairs of newspapers come as arrays, a place for each pair.
    """
    runs = earlier_runs(pass_name, config, scope)
    general = general_bounds(config)
    own = list(_own_bounds(pass_name, config, scope.rules))
    return {
        "same_runs": runs.same,
        "comparable_runs": runs.comparable,
        "hides": general.retired,
        "lowest_score": general.lowest_score,
        "most_days_apart": general.most_days,
        "firsts": [first for first, _, _ in own],
        "seconds": [second for _, second, _ in own],
        # No pair that is left out reaches this score.
        "lowest_scores": [2.0 if bounds.left_out else bounds.lowest_score for _, _, bounds in own],
        "most_days": [bounds.most_days for _, _, bounds in own],
        "hiding": [bounds.retired for _, _, bounds in own],
    }


def _own_bounds(pass_name: str, config: PassConfig, rules: Rules) -> Iterator[tuple[int, int, Bounds]]:
    """Yield the bounds of every two newspapers that a rule is about, by their ids, the smaller one first."""
    newspapers = list(Newspaper.objects.values_list("pk", flat=True)) if rules else []
    pairs = {
        (min(rule.newspaper_id, other), max(rule.newspaper_id, other))
        for rule in rules
        for other in ([rule.other_id] if rule.other_id else newspapers)
    }
    for first, second in sorted(pairs):
        yield first, second, bounds_of(pass_name, config, rules, first, second)
