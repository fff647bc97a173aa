"""`manage.py report`: counts over the archive or a file, and keeps the result for the report's page."""

from collections.abc import Iterable, Iterator
from typing import Any, TextIO, cast

from django.core.management.base import CommandParser

from articles.files.formats import source_named
from articles.files.importing import Row, open_rows
from articles.management.arguments import add_scope_options, add_search_option, chosen_newspaper_ids
from articles.management.base import ExitCode, ProjectCommand, usage_error
from articles.storage.incoming import IncomingArticle
from dedup.declarations import ConfigError, Setting, Settings, make_config, option_name, settings_of
from dedup.detection.runs.scope import Scope, ScopeError
from dedup.reports import REPORTS
from dedup.reports.base import Report, ReportError
from dedup.reports.computing import compute, drawn
from dedup.reports.exact import ExactReport
from dedup.reports.formats import as_csv, as_json, presented, print_text


class Command(ProjectCommand):
    """Count, and print text, CSV, JSON, a chart, or a file of the report."""

    help = "Print counts over the stored articles or a file. No article, pair or cluster is changed."
    exit_codes = {ScopeError: ExitCode.USAGE, ReportError: ExitCode.USAGE}

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the options of every report, and those of each one."""
        names = "; ".join(f"{name}: {report.help}" for name, report in REPORTS.items())
        parser.add_argument("report", choices=list(REPORTS), metavar="NAME", help=names.replace("%", "%%"))
        parser.add_argument(
            "file",
            nargs="?",
            help="count the rows of this file (.jsonl, .csv, also .gz) instead of the stored articles",
        )
        add_scope_options(parser)
        add_search_option(parser)
        parser.add_argument("--format", choices=("text", "csv", "json", "svg"), default="text")
        parser.add_argument("--chart", metavar="NAME", help="with --format svg: which chart (default: the first)")
        parser.add_argument("--file", metavar="NAME", dest="extra_file", help="print this file of the report instead")
        _add_options(parser)

    def handle(self, **options: Any) -> None:
        """Print the report."""
        report = REPORTS[options["report"]]
        own = self._own_options(report, options)
        if options["file"]:
            result = self._in_file(report, own, options)
            text, shown = as_json(result), presented(report, result)
        else:
            scope = Scope(options["since"], options["until"], chosen_newspaper_ids(options), words=options["search"])
            kept = compute(report, scope, own)
            text, shown = kept.result, drawn(kept)
        if options["extra_file"]:
            files = {file.name: file.text for file in shown.files}
            self.stdout.write(_chosen(files, options["extra_file"], "file", report), ending="")
        elif options["format"] == "json":
            self.stdout.write(text)
        elif options["format"] == "csv":
            self.stdout.write(as_csv(shown.tables), ending="")
        elif options["format"] == "svg":
            pictures = {picture.name: picture.svg for picture in shown.pictures}
            self.stdout.write(_chosen(pictures, options["chart"] or next(iter(pictures), ""), "chart", report))
        else:
            print_text(shown.summary, shown.tables, cast("TextIO", self.stdout))

    def _own_options(self, report: Report, options: dict[str, Any]) -> Settings:
        """Return the report's own options. Raises CommandError for an option of another report."""
        given = {
            name: options[name]
            for known in REPORTS.values()
            for name in settings_of(known.options_class)
            if options[name] is not None
        }
        try:
            return make_config(report.options_class, given)
        except ConfigError as error:
            raise usage_error(f"{report.name}: {error}") from error

    def _in_file(self, report: Report, own: Settings, options: dict[str, Any]) -> Any:
        """Count the rows of the file; those without an article are left out, with a notice."""
        if not isinstance(report, ExactReport):
            raise usage_error(f"{report.name} counts stored articles; it reads no file")
        if chosen := [name for name in ("since", "until", "newspapers", "collections") if options[name]]:
            raise usage_error(
                f"--{chosen[0].removesuffix('s')} applies to stored articles only; a file is always counted whole"
            )
        unreadable = 0

        def articles(rows: Iterable[Row[IncomingArticle]]) -> Iterator[IncomingArticle]:
            nonlocal unreadable
            for row in rows:
                if row.article is None:
                    unreadable += 1
                else:
                    yield row.article

        with open_rows(source_named(options["file"])) as rows:
            result = report.result_of(articles(rows), own)
        if unreadable:
            self.stderr.write(f"Rows without an article, not counted: {unreadable:,}; an import shows why.")
        return result


def _chosen(texts: dict[str, str], name: str, kind: str, report: Report) -> str:
    if name not in texts:
        there = f"it has {', '.join(texts)}" if texts else "it has none"
        raise usage_error(f"{report.name} has no {kind} {name!r}; {there}" if name else f"{report.name} has no {kind}")
    return texts[name]


def _add_options(parser: CommandParser) -> None:
    """Declare the options that only some reports have. None means "not given": the declared default applies."""
    by_option: dict[str, list[tuple[str, Any, Setting]]] = {}
    for name, report in REPORTS.items():
        for option, (field, declared) in settings_of(report.options_class).items():
            by_option.setdefault(option, []).append((name, field.default, declared))
    for option, uses in by_option.items():
        words = " ".join(f"{name}: {declared.help} Default: {default}." for name, default, declared in uses)
        _, default, _ = uses[0]
        kind: dict[str, Any] = {"type": type(default)}
        if isinstance(default, bool):
            kind = {"action": "store_const", "const": True}
        parser.add_argument(
            f"--{option_name(option).replace('_', '-')}", dest=option, help=words.replace("%", "%%"), **kind
        )
