"""The options that several commands share, and how their values are read."""

import argparse
import os
from collections.abc import Callable, Mapping
from datetime import date
from pathlib import Path
from typing import Any, get_args

from django.core.management.base import CommandParser

from articles.boilerplate.mode import Mode
from articles.files.formats import format_of
from articles.files.records import FileFormat
from articles.management.base import usage_error
from articles.models import Newspaper
from articles.numbers import read_number
from articles.querysets import days_fault
from articles.storage.collections import collections_named, newspapers_of
from articles.storage.newspapers import newspapers_named

MAX_WORKERS = 512
MAX_BATCH_SIZE = 5_000


def day(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a day; write it as YYYY-MM-DD") from None


def number_up_to(bound: int) -> Callable[[str], int]:
    """Return the argparse type of a number from 1 to this bound."""

    def number(value: str) -> int:
        read = read_number(value, least=1, most=bound)
        if read is None:
            raise argparse.ArgumentTypeError(f"{value!r} is not a number from 1 to {bound:,}")
        return read

    return number


def add_day_options(
    parser: argparse.ArgumentParser, *, since: str = "only articles published on or after this day"
) -> None:
    """Add --since and --until, which chosen_days reads."""
    parser.add_argument("--since", type=day, metavar="DAY", help=f"{since} (YYYY-MM-DD)")
    parser.add_argument(
        "--until", type=day, metavar="DAY", help="only articles published on or before this day (YYYY-MM-DD)"
    )


def chosen_days(options: Mapping[str, Any]) -> tuple[date | None, date | None]:
    """Return the first and the last day; None: no bound. Raises CommandError if since is after until."""
    since, until = options["since"], options["until"]
    if fault := days_fault(since, until):
        raise usage_error(f"{fault}.")
    return since, until


def add_newspaper_option(parser: argparse.ArgumentParser) -> None:
    """Add --newspaper and --collection, which chosen_newspapers reads."""
    for unit, named in (("newspaper", "newspaper (name or id)"), ("collection", "collection of newspapers (name)")):
        parser.add_argument(
            f"--{unit}",
            dest=f"{unit}s",
            action="append",
            default=[],
            metavar="NAME",
            help=f"only articles of this {named}; may be repeated",
        )


def add_newspaper_arguments(parser: argparse.ArgumentParser, *, without: str) -> None:
    """Add the names that chosen_newspapers reads; `without` says what happens if none is given."""
    parser.add_argument(
        "newspapers", nargs="*", metavar="NEWSPAPER", help=f"name or id of a newspaper (default: {without})"
    )


def chosen_newspapers(options: Mapping[str, Any]) -> list[Newspaper] | None:
    """Return the newspapers that were named, alone or by a collection; None, for all, if none was.

    Raises UnknownNewspaperError.
    """
    names, collections = options["newspapers"], options.get("collections")
    if not names and not collections:
        return None
    of_collections = newspapers_of(collections_named(collections)) if collections else ()
    return list(dict.fromkeys([*newspapers_named(names), *of_collections]))


def chosen_newspaper_ids(options: Mapping[str, Any]) -> tuple[int, ...] | None:
    """Return the ids of chosen_newspapers, in order."""
    newspapers = chosen_newspapers(options)
    return None if newspapers is None else tuple(sorted(newspaper.pk for newspaper in newspapers))


def add_scope_options(parser: argparse.ArgumentParser) -> None:
    """Add --newspaper, --collection, --since and --until, which chosen_scope reads."""
    add_newspaper_option(parser)
    add_day_options(parser)


def chosen_scope(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the bounds that ArticleQuerySet.in_scope takes, by name. Raises CommandError."""
    since, until = chosen_days(options)
    return {"since": since, "until": until, "newspaper_ids": chosen_newspaper_ids(options)}


def add_search_option(parser: argparse.ArgumentParser) -> None:
    """Add --search, a search by words."""
    parser.add_argument("--search", default="", metavar="WORDS", help="only articles that this search finds")


def add_boilerplate_option(parser: argparse.ArgumentParser) -> None:
    """Add --boilerplate to a command that exports articles."""
    parser.add_argument(
        "--boilerplate",
        choices=[mode.value for mode in Mode],
        default=Mode.KEEP.value,
        help="story removes boilerplate from all articles but the first of the week that has it; topic removes it from "
        "all articles (default: %(default)s)",
    )


def add_workers_option(parser: argparse.ArgumentParser, *, note: str = "") -> None:
    """Add --workers; `note` is added to its default."""
    parser.add_argument(
        "--workers",
        type=number_up_to(MAX_WORKERS),
        default=os.cpu_count() or 1,
        metavar="N",
        help=f"use up to N processes, 1 to {MAX_WORKERS} (default: one per core{note})",
    )


def add_batch_size_option(parser: argparse.ArgumentParser, rows: str, *, default: int) -> None:
    """Add --batch-size, the number of `rows` per transaction."""
    parser.add_argument(
        "--batch-size",
        type=number_up_to(MAX_BATCH_SIZE),
        default=default,
        metavar="N",
        help=f"{rows} per transaction, 1 to {MAX_BATCH_SIZE:,} (default: %(default)s)",
    )


def add_output_options(parser: CommandParser) -> None:
    """Add --output and --format to a command that exports."""
    parser.add_argument(
        "--output",
        metavar="FILE",
        help="write to this .jsonl, .jsonl.gz, .csv or .csv.gz file (default: standard output)",
    )
    formats = get_args(FileFormat)
    parser.add_argument(
        "--format", choices=formats, help="format of standard output (default: jsonl); a file has its ending's"
    )


def chosen_output(options: Mapping[str, Any]) -> tuple[Path | None, FileFormat]:
    """Return the file to write, None for standard output, and its format. Raises CommandError."""
    name, wanted = options["output"], options["format"]
    if name is None:
        return None, wanted or "jsonl"
    path, file_format = Path(name), format_of(name)
    if file_format is None:
        raise usage_error(f"--output {name} must end in .jsonl, .jsonl.gz, .csv or .csv.gz.")
    if wanted not in (None, file_format):
        raise usage_error(f"--format {wanted} contradicts --output {name}; leave --format out.")
    if not path.parent.is_dir():
        raise usage_error(f"--output {name}: {path.parent} does not exist or is not a folder; create it first.")
    return path, file_format
