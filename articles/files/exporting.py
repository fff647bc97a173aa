"""Writes stored articles to a file, with or without boilerplate; `import_articles` can read it."""

import csv
import json
import tempfile
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, TextIO, cast

from django.contrib.postgres.expressions import ArraySubquery
from django.db import transaction
from django.db.models import OuterRef, QuerySet
from django.db.models.functions import JSONObject

from articles.boilerplate.mode import Mode
from articles.boilerplate.rules import without_boilerplate
from articles.fields import NAMES
from articles.files.cells import csv_text, guarded
from articles.files.columns import exported_members
from articles.files.records import FileFormat, Member, object_of, plain
from articles.files.whole_files import writing
from articles.models import Article, ArticleRevision, ArticleURL, HeadlineVariant
from articles.querysets import TIME_COLUMNS

# What is read for the fields that are not in a column of the same name.
_READ = {"published_at": TIME_COLUMNS, "newspaper": ("newspaper__name",), "urls": (), "headlines": ()}
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
    """An article in an export: the values of its fields, and its extra columns."""

    values: dict[str, Any]
    extra: list[Member]


def exported_rows(
    boilerplate: Mode, articles: QuerySet[Article] | None = None, *, columns: Collection[str] = NAMES
) -> Iterator[ExportedRow]:
    """Yield a row for each of these articles, or of all, that is not withheld, by day and id, as of one moment.

    The content is without what its marks remove in this mode; it is empty if nothing else is left. `columns` are those
    of the file that have a meaning of their own: an extra column of such a name gets a prefix.
    """
    # One statement sees one state of the database; in a transaction, its rows are streamed.
    with transaction.atomic():
        wanted = Article.objects.all() if articles is None else articles
        wanted = wanted.filter(withheld=False).select_related("newspaper").order_by("date", "id")
        wanted = wanted.only(
            *chain.from_iterable(_READ.get(name, (name,)) for name in NAMES), "boilerplate", "extra_columns"
        )
        read = wanted.annotate(seen_urls=ArraySubquery(_URLS), seen_headlines=ArraySubquery(_HEADLINES))
        for article in read.iterator(_AT_ONCE):
            yield ExportedRow(_values(article, boilerplate), exported_members(article.extra_columns, columns))


def _values(article: Any, boilerplate: Mode) -> dict[str, Any]:
    written = {
        "date": article.date.isoformat(),
        "published_at": str(article.publication_time or ""),
        "newspaper": article.newspaper.name,
        "content": without_boilerplate(article.content, article.boilerplate, boilerplate),
        "urls": [{name: url[name] for name in ("url", "kind")} for url in article.seen_urls],
        "headlines": [{name: seen[name] for name in ("headline", "date", "url")} for seen in article.seen_headlines],
    }
    return {name: written[name] if name in written else getattr(article, name) for name in NAMES}


def json_lines(rows: Iterable[ExportedRow]) -> Iterator[str]:
    for row in rows:
        own = json.dumps(row.values, ensure_ascii=False)
        yield f"{own[:-1]}, {object_of(row.extra)[1:]}\n" if row.extra else f"{own}\n"


def csv_lines(rows: Iterable[ExportedRow], columns: Sequence[str] = NAMES) -> Iterator[str]:
    """Yield the rows of a CSV file. Its extra columns are those with a value, in the order of their first values.

    A text that a spreadsheet would run as a formula gets an apostrophe in front; an import takes it away. The header
    comes after the last row is read. Raises TooManyColumnsError.
    """
    with laid_out(rows, columns) as (names, laid):
        # All in quotes, so that no semicolon in a name is taken for the separator.
        yield csv_text([map(guarded, (*columns, *names))], line_end="\r\n")
        for values, others in laid:
            cells = map(guarded, (*map(_cell, values), *others))
            yield csv_text([cells], quoting=csv.QUOTE_MINIMAL, line_end="\r\n")


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
        with suppress(OSError):  # on a full disk, closing fails as writing did before
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


VERSION_COLUMNS = (
    *("article", "number", "kind", "seen_at", "updated_at", "headline", "content", "note"),
    *("url", "newspaper", "date", "language"),
)
# The article itself, which comes before its revisions.
FIRST = "first"
_VERSIONS_AT_ONCE = 200


def versions_rows(articles: QuerySet[Article]) -> Iterator[ExportedRow]:
    """Yield the versions of those of the articles that have a revision, by day, article and number, as of one moment.

    Number 0 is the article as it was first stored. Times are in ISO 8601.
    """
    found = ArticleRevision.objects.filter(article__in=articles.values("pk")).defer("body")
    found = found.select_related("article__newspaper").order_by("article__date", "article", "number")
    with transaction.atomic():
        for revision in found.iterator(_VERSIONS_AT_ONCE):
            if revision.number == 1:
                yield ExportedRow(_first(revision.article), [])
            values = {
                "seen_at": revision.seen_at.isoformat(),
                "updated_at": revision.updated_at.isoformat() if revision.updated_at else None,
                **{name: getattr(revision, name) for name in ("number", "kind", "headline", "content", "note", "url")},
            }
            yield ExportedRow(_first(revision.article) | values, [])


def _first(article: Article) -> dict[str, Any]:
    return dict.fromkeys(VERSION_COLUMNS) | {
        "article": article.pk,
        "number": 0,
        "kind": FIRST,
        "seen_at": article.stored_at.isoformat(),
        "headline": article.headline,
        "content": article.content,
        "note": "",
        "url": article.url,
        "newspaper": article.newspaper.name,
        "date": article.date.isoformat(),
        "language": article.language,
    }
