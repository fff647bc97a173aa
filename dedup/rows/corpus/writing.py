"""Writes a corpus: its file, the list of what was removed, and the description of both."""

from __future__ import annotations

import hashlib
import io
import json
import re
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any, BinaryIO, Literal, TypeAlias, TypeVar, cast

from django.db import connection, transaction
from django.db.models import Max

from articles.fields import FIELDS
from articles.files.exporting import ExportedRow, csv_lines, exported_rows, json_lines, laid_out
from articles.files.records import FileFormat
from articles.files.whole_files import text_into, whole_bytes, writing
from articles.models import Article, Collection, Newspaper
from articles.storage.collections import newspapers_of
from articles.versions import versions
from dedup.detection.article_sql import article_sql
from dedup.detection.clustering.joins import same_as
from dedup.detection.clustering.policies import RULES
from dedup.detection.runs.facts import run_summary
from dedup.detection.verdicts.same_as import RULES as SAME_RULES
from dedup.models import Cluster, Decision, DetectionRun, Profile
from dedup.models.base import read_rows
from dedup.rows.columns import Column, ColumnType
from dedup.rows.corpus.other import OtherCorpus
from dedup.rows.corpus.places import Asked, corpus_tables, decide_places
from dedup.rows.files import FORMATS, write_parquet

CorpusFormat: TypeAlias = Literal["jsonl", "csv", "parquet"]
AnyRow = TypeVar("AnyRow")
# To write to: the articles, the removed ones, and the description.
Streams: TypeAlias = tuple[BinaryIO, BinaryIO, BinaryIO]

# Lines of a file that are sent at once.
_LINES_AT_ONCE = 50

_ENDING = re.compile(r"\.(?P<format>jsonl|csv|parquet)(?P<gzipped>\.gz)?\Z", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Target:
    """Where a corpus goes: folder/NAME.csv.gz, with NAME.removed.csv.gz and NAME.json next to it."""

    path: Path
    name: str
    ending: str  # ".csv.gz"
    file_format: CorpusFormat

    @property
    def removed(self) -> Path:
        """The file of the removed articles."""
        return self.path.with_name(f"{self.name}.removed{self.ending}")

    @property
    def described(self) -> Path:
        """The description."""
        return self.path.with_name(f"{self.name}.json")


def target_named(name: str, file_format: CorpusFormat | None) -> Target:
    """Return the target of a file name, whose ending may be left out if the format is given. Raises ValueError."""
    ending = _ENDING.search(name)
    if ending is None and file_format:
        ending = _ENDING.search(name := f"{name}.{file_format}")
    if ending is None or (ending["gzipped"] and ending["format"].lower() == "parquet"):
        raise ValueError(f"{name} must end in .jsonl, .jsonl.gz, .csv, .csv.gz or .parquet")
    found = ending["format"].lower()
    if file_format not in (None, found):
        raise ValueError(f"the format {file_format} contradicts {name}; leave the format out")
    path = Path(name)
    if not path.parent.is_dir():
        raise ValueError(f"{path.parent} does not exist or is not a folder; create it first")
    stem = path.name[: -len(ending[0])]
    return Target(path, stem, ending[0], found)  # type: ignore[arg-type]


def write_corpus(
    asked: Asked,
    other: OtherCorpus | None,
    target: Target,
    *,
    methods: str,
    on_progress: Callable[[float], object] = lambda _articles: None,
    opened: Callable[[Target], AbstractContextManager[Streams]] | None = None,
) -> tuple[Counts, dict[str, Any]]:
    """Write the three files; return the counts and the description, which names the other files by their hash.

    `methods` is what a paper says of the run; `on_progress` is told how many more articles are done: half of
    one when it is read, the rest when it is written, which some formats do after the last was read. `opened` opens the
    files elsewhere than in folders. Raises UnwritableError, TooManyColumnsError and
    UnreadableFileError.
    """
    read = 0

    def on_read() -> None:
        nonlocal read
        read += 1
        on_progress(0.5)

    with corpus_tables():
        of_other = other.store() if other else {}
        decide_places(asked)
        with (opened or _whole_files)(target) as (articles, removals, described):
            kept, gone = Digested(articles), Digested(removals)
            # Closed here, a writer that stops in the middle leaves no cursor open.
            with writing(target.path, target.path.parent), closing(corpus_rows(asked)) as stay:
                rows = _counted(stay, on_read)
                _write_articles(rows, lambda: on_progress(0.5), target, cast("BinaryIO", kept))
            with writing(target.removed, target.path.parent), closing(removed_rows()) as leave:
                _write_removed(_counted(leave, lambda: on_progress(1.0)), target, cast("BinaryIO", gone))
            counts = Counts(read, removed_by_reason(), of_other)
            files = [
                kept.described(target.path.name, "corpus", counts.kept),
                gone.described(target.removed.name, "removed", counts.removed.total()),
            ]
            words = description(asked, other.name if other else "", counts, files, methods)
            with writing(target.described, target.path.parent):
                described.write(f"{json.dumps(words, indent=2, ensure_ascii=False)}\n".encode())
                described.flush()
    return counts, words


@contextmanager
def _whole_files(target: Target) -> Iterator[Streams]:
    """Open the articles, the removed ones and the description; at the end they get their names, in this order.

    The description comes last: with one, all files are of one export.
    """
    with (
        whole_bytes(target.described) as described,
        whole_bytes(target.removed) as removed,
        whole_bytes(target.path) as articles,
    ):
        yield articles, removed, described
        # From here until its own gets its name, a kill would leave the description of another corpus.
        target.described.unlink(missing_ok=True)


def _counted(rows: Iterable[AnyRow], on_row: Callable[[], object]) -> Iterator[AnyRow]:
    """Yield rows, and call a function for each of them."""
    for row in rows:
        on_row()
        yield row


def corpus_pieces(asked: Asked, content: str, file_format: FileFormat) -> Iterator[str]:
    """Yield one file of a corpus in pieces, without writing any: its `content` is "articles" or "removed"."""
    with corpus_tables():
        decide_places(asked)
        if content == "removed":
            yield from FORMATS[file_format](REMOVED_NAMES, removed_rows())
            return
        lines = _article_lines(corpus_rows(asked), file_format)
        while piece := list(islice(lines, _LINES_AT_ONCE)):
            yield "".join(piece)


def _article_lines(rows: Iterable[ExportedRow], file_format: FileFormat) -> Iterator[str]:
    return json_lines(rows) if file_format == "jsonl" else csv_lines(rows, CORPUS_NAMES)


def _write_articles(
    rows: Iterable[ExportedRow], on_written: Callable[[], object], target: Target, raw: BinaryIO
) -> None:
    if target.file_format != "parquet":
        with text_into(raw, target.path) as file:
            file.writelines(_counted(_article_lines(rows, target.file_format), on_written))
        return
    with laid_out(rows, CORPUS_NAMES) as (extra, laid):
        with_nulls = (chain(values, (cell or None for cell in cells)) for values, cells in laid)
        write_parquet(raw, CORPUS, extra, _counted(map(tuple, with_nulls), on_written))


def _write_removed(rows: Iterable[dict[str, Any]], target: Target, raw: BinaryIO) -> None:
    if target.file_format != "parquet":
        with text_into(raw, target.removed) as file:
            file.writelines(FORMATS[target.file_format](REMOVED_NAMES, rows))
        return
    write_parquet(raw, REMOVED, (), (tuple(row.values()) for row in rows))


# ---- the description: data dictionary, how it was made, counts, versions, the hash of each file -------

# The format of the description. Raise it if a member changes its meaning.
FORMAT = 1


class Digested(io.RawIOBase):
    """Passes on what is written, one write after the other, and counts and digests it."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._digest = hashlib.sha256()
        self._size = 0

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self._stream.write(data)
        self._digest.update(data)
        self._size += memoryview(data).nbytes
        return memoryview(data).nbytes

    def tell(self) -> int:
        return self._size

    def flush(self) -> None:
        if not self._stream.closed:
            self._stream.flush()

    def described(self, name: str, content: str, rows: int) -> dict[str, Any]:
        """Return what is said of a file that is complete, given the name that it is to have and what it has."""
        digest = self._digest.hexdigest()
        return {"name": name, "content": content, "rows": rows, "bytes": self._size, "sha256": digest}


@dataclass(frozen=True, slots=True)
class Counts:
    """The articles that were chosen: those that stayed, and those that left, by reason. `other` of the other corpus."""

    kept: int
    removed: Counter[str]
    other: Mapping[str, int]

    @property
    def chosen(self) -> int:
        """How many articles were chosen."""
        return self.kept + self.removed.total()


def description(asked: Asked, other: str, counts: Counts, files: list[dict[str, Any]], methods: str) -> dict[str, Any]:
    """Return all of it, for JSON. The same state of the archive gives the same description."""
    kept = f"The corpus has {counts.kept:,} of these {counts.chosen:,} articles."
    one = f" Newspapers of one collection by {asked.together} count as one." if asked.together else ""
    return {
        "format": FORMAT,
        "methods": f"{methods} {kept} Its policy for copies is {asked.policy.value}. {RULES[asked.policy]}{one}",
        "policy": {"name": asked.policy.value, "rule": RULES[asked.policy]},
        "options": _options(asked, other),
        "counts": {
            "articles": counts.chosen,
            "kept": counts.kept,
            "removed": counts.removed.total(),
            "removed_by_reason": dict(sorted(counts.removed.items())),
            "other_corpus": dict(counts.other),
        },
        "clusters": _clusters(asked),
        "run": _run(),
        "versions": versions(),
        "files": files,
        "columns": {
            name: [{"name": column.name, "type": column.type.words, "meaning": column.help} for column in columns]
            for name, columns in (("corpus", CORPUS), ("removed", REMOVED))
        },
    }


def _options(asked: Asked, other: str) -> dict[str, Any]:
    part, together = asked.part, Collection.objects.filter(kind=asked.together)
    newspapers = Newspaper.objects.filter(pk__in=part.newspaper_ids or ()).values_list("name", flat=True)
    return {
        "since": part.since and part.since.isoformat(),
        "until": part.until and part.until.isoformat(),
        "newspapers": None if part.newspaper_ids is None else sorted(newspapers),
        "search": part.words or None,
        "clusters": "confirmed" if asked.confirmed_only else "proposed and confirmed",
        "same_as": asked.same_as and asked.same_as.value,
        "together": {row.name: [str(paper) for paper in newspapers_of([row])] for row in together} or None,
        "boilerplate": asked.boilerplate.value,
        "against": other or None,
    }


def _clusters(asked: Asked) -> dict[str, Any]:
    """Return the state of the clusters: what counts as the same, how many, by which rule they keep an article, and the
    last decision.
    """
    same = asked.same_as or same_as()
    return {
        "same_as": same.value,
        "same_as_rule": SAME_RULES[same],
        "proposed": Cluster.objects.filter(state=Cluster.State.PROPOSED).count(),
        "confirmed": Cluster.objects.filter(state=Cluster.State.CONFIRMED).count(),
        "keep_rule": Profile.objects.filter(is_default=True).values_list("keep_rule", flat=True).first(),
        "last_decision": Decision.objects.aggregate(last=Max("pk"))["last"],
    }


def _run() -> dict[str, Any] | None:
    """Return the last finished run with its scope, its counts and the settings of every pass; None if there is none."""
    run = DetectionRun.objects.filter(state=DetectionRun.State.DONE).order_by("-pk").first()
    if run is None:
        return None
    return {"profile": run.profile_name, "boilerplate": run.boilerplate.value, **run_summary(run)}


# ---- rows: all need the tables that places.py has filled ----------------------------------------------

_INTEGER = ColumnType.INTEGER
# The types of an article's fields have the same words.
_TYPES = {column_type.words: column_type for column_type in ColumnType}
_CLUSTER = (
    Column("cluster", type=_INTEGER, help="number of its cluster; missing if it has no copies"),
    Column("cluster_state", help="proposed or confirmed; missing without a cluster"),
    Column(
        "kept_article", type=_INTEGER, help="number of the article that represents the cluster; its own without one"
    ),
    Column("copies", type=_INTEGER, help="number of other articles of the cluster in the whole archive; 0 without one"),
    Column("newspapers", type=ColumnType.TEXTS, help="newspapers of the cluster in the order of their first article"),
    Column("first_published", help="when the first article of the cluster was published: time if known, or day"),
    Column(
        "text_article",
        type=_INTEGER,
        help="number of the article that content, language, byline, agency, dateline, text_doubt and paywalled are of; "
        "its own unless an editor chose another text for the cluster",
    ),
)
CORPUS = (*(Column(field.name, type=_TYPES[field.kind], help=field.meaning) for field in FIELDS), *_CLUSTER)
REMOVED = (
    Column("article", type=_INTEGER, help="number of the removed article"),
    Column("external_id", help="its id in the collection that it came from; may be empty"),
    Column("url", help="its URL"),
    Column("newspaper", help="its newspaper"),
    Column("date", type=ColumnType.DAY, help="its day of publication"),
    Column("headline", help="its headline; may be empty"),
    Column("cluster", type=_INTEGER, help="number of its cluster; missing without one"),
    Column("reason", help="why it was removed"),
    Column("represented_by", type=_INTEGER, help="number of the article that represents it; missing if none does"),
    Column("represented_by_external_id", help="that article's id in its collection; missing if none does"),
    Column("represented_by_url", help="that article's URL; missing if none does"),
    Column("represented_by_newspaper", help="that article's newspaper; missing if none does"),
    Column("represented_by_date", type=ColumnType.DAY, help="that article's day of publication; missing if none does"),
)
# What a row has of the article whose text it has.
_OF_TEXT = ("content", "language", "byline", "agency", "dateline", "text_doubt", "paywalled")
_CLUSTER_NAMES = tuple(column.name for column in _CLUSTER)
CORPUS_NAMES = tuple(column.name for column in CORPUS)
REMOVED_NAMES = tuple(column.name for column in REMOVED)

# Articles whose places are looked up at a time, with their texts.
_ARTICLES_AT_ONCE = 500
_REMOVED_AT_ONCE = 2_000

_PLACES_SQL = """
SELECT place.article_id, place.reason IS NULL, cluster.id, cluster.state, cluster.kept, cluster.copies,
       cluster.newspapers, cluster.first_published, CASE WHEN place.article_id = cluster.kept THEN cluster.text END
FROM corpus_place AS place LEFT JOIN corpus_cluster AS cluster ON cluster.id = place.cluster_id
WHERE place.article_id = ANY (%(ids)s)
"""
# The columns of REMOVED, in their order.
_REMOVED_SQL = article_sql(
    """
SELECT article.id, article.external_id, article.url, newspaper.name, article.date, article.headline,
       place.cluster_id, place.reason,
       other.id, other.external_id, other.url, other_newspaper.name, other.date
FROM corpus_place AS place
JOIN {articles} AS article ON article.id = place.article_id
JOIN articles_newspaper AS newspaper ON newspaper.id = article.newspaper_id
LEFT JOIN {articles} AS other ON other.id = place.represented_by
LEFT JOIN articles_newspaper AS other_newspaper ON other_newspaper.id = other.newspaper_id
WHERE place.reason IS NOT NULL
ORDER BY article.date, article.id
"""
)
_REASONS_SQL = "SELECT reason, count(*) FROM corpus_place WHERE reason IS NOT NULL GROUP BY reason ORDER BY reason"


def corpus_rows(asked: Asked) -> Generator[ExportedRow]:
    """Yield the articles that stay, by day and id, with the columns of CORPUS."""
    articles = Article.objects.in_scope(**asked.part.bounds())
    rows = exported_rows(asked.boilerplate, articles, columns=CORPUS_NAMES)
    while batch := list(islice(rows, _ARTICLES_AT_ONCE)):
        found = read_rows(_PLACES_SQL, ids=[row.values["id"] for row in batch])
        places = {article: place for article, *place in found}
        chosen = [text for *_, text in found if text]
        of_others = exported_rows(asked.boilerplate, Article.objects.filter(pk__in=chosen)) if chosen else ()
        texts = {row.values["id"]: row.values for row in of_others}
        for row in batch:
            article = row.values
            # An article without a cluster is one by itself.
            alone = [None, None, article["id"], 0, [article["newspaper"]], article["published_at"] or article["date"]]
            stays, *facts, text = places.get(article["id"], [True, None, None])
            if stays:
                of_text = texts.get(text, article)
                article |= {name: of_text[name] for name in _OF_TEXT}
                facts = [*(alone if facts[0] is None else facts), of_text["id"]]
                yield ExportedRow(article | dict(zip(_CLUSTER_NAMES, facts, strict=True)), row.extra)


def removed_rows() -> Generator[dict[str, Any]]:
    """Yield the articles that leave, by day and id, with the columns of REMOVED."""
    with transaction.atomic(), connection.chunked_cursor() as cursor:
        cursor.execute(_REMOVED_SQL)
        while batch := cursor.fetchmany(_REMOVED_AT_ONCE):
            for row in batch:
                yield dict(zip(REMOVED_NAMES, row, strict=True))


def removed_by_reason() -> Counter[str]:
    """Return how many articles leave, by reason."""
    return Counter(dict(read_rows(_REASONS_SQL)))
