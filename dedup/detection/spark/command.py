"""`newsdedup-spark`: what a cluster does with an export. Results go to stdout, all else to stderr."""

from __future__ import annotations

import argparse
import dataclasses
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from articles.loading import missing_package, when_used
from dedup.declarations import ConfigError, make_config, settings_of
from dedup.detection.passes import PASSES
from dedup.detection.spark.manifest import BundleError, Configs, Manifest, VersionsError, planned

if TYPE_CHECKING:
    from dedup.detection.spark import running, schema
else:
    # They need pyarrow, which --help does not.
    running, schema = (when_used(f"dedup.detection.spark.{name}") for name in ("running", "schema"))

# Two sides of 20,000 articles.
TILE_PAIRS = 400_000_000


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return its exit code: 1 for an error, 2 for an option that is not valid."""
    options = _parser().parse_args(arguments)
    perform: Callable[[argparse.Namespace, schema.Bundle, Manifest], None] = options.perform
    try:
        bundle = schema.Bundle(options.folder)
        perform(options, bundle, Manifest.read(bundle.manifest))
    except OptionError as error:
        return _failed(error, 2)
    except (BundleError, SparkMissingError, VersionsError) as error:
        return _failed(error, 1)
    except ModuleNotFoundError as error:
        if missing := missing_package(error):
            return _failed(missing, 1)
        raise
    except KeyboardInterrupt:
        print("Interrupted. Run the same command with --resume to continue.", file=sys.stderr)
        return 130
    return 0


def _failed(error: Exception, code: int) -> int:
    print(f"newsdedup-spark: {str(error).removesuffix('.')}.", file=sys.stderr)
    return code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="newsdedup-spark", description="Finds duplicates on a cluster, in what manage.py export_detection wrote."
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    planning, checking, run = (
        commands.add_parser(name, help=words)
        for name, words in (
            ("plan", "print what a run will cost: CPU hours, shuffle, tiles; needs no Spark"),
            ("check", "check the export, and the versions and the disks of all executors"),
            ("run", "find and judge the pairs; manage.py import_detection stores them and makes the clusters"),
        )
    )
    for command, perform in ((planning, _plan), (checking, _check), (run, _run)):
        command.set_defaults(perform=perform)
        command.add_argument(
            "folder", metavar="DIR", type=Path, help="the folder of the export, as every executor sees it"
        )
    for command in (planning, run):
        command.add_argument("--passes", help="run only these passes, separated by commas")
        command.add_argument(
            "--threshold",
            action="append",
            default=[],
            metavar="[PASS=]SCORE",
            help="propose pairs with at least this score, such as trigram=0.7; may be repeated",
        )
        command.add_argument(
            "--tile-pairs",
            type=_pairs,
            default=TILE_PAIRS,
            metavar="N",
            help="compare at most so many pairs of articles in one task (default: %(default)s)",
        )
    for command in (checking, run):
        command.add_argument("--master", help="where Spark runs, such as local[2] (default: as spark-submit says)")
        command.add_argument(
            "--conf", action="append", default=[], metavar="NAME=VALUE", help="a setting of Spark; may be repeated"
        )
    run.add_argument("--resume", action="store_true", help="keep the stages that an earlier run finished")
    return parser


def _pairs(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of pairs from 1")
    return int(text)


def _configs(options: argparse.Namespace, manifest: Manifest) -> Configs:
    configs = manifest.configs()
    if options.passes is not None:
        configs = with_passes(configs, [name.strip() for name in options.passes.split(",")])
    for text in options.threshold:
        configs = with_threshold(configs, text)
    return configs


def _plan(options: argparse.Namespace, _bundle: schema.Bundle, manifest: Manifest) -> None:
    plan = planned(manifest, _configs(options, manifest), tile_pairs=options.tile_pairs)
    print(*plan.described(), sep="\n")


def _check(options: argparse.Namespace, bundle: schema.Bundle, manifest: Manifest) -> None:
    running.check_bundle(bundle, manifest)
    with spark_session(options.master, _settings(options)) as spark:
        for line in running.check_executors(spark, bundle, manifest):
            print(line)


def _run(options: argparse.Namespace, bundle: schema.Bundle, manifest: Manifest) -> None:
    configs = _configs(options, manifest)
    running.check_bundle(bundle, manifest)
    with spark_session(options.master, _settings(options)) as spark:
        for line in running.check_executors(spark, bundle, manifest):
            print(line, file=sys.stderr)
        run = running.ClusterRun(
            spark,
            bundle=bundle,
            manifest=manifest,
            configs=configs,
            tile_pairs=options.tile_pairs,
            resume=options.resume,
        )
        result = run.result()
    print(*result.described(), f"Store them: manage.py import_detection {bundle.root}", sep="\n")


def _settings(options: argparse.Namespace) -> dict[str, str]:
    settings = {}
    for text in options.conf:
        name, found, value = text.partition("=")
        if not found:
            raise OptionError(f"--conf {text!r} is not NAME=VALUE, such as spark.executor.memory=4g")
        settings[name] = value
    return settings


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
    having = [
        pass_name
        for pass_name, config in configs.items()
        if config.enabled and "threshold" in settings_of(type(config))
    ]
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


# -- The session: settings that keep results exact and memory bounded ----------------------------------------------

_SETTINGS: Final = {
    "spark.app.name": "newsdedup",
    # Days and moments do not depend on the machine; nor does the order of a set, should one ever decide anything.
    "spark.sql.session.timeZone": "UTC",
    "spark.executorEnv.PYTHONHASHSEED": "0",
    # Adaptive execution joins partitions that are small in bytes; ours are small in bytes and take long.
    "spark.sql.adaptive.enabled": "false",
    # Batches of texts of 5 kB.
    "spark.sql.execution.arrow.maxRecordsPerBatch": "2000",
    # A new worker imports for two seconds.
    "spark.python.worker.reuse": "true",
    "spark.sql.parquet.compression.codec": "zstd",
    "spark.ui.showConsoleProgress": "false",
}
# On one machine, the driver is the executor.
_LOCAL: Final = {
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.memory": "1g",
    "spark.ui.enabled": "false",
}


class SparkMissingError(RuntimeError):
    """Java is not installed; the message says how to install it."""


@contextmanager
def spark_session(master: str | None = None, settings: Mapping[str, str] | None = None) -> Iterator[Any]:
    """Yield a SparkSession and stop it at the end.

    `master`: such as local[2]; None: that of spark-submit, or else all cores of this machine. `settings` win over those
    of this module. Raises SparkMissingError.
    """
    interrupted = signal.getsignal(signal.SIGINT)
    session = _started(master, settings or {})
    try:
        yield session
    finally:
        session.stop()
        # PySpark's own handler cancels the jobs of a session, and fails when there is none any more.
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, interrupted)


def _started(master: str | None, settings: Mapping[str, str]) -> Any:
    from pyspark.errors import PySparkRuntimeError  # noqa: PLC0415 - an extra
    from pyspark.sql import SparkSession  # noqa: PLC0415

    # Workers on this machine are the Python that has newsdedup, not the first one on the path.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("PYTHONHASHSEED", "0")
    submitted = "PYSPARK_GATEWAY_PORT" in os.environ
    chosen = master or ("" if submitted else "local[*]")
    wanted = {**_SETTINGS, **(_LOCAL if chosen.startswith("local") else {}), **settings}
    builder = SparkSession.builder
    for name, value in (wanted | ({"spark.master": chosen} if chosen else {})).items():
        builder = builder.config(name, value)
    try:
        session = builder.getOrCreate()
    except PySparkRuntimeError as error:
        raise SparkMissingError(
            f"Spark could not start Java ({error}); install Java 17, such as the package openjdk-17-jre-headless"
        ) from error
    session.sparkContext.setLogLevel("ERROR")
    return session
