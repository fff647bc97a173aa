"""The entry point for commands: `newsdedup`, or manage.py in a checkout.

Errors of the machine or its settings are reported in one sentence.
"""

import argparse
import atexit
import errno
import gc
import os
import shutil
import sys
import tempfile
import traceback
from pathlib import Path

import django
import psycopg
from django.core.exceptions import ImproperlyConfigured
from django.core.management import ManagementUtility
from django.db import DatabaseError, NotSupportedError, OperationalError, ProgrammingError
from django.db.migrations.exceptions import MigrationSchemaMissing

from articles.processes import is_out_of_memory
from newsdedup_site.embedded import EmbeddedServerError
from newsdedup_site.embedded.server import TEMPORARY
from newsdedup_site.environment import refuse_insecure

# SQLSTATE codes, appendix A of the PostgreSQL manual.
INSUFFICIENT_PRIVILEGE = "42501"
DISK_FULL = "53100"
OUT_OF_MEMORY = "53200"
UNDEFINED_TABLE_OR_COLUMN = ("42P01", "42703")
# What a full or broken disk says.
UNWRITABLE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
# What serves others for as long as it runs, and so refuses settings that are insecure.
SERVING = (["runserver"], ["db_worker"], ["serve"], ["demo"])
HELP = {"-h", "--help"}
# Commands that are exports of a list now; the old names go with the next release.
OLD_EXPORTS = {f"export_{name}": name for name in ("pairs", "clusters", "decisions", "lineage", "validation")}
HERE = f"{Path(__file__).resolve().parents[1]}{os.sep}"


def explain(error: DatabaseError) -> str | None:
    """Return what an operator can do about a database error; None if the fault is in the program."""
    words = " ".join(str(error).split())
    if isinstance(error, NotSupportedError) and "or later is required" in words:
        # Django's own bound, below which it makes no connection; check --database names ours.
        return f"{words} Back up, restore into a newer server, and point DATABASE_URL at that."
    state = getattr(error.__cause__, "sqlstate", None)
    if isinstance(error, OperationalError):
        return explain_loss(words, state)
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


def said_of(error: Exception) -> str:
    """Return what an error that is not Django's says."""
    if isinstance(error, psycopg.OperationalError):
        return explain_loss(" ".join(str(error).split()), error.sqlstate)
    return str(error)


def explain_loss(words: str, state: str | None) -> str:
    """Return what an operator can do about a database that does not work at the moment."""
    if state == DISK_FULL:
        return f"The disk of the database is full: {words}. Make room there, then run the same command again."
    if state == OUT_OF_MEMORY:
        return (
            f"The server of the database ran out of memory: {words}. Give it more, or lower its work_mem and "
            "max_connections; then run the same command again. Anything stored is kept."
        )
    return (
        f"The database cannot be used: {words}. "
        "Check that its server is running and that DATABASE_URL, if set, is correct."
    )


def out_of_memory(arguments: list[str], error: BaseException) -> str:
    """Return what an operator can do when memory ran out, and what the command was doing."""
    own = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename.startswith(HERE)]
    at = f", in {own[-1].name} of {own[-1].filename.removeprefix(HERE)}" if own else ""
    return (
        f"Memory ran out during {' '.join(['manage.py', *arguments[1:2]])}{at}. Free some, or use a machine with more; "
        "a command with the option --workers needs less with --workers 1. Then run the same command again: anything "
        "stored is kept."
    )


def discard_output() -> None:
    """Discard what Python would still flush when it exits."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def with_new_name(arguments: list[str]) -> list[str]:
    """Return the arguments with the name that a command has now; an old one says so."""
    if (old := "".join(arguments[1:2])) not in OLD_EXPORTS:
        return arguments
    name = OLD_EXPORTS[old]
    sys.stderr.write(f"{old} is now called: export {name}. The old name goes with the next release.\n")
    return [arguments[0], "export", name, *arguments[2:]]


def in_project(arguments: list[str]) -> list[str]:
    """Choose the folder whose database the command uses, and return the arguments without it.

    `--project DIR` before the command names it, as `--keep DIR` of clean and the argument of serve and demo do. Without
    one, clean makes a folder that is deleted when the command has ended, however it ends.
    """
    project = None
    if arguments[1:2] == ["--project"] and len(arguments) > 2:
        project, arguments = arguments[2], [arguments[0], *arguments[3:]]
    elif arguments[1:2] in (["serve"], ["demo"]) and len(arguments) > 2 and not arguments[2].startswith("-"):
        project, arguments = arguments[2], [*arguments[:2], *arguments[3:]]
    elif arguments[1:2] == ["clean"] and not HELP.intersection(arguments):
        parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
        parser.add_argument("--keep")
        project = parser.parse_known_args(arguments[2:])[0].keep or temporary_project()
    if project:
        os.environ.update(NEWSDEDUP_PROJECT=str(Path(project).expanduser().absolute()), DATABASE_URL="")
        # Of a call that does not come as far as starting a server, which has a keeper.
        atexit.register(forget_unused, Path(project))
    return arguments


def forget_unused(project: Path) -> None:
    """Delete a temporary folder in which no server was started."""
    if {path.name for path in project.glob("*")} == {TEMPORARY}:
        shutil.rmtree(project, ignore_errors=True)


def temporary_project() -> str:
    """Make a folder that the keeper of its database deletes as soon as nobody uses it."""
    folder = Path(tempfile.mkdtemp(prefix="newsdedup-"))
    folder.chmod(0o711)  # root's PostgreSQL runs as another user
    (folder / TEMPORARY).touch()
    return str(folder)


def execute(arguments: list[str]) -> None:
    """Run a command. Django itself would answer `version` with only its own version."""
    arguments = in_project(with_new_name(arguments))
    utility = ManagementUtility(arguments)
    if arguments[1:2] in SERVING and not HELP.intersection(arguments):
        refuse_insecure(serving=False)
    if arguments[1:2] == ["version"]:
        django.setup()
        utility.fetch_command("version").run_from_argv(arguments)
    else:
        utility.execute()


def main(arguments: list[str]) -> None:
    """Run a command. An error exits with 1 and one sentence on stderr; `--traceback` shows its origin instead."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "newsdedup_site.settings")
    # Modules stay: to look through them for garbage after every 700 new objects takes a sixth of the start.
    gc.set_threshold(50_000)
    try:
        try:
            execute(arguments)
        finally:
            sys.stdout.flush()
    except BrokenPipeError:
        # The reader has closed the pipe (`| head`).
        discard_output()
        sys.exit(1)
    except (MemoryError, OSError) as error:
        if is_out_of_memory(error) and "--traceback" not in arguments:
            sys.exit(out_of_memory(arguments, error))
        if isinstance(error, MemoryError):
            raise
        if error.errno not in UNWRITABLE or "--traceback" in arguments:
            raise
        discard_output()
        name = error.filename or "Standard output"
        sys.exit(f"{name} cannot be written: {error.strerror}. Make room or send it elsewhere, then run this again.")
    except (
        EmbeddedServerError,
        ImproperlyConfigured,
        NotSupportedError,
        OperationalError,
        psycopg.OperationalError,  # of a COPY, which Django does not wrap
        ProgrammingError,
        MigrationSchemaMissing,
    ) as error:
        sentence = explain(error) if isinstance(error, DatabaseError) else said_of(error)
        if sentence is None or "--traceback" in arguments:
            raise
        sys.exit(sentence)


def run() -> None:
    """Run the command line of this process."""
    main(sys.argv)
