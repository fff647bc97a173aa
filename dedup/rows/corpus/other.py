"""The other corpus of --against: the articles of a run, or of a file."""

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from articles.files.columns import column_form
from articles.files.formats import source_named
from articles.files.records import UnreadableFileError, read_records
from articles.models import Article, ArticleURL
from articles.normalization.urls import url_key
from articles.numbers import read_number
from articles.querysets import executed, given
from articles.storage.incoming import MAX_URL_CHARACTERS, story_url, text_fault, url_fault
from articles.storage.newspapers import newspapers_named
from dedup.models import DetectionRun
from dedup.rows.files import check_parquet

# Rows that are looked up at a time.
_AT_ONCE = 1_000
# What a row names its article by, the surest first, and the columns of each; case, blanks, underscores and hyphens in
# the name of a column do not matter.
_NAMES = {"url": ("url", "link"), "external id": ("externalid",), "id": ("id", "article")}
_COLUMNS = frozenset(name for names in _NAMES.values() for name in names)
_STORE_SQL = "INSERT INTO corpus_other SELECT unnest(%(ids)s::bigint[]) ON CONFLICT DO NOTHING"

Row = dict[str, Any]


class OtherCorpusError(ValueError):
    """The other corpus cannot be used; the message says why."""


@dataclass(frozen=True, slots=True)
class OtherCorpus:
    """What the other corpus is called, and how to put its articles into the table corpus_other.

    `store` returns what it counted, by name: rows of a file, and rows without a stored article.
    """

    name: str
    store: Callable[[], dict[str, int]]


def other_corpus(named: str) -> OtherCorpus:
    """Return the run of this number, or the file of this name. Raises OtherCorpusError and UnreadableFileError."""
    if (number := read_number(named)) is not None:
        return _run(number)
    path = Path(named)
    if not path.is_file():
        raise OtherCorpusError(f"there is no file {named}, and it is not the number of a run; check the path")
    if path.suffix.lower() == ".parquet":
        check_parquet()
    else:
        source_named(named)
    return OtherCorpus(path.name, lambda: _store_file(path))


def _run(number: int) -> OtherCorpus:
    run = DetectionRun.objects.filter(pk=number).first()
    if run is None:
        known = ", ".join(map(str, DetectionRun.objects.values_list("pk", flat=True)[:5])) or "none"
        raise OtherCorpusError(f"there is no run {number}; the latest are {known}; write ./{number} for a file")
    if run.state != DetectionRun.State.DONE:
        raise OtherCorpusError(f"run {number} did not finish (it is {run.state}); name one that did")
    return OtherCorpus(f"run {number}", lambda: _store_run(run))


def _store_run(run: DetectionRun) -> dict[str, int]:
    """Store the articles that the run covered: those of its days and newspapers that were there when it started."""
    named = run.scope.get("newspapers")
    ids = None if named is None else [newspaper.pk for newspaper in newspapers_named(named)]
    covered = Article.objects.filter(
        given(date__gte=run.scope.get("since"), date__lte=run.scope.get("until"), newspaper_id__in=ids),
        stored_at__lte=run.started_at,
    )
    found = covered.order_by().values_list("pk", flat=True).iterator(10 * _AT_ONCE)
    articles = 0
    while batch := list(islice(found, 10 * _AT_ONCE)):
        articles += len(batch)
        executed(_STORE_SQL, {"ids": batch})
    return {"articles": articles}


def _rows_of(path: Path) -> Iterator[Row]:
    """Yield the values of each row; none of an unreadable one. Raises UnreadableFileError."""
    if path.suffix.lower() == ".parquet":
        yield from _parquet_rows(path)
        return
    source = source_named(str(path))
    with source.open() as (stream, _, _):
        for record in read_records(stream, source.file_format, check_header=_check_names):
            yield {} if record.fault else dict(record.values)


def _parquet_rows(path: Path) -> Iterator[Row]:
    from pyarrow import ArrowException, parquet  # noqa: PLC0415 - an extra

    try:
        with parquet.ParquetFile(path) as file:
            names = file.schema_arrow.names
            _check_names(names)
            wanted = [name for name in names if column_form(name) in _COLUMNS]
            for batch in file.iter_batches(_AT_ONCE, columns=wanted):
                yield from batch.to_pylist()
    except (ArrowException, OSError) as error:
        raise UnreadableFileError(f"{path} cannot be read as Parquet: {error}") from error


def _check_names(names: Iterable[str]) -> None:
    """Raise UnreadableFileError if no column can name an article."""
    if _COLUMNS.isdisjoint(map(column_form, names)):
        raise UnreadableFileError("it has no column url, external_id or id; rename or add one")


def _store_file(path: Path) -> dict[str, int]:
    rows, counted = _rows_of(path), {"rows": 0, "rows_without_an_article_here": 0}
    while batch := list(islice(rows, _AT_ONCE)):
        found = _articles_of(batch)
        counted["rows"] += len(batch)
        counted["rows_without_an_article_here"] += sum(not articles for articles in found)
        executed(_STORE_SQL, {"ids": list(set().union(*found))})
    return counted


def _articles_of(batch: list[Row]) -> list[set[int]]:
    """Return the stored articles that each row names: by its URL, else its external id, else its number here."""
    named = [_named(row) for row in batch]
    found = {kind: find({value for of, value in named if of == kind}) for kind, find in _FINDERS.items()}
    return [found[kind].get(value, set()) if kind else set() for kind, value in named]


def _by_url(urls: Collection[str]) -> dict[str, set[int]]:
    keys = {url: {url_key(url), url_key(story_url(url))} for url in urls if not url_fault(url)}
    stored = ArticleURL.objects.filter(key__in={key for either in keys.values() for key in either})
    by_key = dict(stored.order_by().values_list("key", "article"))
    return {url: {by_key[key] for key in either if key in by_key} for url, either in keys.items()}


def _by_external_id(external_ids: Collection[str]) -> dict[str, set[int]]:
    found: dict[str, set[int]] = {}
    stored = Article.objects.filter(external_id__in=external_ids).exclude(external_id="").order_by()
    for external_id, article in stored.values_list("external_id", "pk"):
        found.setdefault(external_id, set()).add(article)
    return found


def _by_id(numbers: Collection[str]) -> dict[str, set[int]]:
    stored = set(Article.objects.filter(pk__in=map(int, numbers)).order_by().values_list("pk", flat=True))
    return {number: {int(number)} & stored for number in numbers}


_FINDERS = {"url": _by_url, "external id": _by_external_id, "id": _by_id}


def _named(row: Row) -> tuple[str, str]:
    """Return by what a row names its article, and the value."""
    values = {column_form(name): str(value).strip() for name, value in row.items() if value not in (None, "")}
    for kind, name in ((kind, name) for kind, names in _NAMES.items() for name in names):
        value = values.get(name, "")
        is_number = kind != "id" or read_number(value) is not None
        if value and is_number and not text_fault(kind, value, MAX_URL_CHARACTERS):
            return kind, value
    return "", ""
