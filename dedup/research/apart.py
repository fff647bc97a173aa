"""Imports a file of articles into a temporary schema and runs there, with labelled pairs to measure it."""

import io
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import parse_qsl, quote, urlencode, urlsplit, urlunsplit

from django.conf import settings
from django.contrib.contenttypes.models import ContentType
from django.core.management import call_command
from django.db import ProgrammingError, connection
from django.db.migrations.recorder import MigrationRecorder
from psycopg import sql

from articles.boilerplate.mode import Mode
from articles.files.formats import source_named
from articles.storage.locks import Lock, try_lock, unlock, wait_for_lock
from dedup.detection.runs.judging import ARTICLES
from dedup.detection.runs.pipeline import run_detection
from dedup.detection.runs.profiles import Configs, choose_passes
from dedup.detection.runs.progress import run_progress
from dedup.detection.runs.scope import Scope
from dedup.detection.runs.starting import start_run
from dedup.models import DetectionRun, FittedModel, Profile
from dedup.research.labels import Label, LabelsError, Problem, find_labelled, read_label_files

_PREFIX = "newsdedup_evaluate_"
# Appendix A of the PostgreSQL manual.
_INSUFFICIENT_PRIVILEGE = "42501"

_FOUND_SQL = "SELECT nspname FROM pg_namespace WHERE nspname ~ %s ORDER BY nspname"
_TRIGRAMS_SQL = """
SELECT nspname FROM pg_extension JOIN pg_namespace ON pg_namespace.oid = extnamespace WHERE extname = 'pg_trgm'
"""


class ScratchError(RuntimeError):
    """The scratch schema cannot be created; the message says what to do."""


@contextmanager
def scratch_schema() -> Iterator[str]:
    """Direct all queries of this process, and of the worker processes that it starts, to a schema of its own.

    The schema is dropped at the end, even after an error. Schemas that killed processes left behind are dropped first:
    a schema in use is locked on a separate connection. Do not call it in a transaction. Raises ScratchError.
    """
    holder = connection.copy()
    try:
        with holder.cursor() as cursor:
            _drop_abandoned(cursor)
            cursor.execute(_TRIGRAMS_SQL)
            trigrams = cursor.fetchone()
            if trigrams is None:
                raise ScratchError("the database has no extension pg_trgm; run manage.py migrate first")
            schema = _create(cursor)
            try:
                with _search_path(schema, *trigrams):
                    # One process at a time, because the triggers of all schemas share a function in public.
                    wait_for_lock(cursor, Lock.SCRATCH, 0)
                    try:
                        _migrate()
                    finally:
                        unlock(cursor, Lock.SCRATCH, 0)
                    yield schema
            finally:
                _drop(cursor, schema)
    finally:
        holder.close()


def _drop_abandoned(cursor: Any) -> None:
    cursor.execute(_FOUND_SQL, [f"^{_PREFIX}[0-9]+$"])
    for (schema,) in cursor.fetchall():
        number = int(schema.removeprefix(_PREFIX))
        if try_lock(cursor, Lock.SCRATCH, number):
            _drop(cursor, schema)
            unlock(cursor, Lock.SCRATCH, number)


def _create(cursor: Any) -> str:
    cursor.execute("SELECT pg_backend_pid(), current_user, current_database()")
    number, role, database = cursor.fetchone()
    wait_for_lock(cursor, Lock.SCRATCH, number)
    schema = f"{_PREFIX}{number}"
    try:
        cursor.execute(sql.SQL("CREATE SCHEMA {}").format(sql.Identifier(schema)))
    except ProgrammingError as error:
        if getattr(error.__cause__, "sqlstate", None) != _INSUFFICIENT_PRIVILEGE:
            raise
        grant = f'GRANT CREATE ON DATABASE "{database}" TO "{role}"'
        raise ScratchError(
            f"the role {role} may not create schemas in the database {database}; ask its owner to run {grant}, "
            "or import the articles and evaluate without --articles"
        ) from error
    return schema


def _drop(cursor: Any, schema: str) -> None:
    cursor.execute(sql.SQL("DROP SCHEMA IF EXISTS {} CASCADE").format(sql.Identifier(schema)))


def _migrate() -> None:
    """Create the tables of the detection."""
    # Without its own table of migrations, migrate would read the one of the next schema on the path and do nothing.
    with connection.schema_editor() as editor:
        editor.create_model(MigrationRecorder.Migration)
    for label in ("articles", "dedup"):
        call_command("migrate", label, interactive=False, verbosity=0)


@contextmanager
def _search_path(*schemas: str) -> Iterator[None]:
    """Make this process, and those that it starts, look for tables in these schemas only."""
    values = connection.settings_dict
    before = values["OPTIONS"]
    options = f"{before.get('options', '')} -c search_path={','.join(schemas)}".strip()
    environment = {name: os.environ.get(name) for name in ("DATABASE_URL", "SECRET_KEY")}
    try:
        # Worker processes read their settings from the environment. The embedded server does not accept PGOPTIONS.
        parts = urlsplit(os.environ.get("DATABASE_URL", "").strip() or _url(values))
        query = {**dict(parse_qsl(parts.query)), "options": options}
        os.environ["DATABASE_URL"] = urlunsplit(parts._replace(query=urlencode(query, quote_via=quote)))
        os.environ["SECRET_KEY"] = settings.SECRET_KEY
        _reconnect({**before, "options": options})
        yield
    finally:
        for name, value in environment.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
        _reconnect(before)


def _reconnect(options: dict[str, Any]) -> None:
    connection.close()
    connection.close_pool()  # type: ignore[attr-defined]
    connection.settings_dict["OPTIONS"] = options
    # Both are cached by id, and another schema uses the same ids for other rows.
    ContentType.objects.clear_cache()
    ARTICLES.clear()


def _url(values: dict[str, Any]) -> str:
    """Return the URL of a database with host and port as parameters: a socket's folder fits nowhere else."""
    login = ":".join(quote(values[name], safe="") for name in ("USER", "PASSWORD") if values[name])
    return f"postgres://{login}@/{values['NAME']}?" + urlencode({"host": values["HOST"], "port": values["PORT"]})


Found = TypeVar("Found")


@dataclass(frozen=True, slots=True)
class Detection:
    """How the detection runs: the profile, its configs as the options change them, and where messages go.

    Without `judging`, no pass runs and no pair is judged: what the features of pairs rest on is made, and no more.
    """

    profile: Profile
    configs: Configs
    boilerplate: Mode
    workers: int
    show_progress: bool
    say: Callable[[str], object]
    judging: bool = True


@dataclass(frozen=True, slots=True)
class Corpus:
    """A file of articles and files of labels of its pairs, already read, so that bad files stop a command early."""

    articles: Path
    paths: tuple[Path, ...]
    labels: Sequence[Label]
    problems: Sequence[Problem]


@dataclass(frozen=True, slots=True)
class Detected:
    """A finished run, and the labelled pairs of its articles; rows that do not count are in `problems`."""

    run: DetectionRun
    found: Sequence[Label]
    problems: Sequence[Problem]


def read_corpus(articles: str, labels: Sequence[str]) -> Corpus:
    """Read the labels of a corpus, and check that its file of articles can be opened.

    Raises FileUsageError, UnreadableFileError and LabelsError.
    """
    paths = tuple(map(Path, labels))
    return Corpus(readable_articles(articles), paths, *read_label_files(paths))


def readable_articles(name: str) -> Path:
    """Return the path of a file of articles that can be opened. Raises FileUsageError and UnreadableFileError."""
    with source_named(name).open():
        return Path(name)


def read_corpora(named: Sequence[Sequence[str]]) -> dict[str, Corpus]:
    """Return corpora by name; each is named by its file of articles and its files of labels, in this order.

    Raises LabelsError, FileUsageError and UnreadableFileError.
    """
    if alone := [articles for articles, *labels in named if not labels]:
        raise LabelsError(f"--corpus {alone[0]} has no labels; name its files of labels after the file of articles")
    corpora = [read_corpus(articles, labels) for articles, *labels in named]
    return dict(zip(_names(corpora), corpora, strict=True))


def _names(corpora: Sequence[Corpus]) -> list[str]:
    """Return a name for each corpus: that of its file of articles, and those of its labels where they share one."""
    names = [_stem(corpus.articles) for corpus in corpora]
    told_apart = [
        f"{name}: {', '.join(map(_stem, corpus.paths))}" if names.count(name) > 1 else name
        for name, corpus in zip(names, corpora, strict=True)
    ]
    if len(set(told_apart)) < len(told_apart):
        listed = ", ".join(told_apart)
        raise LabelsError(f"two corpora have files of the same names ({listed}); rename one, or leave one out")
    return told_apart


def _stem(path: Path) -> str:
    return path.name.partition(".")[0]


@contextmanager
def detected(corpus: Corpus, how: Detection) -> Iterator[Detected]:
    """Import the articles of a corpus into a schema of its own, and run there; the schema is dropped at the end.

    The model is the installation's. Raises LabelsError before the run if the labels name none of the articles.
    """
    find = partial(find_labelled, corpus.labels, corpus.problems, corpus.paths)
    with run_apart(corpus.articles, how, find) as (run, found):
        yield Detected(run, *found)


@contextmanager
def run_apart(articles: Path, how: Detection, find: Callable[[], Found]) -> Iterator[tuple[DetectionRun, Found]]:
    """Import a file of articles into a schema of its own, and run there; the schema is dropped at the end.

    `find` looks for what is to be measured; it is called after the import, so that it may stop the command before the
    run. Yields the finished run and what was found.
    """
    model = FittedModel.objects.filter(in_use=True).first()
    kept = {name: getattr(how.profile, name) for name in ("settings", "same_as", "boilerplate")}
    with scratch_schema():
        if model:
            FittedModel.objects.create(content=model.content, decisions=model.decisions, in_use=True)
        _import(articles, how)
        found = find()
        profile, _ = Profile.objects.update_or_create(name=how.profile.name, defaults=kept)
        # No other process uses this schema, so a run here needs no lock and does not wait for other runs.
        scope = Scope(boilerplate=how.boilerplate)
        with run_progress(show=how.show_progress) as progress:
            configs = how.configs if how.judging else choose_passes(how.configs, ())
            run = start_run(configs, scope, profile=profile)
            run_detection(run, configs, scope, progress=progress, workers=how.workers)
        yield run, found


def _import(articles: Path, how: Detection) -> None:
    """Import the articles, and print its messages at the end: an import that stops here cannot be resumed."""
    messages = io.StringIO()
    try:
        call_command(
            "import_articles", str(articles), no_progress=not how.show_progress, stdout=messages, stderr=messages
        )
    except SystemExit:
        raise KeyboardInterrupt from None
    how.say(messages.getvalue().rstrip())
