"""The earlier states: the first release, and the end of each large change since; restored, read and compared."""

import gzip
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
from psycopg import sql

from tests.databases import start

MIGRATE = ("manage.py", "migrate", "--verbosity", "0")
FOLDER = Path(__file__).parent / "states"


@dataclass(frozen=True, slots=True)
class State:
    """A commit whose code made the dump `states/NAME.sql.gz`."""

    name: str
    commit: str
    brought: str

    @property
    def path(self) -> Path:
        return FOLDER / f"{self.name}.sql.gz"


STATES = (
    State("01_first", "618e1d3", "imports, passes, clusters, decisions and their undo"),
    State("02_verdicts", "f9e5924", "the full comparison, verdicts, series, nightly runs, incremental runs"),
    State("03_boilerplate", "31c13f0", "kept pages, details, learnt habits, links of crawls, boilerplate"),
    State("04_contained", "3ff12b6", "the packages of today, the shingle index, contained text"),
    State("05_newspapers", "6f23776", "viewers, dense groups, times, extra columns, merged newspapers"),
    State(
        "06_desk", "559fd51", "questions, more answers, second readings, batches, rules of profiles, saved views, keys"
    ),
    State("07_research", "6818122", "samples, tokens, the API, webhooks, stored reports"),
    State("08_million", "2a7a251", "marks of what is up to date, indexes for a million articles, runs of a cluster"),
    State("09_crawls", "e55750d", "revisions, extraction rules, crawls and imports in the browser, paces, trials"),
)

# One row as it is stored: column -> value; rows are named by table and primary key.
Row = dict[str, Any]
Rows = dict[str, dict[str, Row]]

_COPY = re.compile(r"^(COPY [^\n]* FROM stdin;)\n(.*?)^\\\.\n", re.MULTILINE | re.DOTALL)
_KEYS = """
SELECT class.relname, array_agg(attribute.attname::text ORDER BY attribute.attnum)
FROM pg_index AS index
JOIN pg_class AS class ON class.oid = index.indrelid
JOIN pg_attribute AS attribute ON attribute.attrelid = class.oid AND attribute.attnum = ANY (index.indkey)
WHERE index.indisprimary AND class.relnamespace = 'public'::regnamespace
GROUP BY class.relname ORDER BY class.relname
"""


def restore(state: State, url: str) -> None:
    dump = gzip.decompress(state.path.read_bytes()).decode()
    with psycopg.connect(url, autocommit=True) as connection, connection.cursor() as cursor:
        before = 0
        for table in _COPY.finditer(dump):
            cursor.execute(dump[before : table.start()])  # type: ignore[arg-type]
            with cursor.copy(table[1]) as copy:  # type: ignore[arg-type]
                copy.write(table[2])
            before = table.end()
        cursor.execute(dump[before:])  # type: ignore[arg-type]


def all_rows(url: str) -> Rows:
    """Return all rows of all tables that have a primary key."""
    found: Rows = {}
    with psycopg.connect(url) as connection:
        for table, keys in connection.execute(_KEYS).fetchall():
            select = sql.SQL("SELECT to_jsonb({table}) FROM {table}").format(table=sql.Identifier(table))
            rows = [row for (row,) in connection.execute(select)]
            found[table] = {"/".join(str(row[key]) for key in keys): row for row in rows}
    return found


# table.column -> the migration that changes it, and what for. `table.*`: the whole table goes.
ON_PURPOSE: dict[str, str] = {
    "articles_article.revision": "articles 0027: articles that shared the revision 0 get their own",
    "dedup_articleshingles.sample": "dedup 0048: samples of shingles have a table of their own",
    "dedup_evidence.joins": "dedup 0006: the verdict of a pair says whether it joins a cluster",
    "dedup_fittedmodel.in_use": "dedup 0011, 0016, 0052: a learnt model of other features is switched off",
    "dedup_judgedmonth.*": "dedup 0044: pairs know what their verdicts rest on, months need not",
    "dedup_profile.settings": "dedup 0007, 0015: the default profile proposes more",
    **dict.fromkeys(
        (
            *(
                f"articles_fileimport.{name}"
                for name in ("state", "started_at", "seen_at", "finished_at", "position", "error")
            ),
            *(f"dedup_lesson.{name}" for name in ("state", "asked_by_id", "asked_at", "finished_at")),
            *(f"dedup_storedreport.{name}" for name in ("waiting_since", "requested_by_id")),
            "dedup_runrequest.*",
            "django_tasks_database_dbtaskresult.args_kwargs",
            "django_tasks_database_dbtaskresult.task_path",
        ),
        "articles 0029 to 0031 and dedup 0090 to 0093: what waits for a worker is a job, which its task carries",
    ),
    "dedup_storedreport.counted_at": "dedup 0100: it is computed_at",
    "dedup_storedreport.shown": "dedup 0100: what a result says is its summary",
}


def differences(before: Rows, after: Rows) -> list[str]:
    """Return what of `before` is missing or different, one sentence each. Columns that were added do not count."""
    found: list[str] = []
    for table, rows in before.items():
        if f"{table}.*" in ON_PURPOSE:
            continue
        if table not in after:
            found.append(f"{table} is gone")
            continue
        for key, row in rows.items():
            now = after[table].get(key)
            if now is None:
                found.append(f"{table} {key} is gone: {row}")
                continue
            for column, value in row.items():
                if f"{table}.{column}" in ON_PURPOSE:
                    continue
                if column not in now:
                    found.append(f"{table}.{column} is gone")
                elif now[column] != value:
                    found.append(f"{table} {key}: {column} was {value!r} and is {now[column]!r}")
    return found


def shell(code: str) -> tuple[str, ...]:
    """Return the arguments of Python with which Django is set up, and then runs this code."""
    return "manage.py", "shell", "--no-imports", "-c", code


def use(url: str, name: str) -> dict[str, Any]:
    """Return what `main` prints of a database that has been restored, or is empty."""
    process = start(url, *shell(f"from tests.upgrades.trying import main; main({name!r})"))
    out, errors = process.communicate()
    if process.returncode:
        return {"faults": [f"exit code {process.returncode}: {errors[-3000:]}"], "pairs": []}
    found: dict[str, Any] = json.loads(out)
    return found
