"""The database is damaged in every way that SQL can: the doctor notices, or a table here says why it need not."""

from __future__ import annotations

import io
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection, transaction

from dedup.models import Evidence, Pair
from newsdedup_site.doctor.examining import INVARIANTS, examine
from tests.conftest import storing
from tests.site.test_doctor_finds import build_archive

pytestmark = pytest.mark.django_db

# How each kind of thing that a schema has is dropped, and which checks count what is missing.
OURS = "relnamespace = current_schema()::regnamespace"
CONSTRAINTS = f"""
SELECT format('ALTER TABLE %%s DROP CONSTRAINT %%I CASCADE', conrelid::regclass, conname)
FROM pg_constraint JOIN pg_class ON pg_class.oid = conrelid
WHERE {OURS} AND contype = ANY (%(kinds)s) AND conrelid <> 'django_migrations'::regclass
"""
NOT_NULLS = f"""
SELECT format('ALTER TABLE %%s ALTER %%I DROP NOT NULL', attrelid::regclass, attname)
FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
WHERE {OURS} AND relkind = 'r' AND attnotnull AND attnum > 0 AND attrelid <> 'django_migrations'::regclass
  AND attidentity = '' AND NOT EXISTS (
    SELECT FROM pg_index WHERE indrelid = attrelid AND indisprimary AND attnum = ANY (indkey)
  )
"""
# Not: those that make LIKE faster, and those whose column another index begins with, which serves as well.
INDEXES = f"""
SELECT format('DROP INDEX %%I', relname)
FROM pg_index AS dropped JOIN pg_class ON pg_class.oid = indexrelid
WHERE {OURS} AND relname NOT LIKE '%%\\_like'
  AND NOT EXISTS (SELECT FROM pg_constraint WHERE conindid = indexrelid AND contype IN ('p', 'u', 'x'))
  AND (relname !~ '_[0-9a-f]{{8}}$' OR NOT EXISTS (
    SELECT FROM pg_index AS other
    WHERE other.indrelid = dropped.indrelid AND other.indexrelid <> dropped.indexrelid
      AND other.indkey[0] = dropped.indkey[0] AND other.indpred IS NULL
  ))
"""
TRIGGERS = f"""
SELECT format('DROP TRIGGER %%I ON %%s', tgname, tgrelid::regclass)
FROM pg_trigger JOIN pg_class ON pg_class.oid = tgrelid WHERE {OURS} AND NOT tgisinternal
"""
SCHEMA = {
    "checks": (CONSTRAINTS, ["c"], "declared"),
    "unique constraints": (CONSTRAINTS, ["u"], "declared"),
    "primary keys": (CONSTRAINTS, ["p"], "declared"),
    "foreign keys": (CONSTRAINTS, ["f"], "foreign-keys-enforced"),
    "not null": (NOT_NULLS, [], "declared"),
    "indexes": (INDEXES, [], "declared"),
    "triggers": (TRIGGERS, [], "triggers"),
}


@pytest.fixture(scope="module")
def archive(module_db: Any) -> None:
    with module_db.unblock():
        build_archive(storing())


def faults(*names: str) -> int:
    return sum(finding.found.faults for finding in examine(names, sample=None))


@pytest.mark.slow
@pytest.mark.parametrize("what", SCHEMA)
def test_whatever_a_schema_loses_is_missed(what: str) -> None:
    statement, kinds, check = SCHEMA[what]
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        cursor.execute(statement, {"kinds": kinds})
        drops = [drop for (drop,) in cursor.fetchall()]
        assert drops
        cursor.execute("; ".join(drops))
        found = faults(check)
        transaction.set_rollback(True)
    assert found == len(drops)


# Which check notices that a value of a column is another one, or that a row is gone. In tables that runs and decisions
# write, the other columns are listed below.
NOTICED = {
    "dedup_pair": {
        "clusters": "*",
        "foreign-keys": "right_id",
        "pair-states": "state implied",
        "scores": "best_score",
        "pair-facts": "days_apart same_newspaper",
        "judged": "verdict probability duplicate_probability reasons joins left_matched right_matched",
    },
    "dedup_evidence": {"scores": "* score stale pair_id", "evidence-marked": "pass_name run_id"},
    "dedup_cluster": {"questions": "*", "clusters": "state size lowest_score first_day last_day kept_id"},
    "dedup_membership": {"clusters": "* article_id cluster_id"},
    "dedup_articleshingles": {"indexed": "* article_id revision", "index-contents": "newspaper_id date shingles"},
    "dedup_headlineform": {"indexed": "* article_id revision date newspaper_id"},
    "dedup_openquestion": {
        "questions": "* number article size asked certain conflict change doubt cluster_id pair_id",
    },
    "dedup_questioncount": {"question-counts": "* tab number"},
    "dedup_confirmedarticle": {"implications": "* article_id first"},
    "dedup_link": {"decisions-linked": "* kind right_id", "pair-states": "decision_id"},
    "dedup_runblock": {"evidence-marked": "* run_id pass_name"},
    "articles_articleurl": {"own-urls": "* article_id", "urls": "url key normalized_url"},
}
UNNOTICED = {
    "its number, to which nothing refers": "id",
    "when it was found or seen, which nothing else says": "found_at seen_at seconds",
    "what an editor reads, and no check derives again": "details form characters candidates verified",
    "what it cannot be, because a constraint refuses it": "left_id",
    "a digest: another one makes the next run judge the pair again": "input_digest",
    "what only a crawl or an import knew": "kind",
    "the bounds of a block, which later runs choose again": "first_day last_day pairs",
}
# By the type of the column.
OTHER = {
    "int4": "{} + 1000007",
    "int8": "{} + 1000007",
    "text": "{} || 'x'",
    "varchar": "'x' || substr({}, 2)",
    "bool": "NOT {}",
    "float8": "{} / 2 + 0.01",
    "date": "{} + 9",
    "uuid": "gen_random_uuid()",
    "bytea": "{} || '\\x00000000'::bytea",
    "jsonb": "'[1]'::jsonb",
}
COLUMNS = """
SELECT attname, typname FROM pg_attribute JOIN pg_type ON pg_type.oid = atttypid
WHERE attrelid = %s::regclass AND attnum > 0 AND NOT attisdropped
"""


def with_damage(statement: str, *checks: str) -> int:
    """Return how many faults these checks find after a statement, which may break what the database guards."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE; SET LOCAL session_replication_role = replica")
        cursor.execute(statement)
        assert cursor.rowcount, statement
        found = faults(*checks)
        transaction.set_rollback(True)
    return found


@pytest.mark.slow
@pytest.mark.usefixtures("archive")
@pytest.mark.parametrize("table", NOTICED)
def test_another_value_and_a_row_that_is_gone_are_noticed(table: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(COLUMNS, [table])
        types = dict(cursor.fetchall())
    noticed = {name: check for check, names in NOTICED[table].items() for name in names.split()}
    unnoticed = {name for names in UNNOTICED.values() for name in names.split()}
    assert types.keys() <= noticed.keys() | unnoticed
    one = f"ctid = (SELECT ctid FROM {table} ORDER BY 1 DESC LIMIT 1)"
    missed = []
    for name, check in noticed.items():
        changed = (
            f"UPDATE {table} SET {name} = {OTHER[types[name]].format(name)}" if name != "*" else f"DELETE FROM {table}"
        )
        where = one if name == "*" else one.replace(" ORDER", f" WHERE {name} IS NOT NULL ORDER")
        if not with_damage(f"{changed} WHERE {where}", check):
            missed.append((check, name))
    assert missed == []


# What other tables refer to, as far as the archive has rows of it.
REFERRED_TO = """
SELECT DISTINCT confrelid::regclass::text FROM pg_constraint
WHERE contype = 'f' AND connamespace = current_schema()::regnamespace ORDER BY 1
"""


@pytest.mark.slow
@pytest.mark.usefixtures("archive")
def test_every_check_is_made_whatever_is_missing_and_the_others_look_if_one_cannot() -> None:
    with connection.cursor() as cursor:
        cursor.execute(REFERRED_TO)
        tables = [table for (table,) in cursor.fetchall()]
    silent = []
    for table in tables:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SET CONSTRAINTS ALL IMMEDIATE; SET LOCAL session_replication_role = replica")
            cursor.execute(f"DELETE FROM {table}")
            if cursor.rowcount:
                findings = examine()
                assert [finding.invariant for finding in findings] == list(INVARIANTS)
                if not any(finding.found.faults for finding in findings):
                    silent.append(table)
            transaction.set_rollback(True)
    assert silent == []


@pytest.mark.usefixtures("archive")
@pytest.mark.parametrize("removed", ["article", "newspaper"])
def test_an_installation_is_healthy_after_what_the_documents_allow_to_remove(removed: str) -> None:
    newspaper = "Inland Courier"
    name = newspaper if removed == "newspaper" else str(Pair.objects.filter(best_score__gt=0).order_by("pk")[0].left_id)
    evidence = Evidence.objects.count()
    options = {"confirm": name, "reason": "Erasure", "stdout": io.StringIO()}
    call_command(f"remove_{removed}", name, **options)
    assert Evidence.objects.count() < evidence
    assert {finding.invariant.name for finding in examine(sample=None) if not finding.is_healthy} == set()
