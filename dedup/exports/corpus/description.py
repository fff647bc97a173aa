"""What is written next to a corpus: the data dictionary, how it was made, counts, versions, the hash of each file."""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from articles.models import Newspaper
from articles.versions import versions
from dedup.clustering.policies import RULES
from dedup.exports.corpus.columns import CORPUS, REMOVED, Column
from dedup.exports.corpus.places import Asked
from dedup.models import Cluster, Decision, DetectionRun, Profile
from dedup.runs.facts import run_summary

# The format of the description. Raise it if a member changes its meaning.
FORMAT = 1
_READ_AT_ONCE = 1 << 20


@dataclass(frozen=True, slots=True)
class WrittenFile:
    """A file that is complete and open: what it has, its number of rows, and the path that it is to have."""

    stream: BinaryIO
    path: Path
    content: str
    rows: int


@dataclass(frozen=True, slots=True)
class Counts:
    """The articles that were chosen: those that stayed, and those that left, by reason. `other` of the other corpus."""

    kept: int
    removed: Counter[str]
    other: Mapping[str, int]

    @property
    def chosen(self) -> int:
        """How many articles were chosen."""
        return self.kept + self.removed.total()


def description(asked: Asked, other: str, counts: Counts, files: Sequence[WrittenFile]) -> dict[str, Any]:
    """Return all of it, for JSON. The same state of the archive gives the same description."""
    return {
        "format": FORMAT,
        "policy": {"name": asked.policy.value, "rule": RULES[asked.policy]},
        "options": _options(asked, other),
        "counts": {
            "articles": counts.chosen,
            "kept": counts.kept,
            "removed": counts.removed.total(),
            "removed_by_reason": dict(sorted(counts.removed.items())),
            "other_corpus": dict(counts.other),
        },
        "clusters": _clusters(),
        "run": _run(),
        "versions": versions(),
        "files": [_file(each) for each in files],
        "columns": {"corpus": _dictionary(CORPUS), "removed": _dictionary(REMOVED)},
    }


def _options(asked: Asked, other: str) -> dict[str, Any]:
    part = asked.part
    newspapers = None if part.newspaper_ids is None else _names(part.newspaper_ids)
    return {
        "since": part.since and part.since.isoformat(),
        "until": part.until and part.until.isoformat(),
        "newspapers": newspapers,
        "clusters": "confirmed" if asked.confirmed_only else "proposed and confirmed",
        "boilerplate": asked.boilerplate.value,
        "against": other or None,
    }


def _names(newspaper_ids: Sequence[int]) -> list[str]:
    return sorted(Newspaper.objects.filter(pk__in=newspaper_ids).values_list("name", flat=True))


def _clusters() -> dict[str, Any]:
    """Return the state of the clusters: how many, by which rule they keep an article, and the last decision."""
    last = Decision.objects.order_by("-pk").values_list("pk", flat=True).first()
    return {
        "proposed": Cluster.objects.filter(state=Cluster.State.PROPOSED).count(),
        "confirmed": Cluster.objects.filter(state=Cluster.State.CONFIRMED).count(),
        "keep_rule": Profile.objects.filter(is_default=True).values_list("keep_rule", flat=True).first(),
        "last_decision": last,
    }


def _run() -> dict[str, Any] | None:
    """Return the last finished run with its scope, its counts and the settings of every pass; None if there is none."""
    run = DetectionRun.objects.filter(state=DetectionRun.State.DONE).order_by("-pk").first()
    if run is None:
        return None
    return {"profile": run.profile_name, "boilerplate": run.boilerplate.value, **run_summary(run)}


def _dictionary(columns: Sequence[Column]) -> list[dict[str, str]]:
    return [{"name": each.name, "type": each.kind.value, "meaning": each.meaning} for each in columns]


def _file(written: WrittenFile) -> dict[str, Any]:
    digest, size = hashlib.sha256(), 0
    while part := os.pread(written.stream.fileno(), _READ_AT_ONCE, size):
        digest.update(part)
        size += len(part)
    return {
        "name": written.path.name,
        "content": written.content,
        "rows": written.rows,
        "bytes": size,
        "sha256": digest.hexdigest(),
    }
