"""What is written next to a corpus: the data dictionary, how it was made, counts, versions, the hash of each file."""

from __future__ import annotations

import hashlib
import io
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO

from articles.models import Newspaper
from articles.versions import versions
from dedup.detection.clustering.policies import RULES
from dedup.detection.runs.facts import run_summary
from dedup.models import Cluster, Decision, DetectionRun, Profile
from dedup.rows.columns import Column
from dedup.rows.corpus.places import Asked
from dedup.rows.corpus.rows import CORPUS, REMOVED

# The format of the description. Raise it if a member changes its meaning.
FORMAT = 1


class Digested(io.RawIOBase):
    """Passes on what is written, one write after the other, and counts and digests it."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._digest = hashlib.sha256()
        self._size = 0

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self._stream.write(data)
        self._digest.update(data)
        self._size += memoryview(data).nbytes
        return memoryview(data).nbytes

    def tell(self) -> int:
        return self._size

    def flush(self) -> None:
        if not self._stream.closed:
            self._stream.flush()

    def described(self, name: str, content: str, rows: int) -> dict[str, Any]:
        """Return what is said of a file that is complete, given the name that it is to have and what it has."""
        digest = self._digest.hexdigest()
        return {"name": name, "content": content, "rows": rows, "bytes": self._size, "sha256": digest}


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


def description(asked: Asked, other: str, counts: Counts, files: list[dict[str, Any]], methods: str) -> dict[str, Any]:
    """Return all of it, for JSON. The same state of the archive gives the same description."""
    kept = f"The corpus has {counts.kept:,} of these {counts.chosen:,} articles."
    return {
        "format": FORMAT,
        "methods": f"{methods} {kept} Its policy for copies is {asked.policy.value}. {RULES[asked.policy]}",
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
        "files": files,
        "columns": {"corpus": _dictionary(CORPUS), "removed": _dictionary(REMOVED)},
    }


def _options(asked: Asked, other: str) -> dict[str, Any]:
    part = asked.part
    newspapers = Newspaper.objects.filter(pk__in=part.newspaper_ids or ()).values_list("name", flat=True)
    return {
        "since": part.since and part.since.isoformat(),
        "until": part.until and part.until.isoformat(),
        "newspapers": None if part.newspaper_ids is None else sorted(newspapers),
        "clusters": "confirmed" if asked.confirmed_only else "proposed and confirmed",
        "boilerplate": asked.boilerplate.value,
        "against": other or None,
    }


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
    return [{"name": column.name, "type": column.type.words, "meaning": column.help} for column in columns]
