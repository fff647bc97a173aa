"""The figures of the command that measures a run on Spark."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from benchmarks import spark
from benchmarks.measuring import CHECKOUT, Usage
from dedup.detection.spark.manifest import Plan


def event(name: str, written: int) -> str:
    return json.dumps({"Event": name, "Task Metrics": {"Shuffle Write Metrics": {"Shuffle Bytes Written": written}}})


def test_shuffled_bytes_are_those_of_finished_tasks() -> None:
    lines = [event("SparkListenerTaskEnd", 700), event("SparkListenerTaskStart", 9), event("SparkListenerTaskEnd", 50)]
    assert spark.shuffle_bytes(lines) == 750


def test_the_table_relates_a_run_to_one_machine_and_to_its_plan() -> None:
    plan = Plan(2_000, 4, 500, {}, 1, 40.0, 0.0, 0)
    run = spark.SparkRun(Usage(30.0, 45.0, 5.0, 900.0, 10.0), 410.0, 3_000_000, {})
    found, small = Usage(20.0, 20.0, 5.0, 1.0, 1.0), Usage(1.0, 1.0, 1.0, 1.0, 1.0)
    shown = spark.table([spark.Measured(2_000, 700, found, small, small, {"local[2]": run}, plan)])
    cells = dict(zip(shown.head, zip(*shown.rows, strict=True), strict=True))
    assert cells["Spark / find_duplicates"] == ("2.00",)
    assert cells["ms an article"] == ("25.00",)
    assert cells["shuffle, kB an article"] == ("1.50",)
    assert cells["Spark / plan"] == ("1.25",)


def test_processes_that_outlive_a_command_are_waited_for(tmp_path: Path) -> None:
    left = tmp_path / "left"
    outlives = f"import os; os.fork() or open({str(left)!r}, 'w').close()"
    command = [sys.executable, "-m", "benchmarks.measuring", sys.executable, "-c", outlives]
    assert subprocess.run(command, cwd=CHECKOUT, check=False).returncode == 0
    assert left.exists()
