"""Writes an export: the articles, URLs, rules and settings that a run on a cluster reads."""

import dataclasses
import datetime
import hashlib
import json
import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa
from django.db import connection
from django.utils import timezone
from pyarrow import parquet

from articles.files.whole_files import writing
from articles.models import Newspaper
from articles.storage.ingest import newest_revision
from dedup.detection.article_sql import article_sql
from dedup.detection.clustering.joins import same_as
from dedup.detection.passes import PASSES
from dedup.detection.passes.keyed import KeyedPass
from dedup.detection.passes.trigram import whole_alphabet
from dedup.detection.runs.judging import model_in_use
from dedup.detection.runs.outdated_verdicts import COMPARISON_VERSION
from dedup.detection.runs.profiles import Configs, snapshot
from dedup.detection.runs.scope import Scope
from dedup.detection.spark.manifest import CONTEXT_DAYS, AlphabetError, BundleError, Manifest, versions
from dedup.detection.spark.schema import (
    ALPHABET,
    ARTICLES,
    ARTICLES_A_FILE,
    ARTICLES_A_GROUP,
    COMPRESSION,
    KEYS,
    NEWSPAPERS,
    SERIES_RULES,
    Bundle,
    month_of,
    of_pass,
    table_of,
)
from dedup.detection.types import Window
from dedup.detection.verdicts.model import dump_model
from dedup.models import Profile, Series
from dedup.models.base import read_rows


@cache
def _alphabet(_database: str) -> list[tuple[Any, ...]]:
    """Return the rows of ALPHABET, which never change in a database."""
    try:
        return sorted((ord(character), ord(lowered)) for character, lowered in whole_alphabet(connection))
    except ValueError as error:
        raise AlphabetError(str(error)) from error


_SERIES_RULES = Series.objects.filter(ruled_at__isnull=False).order_by("newspaper", "form")
# Each small table: its columns, and what returns its rows.
_MADE: dict[str, tuple[pa.Schema, Callable[[], list[tuple[Any, ...]]]]] = {
    "newspapers": (NEWSPAPERS, lambda: [(one.pk, one.name, one.affixes) for one in Newspaper.objects.order_by("pk")]),
    "series_rules": (SERIES_RULES, lambda: list(_SERIES_RULES.values_list("newspaper", "form"))),
    "alphabet": (ALPHABET, lambda: _alphabet(connection.settings_dict["NAME"])),
}
TABLES = tuple(_MADE)


def write_tables(bundle: Bundle) -> dict[str, str]:
    """Write the small tables; return a hash of the rows of each, by name. Raises AlphabetError."""
    tables = {name: make() for name, (_, make) in _MADE.items()}
    for name, rows in tables.items():
        parquet.write_table(table_of(rows, _MADE[name][0]), bundle.table(name), compression=COMPRESSION)
    return {name: _hash(rows) for name, rows in tables.items()}


def changed_tables(known: Mapping[str, str]) -> list[str]:
    """Return which of the tables that editors change have other rows now than when these hashes were made."""
    return [name for name, (_, make) in _MADE.items() if name != "alphabet" and known.get(name) != _hash(make())]


def _hash(rows: Iterable[tuple[Any, ...]]) -> str:
    digest = hashlib.sha256()
    for row in rows:
        digest.update(json.dumps(row).encode())
    return digest.hexdigest()[:32]


_MONTHS_SQL = article_sql(
    """
SELECT to_char(date, 'YYYY-MM'), count(*), bit_xor(hashint8extended(article.id, article.revision))
FROM {articles} AS article
WHERE revision <= %(newest)s AND date <= %(last_day)s AND {article.in_newspapers}
GROUP BY 1
ORDER BY 1
""",
    "article",
)
_CHANGED_SQL = article_sql(
    """
SELECT exported.id, coalesce(article.headline, ''), coalesce(newspaper.name, '')
FROM unnest(%(ids)s::bigint[], %(revisions)s::bigint[]) AS exported (id, revision)
LEFT JOIN {articles} AS article ON article.id = exported.id
LEFT JOIN articles_newspaper AS newspaper ON newspaper.id = article.newspaper_id
WHERE article.revision IS DISTINCT FROM exported.revision
ORDER BY exported.id
"""
)


def months_of(parameters: dict[str, Any]) -> dict[str, list[int]]:
    """Return the number of articles of each month and a hash of their ids and revisions.

    Parameters: newest, the highest revision that counts; last_day; newspaper_ids, None for all.
    """
    return {month: [count, state] for month, count, state in read_rows(_MONTHS_SQL, **parameters)}


def changed(ids: Sequence[int], revisions: Sequence[int]) -> list[tuple[int, str, str]]:
    """Return those of these articles that have another revision now or are missing: id, headline, newspaper."""
    return read_rows(_CHANGED_SQL, ids=list(ids), revisions=list(revisions))


# In batches by the index article_date: no cursor stays open for the minutes that a large archive takes.
_ARTICLES_SQL = article_sql(
    """
SELECT id, newspaper_id, date, revision, published_at, published_offset, published_precision, headline, content,
       boilerplate::text, normalized_text, CASE WHEN NOT {article.whole} THEN {article.text} END,
       hashint8extended(id, revision)
FROM {articles} AS article
WHERE (date, id) > (%(after_day)s, %(after_id)s) AND date <= %(last_day)s AND revision <= %(newest)s
  AND {article.in_newspapers}
ORDER BY date, id
LIMIT %(batch)s
""",
    "article",
)
_CONTENT, _TEXT, _REDUCED = (ARTICLES.get_field_index(name) for name in ("content", "normalized_text", "reduced_text"))


@dataclass(frozen=True, slots=True)
class Asked:
    """What is to be exported: the settings and the scope of a run."""

    profile: Profile
    configs: Configs
    scope: Scope


@dataclass(slots=True)
class _Counted:
    """What was written so far."""

    days: Counter[datetime.date] = field(default_factory=Counter)
    months: dict[str, list[int]] = field(default_factory=dict)
    text: int = 0
    content: int = 0

    def add(self, rows: list[tuple[Any, ...]]) -> None:
        self.days.update(row[2] for row in rows)
        for row in rows:
            month = self.months.setdefault(month_of(row[2]), [0, 0])
            month[0] += 1
            month[1] ^= row[-1]
        self.content += sum(len(row[_CONTENT]) for row in rows)
        self.text += sum(len(row[_TEXT] if row[_REDUCED] is None else row[_REDUCED]) for row in rows)


def export_detection(root: Path, asked: Asked, on_written: Callable[[int], object]) -> Manifest:
    """Write an export into a folder, in place of an earlier one; return its manifest, which is written last.

    Stages and results of a run stay in the folder. `on_written` gets the number of articles of each batch. Call it in
    `run_lock`, when what a run prepares is prepared. An article that is stored or changed meanwhile is left out, and
    one that is changed after it was written is noticed by the import. Nothing is left of an export that fails. Raises
    BundleError, AlphabetError and UnwritableError.
    """
    with writing(root, root if root.is_dir() else root.absolute().parent):
        bundle = Bundle(root)
        _make_room(bundle)
        try:
            return _export(bundle, asked, on_written)
        except BaseException:
            # Without a manifest it is no export, and on a full disk its files would be in the way.
            _remove(bundle)
            raise


def _export(bundle: Bundle, asked: Asked, on_written: Callable[[int], object]) -> Manifest:
    newest = newest_revision()
    scope, stored = asked.scope, asked.scope.stored()
    last_day, boilerplate = last_day_read(scope.until), scope.boilerplate.value
    parameters = {**scope.bounds(), "newest": newest, "last_day": last_day, "boilerplate": boilerplate}
    counted = _write_articles(bundle, asked, parameters, on_written)
    tables = write_tables(bundle)
    manifest = Manifest(
        versions=versions(),
        comparison=COMPARISON_VERSION,
        made_at=timezone.now().isoformat(timespec="seconds"),
        articles=counted.days.total(),
        newest=newest,
        days=[(day.isoformat(), count) for day, count in sorted(counted.days.items())],
        months=counted.months,
        texts={"text": counted.text, "content": counted.content},
        newspapers=parquet.read_metadata(bundle.table("newspapers")).num_rows,
        **{name: stored[name] for name in ("since", "until", "boilerplate", "passes")},
        profile=asked.profile.name,
        config=snapshot(asked.configs),
        rules=[dataclasses.asdict(rule) | {"sides": [sorted(side) for side in rule.sides]} for rule in scope.rules],
        newspaper_ids=scope.bounds()["newspaper_ids"],
        same_as=same_as(),
        model=dump_model(model_in_use()),
        tables=tables,
        files=_sizes(bundle),
    )
    manifest.write(bundle.manifest)
    return manifest


def last_day_read(until: datetime.date | None) -> datetime.date:
    """Return the last day of the articles in an export whose pairs end on `until`."""
    ahead = datetime.date.max.toordinal() if until is None else until.toordinal() + CONTEXT_DAYS
    return datetime.date.fromordinal(min(ahead, datetime.date.max.toordinal()))


def _make_room(bundle: Bundle) -> None:
    """Remove an earlier export from the folder, its manifest first. Raises BundleError for a folder of other files."""
    bundle.root.mkdir(parents=True, exist_ok=True)
    ours = {bundle.manifest, bundle.articles, bundle.keys, bundle.stages, bundle.results, *map(bundle.table, TABLES)}
    ours.update(_unfinished(bundle))
    if others := sorted(path.name for path in bundle.root.iterdir() if path not in ours):
        raise BundleError(f"{bundle.root} holds {others[0]}, which is not of an export; name a new or an empty folder")
    _remove(bundle)
    for folder in (bundle.articles, *(of_pass(bundle.keys, name) for name in _keyed())):
        folder.mkdir(parents=True)


def _remove(bundle: Bundle) -> None:
    """Remove an export, its manifest first: without one, the other files are no export."""
    for file in (bundle.manifest, *_unfinished(bundle), *map(bundle.table, TABLES)):
        file.unlink(missing_ok=True)
    for folder in (bundle.articles, bundle.keys):
        shutil.rmtree(folder, ignore_errors=True)


def _unfinished(bundle: Bundle) -> list[Path]:
    """Return the manifests that killed exports were writing."""
    return list(bundle.root.glob(f".{bundle.manifest.name}.*"))


def _keyed() -> dict[str, KeyedPass]:
    return {name: detection_pass for name, detection_pass in PASSES.items() if isinstance(detection_pass, KeyedPass)}


def _write_articles(
    bundle: Bundle, asked: Asked, parameters: dict[str, Any], on_written: Callable[[int], object]
) -> _Counted:
    """Write the articles, and their keys for every keyed pass: a run on the cluster may enable others."""
    counted = _Counted()
    window = Window(datetime.date.min, parameters["last_day"], boilerplate=asked.scope.boilerplate)
    with ExitStack() as stack:
        articles = stack.enter_context(closing(_Files(bundle.articles, ARTICLES)))
        keys = {name: stack.enter_context(closing(_Files(of_pass(bundle.keys, name), KEYS))) for name in _keyed()}
        after: dict[str, Any] = {"after_day": datetime.date.min, "after_id": 0, "batch": ARTICLES_A_GROUP}
        while rows := read_rows(_ARTICLES_SQL, **parameters, **after):
            after |= {"after_day": rows[-1][2], "after_id": rows[-1][0]}
            counted.add(rows)
            articles.write([row[:-1] for row in rows])
            ids = [row[0] for row in rows]
            for name, keyed in _keyed().items():
                keys[name].write(keyed.exported(ids, window, asked.configs[name], connection))
            on_written(len(rows))
    return counted


class _Files:
    """Rows as Parquet files of at most about ARTICLES_A_FILE rows in a folder; there is at least one file."""

    def __init__(self, folder: Path, schema: pa.Schema) -> None:
        self._folder, self._schema = folder, schema
        self._files = 0
        self._open()

    def write(self, rows: list[tuple[Any, ...]]) -> None:
        """Write rows as one group."""
        if not rows:
            return
        if self._rows >= ARTICLES_A_FILE:
            self.close()
            self._open()
        columns = zip(self._schema.types, zip(*rows, strict=True), strict=True)
        batch = pa.record_batch([pa.array(values, kind) for kind, values in columns], schema=self._schema)
        self._writer.write_batch(batch)
        self._rows += len(rows)

    def _open(self) -> None:
        path = self._folder / f"part-{self._files:05}.parquet"
        self._writer = parquet.ParquetWriter(path, self._schema, compression=COMPRESSION)
        self._files, self._rows = self._files + 1, 0

    def close(self) -> None:
        """Finish the last file."""
        self._writer.close()


def _sizes(bundle: Bundle) -> dict[str, int]:
    """Return the bytes of each file of the export by its path in the folder."""
    files = [*bundle.articles.iterdir(), *bundle.keys.rglob("*.parquet"), *bundle.root.glob("*.parquet")]
    return {str(path.relative_to(bundle.root)): path.stat().st_size for path in sorted(files)}
