"""Pages of long lists, and the neighbours of a row, without counting or reading the whole list."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from django.db.models import Model, Q, QuerySet

from articles.numbers import read_number

ROWS_A_PAGE = 30
# Later pages are reached by filtering instead, because PostgreSQL would read every row before them.
LAST_PAGE = 1_000
# Counting stops here; the page then says "more than".
COUNT_CEILING = 1_000
# And here, where each row has to be looked for.
DEAR_CEILING = 100

Row = TypeVar("Row", bound=Model)
Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Page(Generic[Item]):
    """One page of a list. `total` is counted up to `ceiling`."""

    rows: Sequence[Item]
    number: int
    has_next: bool
    total: int
    size: int = ROWS_A_PAGE
    ceiling: int = COUNT_CEILING

    @property
    def first_number(self) -> int:
        """The position of the page's first row in the whole list, from 1."""
        return (self.number - 1) * self.size + 1

    @property
    def last_number(self) -> int:
        """The position of the page's last row in the whole list; one less than `first_number` if it has no rows."""
        return self.first_number + len(self.rows) - 1

    @property
    def shown_total(self) -> str:
        """The number of rows, as the page shows it."""
        return write_count(self.total, self.ceiling)


def page_of(
    rows: QuerySet[Row],
    asked: str | None,
    size: int = ROWS_A_PAGE,
    *,
    ceiling: int = COUNT_CEILING,
    by_key: bool = False,
) -> Page[Row]:
    """Return the page asked for, the first if that is no page number. Rows are counted up to `ceiling`.

    With `by_key`, rows are found by their keys, which are read from an index alone: they are wide or joined.
    With a low ceiling, which says that rows are dear to find, the keys that are counted are those that are shown.
    """
    number = _page_number(asked)
    start = (number - 1) * size
    last = start + size + 1
    if ceiling < COUNT_CEILING:
        keys = list(rows.values_list("pk", flat=True)[: max(last, ceiling + 1)])
        found, total = _with_keys(rows, keys[start:last]), len(keys)
    else:
        keys = list(rows.values_list("pk", flat=True)[start:last]) if by_key else []
        found = _with_keys(rows, keys) if by_key else list(rows[start:last])
        total = ceiling + 1 if found and start + len(found) > ceiling else count_up_to_ceiling(rows, ceiling)
    return Page(found[:size], number, _has_next(len(found), number, size), total, size, ceiling)


def page_of_groups(groups: QuerySet[Any, Any], asked: str | None) -> Page[Any]:
    """Return the page asked for of rows that are groups: PostgreSQL makes all or none, so they are counted at once."""
    number = _page_number(asked)
    start, end = (number - 1) * ROWS_A_PAGE, number * ROWS_A_PAGE
    read = list(groups[: max(end, COUNT_CEILING) + 1])
    return Page(read[start:end], number, _has_next(len(read) - start, number, ROWS_A_PAGE), len(read))


def _has_next(found: int, number: int, size: int) -> bool:
    return found > size and number < LAST_PAGE


def _with_keys(rows: QuerySet[Row], keys: Sequence[Any]) -> list[Row]:
    """Return those of the rows that have these keys, in the order of the keys."""
    found = {row.pk: row for row in rows.order_by().filter(pk__in=keys)} if keys else {}
    return [found[key] for key in keys if key in found]


def page_of_list(items: Sequence[Item], asked: str | None, size: int = ROWS_A_PAGE) -> Page[Item]:
    """Return the page asked for of items that are in memory already; the last one if there are fewer pages."""
    number = min(_page_number(asked), max(-(-len(items) // size), 1))
    start = (number - 1) * size
    more = len(items) > start + size and number < LAST_PAGE
    return Page(items[start : start + size], number, more, min(len(items), COUNT_CEILING + 1), size)


def _page_number(asked: str | None) -> int:
    return min(read_number(asked or "") or 1, LAST_PAGE)


def count_up_to_ceiling(rows: QuerySet[Any], ceiling: int = COUNT_CEILING) -> int:
    """Return the number of rows, or `ceiling` + 1 if there are more than that."""
    return rows.order_by()[: ceiling + 1].count()


def write_count(counted: int, ceiling: int = COUNT_CEILING) -> str:
    """Write a number that was counted up to `ceiling`."""
    return f"more than {ceiling:,}" if counted > ceiling else f"{counted:,}"


def rows_after(rows: QuerySet[Row], ordering: Sequence[str], row: Model) -> QuerySet[Row]:
    """Return the rows after this one, in order. `ordering` ends with a unique field.

    A row without a value to order by is not part of the list; all rows come after it.
    """
    condition = Q()
    # (a, b) > (x, y), written so that an index on a serves it.
    for name in () if _is_unordered(ordering, row) else reversed(ordering):
        field = name.removeprefix("-")
        value = _value(row, field)
        step = "lt" if name.startswith("-") else "gt"
        further = Q(**{f"{field}__{step}": value})
        if condition:
            further = Q(**{f"{field}__{step}e": value}) & (further | condition)
        condition = further
    return rows.filter(condition).order_by(*ordering)


def rows_before(rows: QuerySet[Row], ordering: Sequence[str], row: Model) -> QuerySet[Row]:
    """Return the rows before this one, the nearest first."""
    if _is_unordered(ordering, row):
        return rows.none()
    return rows_after(rows, [name[1:] if name.startswith("-") else f"-{name}" for name in ordering], row)


def _is_unordered(ordering: Sequence[str], row: Model) -> bool:
    return any(_value(row, name.removeprefix("-")) is None for name in ordering)


def _value(row: Model, path: str) -> Any:
    value: Any = row
    for name in path.split("__"):
        value = getattr(value, name)
    return value
