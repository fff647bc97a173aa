"""Columns and tables, declared by the rows that fill them.

A row is a dataclass. A field annotated `Annotated[int, column("Articles")]` is a column, and so is a method or property
below `@column("Share", SHARE)`, or a `share_of`; a method is given the whole result of the report. A field of a result
annotated `Annotated[list[Row], table("By month")]` is a table.
"""

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import KW_ONLY, dataclass
from datetime import date
from functools import cache
from types import NoneType
from typing import Annotated, Any, TypeVar, get_args, get_type_hints

from dedup.rows.columns import Column, ColumnType

# A page with more rows of a table takes long to load, and nobody reads to their end.
MOST_SHOWN = 500

Method = TypeVar("Method", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class Linked:
    """A text that is a link on the page, and nothing but the text in files. The address is one of this site."""

    text: str
    address: str

    def __str__(self) -> str:
        return self.text


Cell = str | int | float | date | Linked | None


TEXT, COUNT, SHARE, NUMBER = ColumnType.TEXT, ColumnType.COUNT, ColumnType.SHARE, ColumnType.NUMBER
_TYPES = {int: COUNT, float: NUMBER, date: ColumnType.DAY}


@dataclass(frozen=True, slots=True)
class Table:
    """Rows with a cell for each column."""

    name: str
    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]

    def written(self) -> Iterator[list[tuple[Column, str]]]:
        """Yield each row as cells formatted for people, each with its column."""
        for row in self.rows:
            yield [(column, column.write(cell)) for column, cell in zip(self.columns, row, strict=True)]

    @property
    def hidden(self) -> int:
        """The rows that a page leaves out; files have all."""
        return max(len(self.rows) - MOST_SHOWN, 0)

    def shown(self) -> Iterator[list[tuple[Column, str, str]]]:
        """Yield the first rows with the address of each cell that is a link; empty for the others."""
        for row, cells in zip(self.rows[:MOST_SHOWN], self.written(), strict=False):
            yield [
                (column, text, cell.address if isinstance(cell, Linked) else "")
                for (column, text), cell in zip(cells, row, strict=True)
            ]


# ---- declarations ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class DeclaredColumn:
    """A column; its name is that of the field or method, unless it is `named`.

    Without a type, it has that of its cells, where a float is a NUMBER. Columns are in the order of the fields, then of
    the methods; one that comes `after` another follows it. A cell is a `link` to the address that this property of the
    row gives, if any, and empty where the property `unless` is true. Of a list, it is the `item` at this place, empty
    without a list. The property `shown` says in words what it holds.
    """

    label: str
    type: ColumnType | None = None
    _: KW_ONLY
    named: str = ""
    after: str = ""
    link: str = ""
    unless: str = ""
    item: int | None = None
    shown: str = ""

    def __call__(self, method: Method) -> Method:
        """Declare that a method computes the cells of this column; it may compute those of several."""
        method.__dict__["columns"] = (self, *method.__dict__.get("columns", ()))
        return method


@dataclass(frozen=True, slots=True)
class DeclaredTable:
    """A list of rows that is a table, of all columns of its rows, or of those named, in this order.

    Its name is that of the field, unless it is `named`.
    """

    title: str
    columns: str = ""
    _: KW_ONLY
    named: str = ""


# As rows and results declare them.
column, table = DeclaredColumn, DeclaredTable


# The columns of a dataclass in a field with this are columns of the row, in their place.
PART = object()


# How the cell of a column is read from a row and the whole result.
_Read = Callable[[Any, Any], Cell]


@cache
def _columns_of(rows: type) -> Mapping[str, tuple[Column, _Read]]:
    """Return the declared columns of a row class by name, in order."""
    found = {column.name: (column, read, declared.after) for column, read, declared in _declared(rows)}
    order = [name for name, (*_, after) in found.items() if not after]
    for name, (*_, after) in reversed(found.items()):
        if after:
            order.insert(order.index(after) + 1, name)
    return {name: found[name][:2] for name in order}


def _declared(rows: type) -> Iterator[tuple[Column, _Read, DeclaredColumn]]:
    hints = get_type_hints(rows, include_extras=True)
    for field in dataclasses.fields(rows):
        kind, *extras = get_args(hints[field.name]) or (hints[field.name],)
        for declared in extras:
            if isinstance(declared, DeclaredColumn):
                yield _column(field.name, declared, kind), _of_field(field.name, declared), declared
            elif declared is PART:
                yield from ((column, _within(field.name, read), own) for column, read, own in _declared(kind))
    for owner in reversed(rows.__mro__):
        for name, member in vars(owner).items():
            method: Any = member.fget if isinstance(member, property) else member
            for declared in getattr(method, "__dict__", {}).get("columns", ()):
                kind = get_type_hints(method).get("return")
                read = _of_field(name, declared) if isinstance(member, property) else method
                yield _column(name, declared, kind), read, declared


def _column(name: str, declared: DeclaredColumn, kind: Any) -> Column:
    kinds = {part for part in get_args(kind) or (kind,) if part is not NoneType}
    known = _TYPES.get(kinds.pop(), ColumnType.TEXT) if len(kinds) == 1 else ColumnType.TEXT
    return Column(declared.named or name, declared.label, declared.type or known)


def _of_field(name: str, declared: DeclaredColumn) -> _Read:
    def read(row: Any, _result: Any) -> Cell:
        if declared.unless and getattr(row, declared.unless):
            return None
        value = getattr(row, declared.shown or name)
        cell: Cell = value if declared.item is None else value and value[declared.item]
        address = getattr(row, declared.link) if declared.link else ""
        return Linked(str(cell), address) if address else cell

    return read


def _within(field: str, read: _Read) -> _Read:
    return lambda row, result: read(getattr(row, field), result)


def drawn(rows: Iterable[Any], of: type, name: str, title: str, *, columns: str = "", result: Any = None) -> Table:
    """Return a table of rows `of` a class that declares columns: all of them, or those named, separated by blanks."""
    known = _columns_of(of)
    chosen = [known[column] for column in columns.split() or known]
    cells = (tuple(read(row, result) for _, read in chosen) for row in rows)
    return Table(name, title, tuple(column for column, _ in chosen), tuple(cells))


def listed(name: str, title: str, rows: Iterable[Iterable[Cell]], *columns: tuple[str, str, ColumnType]) -> Table:
    """Return a table of rows that are cells alone; a column is its name, its label and its type."""
    return Table(name, title, tuple(Column(*described) for described in columns), tuple(map(tuple, rows)))


def tables_of(result: Any) -> list[Table]:
    """Return the tables that a result declares."""
    hints = get_type_hints(type(result), include_extras=True)
    tables = []
    for field in dataclasses.fields(result):
        listed_rows, *extras = get_args(hints[field.name]) or (None,)
        for declared in extras:
            if isinstance(declared, DeclaredTable):
                [row] = get_args(listed_rows)
                name, columns = declared.named or field.name, declared.columns
                rows = getattr(result, field.name)
                tables.append(drawn(rows, row, name, declared.title, columns=columns, result=result))
    return tables


# ---- columns of several reports ----------------------------------------------------------------------


def share(part: int, whole: int) -> float | None:
    """Return a share, 0..1; None of nothing."""
    return part / whole if whole else None


def share_of(part: str, whole: str, label: str = "Share", **declared: Any) -> property:
    """Return a column: the share, 0..1, that one number of a row is of another one; None of nothing."""
    read = column(label, SHARE, **declared)(lambda row: share(getattr(row, part), getattr(row, whole)))
    return property(read)


def share_of_all(part: str, whole: str, label: str = "Share", **declared: Any) -> Callable[[Any, Any], float | None]:
    """Return a column: the share, 0..1, that a number of a row is of one of the whole result; None of nothing."""
    return column(label, SHARE, **declared)(lambda row, result: share(getattr(row, part), getattr(result, whole)))


Decided = Annotated[int, column("Decided")]
Confirmed = Annotated[int, column("Confirmed")]
Precision = Annotated[float | None, column("Precision", SHARE)]
Low = Annotated[float | None, column("95% from", SHARE)]
High = Annotated[float | None, column("95% to", SHARE)]
