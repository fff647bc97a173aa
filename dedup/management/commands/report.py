"""`manage.py report`: what the archive holds, counted."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from typing import Any, TextIO, cast

from django.core.management.base import BaseCommand, CommandError, CommandParser
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Column, Table

from articles.files.formats import source_named
from articles.files.importing import Row
from articles.management.arguments import day
from articles.storage.incoming import IncomingArticle
from dedup.management.arguments import newspaper_ids
from dedup.reports.exact import ExactCopies, Form, exact_copies, exact_copies_in
from dedup.runs.scope import Scope, ScopeError

USAGE = 2
_WORDS: dict[Form, str] = {"exact": "As they were stored", "normalised": "In normal form"}


class Readable:
    """The articles of rows; those without one are counted."""

    def __init__(self, rows: Iterable[Row]) -> None:
        self._rows = rows
        self.unreadable = 0

    def __iter__(self) -> Iterator[IncomingArticle]:
        for row in self._rows:
            if row.article is None:
                self.unreadable += 1
            else:
                yield row.article


class Command(BaseCommand):
    """Count, and print a table or JSON."""

    help = (
        "exact: how many articles have the same headline, the same text, or both, as they were stored and without "
        "regard to case, punctuation and the newspaper's name. Nothing is changed."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the options."""
        parser.add_argument("report", choices=["exact"], help="what to count")
        parser.add_argument(
            "file", nargs="?", help="count the rows of this file (.jsonl, .csv, also .gz) and not the stored articles"
        )
        parser.add_argument("--since", type=day, metavar="DAY", help="only articles from this day on, YYYY-MM-DD")
        parser.add_argument("--until", type=day, metavar="DAY", help="only articles up to this day, YYYY-MM-DD")
        parser.add_argument(
            "--newspaper", action="append", metavar="NAME", help="only articles of this newspaper; may be repeated"
        )
        parser.add_argument("--format", choices=("text", "json"), default="text")

    def handle(self, **options: Any) -> None:
        """Print the report."""
        found = self._in_file(options) if options["file"] else self._stored(options)
        if options["format"] == "json":
            self.stdout.write(json.dumps({form: asdict(copies) for form, copies in found.items()}, indent=2))
            return
        self.stdout.write(f"{found['exact'].articles:,} articles")
        for form, copies in found.items():
            self._print(_WORDS[form], copies)

    def _stored(self, options: dict[str, Any]) -> dict[Form, ExactCopies]:
        try:
            scope = Scope(options["since"], options["until"], newspaper_ids(options["newspaper"]))
        except ScopeError as error:
            raise CommandError(str(error), returncode=USAGE) from error
        return exact_copies(scope.since, scope.until, scope.newspaper_ids)

    def _in_file(self, options: dict[str, Any]) -> dict[Form, ExactCopies]:
        """Count what the file's rows hold; those without an article are told of."""
        if chosen := [name for name in ("since", "until", "newspaper") if options[name]]:
            raise CommandError(
                f"--{chosen[0]} chooses among stored articles; a file is counted whole", returncode=USAGE
            )
        source = source_named(options["file"], None)
        source.check()
        with source.open() as (stream, _, _):
            rows = Readable(source.rows(stream))
            found = exact_copies_in(rows)
        if rows.unreadable:
            self.stderr.write(f"Rows without an article, not counted: {rows.unreadable:,}; an import says why.")
        return found

    def _print(self, title: str, copies: ExactCopies) -> None:
        columns = [Column(name, justify="right") for name in ("groups", "articles")]
        table = Table(Column(title, no_wrap=True), *columns, box=SIMPLE_HEAD, pad_edge=False)
        for words, each in (
            ("the same headline", copies.headline),
            ("the same text", copies.text),
            ("both the same", copies.both),
        ):
            table.add_row(words, f"{each.groups:,}", f"{each.articles:,}")
        table.add_row("any of these", "", f"{copies.any:,} ({copies.share:.2%})")
        table.add_row("copies in one newspaper on one day", "", f"{copies.same_day:,}")
        table.add_row("both the same, one newspaper, a later day", "", f"{copies.other_day:,}")
        Console(file=cast("TextIO", self.stdout)).print(table)
