"""The files that a cluster reads and leaves, and the columns of each: the contract between a database and a cluster.

A folder holds everything:

    manifest.json                       what was exported (spark/manifest.py); written last
    articles/*.parquet                  ARTICLES
    keys/pass_name=NAME/*.parquet       KEYS
    newspapers.parquet                  NEWSPAPERS
    series_rules.parquet                SERIES_RULES
    alphabet.parquet                    ALPHABET
    stages/                             what `newsdedup-spark run` keeps between its stages; nobody else reads it
    results/evidence/pass_name=NAME/month=YYYY-MM/*.parquet       EVIDENCE
    results/crowded/pass_name=NAME/*.parquet                      HUBS
    results/verdicts/month=YYYY-MM/*.parquet                      VERDICTS
    results/result.json                 what the run did (spark/manifest.py); written last

Files come in any number and their rows in any order: a reader sorts where the order matters. A folder of results
without rows may be missing. Days are dates without a zone, moments are in UTC. Texts are ordered by code points,
nowhere by a locale. The month is that of the later article's day.
"""

import datetime
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from dedup.detection.kernels.tokens import Alphabet

# Texts of 5 kB: a file has 100 MB before compression, and a row group 10.
ARTICLES_A_FILE: Final = 20_000
ARTICLES_A_GROUP: Final = 2_000
COMPRESSION: Final = "zstd"


def needed(**kinds: pa.DataType) -> pa.Schema:
    """Return a schema of columns that are never null."""
    return pa.schema([pa.field(name, kind, nullable=False) for name, kind in kinds.items()])


def table_of(rows: Sequence[Sequence[Any]], schema: pa.Schema) -> pa.Table:
    """Return rows as a table."""
    columns = zip(*rows, strict=True) if rows else [()] * len(schema)
    arrays = [pa.array(values, kind) for kind, values in zip(schema.types, columns, strict=True)]
    return pa.table(arrays, schema=schema)


# How Spark names the types of columns.
_DDL = {
    "int64": "long", "int32": "int", "double": "double", "string": "string", "bool": "boolean", "binary": "binary",
    "list<item: int64>": "array<long>",
}  # fmt: skip


def ddl(schema: pa.Schema) -> str:
    """Return a schema as Spark reads it."""
    return ", ".join(f"{field.name} {_DDL[str(field.type)]}" for field in schema)


_NUMBER, _SHARE, _FLAG, _TEXT, _DAY = pa.int64(), pa.float64(), pa.bool_(), pa.string(), pa.date32()


# The articles up to the last day of the scope, and of the CONTEXT_DAYS after it: passes compare those up to that day
# alone, verdicts also learn from those after it what recurs in a newspaper.
# `published_*` are as in articles.models.Article: give them to PublicationTime.
# `boilerplate` is a JSON list, for without_boilerplate(content, boilerplate, mode).
# The text that passes compare is `reduced_text`, or `normalized_text` where that is null: nothing was left out. An
# empty text matches nothing.
ARTICLES: Final = pa.schema(
    [
        *needed(id=_NUMBER, newspaper=_NUMBER, day=_DAY, revision=_NUMBER),
        pa.field("published_at", pa.timestamp("us", tz="UTC")),
        pa.field("published_offset", pa.int16()),
        *needed(published_precision=_TEXT, headline=_TEXT, content=_TEXT, boilerplate=_TEXT, normalized_text=_TEXT),
        pa.field("reduced_text", _TEXT),
    ]
)
# What the articles of a pair share for a keyed pass (passes/keyed.py). `place` is the newspaper, or 0 if both may be of
# any. Articles without a key are left out.
KEYS: Final = pa.schema(
    [*needed(article=_NUMBER, newspaper=_NUMBER, day=_DAY, place=_NUMBER, key=_TEXT), pa.field("note", _TEXT)]
)
# `affixes` are what plain_title removes from headlines.
NEWSPAPERS: Final = needed(id=_NUMBER, name=_TEXT, affixes=pa.list_(_TEXT))
# Headline forms whose articles, in one newspaper, are never duplicates of each other.
SERIES_RULES: Final = needed(newspaper=_NUMBER, form=_TEXT)
# The characters that are parts of words to pg_trgm, and the one that it compares for each; all others are blanks.
# They are a constant of the server and its locale.
ALPHABET: Final = needed(character=pa.uint32(), folded=pa.uint32())

# The candidates of a pass, after the rules of the profile: left < right, each pair once a pass. `details` is JSON, as
# Candidate.evidence.
EVIDENCE: Final = needed(left=_NUMBER, right=_NUMBER, score=_SHARE, details=_TEXT)
# Tally.hubs of a pass. An article that several tiles found to be a hub has the highest of their numbers.
HUBS: Final = needed(article=_NUMBER, near=pa.int32())
# The verdict of every pair with evidence, each once, as if no dense group had a rule.
# `reasons` is JSON. Both columns of JSON are spelled by json.dumps(..., ensure_ascii=False).
VERDICTS: Final = needed(
    left=_NUMBER, right=_NUMBER, verdict=_TEXT, probability=_SHARE, duplicate_probability=_SHARE, reasons=_TEXT,
    joins=_FLAG, left_matched=_SHARE, right_matched=_SHARE, relation=_TEXT, relation_probability=_SHARE,
    left_own=_NUMBER, right_own=_NUMBER, new_text=_TEXT, quoted=_SHARE,
)  # fmt: skip

MANIFEST: Final = "manifest.json"
RESULT: Final = "result.json"


class Bundle:
    """The places in the folder of an export. `root` is a folder of a file system that every executor sees."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.manifest = root / MANIFEST
        self.articles = root / "articles"
        self.keys = root / "keys"
        self.stages = root / "stages"
        self.results = root / "results"
        self.result = self.results / RESULT
        self.hubs = self.results / "crowded"
        self.evidence = self.results / "evidence"
        self.verdicts = self.results / "verdicts"

    def table(self, name: str) -> Path:
        """Return the file of a small table: newspapers, series_rules or alphabet."""
        return self.root / f"{name}.parquet"

    def read(self, name: str) -> pa.Table:
        """Return a small table."""
        return parquet.read_table(self.table(name))


# The first day as Spark and Arrow number days, as an ordinal number.
EPOCH: Final = datetime.date(1970, 1, 1).toordinal()


def month_of(day: datetime.date) -> str:
    """Return the month of a day as the names of folders have it: 2026-03."""
    return day.isoformat()[:7]


def months_in(folder: Path) -> list[str]:
    """Return the months that a folder of results has, in order."""
    return sorted(path.name.removeprefix("month=") for path in folder.glob("month=*"))


def of_month(folder: Path, month: str) -> Path:
    """Return the folder of a month."""
    return folder / f"month={month}"


def of_pass(folder: Path, name: str) -> Path:
    """Return the folder of a pass."""
    return folder / f"pass_name={name}"


def alphabet_of(table: pa.Table) -> Alphabet:
    """Return the alphabet of an ALPHABET table."""
    characters, folded = (np.asarray(table[name], dtype=np.uint32) for name in ("character", "folded"))
    return Alphabet.of(zip(map(chr, characters.tolist()), map(chr, folded.tolist()), strict=True))
