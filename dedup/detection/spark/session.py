"""The Spark session of a run: settings that keep results exact and memory bounded."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

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
