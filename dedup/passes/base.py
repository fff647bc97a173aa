"""The contract of a detection pass, and the declaration of settings: those of passes and the options of reports."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Any, ClassVar, Protocol, TypeVar

from dedup.types import Candidate, Tally, Window


class ConfigError(ValueError):
    """A setting is out of its range; the message names the setting, the value and the range."""


@dataclass(frozen=True, slots=True)
class Setting:
    """What is declared about one field: forms, commands, docs and tests read it here."""

    help: str
    unit: str
    source: str
    minimum: float | None = None
    maximum: float | None = None


def setting(default: Any, *, help: str, unit: str, source: str, range: tuple[float, float] | None = None) -> Any:  # noqa: A002
    """Declare a field of a config dataclass with its default, unit, inclusive range, help and source."""
    minimum, maximum = range or (None, None)
    declared = Setting(help=help, unit=unit, source=source, minimum=minimum, maximum=maximum)
    return dataclasses.field(default=default, metadata={"setting": declared})


@dataclass(frozen=True, slots=True)
class Settings:
    """A dataclass whose fields are all made by `setting`; their values are checked when one is made."""

    def __post_init__(self) -> None:
        for each in dataclasses.fields(self):
            _check(each.name, getattr(self, each.name), type(each.default), each.metadata["setting"])


AnySettings = TypeVar("AnySettings", bound=Settings)


@dataclass(frozen=True, slots=True)
class PassConfig(Settings):
    """The settings every pass has; a subclass adds its own."""

    enabled: bool = setting(
        True, help="Whether the pass is part of a run.", unit="yes or no", source="a choice of each installation"
    )


@dataclass(frozen=True, slots=True)
class NearConfig(PassConfig):
    """The settings every pass has that judges a pair by its two articles alone, within a window of days."""

    day_window: int = setting(
        3,
        range=(0, 365),
        unit="days, inclusive",
        help="Two articles are compared when their days of publication are at most this far apart.",
        source="Skoli: less than three days, both numbers configurable",
    )


def settings_of(config: type[Settings]) -> dict[str, tuple[dataclasses.Field[Any], Setting]]:
    """Return the fields of a config class by name, each with what is declared about it."""
    return {each.name: (each, each.metadata["setting"]) for each in dataclasses.fields(config)}


def make_config(config: type[AnySettings], values: dict[str, Any]) -> AnySettings:
    """Return a config with these values over the defaults. Raises ConfigError for unknown names and bad values."""
    known = settings_of(config)
    for name in values:
        if name not in known:
            raise ConfigError(f"there is no setting {name!r}; the settings are {', '.join(known) or 'none'}")
    return config(**values)


def _check(name: str, value: Any, kind: type[Any], declared: Setting) -> None:
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        value = float(value)
    if type(value) is not kind:
        raise ConfigError(f"{name} is {value!r}; it must be of type {kind.__name__} ({declared.unit})")
    if declared.minimum is None or declared.maximum is None:
        return
    # Written so that NaN, which compares with nothing, is refused too.
    if not declared.minimum <= value <= declared.maximum:
        raise ConfigError(
            f"{name} is {value}; it must be from {declared.minimum:g} to {declared.maximum:g} ({declared.unit})"
        )


class Connection(Protocol):
    """What a pass may ask of a database connection: cursors, as Django's connection gives them."""

    def cursor(self) -> Any: ...


class Reach(Enum):
    """What decides on a pair, and so what has to be compared again when articles come or change."""

    PAIR = "its two articles alone"
    WINDOW = "all articles of the window"
    STORE = "all articles of the scope"


class Pass(Protocol):
    """One way to find pairs of articles that may be duplicates.

    `find` streams the candidates of a window: each pair once, the smaller id left, scores in 0..1, the
    same answer for the same articles every time. It reads no settings and no clock, and writes nothing
    but temporary tables. What it tells of its work goes to the tally.
    """

    name: ClassVar[str]
    label: ClassVar[str]
    # What it proposes with its default settings, in a few words.
    proposes: ClassVar[str]
    # Whether a run hands it one block of days after the other, or all days at once.
    by_days: ClassVar[bool]
    # A pass that reaches over the store answers with all pairs up to the window's last day.
    reach: ClassVar[Reach]
    # Whether it makes a difference to it if boilerplate is left out.
    compares_texts: ClassVar[bool]
    config_class: ClassVar[type[PassConfig]]

    def find(
        self, window: Window, config: Any, connection: Connection, tally: Tally | None = None
    ) -> Iterator[Candidate]: ...
