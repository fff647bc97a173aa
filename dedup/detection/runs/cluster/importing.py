"""Stores the results of a run on a cluster as a run, through the same writers."""

import datetime
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow.dataset
from django.db import transaction

from articles.models import Article
from dedup.detection.clustering.joins import same_as
from dedup.detection.judging.judge import JudgedRow, Terms
from dedup.detection.judging.months import days_of, text_days
from dedup.detection.runs.cluster.exporting import changed, changed_tables, last_day_read, months_of
from dedup.detection.runs.evidence import numbers_of, write_block
from dedup.detection.runs.judging import model_in_use, store_rows
from dedup.detection.runs.outdated_verdicts import COMPARISON_VERSION, note_input_digests
from dedup.detection.runs.phases import RunClock
from dedup.detection.runs.profiles import Configs, enabled, snapshot
from dedup.detection.runs.scope import Scope
from dedup.detection.runs.starting import end_killed_runs, resumed
from dedup.detection.spark.manifest import (
    BundleError,
    ChangedArticlesError,
    Manifest,
    Result,
    check_versions,
    configs_of,
    versions,
)
from dedup.detection.spark.schema import Bundle, month_of, months_in, of_month, of_pass
from dedup.detection.types import Candidate, Phase, Tally, Window
from dedup.detection.verdicts.model import dump_model
from dedup.detection.verdicts.same_as import is_same
from dedup.models import DetectionRun, Evidence, GroupMember, Pair, Profile

# Changed articles that an error names.
_NAMED = 5
_ROWS_AT_ONCE = 20_000
_LOOKED_UP_AT_ONCE = 5_000
# What is in the tables that verdicts rest on.
_TERMS = {
    "newspapers": "names or affixes of newspapers",
    "series_rules": "rules of series",
}


@dataclass(frozen=True, slots=True)
class Finished:
    """The results in a folder, with the manifest of the export that they are of."""

    bundle: Bundle
    manifest: Manifest
    result: Result

    @property
    def configs(self) -> Configs:
        """The settings of every pass."""
        return configs_of(self.result.config)

    @property
    def scope(self) -> Scope:
        """What was compared."""
        manifest, passes = self.manifest, self.manifest.passes
        # The run on the export may have been asked for other passes than the export.
        if enabled(self.configs).keys() != enabled(manifest.configs()).keys():
            passes = list(enabled(self.configs))
        return Scope(
            datetime.date.fromisoformat(manifest.since) if manifest.since else None,
            datetime.date.fromisoformat(manifest.until) if manifest.until else None,
            None if manifest.newspaper_ids is None else tuple(manifest.newspaper_ids),
            None if passes is None else tuple(passes),
            boilerplate=manifest.mode,
            rules=manifest.bounds(),
        )


def read_results(root: Path) -> Finished:
    """Return the results in a folder. Raises BundleError if there are none of this export, or VersionsError."""
    bundle = Bundle(root)
    manifest, result = Manifest.read(bundle.manifest), Result.read(bundle.result)
    if result.manifest != manifest.fingerprint():
        raise BundleError(
            f"the results in {root} are of an earlier export into the same folder; run newsdedup-spark run {root}"
        )
    check_versions(manifest.versions, versions(), theirs_are="the export", ours_are="this installation")
    check_versions(result.versions, versions(), theirs_are="the cluster", ours_are="this installation")
    if manifest.comparison != COMPARISON_VERSION:
        raise BundleError(
            f"the export was made by comparison {manifest.comparison}, and this is {COMPARISON_VERSION}; export again"
        )
    return Finished(bundle, manifest, result)


def check_articles(finished: Finished) -> None:
    """Raise ChangedArticlesError if exported articles have changed or are gone. Reads the months that differ."""
    manifest = finished.manifest
    scope = finished.scope
    now = months_of({**scope.bounds(), "newest": manifest.newest, "last_day": last_day_read(scope.until)})
    different = {month for month, state in manifest.months.items() if now.get(month) != state}
    found: list[tuple[Any, ...]] = []
    if different:
        articles = pyarrow.dataset.dataset(finished.bundle.articles, format="parquet")
        for batch in articles.to_batches(columns=["id", "revision", "day"], batch_size=_ROWS_AT_ONCE):
            rows = [row for row in batch.to_pylist() if month_of(row["day"]) in different]
            found += changed([row["id"] for row in rows], [row["revision"] for row in rows])
    if found:
        named = "; ".join(f"{number}, “{headline}” ({newspaper})" for number, headline, newspaper in found[:_NAMED])
        more = f"; and {len(found) - _NAMED:,} more" if len(found) > _NAMED else ""
        raise ChangedArticlesError(f"articles have changed since the export: {named}{more}; export and run again")


def terms_have_changed(finished: Finished) -> list[str]:
    """Return what verdicts rest on, other than articles, that has changed since the export."""
    manifest = finished.manifest
    different = [_TERMS[name] for name in changed_tables(manifest.tables)]
    if dump_model(model_in_use()) != manifest.model:
        different.append("the model")
    return different


def start_import(finished: Finished) -> DetectionRun:
    """Return the run that is to store these results: a new one, or the one that stopped; or the one that did, done.

    Call it in `run_lock`.
    """
    end_killed_runs()
    key = finished.result.key()
    stored = DetectionRun.objects.filter(results=key)
    if done := stored.filter(state=DetectionRun.State.DONE).first():
        return done
    last = DetectionRun.objects.order_by("-pk").first()
    if last is not None and last.results == key:
        return resumed(last)
    manifest = finished.manifest
    return DetectionRun.objects.create(
        profile=Profile.objects.filter(name=manifest.profile).first(),
        profile_name=manifest.profile,
        config=snapshot(finished.configs),
        scope=finished.scope.stored(),
        results=key,
        counts={"fingerprint": [manifest.articles, manifest.newest], "newest": manifest.newest},
    )


class StoredResults:
    """The results in a folder, as `run_detection` stores them: a month of a pass is one transaction."""

    def __init__(self, finished: Finished) -> None:
        self._bundle, self._result = finished.bundle, finished.result
        self._manifest = finished.manifest
        self._judged_here = bool(terms_have_changed(finished))
        self._configs = enabled(finished.configs)

    def store_pairs(self, run: DetectionRun, clock: RunClock) -> None:
        """Store evidence and hubs."""
        for name in self._configs:
            folder = of_pass(self._bundle.evidence, name)
            # A pass that found nothing has a block too, which says so.
            months = months_in(folder) or [month_of(self._manifest.first_day)]
            clock.start(name, sum(self._articles(month) for month in months))
            done = {month_of(mark.first_day): mark.pairs for mark in run.blocks.filter(pass_name=name)}
            for month in months:
                if month in done:
                    clock.advance(name, self._articles(month), done[month])
                else:
                    self._store_month(run, clock, name, month, is_first=month == months[0])

    def _store_month(self, run: DetectionRun, clock: RunClock, name: str, month: str, *, is_first: bool) -> None:
        tally = Tally()
        if is_first:
            counts = self._result.passes[name]
            tally.candidates, tally.verified = int(counts["candidates"]), int(counts["verified"])
            tally.hubs = {row["article"]: row["near"] for row in _rows(of_pass(self._bundle.hubs, name))}
        found = (
            Candidate(row["left"], row["right"], name, row["score"], json.loads(row["details"]))
            for row in _rows(of_month(of_pass(self._bundle.evidence, name), month))
        )
        written = write_block(run.pk, name, found, Window(*days_of(_first_day(month))), tally)
        clock.wrote(name, self._articles(month), written)

    def _articles(self, month: str) -> int:
        return self._manifest.months.get(month, [0])[0]

    def store_verdicts(self, run: DetectionRun, clock: RunClock) -> None:
        """Store verdicts, and what each rests on, unless that may have changed since the export."""
        months = months_in(self._bundle.verdicts)
        parts = [of_month(self._bundle.verdicts, month) for month in months]
        clock.start(Phase.VERDICTS, sum(dataset.count_rows() for part in parts for dataset in _datasets(part)))
        stored = {month: self._store_verdicts(clock, part) for month, part in zip(months, parts, strict=True)}
        # If another run says of pairs that their text is a remnant of extraction, verdicts rest on it.
        remnants = Evidence.objects.filter(stale=False, details__has_key="leftover").exclude(run=run)
        if self._judged_here or remnants.exists():
            return
        # Articles stored since the export have a say in verdicts around their days.
        since = Article.objects.filter(revision__gt=self._manifest.newest).order_by("date")
        fresh = list(since.values_list("date", flat=True).distinct())
        terms = Terms(self._manifest.model, boilerplate=self._manifest.mode)
        unchanged = [month for month in months if not _are_near(fresh, month)]
        ruled = _pairs_with_rules()
        note_input_digests([pair for month in unchanged for pair in stored[month] if pair not in ruled], terms)

    def _store_verdicts(self, clock: RunClock, month: Path) -> list[int]:
        """Store the verdicts of a month in one transaction; return the numbers of the pairs."""
        with transaction.atomic():
            pairs = store_rows(_verdicts(month), {})
        clock.advance(Phase.VERDICTS, len(pairs), len(pairs))
        return pairs


def _pairs_with_rules() -> set[int]:
    """Return the pairs of dense groups with a rule, which a cluster knows nothing of."""
    groups = dict(GroupMember.objects.filter(group__ruled_at__isnull=False).values_list("article", "group"))
    pairs = Pair.objects.among(groups).values_list("pk", "left", "right")
    return {pair for pair, left, right in pairs if groups[left] == groups[right]}


def _first_day(month: str) -> datetime.date:
    return datetime.date.fromisoformat(f"{month}-01")


def _are_near(days: Iterable[datetime.date], month: str) -> bool:
    """Return whether any of these days has a say in the verdicts of a month."""
    first, last = text_days(_first_day(month))
    return any(first <= day <= last for day in days)


def _verdicts(folder: Path) -> Iterator[JudgedRow]:
    """Yield the rows of a folder of VERDICTS whose pairs are stored, with the numbers of these pairs."""
    rows, wanted = _rows(folder), same_as()
    while batch := list(islice(rows, _LOOKED_UP_AT_ONCE)):
        numbers = numbers_of([(row["left"], row["right"]) for row in batch])
        for row in batch:
            ends = row.pop("left"), row.pop("right")
            if ends in numbers:
                matched = row["left_matched"], row["right_matched"]
                row["joins"] = is_same(wanted, row["relation"], row["duplicate_probability"], matched)
                yield JudgedRow(numbers[ends], **row)


def _rows(folder: Path, columns: list[str] | None = None) -> Iterator[dict[str, Any]]:
    for dataset in _datasets(folder):
        for batch in dataset.to_batches(columns=columns, batch_size=_LOOKED_UP_AT_ONCE):
            yield from batch.to_pylist()


def _datasets(folder: Path) -> list[Any]:
    """Return what a folder holds, which may be missing."""
    # Without partitions, or the names of folders above would become columns.
    return [pyarrow.dataset.dataset(folder, format="parquet", partitioning=None)] if folder.exists() else []
