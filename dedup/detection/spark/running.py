"""A run on a cluster, stage by stage.

Spark deals out the tasks and repeats those of a lost machine, and brings together what has the same key. The tasks read
and write the files of the export themselves, so that texts never go through a shuffle.
"""

import dataclasses
import datetime
import shutil
import socket
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from math import isqrt
from pathlib import Path
from typing import Any, cast

import pyarrow as pa

from dedup.detection.bounds import Rules, bounds_between, widened
from dedup.detection.passes import PASSES
from dedup.detection.passes.base import NearConfig, Pass, PassConfig, Reach, Spread
from dedup.detection.passes.near import NearPass
from dedup.detection.spark.bands import find_similar
from dedup.detection.spark.judging import Judging
from dedup.detection.spark.keyed import find_keyed
from dedup.detection.spark.manifest import BundleError, Configs, Manifest, Result, check_versions, fingerprint, versions
from dedup.detection.spark.members import find_by_members
from dedup.detection.spark.parts import PAIRS, Work, parts_of, prepare
from dedup.detection.spark.schema import EPOCH, EVIDENCE, HUBS, Bundle, ddl, of_pass
from dedup.detection.spark.stages import Counts, Stages, f, files_of, kept, mapped, perform_all, store, stored
from dedup.detection.spark.tiles import find_in_tile, find_on_day, tiles_of
from dedup.detection.types import VerdictKind

# A part has at most so many articles, and at least so many if there are enough workers for more parts.
MOST_ARTICLES, LEAST_ARTICLES = 20_000, 2_000
_ARTICLES_A_PARTITION = 100_000


class ClusterRun:
    """A run that finds and judges the pairs of an export.

    `configs` are those of the manifest with the options of the run; only enabled passes run. A tile compares at most
    `tile_pairs` pairs of articles at a time. With `resume`, stages that an earlier run finished are kept.
    """

    def __init__(
        self, spark: Any, *, bundle: Bundle, manifest: Manifest, configs: Configs, tile_pairs: int, resume: bool
    ) -> None:
        self._spark, self._bundle, self._manifest, self._configs = spark, bundle, manifest, configs
        self._config = {name: dataclasses.asdict(config) for name, config in configs.items()}
        self._side = max(1, isqrt(tile_pairs))
        spread = -(-manifest.articles // (4 * spark.sparkContext.defaultParallelism))
        self._most = min(MOST_ARTICLES, max(LEAST_ARTICLES, spread))
        parts = parts_of(bundle.articles, min(self._side, self._most))
        # The numbers of parts and units are names in the files of stages.
        cut = [(Path(part.path).name, *part[3:]) for part in parts]
        input_digest = fingerprint([manifest.fingerprint(), self._config, versions(), tile_pairs, self._most, cut])
        self._stages = Stages(bundle.stages, input_digest[:12])
        self._keep_or_forget(resume=resume)
        # A shuffle moves some hundred bytes an article; each of its partitions costs a fifth of a second.
        partitions = max(spark.sparkContext.defaultParallelism, manifest.articles // _ARTICLES_A_PARTITION)
        spark.conf.set("spark.sql.shuffle.partitions", partitions)
        self._work = Work(
            bundle.root,
            parts,
            manifest.last_day.toordinal(),
            manifest.mode,
            self._stages.folder("prepared") / "articles",
        )
        self._judging = Judging(spark, bundle, manifest, self._work, self._stages, self._most)
        self._rules = manifest.bounds()
        self._counts: dict[str, Counts] = {}

    def result(self) -> Result:
        """Do every stage; write `results/`, result.json last; return what is in that. Raises BundleError."""
        self._stages.perform("prepared", self._prepare)
        enabled = {name: config for name, config in self._configs.items() if config.enabled}
        for name, config in enabled.items():
            self._counts[name] = self._find(name, config)
        evidence = {name: self._stages.folder(f"evidence-{name}") / "allowed" for name in enabled}
        verdicts = self._judging.verdicts(evidence)
        result = Result(
            manifest=self._manifest.fingerprint(),
            versions=versions(),
            config=self._config,
            passes={name: self._summary(name) for name in enabled},
            counts=self._all_counts(verdicts),
            seconds=self._stages.seconds,
            finished_at=datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        )
        result.write(self._bundle.result)
        return result

    def _keep_or_forget(self, *, resume: bool) -> None:
        """Keep what an interrupted run with the same settings left, if asked to; else remove what is there."""
        of_stages = self._bundle.results / ".stages"
        if not (resume and of_stages.exists() and of_stages.read_text() == self._stages.fingerprint):
            for folder in (self._bundle.stages, self._bundle.results):
                shutil.rmtree(folder, ignore_errors=True)
            self._bundle.results.mkdir(parents=True)
            of_stages.write_text(self._stages.fingerprint)
        self._bundle.result.unlink(missing_ok=True)

    def _prepare(self, folder: Path) -> Counts:
        tasks = [part for part in range(len(self._work.parts)) if not self._work.file_of(part).exists()]
        return perform_all(self._spark, tasks, partial(prepare, self._work), folder / "tallies")

    def _find(self, name: str, config: PassConfig) -> Counts:
        wide = widened(name, config, self._rules)
        _, counts = self._stages.perform(name, partial(self._found_by, name, wide))
        _, allowed_ = self._stages.perform(f"evidence-{name}", partial(self._allow, name, config, counts["days"]))
        return counts | allowed_

    def _found_by(self, name: str, config: Any, folder: Path) -> Counts:
        """Write the pairs of a pass into the folder `pairs` of its stage; return what it did. Raises BundleError."""
        found, first_day = PASSES[name], self._manifest.first_day.toordinal()
        if found.spread is None:
            raise BundleError(
                f"the pass {name!r} does not declare how it is spread over a cluster; leave it out with --passes"
            )
        find = {Spread.TILES: self._in_tiles, **_FINDERS}[found.spread]
        counts: Counts = find(self._spark, self._work, found, config, first_day, folder)
        return counts

    def _in_tiles(
        self, _spark: Any, work: Work, detection_pass: Pass, config: NearConfig, _first_day: int, folder: Path
    ) -> Counts:
        """Compare tile by tile; then the days with dense groups, a window at a time."""
        by = cast("NearPass", detection_pass)
        tiles = list(tiles_of(work.parts, config.day_window, self._side))
        counts = perform_all(self._spark, tiles, partial(find_in_tile, work, by, config, folder), folder / "tallies")
        days = sorted({*counts["days"], *self._dense_days(folder / "pairs", config.dense_from)})
        if days:
            dense = perform_all(
                self._spark, days, partial(find_on_day, work, by, config, folder), folder / "tallies-of-dense-days"
            )
            for count in ("candidates", "verified", "pairs"):
                counts[count] += dense[count]
        return counts | {"days": days}

    def _dense_days(self, pairs: Path, dense_from: int) -> list[int]:
        """Return the days of articles that have too many pairs that end on their day: the tiles know only some."""
        found, later = stored(self._spark, pairs, PAIRS), f.greatest("left_day", "right_day")
        sides = [
            found.where(f.col(f"{side}_day") == later).select(f.col(side).alias("article"), later.alias("day"))
            for side in ("left", "right")
        ]
        ending = sides[0].union(sides[1]).groupBy("article", "day").count().where(f.col("count") > dense_from)
        return [row["day"] for row in ending.select("day").distinct().collect()]

    def _allow(self, name: str, config: PassConfig, dense_days: Sequence[int], to: Path) -> Counts:
        """Write the evidence of a pass: what the scope and the rules of the profile allow of its pairs."""
        folder = self._stages.folder(name)
        later = f.greatest("left_day", "right_day")
        found = stored(self._spark, folder / "pairs", PAIRS)
        if dense_days:
            found = found.where(~later.isin(list(dense_days))).union(stored(self._spark, folder / "dense", PAIRS))
        first_day = 1 if PASSES[name].reach is Reach.STORE else self._manifest.first_day.toordinal()
        found = found.where(later >= first_day)
        if self._rules:
            found = mapped(found, partial(_allowed, name, config, self._rules), ddl(PAIRS))
        evidence = kept(found, to / "allowed")
        placed = evidence.withColumn("month", _month_of_pair()).select(*EVIDENCE.names, "month").repartition("month")
        store(placed, of_pass(self._bundle.evidence, name), by="month")
        number = 0
        if any(files_of(folder / "hubs")):
            hubs = stored(self._spark, folder / "hubs", HUBS).groupBy("article").agg(f.max("near").alias("near"))
            number = kept(hubs, of_pass(self._bundle.hubs, name)).count()
        return {"pairs": evidence.count(), "hubs": number}

    def _summary(self, name: str) -> dict[str, float]:
        counts = self._counts[name]
        seconds = self._stages.seconds[name] + self._stages.seconds[f"evidence-{name}"]
        return {count: counts[count] for count in ("candidates", "verified", "pairs")} | {"seconds": round(seconds, 3)}

    def _all_counts(self, verdicts: Counts) -> dict[str, Any]:
        kinds = {kind.value: verdicts["verdicts"].get(kind.value, 0) for kind in VerdictKind}
        hubs = sum(counts["hubs"] for counts in self._counts.values())
        return {"crowded": hubs, "verdicts": kinds}


def _month_of_pair() -> Any:
    """Return the month of a pair's later article, as the names of folders have it, given left_day and right_day."""
    later = f.greatest("left_day", "right_day")
    day = f.date_add(f.lit("1970-01-01").cast("date"), (later - EPOCH).cast("int"))
    return f.date_format(day, "yyyy-MM")


def _allowed(pass_name: str, config: PassConfig, rules: Rules, pairs: pa.Table) -> pa.Table:
    """Return the pairs that the rules of the profile allow."""
    between = bounds_between(pass_name, config, rules)
    names = ("left_newspaper", "right_newspaper", "score", "left_day", "right_day")
    inside = [
        between(one, other).allow(score, abs(day - other_day))
        for one, other, score, day, other_day in zip(*(pairs[name].to_pylist() for name in names), strict=True)
    ]
    return pairs.filter(pa.array(inside, pa.bool_()))


# Each gets the session, the work, the pass, its config, the first day of the scope and the folder to write to.
_FINDERS: Mapping[Spread, Callable[..., Counts]] = {
    Spread.KEYS: find_keyed,
    Spread.MEMBERS: find_by_members,
    Spread.BANDS: find_similar,
}


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
