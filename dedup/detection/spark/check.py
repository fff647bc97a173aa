"""What a run needs, checked before it starts: a whole export, equal versions on all machines, space on disk."""

from __future__ import annotations

import shutil
import socket
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dedup.detection.spark.manifest import BundleError, Manifest
from dedup.detection.spark.schema import Bundle
from dedup.detection.spark.versions import check_versions, versions

# Tasks per core, so that every executor gets some.
_TASKS_PER_CORE = 4


def check_bundle(bundle: Bundle, manifest: Manifest) -> None:
    """Raise BundleError if files of the export are missing or cut short, VersionsError if this program is another."""
    for name, size in manifest.files.items():
        path = bundle.root / name
        found = path.stat().st_size if path.exists() else None
        if found != size:
            state = "is missing" if found is None else f"has {found:,} bytes instead of {size:,}"
            raise BundleError(f"{path} {state}; copy the export again, whole")
    check_versions(manifest.versions, versions(), theirs_are="the export", ours_are="newsdedup-spark")


def check_executors(spark: Any, bundle: Bundle, manifest: Manifest) -> Iterator[str]:
    """Yield a sentence on each machine. Raises VersionsError or BundleError for one that cannot take part."""
    context = spark.sparkContext
    tasks = context.defaultParallelism * _TASKS_PER_CORE
    root = str(bundle.root.resolve())
    answers = context.parallelize(range(tasks), tasks).mapPartitions(lambda _: [_answer(root)]).collect()
    for host, found, readable, free in {answer[0]: answer for answer in answers}.values():
        if not readable:
            raise BundleError(f"{host} sees no {root}; put the export on a file system that all machines share")
        check_versions(manifest.versions, found, theirs_are="the export", ours_are=host)
        yield f"{host}: the same versions as the export, {free / 1e9:,.0f} GB free for temporary files"
    yield f"Cores: {context.defaultParallelism:,}."


def _answer(root: str) -> tuple[str, dict[str, str], bool, int]:
    """Return the name of this machine, its versions, whether it sees the export, and its free space in bytes."""
    space = shutil.disk_usage(tempfile.gettempdir()).free
    return socket.gethostname(), versions(), Bundle(Path(root)).manifest.exists(), space
