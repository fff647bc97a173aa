"""Turns a Profile row, or the options of a command, into validated configs of the passes, and these into a snapshot."""

import dataclasses
from collections.abc import Collection, Mapping
from typing import Any

from django.db.models import Prefetch

from articles.models import Newspaper
from dedup.declarations import ConfigError, SettingEffect, make_config, settings_of
from dedup.detection.bounds import Rule, Rules, bound_named
from dedup.detection.passes import PASSES
from dedup.detection.passes.base import PassConfig
from dedup.models import Profile, ProfileRule

Configs = dict[str, PassConfig]


class ProfileError(ValueError):
    """A profile, or an option that overrides it, is invalid; the message names the value, the bound and the remedy."""


def default_profile() -> Profile:
    """Return the profile that is used when none is named. Raises ProfileError if there is none."""
    profile = Profile.objects.filter(is_default=True).first()
    if profile is None:
        raise ProfileError("no profile is the default; tick “is default” on the page of one, or name a profile")
    return profile


def profile_named(name: str) -> Profile:
    """Return the profile with this name. Raises ProfileError, which lists the existing ones."""
    try:
        return Profile.objects.get(name=name)
    except Profile.DoesNotExist:
        names = ", ".join(Profile.objects.values_list("name", flat=True))
        raise ProfileError(f"no profile is named {name!r}; known profiles: {names or 'none'}") from None


def configs_of(settings: Mapping[str, Mapping[str, Any]]) -> Configs:
    """Return the config of every pass, in the order of a run: the defaults, overridden by the stored settings.

    Raises ProfileError for an unknown pass or setting and for a value out of range.
    """
    if not isinstance(settings, Mapping):
        raise ProfileError(f"the settings of a profile are {settings!r}; they must be a JSON object of passes")
    for name, values in settings.items():
        _check_pass(name)
        if not isinstance(values, Mapping):
            raise ProfileError(f"{name}: the settings are {values!r}; they must be a JSON object of values")
    return {name: _make(name, dict(settings.get(name, {}))) for name in PASSES}


def rules_of(profile: Profile) -> Rules:
    """Return the rules of a profile. Raises ProfileError for what a rule cannot set and for a value out of range.

    For a newspaper that was merged, the one that has its articles now is used; for a collection, its newspapers now.
    """
    collections = ("collection", "other_collection")
    papers = (Prefetch(f"{side}__newspapers", Newspaper.objects.in_use()) for side in collections)
    rows = profile.rules.select_related("newspaper__merged_into", "other__merged_into", *collections)
    rows = rows.prefetch_related(*papers)
    return tuple(_rule(row) for row in rows)


def _rule(row: ProfileRule) -> Rule:
    configs_of(row.settings)
    for name, values in row.settings.items():
        bounds = [bound_named(name, effect) for effect in (SettingEffect.FROM_SCORE, SettingEffect.WITHIN_DAYS)]
        for setting in values:
            if setting not in bounds:
                raise ProfileError(f"{name}: a rule cannot set {setting}; it sets the lowest score and the most days")
    sides = [side.current if isinstance(side, Newspaper) else side for side in row.sides]
    papers = [[side] if isinstance(side, Newspaper) else list(side.newspapers.all()) for side in sides]
    members = [
        None if isinstance(side, Newspaper) else sorted(map(str, own)) for side, own in zip(sides, papers, strict=True)
    ]
    return Rule(
        [frozenset(paper.pk for paper in own) for own in papers],
        list(map(str, sides)),
        members,
        row.settings,
        row.left_out,
        row.retired,
    )


def snapshot(configs: Configs) -> dict[str, dict[str, Any]]:
    """Return every setting of every pass in the form stored with a run."""
    return {name: dataclasses.asdict(config) for name, config in configs.items()}


def choose_passes(configs: Configs, names: Collection[str]) -> Configs:
    """Return the configs with only these passes enabled. Raises ProfileError."""
    for name in names:
        _check_pass(name)
    return {name: dataclasses.replace(config, enabled=name in names) for name, config in configs.items()}


def override(configs: Configs, setting: str, value: Any, *, only: str | None = None) -> Configs:
    """Return the configs with a setting changed in one pass, or in every pass that has it. Raises ProfileError."""
    if only is not None:
        _check_pass(only)
        if setting not in settings_of(type(configs[only])):
            having = ", ".join(name for name, config in configs.items() if setting in settings_of(type(config)))
            raise ProfileError(f"the pass {only!r} has no setting {setting}; these passes have it: {having}")
    chosen = [only] if only else [name for name, config in configs.items() if setting in settings_of(type(config))]
    changed = {name: _make(name, {**dataclasses.asdict(configs[name]), setting: value}) for name in chosen}
    return configs | changed


def enabled(configs: Configs) -> Configs:
    """Return the configs of the enabled passes."""
    return {name: config for name, config in configs.items() if config.enabled}


def ran_or_retired(configs: Configs, passes: Collection[str] | None) -> Configs:
    """Return the configs of the passes that a run says something about: the enabled and the retired ones.

    A run of some `passes` says nothing about the others; None means all.
    """
    return {
        name: config
        for name, config in configs.items()
        if config.enabled or (config.retired and (passes is None or name in passes))
    }


def _check_pass(name: str) -> None:
    if name not in PASSES:
        raise ProfileError(f"there is no pass {name!r}; the passes are {', '.join(PASSES)}")


def _make(name: str, values: dict[str, Any]) -> PassConfig:
    try:
        return make_config(PASSES[name].config_class, values)
    except ConfigError as error:
        raise ProfileError(f"{name}: {error}") from error
