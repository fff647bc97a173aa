"""The bounds of a profile and its rules: newspapers, and pairs of newspapers, with windows and thresholds of their own.

A pass runs once for all newspapers, at the loosest of the bounds that apply to any of them; then the pairs that their
own bounds do not allow are left out. Pure.
"""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

from dedup.declarations import SettingEffect, settings_of
from dedup.detection.passes import PASSES
from dedup.detection.passes.base import PassConfig

# More days than there are between any two articles.
ANY_DAYS = 10_000_000


@dataclass(frozen=True, slots=True)
class Rule:
    """What holds for the pairs of a newspaper with any other, or of two newspapers, instead of the profile's bounds.

    Without `other_id` it is about pairs with any newspaper. `settings` has lowest scores and most days by pass. Pairs
    that are `left_out` are not proposed. With `retired`, pairs that these bounds would not find are hidden, although
    earlier runs found them.
    """

    newspaper_id: int
    other_id: int | None = None
    names: tuple[str, ...] = ()
    settings: Mapping[str, Mapping[str, float]] = dataclasses.field(default_factory=dict)
    left_out: bool = False
    retired: bool = False

    def applies(self, first: int, second: int) -> bool:
        """Return whether the rule is about pairs of these two newspapers, by their ids, which may be equal."""
        if self.other_id is None:
            return self.newspaper_id in (first, second)
        return {self.newspaper_id, self.other_id} == {first, second}

    def stored(self) -> dict[str, Any]:
        """Return the rule in the form stored with a run."""
        return {
            "newspapers": list(self.names),
            "left_out": self.left_out,
            "retired": self.retired,
            "settings": {name: dict(values) for name, values in self.settings.items()},
        }


Rules = Sequence[Rule]


@dataclass(frozen=True, slots=True)
class Bounds:
    """Which pairs of two newspapers a pass may propose: the lowest score, and the most days apart."""

    lowest_score: float = 0.0
    most_days: float = ANY_DAYS
    left_out: bool = False
    retired: bool = False

    def allow(self, score: float, days_apart: int) -> bool:
        """Return whether a pair is inside the bounds, which belong to it."""
        return not self.left_out and score >= self.lowest_score and days_apart <= self.most_days


def bound_named(pass_name: str, effect: SettingEffect) -> str | None:
    """Return the name of the setting that bounds a pass in this way, or None: the pass has no such bound."""
    return _bound_in(PASSES[pass_name].config_class, effect)


def _bounds_in(config: PassConfig) -> tuple[str | None, str | None]:
    """Return the names of the settings for the lowest score and the most days apart."""
    return _bound_in(type(config), SettingEffect.FROM_SCORE), _bound_in(type(config), SettingEffect.WITHIN_DAYS)


def _bound_in(config_class: type[PassConfig], effect: SettingEffect) -> str | None:
    declared = settings_of(config_class).items()
    return next((name for name, (_, declared_setting) in declared if declared_setting.effect is effect), None)


def bounds_of(pass_name: str, config: PassConfig, rules: Rules, first: int, second: int) -> Bounds:
    """Return the bounds for pairs of two newspapers, by their ids, which may be equal.

    A rule about both newspapers replaces rules about one of them. If both have a rule, a pair must satisfy both; what
    one of them does not set is up to the other one. What no rule sets is as in the config.
    """
    general = general_bounds(config)
    applying = [rule for rule in rules if rule.applies(first, second)]
    own = [rule for rule in applying if rule.other_id] or applying
    score, days = _bounds_in(config)
    return Bounds(
        max(_set_by(own, pass_name, score), default=general.lowest_score),
        min(_set_by(own, pass_name, days), default=general.most_days),
        left_out=any(rule.left_out for rule in own),
        retired=config.retired or any(rule.retired for rule in own),
    )


def general_bounds(config: PassConfig) -> Bounds:
    """Return the bounds for pairs of newspapers without a rule."""
    score, days = _bounds_in(config)
    return Bounds(
        getattr(config, score) if score else 0.0, getattr(config, days) if days else ANY_DAYS, retired=config.retired
    )


def _set_by(rules: Rules, pass_name: str, name: str | None) -> list[float]:
    values = (rule.settings.get(pass_name, {}).get(name or "") for rule in rules)
    return [value for value in values if value is not None]


def widened(pass_name: str, config: PassConfig, rules: Rules) -> PassConfig:
    """Return the config with the loosest bounds of its own and of all rules."""
    changes: dict[str, Any] = {
        name: loosest([getattr(config, name), *_set_by(rules, pass_name, name)])
        for name, loosest in zip(_bounds_in(config), (min, max), strict=True)
        if name
    }
    return dataclasses.replace(config, **changes)


def bounded(config: PassConfig, bounds: Bounds) -> PassConfig:
    """Return the config with these bounds, as far as the pass has them."""
    values = zip(_bounds_in(config), (bounds.lowest_score, bounds.most_days), strict=True)
    changes: dict[str, Any] = {name: value for name, value in values if name}
    return dataclasses.replace(config, **changes)


def bounds_between(pass_name: str, config: PassConfig, rules: Rules) -> Callable[[int, int], Bounds]:
    """Return a function from two newspapers to the bounds of their pairs, which it remembers."""
    bounds = cache(partial(bounds_of, pass_name, config, rules))
    return lambda one, other: bounds(min(one, other), max(one, other))
