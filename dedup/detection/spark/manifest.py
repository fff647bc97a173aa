"""manifest.json and result.json: what was exported, and what a cluster made of it."""

import dataclasses
import datetime
import hashlib
import importlib.metadata
import json
import os
import sys
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, ClassVar, Self

from articles.boilerplate.mode import Mode
from articles.normalization import NORMALIZER_VERSION
from dedup.declarations import ConfigError, make_config
from dedup.detection.bounds import Rule, Rules
from dedup.detection.judging.months import MONTHS_AFTER
from dedup.detection.passes import PASSES
from dedup.detection.passes.base import PassConfig, Spread

# Articles of so many days after the scope have a say in verdicts.
CONTEXT_DAYS = 31 * (1 + MONTHS_AFTER)

Configs = dict[str, PassConfig]


class BundleError(RuntimeError):
    """A folder is not an export, or not a finished run; the message says what to do."""


class AlphabetError(RuntimeError):
    """PostgreSQL's lower() cannot be followed; the message says which database can."""


class ChangedArticlesError(RuntimeError):
    """Articles are not as they were exported; the message names some, and the remedy."""


def write_whole(path: Path, text: str) -> None:
    """Write a file at once: it is there whole, or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    unfinished.write_text(text, encoding="utf-8")
    unfinished.replace(path)


@dataclass(frozen=True, slots=True)
class _Stored:
    """What is kept as a JSON file. `remedy`: what to do if there is none."""

    remedy: ClassVar[str]

    @classmethod
    def read(cls, path: Path) -> Self:
        """Return what is in a file. Raises BundleError."""
        try:
            values = json.loads(path.read_text(encoding="utf-8"))
            return cls(**values)
        except FileNotFoundError:
            raise BundleError(f"there is no {path.name} in {path.parent}; {cls.remedy}") from None
        except (OSError, TypeError, ValueError) as error:
            raise BundleError(f"{path} cannot be read ({error}); {cls.remedy}") from error

    def write(self, path: Path) -> None:
        """Write the file."""
        write_whole(path, json.dumps(dataclasses.asdict(self), ensure_ascii=False, indent=1))


@dataclass(frozen=True, slots=True)
class Manifest(_Stored):
    """What was exported, and with which settings.

    `since` and `until` bound the day of a pair's later article, both included; None: no bound. Passes compare no
    article after `until`, although `articles/` has those of CONTEXT_DAYS more.
    """

    remedy: ClassVar[str] = "make an export with manage.py export_detection"

    versions: dict[str, str]
    comparison: int  # COMPARISON_VERSION
    made_at: str
    articles: int  # rows in articles/
    newest: int  # the highest revision of an exported article
    days: list[tuple[str, int]]  # the articles of each day, in order, those of CONTEXT_DAYS too
    months: dict[str, list[int]]  # the number of articles of each month, and a hash of their ids and revisions
    texts: dict[str, int]  # characters of the compared texts ("text"), and of the contents ("content")
    newspapers: int
    since: str | None
    until: str | None
    boilerplate: str
    profile: str
    config: dict[str, dict[str, Any]]  # every setting of every pass, the passes of a run marked as enabled
    passes: list[str] | None  # those that --passes asked for; None: the profile's own
    rules: list[dict[str, Any]]  # the fields of Rule, see bounds.py
    newspaper_ids: list[int] | None  # the newspapers of the scope; None: all
    same_as: str  # SameAs
    model: str  # for load_model
    tables: dict[str, str]  # a hash of the rows of each small table
    files: dict[str, int]  # the bytes of each file, by its path in the folder

    @property
    def mode(self) -> Mode:
        """How boilerplate is treated."""
        return Mode(self.boilerplate)

    @property
    def last_day(self) -> datetime.date:
        """The last day of which passes compare articles."""
        last = datetime.date.fromisoformat(self.days[-1][0]) if self.days else datetime.date.min
        return last if self.until is None else min(last, datetime.date.fromisoformat(self.until))

    @property
    def first_day(self) -> datetime.date:
        """The first day that the later article of a pair may have."""
        first = datetime.date.fromisoformat(self.days[0][0]) if self.days else datetime.date.min
        return first if self.since is None else max(first, datetime.date.fromisoformat(self.since))

    def bounds(self) -> Rules:
        """Return the rules of the profile."""
        return tuple(Rule(**rule | {"sides": [frozenset(side) for side in rule["sides"]]}) for rule in self.rules)

    def configs(self) -> Configs:
        """Return the settings of every pass, in the order of a run. Raises BundleError."""
        return configs_of(self.config)

    def fingerprint(self) -> str:
        """Return a hash of everything that decides results: that of articles, decisions, settings and versions."""
        decisive = dataclasses.asdict(self)
        for name in ("made_at", "files"):
            del decisive[name]
        return fingerprint(decisive)


@dataclass(frozen=True, slots=True)
class Result(_Stored):
    """What a run on a cluster did. `config` is that of the manifest with the options of the run."""

    remedy: ClassVar[str] = "finish the run with newsdedup-spark run DIR --resume"

    manifest: str  # Manifest.fingerprint()
    versions: dict[str, str]  # those of every executor
    config: dict[str, dict[str, Any]]
    passes: dict[str, dict[str, float]]  # of each enabled pass: candidates, verified, pairs, seconds
    counts: dict[str, Any]  # crowded, verdicts (by kind)
    seconds: dict[str, float]  # of each stage
    finished_at: str

    def described(self) -> Iterator[str]:
        """Yield what was found as lines of text."""
        for name, counted in self.passes.items():
            yield f"{name}: {counted['pairs']:,.0f} pairs"
        yield f"Verdicts: {', '.join(f'{kind} {count:,}' for kind, count in self.counts['verdicts'].items())}."

    def key(self) -> str:
        """Return what the results are of: the same export and settings give the same."""
        return fingerprint([self.manifest, self.config, self.versions])


def configs_of(stored: Mapping[str, Mapping[str, Any]]) -> Configs:
    """Return the configs of stored settings, in the order of a run. Raises BundleError."""
    if unknown := sorted(stored.keys() - PASSES.keys()):
        raise BundleError(f"there is no pass {unknown[0]!r} here; the passes are {', '.join(PASSES)}; export again")
    try:
        return {name: make_config(PASSES[name].config_class, dict(stored[name])) for name in PASSES}
    except (ConfigError, KeyError) as error:
        raise BundleError(f"the settings of the export cannot be used ({error}); export again") from error


def fingerprint(values: Any) -> str:
    """Return a hash of values that JSON can represent."""
    return hashlib.sha256(json.dumps(values, sort_keys=True, ensure_ascii=False).encode()).hexdigest()[:32]


# Increase this when the files of spark/schema.py change.
FORMAT = 4
# The packages and modules that decide pairs and verdicts.
_DECISIVE = {
    "articles": ("boilerplate", "normalization"),
    "dedup.detection": (
        "bounds.py",
        "comparison",
        "judging",
        "kernels",
        "passes",
        "spark",
        "types.py",
        "verdicts",
    ),
}
_LIBRARIES = ("numpy", "rapidfuzz", "regex", "sentencex")


class VersionsError(RuntimeError):
    """Two sides have different versions; the message says which, and the remedy."""


@cache
def versions() -> dict[str, str]:
    """Return the versions of this process by name.

    Of Python, the minor version and that of its Unicode tables, which differ between minor versions; of our own code, a
    hash of the packages that decide results, so that an old copy on one machine is noticed.
    """
    digest = hashlib.sha256()
    for package, parts in _DECISIVE.items():
        for part in parts:
            for name, content in _sources(files(package) / part, f"{package}/{part}"):
                digest.update(name.encode() + b"\0" + content + b"\0")
    return {
        "format": str(FORMAT),
        "normalizer": str(NORMALIZER_VERSION),
        "code": digest.hexdigest()[:16],
        "Python": f"{sys.version_info.major}.{sys.version_info.minor}",
        "Unicode": unicodedata.unidata_version,
        **{name: importlib.metadata.version(name) for name in _LIBRARIES},
    }


def check_versions(theirs: Mapping[str, str], ours: Mapping[str, str], *, theirs_are: str, ours_are: str) -> None:
    """Raise VersionsError if any version differs; `theirs_are` and `ours_are` name the two sides: "the export"."""
    different = [
        f"{name} {theirs.get(name, 'none')} in {theirs_are} and {ours.get(name, 'none')} in {ours_are}"
        for name in sorted(theirs.keys() | ours.keys())
        if theirs.get(name) != ours.get(name)
    ]
    if different:
        raise VersionsError(
            f"the versions differ: {'; '.join(different)}; install the same newsdedup, Python and libraries on both "
            "sides, or export again"
        )


def _sources(place: Traversable, name: str) -> Iterator[tuple[str, bytes]]:
    if place.is_dir():
        for path in sorted(place.iterdir(), key=lambda entry: entry.name):
            yield from _sources(path, f"{name}/{path.name}")
    elif name.endswith((".py", ".json")):
        yield name, place.read_bytes()


# -- What a run will cost, by the numbers of a manifest. The costs of a step were measured on one core of a 2-core
#    machine; docs/scale.md has the table.

# Seconds of a run of any size: starting Java and its compiler, and the tasks of all stages; and those of each pass.
# Between a run in one process and one with an executor apart, which compiles everything a second time.
_FIXED = 55.0
_FIXED_A_PASS = 5.0
# Seconds an article: Java, Arrow, Parquet and what is prepared. Each pass says what the sets that it compares cost.
_ARTICLE = 0.00015
# Seconds a pair of articles within the window, where a pass compares all of them.
_WINDOW_PAIR = 12.7e-9
# Seconds a pair that is judged, and how many of them an article has.
_JUDGED = 0.0009
_PAIRS_AN_ARTICLE = 0.4
# Bytes an article that machines send each other, and those of a pair.
_SHUFFLED_AN_ARTICLE = 900
_SHUFFLED_A_PAIR = 500


@dataclass(frozen=True, slots=True)
class Plan:
    """What a run will cost."""

    articles: int
    days: int
    largest_day: int
    window_pairs: dict[str, int]  # by pass
    tiles: int
    cpu_seconds: float
    shuffle_bytes: float
    largest_task_pairs: int

    def described(self) -> Iterator[str]:
        """Yield it as lines of text."""
        yield f"Articles: {self.articles:,} on {self.days:,} days, at most {self.largest_day:,} on one."
        for name, pairs in self.window_pairs.items():
            yield f"{name}: {pairs:,} pairs of articles within its window."
        yield f"Tiles: {self.tiles:,}, of at most {self.largest_task_pairs:,} pairs."
        yield f"CPU: {self.cpu_seconds / 3600:,.2f} hours; on 100 cores, about {self.cpu_seconds / 6000:,.1f} minutes."
        yield f"Shuffle: {self.shuffle_bytes / 1e9:,.2f} GB, and the same space on the disks of the executors."


def planned(manifest: Manifest, configs: Configs, *, tile_pairs: int) -> Plan:
    """Return what a run with these settings will cost."""
    enabled = {name: config for name, config in configs.items() if config.enabled}
    counts = [count for _, count in manifest.days]
    pairs = {name: window_pairs(manifest, enabled[name]) for name in enabled if PASSES[name].spread is Spread.TILES}
    tiles = sum(-(-pair // tile_pairs) for pair in pairs.values())
    judged = _PAIRS_AN_ARTICLE * manifest.articles
    an_article = _ARTICLE + sum(PASSES[name].seconds_an_article for name in enabled)
    fixed = _FIXED + _FIXED_A_PASS * len(enabled)
    seconds = fixed + an_article * manifest.articles + _WINDOW_PAIR * sum(pairs.values()) + _JUDGED * judged
    return Plan(
        articles=manifest.articles,
        days=len(counts),
        largest_day=max(counts, default=0),
        window_pairs=pairs,
        tiles=tiles,
        cpu_seconds=seconds,
        shuffle_bytes=_SHUFFLED_AN_ARTICLE * manifest.articles + _SHUFFLED_A_PAIR * judged,
        largest_task_pairs=min(tile_pairs, max(pairs.values(), default=0)),
    )


def window_pairs(manifest: Manifest, config: PassConfig) -> int:
    """Return how many pairs of articles are at most the pass's window of days apart."""
    window: int = getattr(config, "day_window", 0)
    ordinals = {datetime.date.fromisoformat(day).toordinal(): count for day, count in manifest.days}
    total = 0
    for day, count in ordinals.items():
        before = sum(ordinals.get(day - apart, 0) for apart in range(1, window + 1))
        total += count * (count - 1) // 2 + count * before
    return total
