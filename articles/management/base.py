"""What all commands share: help, exit codes, progress bars, where they write, and a clean stop when interrupted."""

import json
import os
import signal
import sys
import threading
from argparse import HelpFormatter, RawDescriptionHelpFormatter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from enum import IntEnum
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Self, TextIO, cast

from django.core.checks import Tags
from django.core.management.base import BaseCommand, CommandError, CommandParser, DjangoHelpFormatter, OutputWrapper
from django.db import DEFAULT_DB_ALIAS
from rich.console import Console
from rich.progress import Progress, ProgressColumn

from articles.files.formats import FileUsageError
from articles.files.records import UnreadableFileError
from articles.files.whole_files import STDOUT, UnwritableError, whole_file, writing
from articles.loading import MissingPackageError, missing_package
from articles.normalization.searches import SearchError
from articles.processes import WorkerDiedError
from articles.storage.newspapers import UnknownNewspaperError


class ExitCode(IntEnum):
    meaning: str

    def __new__(cls, value: int, meaning: str) -> Self:
        code = int.__new__(cls, value)
        code._value_ = value
        code.meaning = meaning
        return code

    DONE = 0, "done"
    ERROR = 1, "an error; anything stored before it is kept"
    USAGE = 2, "an option or argument is not valid"
    ACTIVE = 3, "another process is already doing this"
    INTERRUPTED = 130, "interrupted"  # 128 + SIGINT, as shells report it


def usage_error(message: str) -> CommandError:
    """Return the error for an option or argument that is not valid."""
    return CommandError(message, returncode=ExitCode.USAGE)


class CommandHelpFormatter(DjangoHelpFormatter, RawDescriptionHelpFormatter):
    """Shows a command's own options before Django's, and keeps the line breaks of the exit codes."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        own = RawDescriptionHelpFormatter if "\n" in text else HelpFormatter
        return own._fill_text(self, text, width, indent)  # noqa: SLF001 - the method that argparse has for it


class ProjectCommand(BaseCommand):
    """A command whose help lists its exit codes."""

    # They check the code of all pages, which takes longer to load than most commands work. Each command that searches a
    # database checks it, by check_database.
    requires_system_checks = []
    # The exit codes of errors that are printed as one sentence, without a traceback.
    exit_codes: ClassVar[Mapping[type[Exception], ExitCode]] = {}
    _shared_exit_codes: ClassVar[Mapping[type[Exception], ExitCode]] = {
        FileUsageError: ExitCode.USAGE,
        MissingPackageError: ExitCode.ERROR,
        UnknownNewspaperError: ExitCode.USAGE,
        UnreadableFileError: ExitCode.ERROR,
        UnwritableError: ExitCode.ERROR,
        SearchError: ExitCode.USAGE,
        WorkerDiedError: ExitCode.ERROR,
    }
    ends: ClassVar[frozenset[ExitCode]] = frozenset({ExitCode.DONE, ExitCode.ERROR, ExitCode.USAGE})

    def __init__(self, stdout: TextIO | None = None, *args: Any, **kwargs: Any) -> None:
        super().__init__(cast("TextIO", NamedOutput(stdout or sys.stdout)), *args, **kwargs)

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        codes = sorted(self.ends | set(self.exit_codes.values()))
        epilog = "\n".join(["exit codes:", *(f"  {code:<4} {code.meaning}" for code in codes)])
        return super().create_parser(
            prog_name, subcommand, epilog=epilog, formatter_class=CommandHelpFormatter, **kwargs
        )

    def execute(self, *args: Any, **options: Any) -> str | None:
        """Run the command; turn errors with an exit code into a CommandError."""
        try:
            return self._executed(*args, **options)
        except (*self._shared_exit_codes, *self.exit_codes) as error:
            codes = {**self._shared_exit_codes, **self.exit_codes}
            code = next(codes[kind] for kind in type(error).mro() if kind in codes)
            raise CommandError(f"{str(error).removesuffix('.')}.", returncode=code) from error

    def check_database(self) -> None:
        """Refuse a database whose version, encoding or locale would make a search find nothing."""
        self.check(tags=[Tags.database], databases=[DEFAULT_DB_ALIAS])

    def write_result(
        self, result: Any, options: Mapping[str, Any], print_text: Callable[[Any, TextIO], object]
    ) -> None:
        """Write a result as JSON if --format says so, or print it for people."""
        if options["format"] == "json":
            self.stdout.write(json.dumps(result, ensure_ascii=False))
        else:
            print_text(result, cast("TextIO", self.stdout))

    def _executed(self, *args: Any, **options: Any) -> str | None:
        try:
            return super().execute(*args, **options)
        except ModuleNotFoundError as error:
            if missing := missing_package(error):
                raise missing from error
            raise


class LongCommand(ProjectCommand):
    """A command that takes minutes: it shows its progress and stops cleanly on SIGINT or SIGTERM."""

    # Printed after an interruption.
    resuming = "Run the same command again to resume."
    ends: ClassVar[frozenset[ExitCode]] = ProjectCommand.ends | {ExitCode.INTERRUPTED}

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        parser = super().create_parser(prog_name, subcommand, **kwargs)
        parser.add_argument("--no-progress", action="store_true", help="do not show a progress bar")
        return parser

    def execute(self, *args: Any, **options: Any) -> str | None:
        try:
            with _terminated_as_interrupted():
                return super().execute(*args, **options)
        except KeyboardInterrupt:
            self.stderr.write(f"Interrupted. {self.resuming}")
            sys.exit(ExitCode.INTERRUPTED)

    def progress(self, options: Mapping[str, Any], *columns: ProgressColumn) -> Progress:
        return progress_bars(*columns, shown=not options["no_progress"])


@contextmanager
def _terminated_as_interrupted() -> Iterator[None]:
    """Have SIGTERM raise KeyboardInterrupt, as SIGINT does; only the main thread may set this up."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before or signal.SIG_DFL)


def progress_bars(*columns: ProgressColumn, shown: bool = True) -> Progress:
    """Return progress bars with these columns, or with rich's default ones; only a terminal shows them."""
    return Progress(*columns, console=Console(stderr=True), disable=not (shown and sys.stderr.isatty()))


class NamedOutput:
    """A stream whose faults raise UnwritableError, which names it; in all else it is the stream itself."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        with _writing_stdout(self._stream):
            return self._stream.write(text)

    def flush(self) -> None:
        with _writing_stdout(self._stream):
            self._stream.flush()


@contextmanager
def _writing_stdout(stream: TextIO) -> Iterator[None]:
    try:
        with writing(STDOUT):
            yield
    except UnwritableError:
        discard(stream)
        raise


def discard(stream: TextIO) -> None:
    """Discard what Python would still flush when it exits, which would fail again."""
    if stream is sys.stdout:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


@contextmanager
def opened_output(path: Path | None, stdout: OutputWrapper) -> Iterator[Callable[[str], object]]:
    """Give what writes texts to a file that gets its name when it is complete, or to standard output if there is none.

    Raises UnwritableError.
    """
    if path:
        with whole_file(path) as file:
            yield file.write
        return
    # The stream of a command would add a line end.
    yield partial(stdout.write, ending="")
    stdout.flush()
