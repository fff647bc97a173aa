#!/usr/bin/env python
"""The entry point for commands. Errors of the machine or its settings are reported in one sentence."""

import os
import sys

import django
from django.core.exceptions import ImproperlyConfigured
from django.core.management import ManagementUtility
from django.db import DatabaseError, NotSupportedError, OperationalError, ProgrammingError
from django.db.migrations.exceptions import MigrationSchemaMissing

from newsdedup_site.embedded import EmbeddedServerError

# SQLSTATE codes, appendix A of the PostgreSQL manual.
INSUFFICIENT_PRIVILEGE = "42501"
UNDEFINED_TABLE_OR_COLUMN = ("42P01", "42703")


def explain(error: DatabaseError) -> str | None:
    """Return what an operator can do about a database error; None if the fault is in the program."""
    words = " ".join(str(error).split())
    if isinstance(error, NotSupportedError) and "or later is required" in words:
        # Django's own bound, below which it makes no connection; check --database names ours.
        return f"{words} Back up, restore into a newer server, and point DATABASE_URL at that."
    state = getattr(error.__cause__, "sqlstate", None)
    if isinstance(error, OperationalError):
        return (
            f"The database cannot be used: {words}. "
            "Check that its server is running and that DATABASE_URL, if set, is correct."
        )
    if state in UNDEFINED_TABLE_OR_COLUMN:
        return f"The database is not up to date: {words}. Run manage.py migrate."
    if state == INSUFFICIENT_PRIVILEGE and "create extension" in words:
        return (
            f"{words}. Ask the owner of the database, or a superuser, to run CREATE EXTENSION pg_trgm in it; "
            "then run manage.py migrate again."
        )
    if state == INSUFFICIENT_PRIVILEGE or isinstance(error, MigrationSchemaMissing):
        return f"The role in DATABASE_URL has no permission for this: {words}. Make it the owner of the database."
    return None


def execute(arguments: list[str]) -> None:
    """Run a command. Django itself would answer `version` with only its own version."""
    utility = ManagementUtility(arguments)
    if arguments[1:2] == ["version"]:
        django.setup()
        utility.fetch_command("version").run_from_argv(arguments)
    else:
        utility.execute()


def main(arguments: list[str]) -> None:
    """Run a command. An error exits with 1 and one sentence on stderr; `--traceback` shows its origin instead."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "newsdedup_site.settings")
    try:
        try:
            execute(arguments)
        finally:
            sys.stdout.flush()
    except BrokenPipeError:
        # The reader has closed the pipe (`| head`): discard what Python would still flush when it exits.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except (
        EmbeddedServerError,
        ImproperlyConfigured,
        NotSupportedError,
        OperationalError,
        ProgrammingError,
        MigrationSchemaMissing,
    ) as error:
        sentence = explain(error) if isinstance(error, DatabaseError) else str(error)
        if sentence is None or "--traceback" in arguments:
            raise
        sys.exit(sentence)


if __name__ == "__main__":
    main(sys.argv)
