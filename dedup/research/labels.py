"""Labelled pairs of articles: reads files of labels and finds the stored articles that they name."""

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import TypeVar
from uuid import UUID

from articles.files.formats import source_named
from articles.files.records import UnreadableFileError, read_records
from articles.grouping import by_key
from articles.models import Article, ArticleURL
from articles.normalization.urls import url_key
from dedup.detection.verdicts.model import LABELS

_SHOWN_CHARACTERS = 80

Value = TypeVar("Value")


class LabelsError(ValueError):
    """None of the labels can be used; the message says what to do about it."""


@dataclass(frozen=True, slots=True)
class Named:
    """How a label names an article: by its external id, by a URL it was seen under, or by both."""

    external_id: str = ""
    url: str = ""

    def __str__(self) -> str:
        return f"the id {self.external_id!r}" if self.external_id else f"the URL {self.url!r}"


@dataclass(frozen=True, slots=True)
class Label:
    """A labelled pair: its label (see LABELS), how many pairs it represents, and the stratum it was sampled from.

    Once they are found, `left` and `right` are the ids of the two stored articles that it names, the lower one first.
    """

    line: int
    ends: tuple[Named, Named]
    label: str
    weight: float = 1.0
    stratum: str = ""
    days: int | None = None
    file: str = field(default="", compare=False)
    left: int = 0
    right: int = 0


@dataclass(frozen=True, slots=True)
class Problem:
    """A row that does not count, and why; the remedy follows the semicolon."""

    line: int
    reason: str
    stored: bool = True  # False: the row is valid, but an article that it names is not stored
    file: str = field(default="", compare=False)


def read_labels(path: Path) -> tuple[list[Label], list[Problem]]:
    """Return the labels of a .jsonl or .csv file, which may be gzipped, and the rows without one.

    A row has a and b (external ids) or url_a and url_b, a label, and optionally weight, stratum and days; other columns
    are ignored. Raises FileUsageError and UnreadableFileError if no row can be read.
    """
    return rows_of_file(str(path), _check_header, _label)


def rows_of_file(
    name: str, check_header: Callable[[Sequence[str]], None], read: Callable[[Mapping[str, object], int, str], Value]
) -> tuple[list[Value], list[Problem]]:
    """Return what `read` makes of the values of each row, with its line and the file, and the rows without any.

    `read` raises ValueError with the reason. Names of columns are read as column_name has them.
    """
    source, file = source_named(name), Path(name).name
    rows: list[Value] = []
    problems: list[Problem] = []
    with source.open() as (stream, _, _):
        for record in read_records(stream, source.file_format, check_header=check_header):
            try:
                if record.fault:
                    raise ValueError(record.fault)  # noqa: TRY301 - a row that does not count, like the others
                values = {column_name(name): value for name, value in record.values.items()}
                rows.append(read(values, record.line, file))
            except ValueError as error:
                problems.append(Problem(record.line, str(error), file=file))
    return rows, problems


def read_label_files(paths: Sequence[Path]) -> tuple[list[Label], list[Problem]]:
    """Return the labels of several files, and the rows without one. Raises LabelsError if there is no label at all."""
    read, bad = zip(*map(read_labels, paths), strict=True)
    labels, problems = list(chain(*read)), list(chain(*bad))
    if not labels:
        raise LabelsError(f"{_listed(paths)} has no labelled pair{for_example(problems)}")
    return labels, problems


def find_labelled(
    labels: Sequence[Label], problems: Sequence[Problem], paths: Sequence[Path]
) -> tuple[list[Label], list[Problem]]:
    """Return the labels whose two articles are stored, and all rows that do not count, in the order of the files.

    `labels` and `problems` are those read from the files. Raises LabelsError if no label can be used.
    """
    found, unknown = find_articles(labels)
    places = {path.name: place for place, path in enumerate(paths)}
    every = sorted([*problems, *unknown], key=lambda problem: (places[problem.file], problem.line))
    if not found:
        raise LabelsError(f"{_listed(paths)} has no pair whose two articles are stored{for_example(every)}")
    return found, every


def _listed(paths: Iterable[Path]) -> str:
    return " and ".join(map(str, paths))


def for_example(problems: Sequence[Problem]) -> str:
    """Return the end of a message that no row can be used: the first reason why."""
    if not problems:
        return ": the file is empty"
    first, several = problems[0], len({problem.file for problem in problems}) > 1
    return f", for example line {first.line}{f' of {first.file}' if several else ''}: {first.reason}"


def find_articles(labels: Sequence[Label]) -> tuple[list[Label], list[Problem]]:
    """Return the labels whose two articles are stored, each pair once, and why the other labels do not count."""
    stored = stored_articles(end for label in labels for end in label.ends)
    found: dict[tuple[int, int], Label] = {}
    problems: list[Problem] = []
    for label in labels:
        try:
            first, second = map(stored, label.ends)
        except NotFoundError as error:
            problems.append(Problem(label.line, str(error), stored=False, file=label.file))
            continue
        ends = (min(first, second), max(first, second))
        if first == second:
            reason = f"a and b are the same stored article, {first}; name two articles"
            problems.append(Problem(label.line, reason, file=label.file))
        elif ends in found:
            earlier = found[ends]
            where = f"line {earlier.line}" if earlier.file == label.file else f"line {earlier.line} of {earlier.file}"
            reason = f"{where} labels the same pair as {earlier.label}; remove one of the two lines"
            problems.append(Problem(label.line, reason, file=label.file))
        else:
            found[ends] = replace(label, left=ends[0], right=ends[1])
    return list(found.values()), problems


# ---- rows ------------------------------------------------------------------------------------------


def _check_header(names: Sequence[str]) -> None:
    if "label" not in map(column_name, names):
        raise UnreadableFileError(
            f"the header {shown(', '.join(names))} has no label column; it needs label, and a and b or url_a and url_b"
        )


def _label(values: Mapping[str, object], line: int, file: str) -> Label:
    """Return the label of a row. Raises ValueError with the reason if it has none."""
    label = text_value(values, "label").upper()
    if label not in LABELS:
        raise ValueError(f"label is {shown(values.get('label'))}; it must be one of {', '.join(LABELS)}")
    return Label(
        line,
        (named_by(values, ["a"], "url_a"), named_by(values, ["b"], "url_b")),
        label,
        _weight(values),
        text_value(values, "stratum"),
        _days(values),
        file,
    )


def named_by(values: Mapping[str, object], ids: Sequence[str], url: str) -> Named:
    """Return how a row names an article: by the first of its columns for ids that is filled in, and by its URL.

    Raises ValueError if no column names it.
    """
    name = first_text(values, ids)
    # Some collections use URLs as ids.
    named = Named(name, text_value(values, url) or (name if name.startswith(("https://", "http://")) else ""))
    if named == Named():
        raise ValueError(f"neither {ids[0]} nor {url} names an article; give its external id or its URL")
    return named


def first_text(values: Mapping[str, object], names: Sequence[str]) -> str:
    """Return the first of these values that is not empty, as text."""
    return next(filter(None, (text_value(values, name) for name in names)), "")


def _weight(values: Mapping[str, object]) -> float:
    text = text_value(values, "weight")
    weight = _number(text) if text else 1.0
    if weight is None or not 0 < weight < math.inf:
        raise ValueError(f"weight is {shown(values['weight'])}; it must be a number above 0, or empty for 1")
    return weight


def _days(values: Mapping[str, object]) -> int | None:
    text = text_value(values, "days")
    if not text:
        return None
    days = _number(text)
    if days is None or days < 0 or days != int(days):
        raise ValueError(f"days is {shown(values['days'])}; it must be a whole number, at least 0, or empty")
    return int(days)


def _number(text: str) -> float | None:
    """Return a text as a finite number, or None if it is not one."""
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def text_value(values: Mapping[str, object], name: str) -> str:
    """Return a value as text without surrounding whitespace; '' if it is absent or null."""
    value = values.get(name)
    if value is None:
        return ""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise ValueError(f"{name} is {shown(value)}; it must be text or a number")  # noqa: TRY004 - a fault of the file
    return str(value).strip()


def column_name(name: str) -> str:
    """Return the name of a column without regard to case, blanks and hyphens."""
    return re.sub(r"[\s-]", "_", name.strip().lower())


def shown(value: object) -> str:
    """Return a value for a message, shortened if it is long."""
    text = repr(value)
    return text if len(text) <= _SHOWN_CHARACTERS else f"{text[: _SHOWN_CHARACTERS - 1]}…"


# ---- stored articles -------------------------------------------------------------------------------


class NotFoundError(LookupError):
    """No article, or more than one, has this name."""


def stored_articles(names: Iterable[Named]) -> Callable[[Named], int]:
    """Return a function that gives the id of the stored article with one of these names, or raises NotFoundError."""
    known = set(names)
    by_id = by_key(
        row
        for some in in_parts(sorted({article.external_id for article in known} - {""}))
        for row in Article.objects.filter(external_id__in=some).values_list("external_id", "pk")
    )
    keys = {article.url: url_key(article.url) for article in known if article.url}
    articles: dict[UUID, int] = {}
    for part in in_parts(list(keys.values())):
        articles.update(ArticleURL.objects.filter(key__in=part).values_list("key", "article"))
    by_url = {url: articles[key] for url, key in keys.items() if key in articles}
    return lambda named: _article(named, by_id, by_url)


def in_parts(values: Sequence[Value], size: int = 5_000) -> Iterator[Sequence[Value]]:
    """Yield the values in parts of a size, so that a statement looks up so many at once."""
    for start in range(0, len(values), size):
        yield values[start : start + size]


def _article(named: Named, by_id: Mapping[str, Sequence[int]], by_url: Mapping[str, int]) -> int:
    if named.url in by_url:
        return by_url[named.url]
    known = by_id.get(named.external_id, ())
    if not known:
        raise NotFoundError(f"no stored article has {named}; import it, or correct the label")
    if len(known) > 1:
        raise NotFoundError(f"{len(known)} stored articles have {named}; use its URL instead")
    return known[0]
