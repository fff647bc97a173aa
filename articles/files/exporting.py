"""Writes stored articles to a file, with or without boilerplate; `import_articles` can read it."""

from __future__ import annotations

import csv
import datetime
import io
import json
import tempfile
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO, cast

from django.contrib.postgres.expressions import ArraySubquery
from django.db import transaction
from django.db.models import OuterRef
from django.db.models.functions import JSONObject

from articles.boilerplate.mode import Mode
from articles.boilerplate.rules import without_boilerplate
from articles.files.cells import guarded
from articles.files.extra_columns import OWN_COLUMNS, exported_members
from articles.files.json_members import Member, object_of, plain
from articles.files.records import FileFormat
from articles.files.write_faults import writing
from articles.models import Article, ArticleURL, HeadlineVariant
from articles.querysets import TIME_COLUMNS

# Columns of an export that are fields of an article under the same name.
_FIELDS = (
    *("external_id", "headline", "url", "language", "byline", "agency", "dateline"),
    *("date_source", "date_doubt", "text_doubt", "paywalled"),
)
# Articles fetched from the database at a time.
_AT_ONCE = 500
# A spreadsheet takes 16,384 columns, most programs fewer.
MAX_CSV_COLUMNS = 2_000

# In the statement that reads the articles, so that both are of the same moment.
_URLS = ArticleURL.objects.filter(article=OuterRef("pk")).order_by("id").values(row=JSONObject(url="url", kind="kind"))
_HEADLINES = (
    HeadlineVariant.objects.filter(article=OuterRef("pk"))
    .order_by("id")
    .values(row=JSONObject(headline="headline", date="day", url="url"))
)


class TooManyColumnsError(ValueError):
    """Articles with more different extra columns than a CSV file takes; the message includes the remedy."""


@dataclass(frozen=True, slots=True)
class ExportedRow:
    """An article in an export: the values of OWN_COLUMNS, and its extra columns."""

    values: dict[str, Any]
    extra: list[Member]


def exported_rows(
    boilerplate: Mode,
    *,
    since: datetime.date | None = None,
    until: datetime.date | None = None,
    newspaper_ids: Collection[int] | None = None,
    columns: Collection[str] = OWN_COLUMNS,
) -> Iterator[ExportedRow]:
    """Yield a row for each article that is not withheld, by day and id, all as of the same moment.

    The content is without what its marks remove in this mode; it is empty if nothing else is left. `columns` are those
    of the file that have a meaning of their own: an extra column of such a name gets a prefix.
    """
    # One statement sees one state of the database; in a transaction, its rows are streamed.
    with transaction.atomic():
        scope = Article.objects.in_scope(since, until, newspaper_ids).filter(withheld=False)
        articles = scope.select_related("newspaper")
        wanted = articles.order_by("date", "id").only(
            *_FIELDS,
            *TIME_COLUMNS,
            *("date", "content", "boilerplate", "extra_columns", "newspaper__name"),
        )
        wanted = wanted.annotate(seen_urls=ArraySubquery(_URLS), seen_headlines=ArraySubquery(_HEADLINES))
        for article in wanted.iterator(_AT_ONCE):
            yield ExportedRow(_values(article, boilerplate), exported_members(article.extra_columns, columns))


def _values(article: Any, boilerplate: Mode) -> dict[str, Any]:
    values = {name: getattr(article, name) for name in _FIELDS} | {
        "id": article.pk,
        "date": article.date.isoformat(),
        "published_at": str(article.publication_time or ""),
        "newspaper": article.newspaper.name,
        "content": without_boilerplate(article.content, article.boilerplate, boilerplate),
        "urls": [{"url": each["url"], "kind": each["kind"]} for each in article.seen_urls],
        "headlines": [{name: each[name] for name in ("headline", "date", "url")} for each in article.seen_headlines],
    }
    return {name: values[name] for name in OWN_COLUMNS}


def json_lines(rows: Iterable[ExportedRow]) -> Iterator[str]:
    """Yield the lines of a JSON lines file."""
    for row in rows:
        own = json.dumps(row.values, ensure_ascii=False)
        yield f"{own[:-1]}, {object_of(row.extra)[1:]}\n" if row.extra else f"{own}\n"


def csv_lines(rows: Iterable[ExportedRow], columns: Sequence[str] = OWN_COLUMNS) -> Iterator[str]:
    """Yield the rows of a CSV file. Its extra columns are those with a value, in the order of their first values.

    A text that a spreadsheet would run as a formula gets an apostrophe in front; an import takes it away. The header
    comes after the last row is read. Raises TooManyColumnsError.
    """
    with laid_out(rows, columns) as (names, laid):
        # All in quotes, so that no semicolon in a name is taken for the separator.
        yield _csv_row([guarded(name) for name in (*columns, *names)], csv.QUOTE_ALL)
        for values, others in laid:
            yield _csv_row([guarded(cell) for cell in (*map(_cell, values), *others)], csv.QUOTE_MINIMAL)


@contextmanager
def laid_out(
    rows: Iterable[ExportedRow], columns: Sequence[str]
) -> Iterator[tuple[list[str], Iterator[tuple[list[Any], list[str]]]]]:
    """Give the names of the extra columns that have a value, and each row: the values of `columns`, and those cells.

    The names are known after the last row is read: until then, the rows are in a temporary file. Raises
    TooManyColumnsError.
    """
    folder = Path(tempfile.gettempdir())
    places: dict[tuple[str, int], int] = {}
    with ExitStack() as stack:
        # Not around what the caller does with the rows: that is another file.
        with writing(f"a temporary file in {folder} (TMPDIR)", folder):
            waiting = stack.enter_context(_temporary_file())
            for row in rows:
                extra = [[places.setdefault(key, len(places)), cell] for key, cell in _extra_cells(row.extra)]
                if len(places) > MAX_CSV_COLUMNS:
                    fault = f"the articles have more than {MAX_CSV_COLUMNS:,} different extra columns"
                    raise TooManyColumnsError(f"{fault}; write JSON lines, or export fewer articles at a time")
                waiting.write(json.dumps([[row.values[name] for name in columns], extra]) + "\n")
            waiting.seek(0)
        yield [name for name, _ in places], _laid(waiting, len(places))


@contextmanager
def _temporary_file() -> Iterator[TextIO]:
    file = cast("TextIO", tempfile.TemporaryFile("w+", encoding="utf-8", newline="\n"))  # noqa: SIM115 - see below
    try:
        yield file
    finally:
        # On a full disk, closing fails as writing did before.
        with suppress(OSError):
            file.close()


def _laid(waiting: Iterable[str], width: int) -> Iterator[tuple[list[Any], list[str]]]:
    for line in waiting:
        values, extra = json.loads(line)
        others = [""] * width
        for place, cell in extra:
            others[place] = cell
        yield values, others


LINES: dict[FileFormat, Callable[[Iterable[ExportedRow]], Iterator[str]]] = {"jsonl": json_lines, "csv": csv_lines}


def _cell(value: object) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _extra_cells(members: Iterable[Member]) -> Iterator[tuple[tuple[str, int], str]]:
    """Yield the cells that are not empty, with the name and how many cells of this name came before."""
    names: dict[str, int] = {}
    for member in members:
        if cell := plain(member.value_json):
            name = plain(member.name_json)
            names[name] = names.get(name, -1) + 1
            yield (name, names[name]), cell


def _csv_row(cells: list[str], quoting: Any) -> str:
    row = io.StringIO()
    csv.writer(row, quoting=quoting).writerow(cells)
    return row.getvalue()
