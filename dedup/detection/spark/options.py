"""The options of a run on a cluster that change its settings, as find_duplicates has them."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from dedup.declarations import ConfigError, make_config, settings_of
from dedup.detection.passes import PASSES
from dedup.detection.spark.manifest import Configs


class OptionError(ValueError):
    """An option is not valid; the message names the value and the remedy."""


def with_passes(configs: Configs, names: Sequence[str]) -> Configs:
    """Return the configs with only these passes enabled. Raises OptionError."""
    for name in names:
        if name not in PASSES:
            raise OptionError(f"there is no pass {name!r}; the passes are {', '.join(PASSES)}")
    return {name: dataclasses.replace(config, enabled=name in names) for name, config in configs.items()}


def with_threshold(configs: Configs, text: str) -> Configs:
    """Return the configs after an option such as trigram=0.7; or 0.7, if one enabled pass has a threshold.

    Raises OptionError.
    """
    name, _, number = text.rpartition("=")
    having = [each for each, config in configs.items() if config.enabled and "threshold" in settings_of(type(config))]
    if not name and len(having) == 1:
        [name] = having
    if name not in having:
        raise OptionError(
            f"--threshold {text!r} does not name one pass of this run; write PASS=SCORE for one of {', '.join(having)}"
        )
    try:
        values = dataclasses.asdict(configs[name]) | {"threshold": float(number)}
        return configs | {name: make_config(PASSES[name].config_class, values)}
    except ConfigError as error:
        raise OptionError(f"{name}: {error}") from error
    except ValueError:
        raise OptionError(f"--threshold {text!r} is neither SCORE nor PASS=SCORE, such as trigram=0.7") from None
