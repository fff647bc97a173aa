"""Reads the rows of JSON lines and CSV one by one in bounded memory, with a fault for each unreadable row.

Every row is yielded once, in order, with the number of its first physical line in the uncompressed file. Finding the
rows and reading a row are two steps, because other processes can do the second one.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import json
import re
import zlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, count
from typing import BinaryIO, Literal, NamedTuple, TypeAlias, cast

from articles.files.cells import is_export, unguarded

_decode_at = json.JSONDecoder().raw_decode
_BEFORE_NAME = re.compile(r'[\s,{]*"')
_BEFORE_VALUE = re.compile(r"\s*:\s*")
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


class Member(NamedTuple):
    """A member of a JSON object: its name, and the JSON texts of its name and its value."""

    name: str
    name_json: str
    value_json: str

    def under(self, prefix: str) -> Member:
        """Return it with a prefix of plain letters and dots before its name."""
        return Member(prefix + self.name, f'"{prefix}{self.name_json[1:]}', self.value_json)

    def without(self, prefix: str) -> Member:
        """Return it without a prefix that its name_json begins with."""
        return Member(self.name.removeprefix(prefix), f'"{self.name_json[1 + len(prefix) :]}', self.value_json)


def members_of(text: str) -> Iterator[Member]:
    """Yield the members of a JSON text that is known to be a valid object; of an empty text, none."""
    position = 0
    while before := _BEFORE_NAME.match(text, position):
        start = before.end() - 1
        name, end = _decode_at(text, start)
        value = end + len(cast("re.Match[str]", _BEFORE_VALUE.match(text, end))[0])
        _, position = _decode_at(text, value)
        yield Member(name, text[start:end], text[value:position])


def object_of(members: Iterable[Member]) -> str:
    """Return a JSON object as one line; empty if there are no members."""
    text = ", ".join(f"{member.name_json}: {member.value_json}" for member in members)
    return f"{{{text}}}" if text else ""


def plain(value_json: str) -> str:
    """Return the JSON text of a value as people read it: a text without quotes, nothing for null, else unchanged.

    A text with half a surrogate pair, which UTF-8 cannot write, stays JSON too.
    """
    if value_json == "null":
        return ""
    if not value_json.startswith('"'):
        return value_json
    text: str = json.loads(value_json)
    return value_json if _LONE_SURROGATE.search(text) else text


FileFormat: TypeAlias = Literal["jsonl", "csv"]

# Enough for the longest article that can be stored, with each character as a six-byte JSON escape.
MAX_LINE_BYTES = 20_000_000
RAW_CHARACTERS = 500

_QUOTED = re.compile(rb'"[^"]*(?:"|\Z)')


class UnreadableFileError(ValueError):
    """A file whose rows cannot be read; the message includes the remedy."""


@dataclass(frozen=True, slots=True)
class Line:
    """A physical line, or the fault that makes it unreadable; of JSON lines, a row that is not yet read."""

    number: int
    data: bytes
    fault: str = ""

    @property
    def size(self) -> int:
        """How much memory it takes, in bytes, roughly."""
        return len(self.data)


@dataclass(frozen=True, slots=True)
class Record:
    """The values of a row by column name, or the fault that makes the row unreadable.

    `raw` is the beginning of its text. If a name is `repeated`, its last value counts. `members` yields all columns as
    they came, repeated ones too; a cell of CSV without text is not among them. `size` is that of the row in bytes.
    """

    line: int
    raw: str
    values: Mapping[str, object]
    size: int
    fault: str = ""
    members: Callable[[], Iterable[Member]] = tuple
    repeated: bool = False


# A row that has been found: of JSON lines, its line; of CSV, its values.
FoundRow: TypeAlias = Line | Record
CheckHeader: TypeAlias = Callable[[Sequence[str]], None]


def read_records(
    stream: BinaryIO, file_format: FileFormat, *, check_header: CheckHeader = lambda _names: None
) -> Iterator[Record]:
    """Yield the rows of an uncompressed or decompressing stream; blank lines are skipped.

    `check_header` gets the column names of a CSV file and may raise UnreadableFileError; this function raises it too,
    before the first row.
    """
    return map(record_of, find_rows(stream, file_format, check_header=check_header))


def find_rows(
    stream: BinaryIO, file_format: FileFormat, *, check_header: CheckHeader = lambda _names: None
) -> Iterator[FoundRow]:
    """Yield the same rows for record_of, in this process or another one."""
    lines = _read_lines(stream)
    if file_format == "jsonl":
        return (line for line in lines if line.fault or line.data.strip())
    return _csv_records(lines, check_header)


def record_of(found: FoundRow) -> Record:
    """Return the values of a row that find_rows found."""
    return found if isinstance(found, Record) else _json_record(found)


def _read_lines(stream: BinaryIO) -> Iterator[Line]:
    """Yield the physical lines, never holding more than MAX_LINE_BYTES of one."""
    for number in count(1):
        fault = ""
        try:
            data = stream.readline(MAX_LINE_BYTES + 1)
            if len(data) > MAX_LINE_BYTES:
                fault = f"line has more than {MAX_LINE_BYTES:,} bytes; shorten it"
                rest = data
                while rest and not rest.endswith(b"\n"):
                    rest = stream.readline(1_000_000)
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            if number == 1 and isinstance(error, gzip.BadGzipFile):
                raise UnreadableFileError(f"its name ends in .gz, but: {error}; rename or compress it") from error
            fault = f"the gzip data is cut off or damaged in this line ({error}); get a complete copy of the file"
            yield Line(number, b"", fault)
            return
        if not data:
            return
        yield Line(number, _without_mark(data) if number == 1 else data, fault)


def _without_mark(first_line: bytes) -> bytes:
    if first_line.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise UnreadableFileError("it is UTF-16; save it as UTF-8")
    if first_line.startswith(b"\x1f\x8b"):
        raise UnreadableFileError("it is compressed with gzip; give it a name that ends in .gz")
    return first_line.removeprefix(codecs.BOM_UTF8)


def _beginning(data: bytes) -> str:
    # A character has up to four bytes.
    return data[: 4 * RAW_CHARACTERS].decode(errors="replace").strip("\r\n")[:RAW_CHARACTERS]


def _json_record(line: Line) -> Record:
    values: object = {}
    text, names = "", 0
    fault = line.fault
    if not fault:
        try:
            text = line.data.decode()
            values, names = _json_value(text)
        except UnicodeDecodeError as error:
            fault = _encoding_fault(line.number, error)
        except json.JSONDecodeError as error:
            fault = f"line is not JSON: {error.msg} at character {error.pos + 1}; write one object per line"
        except (ValueError, RecursionError):
            fault = "line is JSON with too many levels or too long a number; write one object per line"
    if not isinstance(values, dict):
        fault, values = f"line holds {kind_of(values)}, not a JSON object; write one object per line", {}
    members, repeated = partial(members_of, text), names != len(values)
    return Record(line.number, _beginning(line.data), values, line.size, fault, members, repeated)


def _json_value(text: str) -> tuple[object, int]:
    """Return the value of a JSON text and, if it is an object, how many members it has. Raises as json.loads does."""
    members = 0

    def as_dict(pairs: list[tuple[str, object]]) -> dict[str, object]:
        nonlocal members
        members = len(pairs)  # the outermost object comes last
        return dict(pairs)

    return json.loads(text, object_pairs_hook=as_dict), members


def _encoding_fault(line_number: int, error: UnicodeDecodeError) -> str:
    return f"byte {error.start + 1} of line {line_number} is not UTF-8; save the file as UTF-8"


class _RecordLines:
    """Gives lines to csv.reader and keeps those of the current record, whose end only the reader knows."""

    def __init__(self, lines: Iterator[Line]) -> None:
        self._lines = lines
        self._returned: deque[Line] = deque()
        self.begin()

    def begin(self) -> None:
        self.taken: list[Line] = []
        self.fault = ""
        self._bytes = 0

    def __iter__(self) -> _RecordLines:
        return self

    def __next__(self) -> str:
        line = self._returned.popleft() if self._returned else next(self._lines)
        self.taken.append(line)
        self._bytes += len(line.data)
        if line.fault:
            raise csv.Error(line.fault)
        if self._bytes > MAX_LINE_BYTES:
            raise csv.Error(f"it has more than {MAX_LINE_BYTES:,} bytes; a closing quote may be missing")
        try:
            return line.data.decode()
        except UnicodeDecodeError as error:
            self.fault = _encoding_fault(line.number, error)
            return line.data.decode(errors="replace")

    def give_back(self) -> None:
        """Give back all lines but the first: a quote that is never closed must not swallow the next rows."""
        self._returned.extendleft(reversed(self.taken[1:]))

    def record(self, names: Sequence[str], cells: Sequence[str], fault: str) -> Record:
        first, *others = self.taken
        data = first.data
        for line in others:
            if len(data) > 4 * RAW_CHARACTERS:
                break
            data += line.data
        members, values = partial(_cell_members, names, cells), dict(zip(names, cells, strict=False))
        size, repeated = sum(line.size for line in self.taken), len(values) < len(cells)
        return Record(first.number, _beginning(data), values, size, fault, members, repeated)


def _cell_members(names: Sequence[str], cells: Sequence[str]) -> Iterator[Member]:
    for name, cell in zip(names, cells, strict=False):
        if cell:
            yield Member(name, json.dumps(name, ensure_ascii=False), json.dumps(cell, ensure_ascii=False))


def _csv_records(lines: Iterator[Line], check_header: CheckHeader) -> Iterator[Record]:
    first = next((line for line in lines if line.fault or line.data.strip()), None)
    if first is None:
        return
    csv.field_size_limit(MAX_LINE_BYTES)
    source = _RecordLines(chain([first], lines))
    reader = csv.reader(source, delimiter=_delimiter(first.data), strict=True)
    header = _header(reader, source)
    check_header(header)
    if exported := is_export(header):
        header = [unguarded(name) for name in header]
    while True:
        source.begin()
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            yield source.record((), (), source.taken[-1].fault or _csv_fault(error))
            source.give_back()
            continue
        if len(cells) <= 1 and not "".join(cells).strip():
            continue
        fault = source.fault
        if not fault and len(cells) != len(header):
            fault = f"row has {len(cells)} columns, but the header has {len(header)}; check its quotes and separators"
        if fault:
            yield source.record((), (), fault)
        else:
            yield source.record(header, [unguarded(cell) for cell in cells] if exported else cells, "")


def _csv_fault(error: csv.Error) -> str:
    reason = "a carriage return outside quotes" if "new-line character" in str(error) else error
    return f"row is not CSV: {reason}; put the cells in quotes and double any quotes inside them"


def _delimiter(header: bytes) -> str:
    """Return the separator of the header: spreadsheets write semicolons and tabs too."""
    unquoted = _QUOTED.sub(b"", header)
    return max(",;\t", key=lambda separator: unquoted.count(separator.encode()))


def _header(reader: Iterator[list[str]], source: _RecordLines) -> list[str]:
    try:
        header = next(reader)
    except csv.Error as error:
        raise UnreadableFileError(f"its header cannot be read: {source.taken[-1].fault or error}") from error
    if source.fault:
        raise UnreadableFileError(f"its header cannot be read: {source.fault}")
    return header


def kind_of(value: object) -> str:
    """Return the JSON type of the value, with its article."""
    names = {
        bool: "a boolean",
        int: "a number",
        float: "a number",
        str: "a string",
        list: "an array",
        dict: "an object",
    }
    return names.get(type(value), "null")
