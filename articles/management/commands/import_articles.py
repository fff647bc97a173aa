"""`manage.py import_articles FILE`: imports articles from JSON lines and CSV files."""

import argparse
import json
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO, cast

from django.core.management.base import CommandError, CommandParser
from django.db import Error as DatabaseFault
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, TextColumn, TimeRemainingColumn
from rich.table import Column, Table

from articles.files.formats import STDIN, Source, source_named
from articles.files.importing import PreparedRow, Rehearsal, Store, Tally, import_rows, open_rows
from articles.files.records import FileFormat
from articles.files.whole_files import writing
from articles.management.arguments import add_batch_size_option, add_workers_option
from articles.management.base import LongCommand, usage_error
from articles.storage.incoming import MAX_NEWSPAPER_CHARACTERS
from articles.storage.ingest import MAX_HEADLINE_VARIANTS, newest_revision, store_prepared
from articles.storage.title_affixes import affixes_line, settle_import
from articles.storage.workers import database_pool

# Each is one transaction. Larger ones are no faster, and crawlers wait while one is written.
DEFAULT_BATCH_SIZE = 500
SHOWN_REJECTS = 5
REPORTED = ("read", "stored", "known", "rejected", "seconds", "articles/s")


@dataclass
class FileTally(Tally):
    """Counts of what became of the rows of a file."""

    name: str = "all"
    seconds: float = 0.0

    @property
    def read(self) -> int:
        return self.outcomes.total()

    @property
    def rate(self) -> float:
        return self.read / self.seconds if self.seconds else 0.0

    def cells(self) -> list[str]:
        """Return the row of the table: the name, then REPORTED."""
        counts = (self.read, *(self.outcomes[outcome] for outcome in ("created", "known", "rejected")))
        return [Path(self.name).name, *(f"{count:,}" for count in counts), f"{self.seconds:.1f}", f"{self.rate:,.0f}"]

    def __str__(self) -> str:
        _, read, created, known, rejected, _, _ = self.cells()
        stored = f"{created} stored"
        if attached := self.outcomes["attached"]:
            stored += f", {attached:,} attached to stored articles"
        # How many of the known articles came under another headline.
        known += " already known"
        counts = [f"{self.headlines['kept']:,} with another headline"] if self.headlines["kept"] else []
        if dropped := self.headlines["not kept"]:
            counts.append(f"{dropped:,} with one that is not kept, because they have {MAX_HEADLINE_VARIANTS} others")
        known += f" ({', '.join(counts)})" if counts else ""
        return f"{read} articles read: {stored}, {known}, {rejected} rejected"


class Rejects:
    """Writes the rejected rows to a JSON lines file, or keeps the first few in memory."""

    def __init__(self, path: str | None, file: TextIO | None) -> None:
        self._path = path or ""
        self._file = file
        self.first: list[str] = []

    def add(self, name: str, row: PreparedRow, reason: str) -> None:
        if self._file is not None:
            entry = {"file": name, "line": row.line, "reason": reason, "raw": row.raw}
            with writing(self._path, Path(self._path).parent):
                self._file.write(json.dumps(entry, ensure_ascii=False) + "\n")
        elif len(self.first) < SHOWN_REJECTS:
            self.first.append(f"{name}, line {row.line}: {reason}")


class Command(LongCommand):
    help = (
        "Imports articles from .jsonl, .jsonl.gz, .csv and .csv.gz files with the columns date, headline or title, "
        "url, content or text, newspaper or source, and id. An article whose URL is already stored is left unchanged."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("files", nargs="+", metavar="FILE", help='file to import; "-" reads standard input')
        parser.add_argument("--format", choices=["jsonl", "csv"], help='format of standard input; required with "-"')
        parser.add_argument(
            "--rejects", metavar="FILE", help="write the rejected rows, with reasons, to this JSON lines file"
        )
        parser.add_argument(
            "--newspaper",
            type=_newspaper,
            metavar="NAME",
            help="newspaper of the rows that do not name one (default: the newspaper of the URL's host)",
        )
        add_batch_size_option(parser, "rows", default=DEFAULT_BATCH_SIZE)
        add_workers_option(parser, note="; none for small files")
        parser.add_argument("--dry-run", action="store_true", help="read and check every row; store nothing")

    def handle(self, *_args: Any, **options: Any) -> None:
        sources = _sources(options["files"], options["format"], options["rejects"])
        for source in sources:
            if source.name != STDIN:  # which can be read only once
                with open_rows(source) as rows:
                    next(rows, None)
        tallies: list[FileTally] = []
        try:
            self._import(sources, tallies, options)
        except (DatabaseFault, OSError) as error:
            fault = f"the import stopped: {str(error).strip()}. Rows already stored are kept"
            raise CommandError(f"{fault}; fix this, then run the same command again to resume.") from error
        finally:
            self._report(tallies, options)

    def _import(self, sources: Sequence[Source], tallies: list[FileTally], options: dict[str, Any]) -> None:
        path = options["rejects"]
        with _opened(path) as file:
            rejects, before = Rejects(path, file), newest_revision()
            try:
                with database_pool(options["workers"]) as pool:
                    store: Store = Rehearsal() if options["dry_run"] else store_prepared
                    for source in sources:
                        tallies.append(FileTally(name=source.name))
                        self._import_source(source, tallies[-1], rejects, options, pool=pool, store=store)
                    created = sum(tally.outcomes["created"] for tally in tallies)
                    for newspaper in () if options["dry_run"] else settle_import(before, created, pool):
                        self.stdout.write(affixes_line(newspaper))
            finally:
                self._report_rejects(rejects, sum((tally.reasons for tally in tallies), Counter()))

    def _import_source(
        self, source: Source, tally: FileTally, rejects: Rejects, options: dict[str, Any], **how: Any
    ) -> None:
        how |= {"batch_size": options["batch_size"], "newspaper": options["newspaper"] or ""}
        # A progress bar that measures the bytes of the file, and shows its articles so far.
        rate = TextColumn("{task.fields[tally].read:,} articles, {task.fields[tally].rate:,.0f}/s")
        columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), rate, TimeRemainingColumn())
        started = time.monotonic()
        with source.open() as (stream, position, size), self.progress(options, *columns) as progress:
            task = progress.add_task(source.name, total=size, tally=tally)
            for batch in import_rows(stream, source.file_format, **how):
                for row, reason in tally.add(batch):
                    rejects.add(source.name, row, reason)
                tally.seconds = time.monotonic() - started
                progress.update(task, completed=position())

    def _report(self, tallies: Sequence[FileTally], options: dict[str, Any]) -> None:
        """Print a table of the files, and the totals in one line."""
        total = FileTally()
        columns = (Column(name, justify="right", no_wrap=True) for name in REPORTED)
        table = Table(Column("file", overflow="fold"), *columns, box=SIMPLE_HEAD, pad_edge=False)
        for tally in tallies:
            total.outcomes += tally.outcomes
            total.headlines += tally.headlines
            total.seconds += tally.seconds
            table.add_row(*tally.cells())
        if len(tallies) > 1:
            table.add_row(*total.cells())
        Console(file=cast("TextIO", self.stdout)).print(table)
        self.stdout.write(f"{'Dry run, nothing was stored: ' if options['dry_run'] else ''}{total}.")

    def _report_rejects(self, rejects: Rejects, reasons: Counter[str]) -> None:
        for line in rejects.first:
            self.stderr.write(line)
        if rejects.first and (more := reasons.total() - len(rejects.first)):
            self.stderr.write(f"… and {more:,} more; --rejects FILE lists them all.")
        if reasons:
            self.stderr.write("Rejected rows by reason:")
        for reason, count in reasons.most_common():
            self.stderr.write(f"{count:>9,}  {reason}")


def _sources(names: Sequence[str], stdin_format: FileFormat | None, rejects: str | None) -> list[Source]:
    """Return the files to import. Raises CommandError for arguments that contradict each other."""
    if names.count(STDIN) > 1:
        raise usage_error('"-" is given more than once; standard input can be read only once.')
    if STDIN in names and stdin_format is None:
        raise usage_error('"-" needs --format jsonl or --format csv.')
    sources = [Source(name, stdin_format) if name == STDIN and stdin_format else source_named(name) for name in names]
    if rejects and any(_same_file(rejects, name) for name in names if name != STDIN):
        raise usage_error(f"--rejects {rejects} would overwrite a file to import; choose another name.")
    return sources


@contextmanager
def _opened(path: str | None) -> Iterator[TextIO | None]:
    """Open the file of rejected rows, if there is to be one. Raises UnwritableError."""
    if not path:
        yield None
        return
    with writing(path, Path(path).parent):
        # A line is in the file when it is written: a process that is killed leaves the rejects of what it has stored.
        file = Path(path).open("w", encoding="utf-8", buffering=1)  # noqa: SIM115 - closing it can fail like writing
    try:
        yield file
    finally:
        with writing(path, Path(path).parent):
            file.close()


def _same_file(left: str, right: str) -> bool:
    """Return whether two names are the same file, links included."""
    try:
        return Path(left).samefile(right)
    except OSError:  # one of them does not exist
        return Path(left).resolve() == Path(right).resolve()


def _newspaper(value: str) -> str:
    name = " ".join(value.split())
    if not 0 < len(name) <= MAX_NEWSPAPER_CHARACTERS:
        raise argparse.ArgumentTypeError(
            f"the name has {len(name)} characters; it must have 1 to {MAX_NEWSPAPER_CHARACTERS}"
        )
    return name
