"""Settings that declare default, range, unit, help and source in one place: those of passes, the options of reports."""

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any, TypeVar


class ConfigError(ValueError):
    """A setting is out of its range; the message names the setting, the value and the range."""

    def __init__(self, message: str, *, setting: str = "") -> None:
        super().__init__(message)
        self.setting = setting


class SettingEffect(Enum):
    """How the value of a setting changes what is found. It decides what a run can say of what others have found."""

    OTHERS = "another value finds other pairs, or gives them other scores"
    SAME = "every value finds the same pairs"
    FROM_SCORE = "pairs from this score on"
    WITHIN_DAYS = "pairs at most so many days apart"
    IN_DENSE_GROUPS = "another value keeps other pairs of a dense group"
    MORE_IF_HIGHER = "a higher value finds the same pairs and more"
    MORE_IF_LOWER = "a lower value finds the same pairs and more"

    def includes(self, value: Any, other: Any) -> bool:
        """Return whether `value` finds all that `other` finds, within the score and the days of `value`."""
        if self is SettingEffect.MORE_IF_HIGHER:
            return bool(value >= other)
        if self is SettingEffect.MORE_IF_LOWER:
            return bool(value <= other)
        return self is not SettingEffect.OTHERS or bool(value == other)


@dataclass(frozen=True, slots=True)
class Setting:
    """What is declared about one field: forms, commands, docs and tests read it here."""

    help: str
    source: str
    unit: str = "yes or no"  # that of a switch
    minimum: float | None = None
    maximum: float | None = None
    label: str = ""  # in forms; else the name of the field
    effect: SettingEffect = SettingEffect.OTHERS
    # The values that a text may have, or a function that returns those that there are now, besides the default.
    choices: tuple[str, ...] = ()
    offers: Callable[[], list[str]] | None = None
    # Whether forms show a slider, for a number in a small range.
    slider: bool = False


def option_name(setting: str) -> str:
    """Return what a setting is called outside of Python, which reserves words such as pass: `pass_` is pass."""
    return setting.rstrip("_")


def setting(default: Any, *, range: tuple[float, float] | None = None, **facts: Any) -> Any:  # noqa: A002
    """Declare a field of a config dataclass with its default, its inclusive range, and the other facts of a Setting."""
    minimum, maximum = range or (None, None)
    return dataclasses.field(default=default, metadata={"setting": Setting(**facts, minimum=minimum, maximum=maximum)})


@dataclass(frozen=True, slots=True)
class Settings:
    """A dataclass whose fields are all made by `setting`; their values are checked when one is made."""

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            _check(field.name, getattr(self, field.name), type(field.default), field.metadata["setting"])


AnySettings = TypeVar("AnySettings", bound=Settings)


def settings_of(config: type[Settings]) -> dict[str, tuple[dataclasses.Field[Any], Setting]]:
    """Return the fields of a config class by name, each with what is declared about it."""
    return {field.name: (field, field.metadata["setting"]) for field in dataclasses.fields(config)}


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
        raise ConfigError(f"{name} is {value!r}; it must be of type {kind.__name__} ({declared.unit})", setting=name)
    choices = declared.offers() if declared.offers and value else declared.choices
    if choices and value not in choices:
        raise ConfigError(f"{name} is {value!r}; it must be one of {', '.join(choices)}", setting=name)
    if declared.minimum is None or declared.maximum is None:
        return
    # Written so that NaN, which compares with nothing, is refused too.
    if not declared.minimum <= value <= declared.maximum:
        raise ConfigError(
            f"{name} is {value}; it must be from {declared.minimum:.12g} to {declared.maximum:.12g} ({declared.unit})",
            setting=name,
        )
