"""`manage.py import_warc FILE...`: imports the articles of web archives."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, BinaryIO

from django.core.management.base import CommandError, CommandParser
from django.db import Error as DatabaseFault

from articles.management.arguments import add_workers_option
from articles.management.base import LongCommand, usage_error
from articles.processes import Pool
from articles.storage.ingest import Stored, newest_revision
from articles.storage.title_affixes import affixes_line, settle_import
from articles.storage.workers import database_pool
from articles.warc import ArchivedPage, DamagedArchiveError, OtherRecord, join_following, opened, read_pages
from crawlers.archived_pages import store_pages


class Command(LongCommand):
    help = (
        "Imports the articles of WARC files, such as those of export_warc and of Common Crawl's news: extracts the "
        "HTML pages of their response records as a crawl does, and stores each with its page, in the newspaper of its "
        "host. A page whose URL is already stored is passed over."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("files", nargs="+", metavar="FILE", help='.warc or .warc.gz file; "-" reads standard input')
        add_workers_option(parser)

    def handle(self, *_args: Any, **options: Any) -> None:
        files: list[str] = options["files"]
        if files.count("-") > 1:
            raise usage_error('"-" is given more than once; standard input can be read only once.')
        tally = _Tally()
        before = newest_revision()
        try:
            with database_pool(options["workers"]) as pool:
                damaged = [fault for name in files if (fault := self._import(name, tally, pool, options))]
                for newspaper in settle_import(before, tally.outcomes["created"], pool):
                    self.stdout.write(affixes_line(newspaper))
        except DatabaseFault as error:
            fault = f"the import stopped: {str(error).strip()}. Articles already stored are kept"
            raise CommandError(f"{fault}; fix this, then run the same command again to resume.") from error
        finally:
            self._report(tally)
        if damaged:
            raise CommandError("\n".join(f"{fault}. What comes before is stored." for fault in damaged))

    def _import(self, name: str, tally: _Tally, pool: Pool, options: dict[str, Any]) -> str:
        """Import a file; return why it could not be read to its end, or nothing."""
        damage: list[str] = []
        try:
            with opened(name, sys.stdin.buffer) as (stream, position, size), self.progress(options) as progress:
                task = progress.add_task(name, total=size)
                for batch in store_pages(tally.pages(join_following(_until_damage(stream, damage))), pool):
                    for _, stored in batch:
                        tally.count(stored)
                    progress.update(task, completed=position())
        except OSError as error:
            damage.append(str(error.strerror))
        return f"{name} cannot be read: {damage[0]}" if damage else ""

    def _report(self, tally: _Tally) -> None:
        counts = tally.outcomes
        known, refused = f"{counts['known']:,} already known", f"{counts['rejected']:,} refused"
        attached = f"{counts['attached']:,} attached to stored articles, " if counts["attached"] else ""
        self.stdout.write(f"{counts.total():,} pages read: {counts['created']:,} stored, {attached}{known}, {refused}.")
        for title, reasons in (("Refused pages by reason:", tally.refused), ("Other records:", tally.others)):
            if reasons:
                self.stdout.write(title)
            for reason, count in reasons.most_common():
                self.stdout.write(f"{count:>9,}  {reason}")


class _Tally:
    """Counts what became of the records of all files."""

    def __init__(self) -> None:
        self.outcomes: Counter[str] = Counter()
        self.refused: Counter[str] = Counter()
        self.others: Counter[str] = Counter()

    def count(self, stored: Stored) -> None:
        self.outcomes[stored.outcome] += 1
        if stored.outcome == "rejected":
            self.refused[stored.reason] += 1

    def pages(self, records: Iterable[ArchivedPage | OtherRecord]) -> Iterator[ArchivedPage]:
        """Yield the pages; count the other records."""
        for record in records:
            if isinstance(record, ArchivedPage):
                yield record
            elif record.is_page:
                self.count(Stored("rejected", reason=record.reason))
            else:
                self.others[record.reason] += 1


def _until_damage(stream: BinaryIO, damage: list[str]) -> Iterator[ArchivedPage | OtherRecord]:
    """Yield the records before the place where the file is damaged, so that they are stored; keep why it is."""
    try:
        yield from read_pages(stream)
    except DamagedArchiveError as error:
        damage.append(str(error))
