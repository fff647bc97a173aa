"""The articles of files as rows of one kind: CSV, JSON lines, Parquet, and folders of HTML pages.

Every row becomes a JSON line with the columns that an import reads; what is no field of an article keeps its name.
"""

from __future__ import annotations

import datetime
import gzip
import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple

from articles.extraction.kept_pages import RawPage, extract_whole
from articles.fields import FIELDS
from articles.files.columns import column_uses
from articles.files.formats import Source, format_of
from articles.files.records import UnreadableFileError, read_records
from articles.loading import require, when_used

parquet = when_used("pyarrow.parquet", of_extra=True)

# The fields that columns can be chosen for.
CHOSEN = tuple(known.name for known in FIELDS if known.columns)
_PAGE = re.compile(r"\.html?(\.gz)?\Z", re.IGNORECASE)
_AT_ONCE = 1_000
# Rows of JSON lines may lack columns: so many are looked at to see which there are.
_LOOKED_AT = 20


class InputRow(NamedTuple):
    """A row: its values by column, or why it cannot be read."""

    values: Mapping[str, object]
    fault: str = ""


@dataclass
class Input:
    """A file or folder; once it has been opened, `uses` says what each column is taken for, empty if it is kept."""

    path: Path
    columns: Mapping[str, str]  # the field of each column that was chosen
    uses: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def rows(self) -> Iterator[InputRow]:
        """Yield its rows under the names of fields. Raises UnreadableFileError before the first one."""
        rows = self._read()
        first = list(islice(rows, _LOOKED_AT))
        names = list(dict.fromkeys(chain.from_iterable(row.values for row in first)))
        if missing := [name for name in self.columns if name not in names]:
            has = f"it has {', '.join(names)}" if names else "it has no row that can be read"
            raise UnreadableFileError(f"{self.path} has no column {missing[0]}; {has}")
        renamed = {name: self.columns.get(name, name) for name in names}
        found = column_uses(list(renamed.values()))
        self.uses = {name: found[new] for name, new in renamed.items()}
        fields = {name for use in self.uses.values() for name in use.split(", ")}
        if self.uses and "date" not in fields:
            raise UnreadableFileError(
                f"{self.path} has no column for the day of publication; say which one it is: --columns date=NAME. "
                f"It has {', '.join(self.uses)}"
            )
        if "url" not in fields:
            self.notes.append("no column has addresses: each row gets one that says its number")
        if "content" not in fields:
            self.notes.append("no column has texts: the headline counts as the text")
        return self._completed(chain(first, rows), fields)

    def _completed(self, rows: Iterable[InputRow], fields: Collection[str]) -> Iterator[InputRow]:
        """Yield rows with what every article needs and these fields lack."""
        name = re.sub(r"[^a-z0-9]+", "-", self.path.name.lower()).strip("-")
        for number, row in enumerate(rows, start=1):
            values = {self.columns.get(name, name): value for name, value in row.values.items()}
            if "url" not in fields:
                values["url"] = f"https://{name}.invalid/{number}"
            if "content" not in fields:
                headlines = (row.values.get(column) for column, use in self.uses.items() if use == "headline")
                values["content"] = next(filter(None, headlines), "")
            yield row._replace(values=values)

    def _read(self) -> Iterator[InputRow]:
        if self.path.is_dir():
            return _pages(self.path)
        if self.path.suffix.lower() == ".parquet":
            return _parquet(self.path)
        return _records(self.path)


def kind_of_input(path: Path) -> str:
    """Return "rows" or "warc". Raises UnreadableFileError for what cannot be read."""
    if path.name.lower().endswith((".warc", ".warc.gz")):
        return "warc"
    if path.is_dir() or (path.exists() and (path.suffix.lower() == ".parquet" or format_of(path.name))):
        return "rows"
    what = "there is no such file" if not path.exists() else "its kind is unknown"
    raise UnreadableFileError(
        f"{path} cannot be read: {what}. It must be a .csv, .jsonl, .parquet or .warc file, the first two and the last "
        "also with .gz, or a folder of .html pages"
    )


def chosen_columns(words: str) -> dict[str, str]:
    """Return the field of each column of "headline=Titel,date=Datum". Raises ValueError."""
    found: dict[str, str] = {}
    for part in filter(None, map(str.strip, words.split(","))):
        name, sign, column = map(str.strip, part.partition("="))
        if not sign or not column or name not in CHOSEN:
            raise ValueError(f"{part!r} is not FIELD=COLUMN with one of the fields {', '.join(CHOSEN)}")
        found[column] = name
    return found


class JsonLines:
    """Rows as a binary stream of JSON lines; the faults of those that cannot be read are added to `faults`."""

    def __init__(self, rows: Iterable[InputRow], faults: list[str]) -> None:
        self._rows, self._faults = iter(rows), faults

    def readline(self, _size: int = -1) -> bytes:
        """Return the next row, b"" after the last one."""
        for row in self._rows:
            if not row.fault:
                return json.dumps(row.values, ensure_ascii=True, default=_plain).encode() + b"\n"
            self._faults.append(row.fault)
        return b""


def _plain(value: Any) -> Any:
    if isinstance(value, datetime.date | datetime.datetime):
        return value.isoformat()
    return value.decode(errors="replace") if isinstance(value, bytes) else str(value)


def _records(path: Path) -> Iterator[InputRow]:
    file_format = format_of(path.name) or "jsonl"
    with Source(str(path), file_format, path.name.lower().endswith(".gz")).open() as (stream, _, _):
        for record in read_records(stream, file_format):
            yield InputRow(record.values, record.fault)


def _parquet(path: Path) -> Iterator[InputRow]:
    require("pyarrow")
    try:
        for batch in parquet.ParquetFile(path).iter_batches(_AT_ONCE):
            yield from map(InputRow, batch.to_pylist())
    except (OSError, ValueError) as error:  # what pyarrow raises for a file that is no Parquet
        raise UnreadableFileError(f"{path} cannot be read: {error}") from error


def _pages(folder: Path) -> Iterator[InputRow]:
    today = datetime.datetime.now(datetime.UTC).date()
    pages = sorted(path for path in folder.rglob("*") if _PAGE.search(path.name) and path.is_file())
    if not pages:
        raise UnreadableFileError(f"{folder} has no .html or .html.gz files")
    for path in pages:
        body = path.read_bytes()
        name = path.relative_to(folder).as_posix()
        try:
            page = gzip.decompress(body) if path.suffix.lower() == ".gz" else body
        except (OSError, EOFError) as error:
            yield InputRow({}, f"{name}: {error}")
            continue
        yield _article(page, name, today)


def _article(page: bytes, name: str, today: datetime.date) -> InputRow:
    address = f"https://pages.invalid/{name}"
    found = extract_whole((RawPage(page, address, "text/html"),), b"", today)
    if isinstance(found, str):
        return InputRow({}, f"{name}: {found}")
    if found.date is None:
        return InputRow({}, f"{name}: no day of publication was found on the page")
    values = {"headline": found.headline, "content": found.text, "url": found.canonical_url or address, "file": name}
    values["date"] = found.time.local.isoformat() if found.time else found.date.isoformat()
    values |= {known: getattr(found, known) for known in _READ_FROM_PAGES if getattr(found, known)}
    return InputRow(values)


_READ_FROM_PAGES: Sequence[str] = ("language", "byline", "agency", "dateline")
