"""`manage.py report`: counts over the archive or a file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, TextIO, cast

from django.core.management.base import CommandParser

from articles.files.formats import source_named
from articles.files.importing import Row, open_rows
from articles.management.arguments import add_day_options, add_newspaper_option, chosen_newspaper_ids
from articles.management.base import ExitCode, ProjectCommand, usage_error
from articles.storage.incoming import IncomingArticle
from dedup.declarations import ConfigError, Setting, Settings, make_config, settings_of
from dedup.reports import REPORTS
from dedup.reports.base import FileReport, Report
from dedup.reports.formats import as_csv, as_json, print_text
from dedup.runs.scope import Scope, ScopeError


class Readable:
    """The articles of rows. Rows without one are counted."""

    def __init__(self, rows: Iterable[Row]) -> None:
        self._rows = rows
        self.unreadable = 0

    def __iter__(self) -> Iterator[IncomingArticle]:
        for row in self._rows:
            if row.article is None:
                self.unreadable += 1
            else:
                yield row.article


class Command(ProjectCommand):
    """Count, and print text, CSV or JSON."""

    help = "Print counts over the stored articles or a file. Nothing is changed."
    exit_codes = {ScopeError: ExitCode.USAGE}

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the options of every report, and those of each one."""
        names = "; ".join(f"{name}: {each.help}" for name, each in REPORTS.items())
        parser.add_argument("report", choices=list(REPORTS), metavar="NAME", help=names.replace("%", "%%"))
        parser.add_argument(
            "file",
            nargs="?",
            help="count the rows of this file (.jsonl, .csv, also .gz) instead of the stored articles",
        )
        add_day_options(parser)
        add_newspaper_option(parser)
        parser.add_argument("--format", choices=("text", "csv", "json"), default="text")
        _add_options(parser)

    def handle(self, **options: Any) -> None:
        """Print the report."""
        report = REPORTS[options["report"]]
        own = self._own_options(report, options)
        result = self._in_file(report, own, options) if options["file"] else report.result(self._scope(options), own)
        if options["format"] == "json":
            self.stdout.write(as_json(result))
        elif options["format"] == "csv":
            self.stdout.write(as_csv(report.tables(result)), ending="")
        else:
            print_text(report.says(result), report.tables(result), cast("TextIO", self.stdout))

    def _own_options(self, report: Report, options: dict[str, Any]) -> Settings:
        """Return the report's own options. Raises CommandError for an option of another report."""
        given = {
            name: options[name]
            for each in REPORTS.values()
            for name in settings_of(each.options_class)
            if options[name] is not None
        }
        try:
            return make_config(report.options_class, given)
        except ConfigError as error:
            raise usage_error(f"{report.name}: {error}") from error

    def _scope(self, options: dict[str, Any]) -> Scope:
        return Scope(options["since"], options["until"], chosen_newspaper_ids(options))

    def _in_file(self, report: Report, own: Settings, options: dict[str, Any]) -> Any:
        """Count the rows of the file; those without an article are left out, with a notice."""
        if not isinstance(report, FileReport):
            raise usage_error(f"{report.name} counts stored articles; it reads no file")
        if chosen := [name for name in ("since", "until", "newspapers") if options[name]]:
            raise usage_error(
                f"--{chosen[0].removesuffix('s')} applies to stored articles only; a file is always counted whole"
            )
        with open_rows(source_named(options["file"])) as (read, _, _):
            rows = Readable(read)
            result = report.result_of(rows, own)
        if rows.unreadable:
            self.stderr.write(f"Rows without an article, not counted: {rows.unreadable:,}; an import shows why.")
        return result


def _add_options(parser: CommandParser) -> None:
    """Declare the options that only some reports have. None means "not given": the declared default applies."""
    by_option: dict[str, list[tuple[str, Any, Setting]]] = {}
    for name, each in REPORTS.items():
        for option, (field, declared) in settings_of(each.options_class).items():
            by_option.setdefault(option, []).append((name, field.default, declared))
    for option, uses in by_option.items():
        words = " ".join(f"{name}: {declared.help} Default: {default}." for name, default, declared in uses)
        _, default, _ = uses[0]
        kind = {"action": "store_const", "const": True} if isinstance(default, bool) else {"type": type(default)}
        parser.add_argument(f"--{option.replace('_', '-')}", help=words.replace("%", "%%"), **kind)
