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
    """What holds for the pairs of one side with any newspaper, or of two sides, instead of the profile's bounds.

    A side is a newspaper or a collection, as the ids of its newspapers; in the same place, `names` has its name, and
    `members` the names of the newspapers of a collection, None for a newspaper. `settings` has lowest scores and most
    days by pass. Pairs that are `left_out` are not proposed. With `retired`, pairs that these bounds would not find are
    hidden, although earlier runs found them.
    """

    sides: Sequence[frozenset[int]]
    names: Sequence[str]
    members: Sequence[list[str] | None]
    settings: Mapping[str, Mapping[str, float]] = dataclasses.field(default_factory=dict)
    left_out: bool = False
    retired: bool = False

    def applies(self, first: int, second: int) -> bool:
        """Return whether the rule is about pairs of these two newspapers, by their ids, which may be equal."""
        if len(self.sides) == 1:
            return first in self.sides[0] or second in self.sides[0]
        one, other = self.sides
        return (first in one and second in other) or (second in one and first in other)

    @property
    def rank(self) -> int:
        """How particular it is: two newspapers 6, one with a collection 4, one 3, two collections 2, one 1."""
        return sum(3 if members is None else 1 for members in self.members)

    def stored(self) -> dict[str, Any]:
        """Return the rule in the form stored with a run, so that a collection with other newspapers is another one."""
        return {
            "newspapers": list(self.names),
            **({"members": list(self.members)} if any(own is not None for own in self.members) else {}),
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
    return _bound_in(PASSES[pass_name].config_class, effect)  # type: ignore[arg-type]  # a class can be hashed


def _bounds_in(config: PassConfig) -> tuple[str | None, str | None]:
    """Return the names of the settings for the lowest score and the most days apart."""
    config_class: Any = type(config)
    return _bound_in(config_class, SettingEffect.FROM_SCORE), _bound_in(config_class, SettingEffect.WITHIN_DAYS)


@cache  # a run asks for every two newspapers
def _bound_in(config_class: type[PassConfig], effect: SettingEffect) -> str | None:
    declared = settings_of(config_class).items()
    return next((name for name, (_, declared_setting) in declared if declared_setting.effect is effect), None)


def bounds_of(pass_name: str, config: PassConfig, rules: Rules, first: int, second: int) -> Bounds:
    """Return the bounds for pairs of two newspapers, by their ids, which may be equal.

    Of the rules that apply, those of the highest rank replace the others. A pair must satisfy all of these; what one
    of them does not set is up to the others. What none of them sets is as in the config.
    """
    general = general_bounds(config)
    applying = [rule for rule in rules if rule.applies(first, second)]
    highest = max((rule.rank for rule in applying), default=0)
    own = [rule for rule in applying if rule.rank == highest]
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
