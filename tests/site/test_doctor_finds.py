"""Each promise of the doctor is broken by SQL: it finds that one, and whatever else can be damaged, or says why not."""

import io
import json
import random
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection, transaction

from articles.models import Newspaper
from articles.storage.newspaper_merges import merge_newspapers
from dedup.models import Cluster, Decision, Evidence, Pair
from dedup.review.answers.decisions import confirm_cluster, decide_pair, keep_article, members_of, seen_as, undo
from newsdedup_site.doctor.examining import INVARIANTS, examine
from tests.conftest import StoreArticle, storing
from tests.factories import make_cluster, make_user

pytestmark = pytest.mark.django_db

# What breaks a promise, and what else is then no longer true.
BREAKS: dict[str, tuple[str, set[str]]] = {
    "tables": ("DELETE FROM django_migrations WHERE name = '0002_standing_links'", set()),
    "indexes": ("UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'pair_joins'::regclass", set()),
    "constraints": (
        "ALTER TABLE dedup_pair ADD CONSTRAINT not_checked CHECK (left_id > 0) NOT VALID", set()
    ),
    "declared": ("DROP INDEX pair_doubt", set()),
    "triggers": ("ALTER TABLE dedup_link DISABLE TRIGGER USER", set()),
    "sequences": (("INSERT INTO dedup_pagefetch (id, user_id, url, fetched_at) SELECT 999999, min(id), '', now() "
        "FROM auth_user"), set()),
    "foreign-keys": (("UPDATE dedup_lease SET pair_id = NULL; INSERT INTO dedup_postponement (user_id, pair_id, "
        "postponed_at) SELECT id, 999999, now() FROM auth_user LIMIT 1"), set()),
    "foreign-keys-enforced": ("ALTER TABLE dedup_evidence DROP CONSTRAINT {evidence_key}", set()),
    "numbers": (("UPDATE dedup_decision SET articles = articles || 999999::bigint WHERE id = (SELECT min(id) FROM "
        "dedup_decision)"), set()),
    "permissions": ("DELETE FROM django_content_type WHERE model = 'series'", {"foreign-keys"}),
    "forms": ("UPDATE articles_article SET normalized_text = 'other' WHERE id = (SELECT max(id) FROM articles_article)",
        {"index-contents"}),
    "urls": (("UPDATE articles_articleurl SET normalized_url = 'other' WHERE id = (SELECT max(id) FROM "
        "articles_articleurl)"), set()),
    "texts": ("UPDATE articles_article SET characters = 1 WHERE id = (SELECT max(id) FROM articles_article)", set()),
    "pages": (("INSERT INTO articles_articlepage (article_id, url, content_type, body, published_time, in_sitemap, "
        "feed_entry, fetched_at) SELECT max(id), '', '', '\\x1f8b', '', false, '', now() FROM "
        "articles_article"), set()),
    "revisions": ("UPDATE articles_article SET revision = (SELECT min(revision) FROM articles_article)", {"indexed"}),
    "merged": (("UPDATE articles_article SET newspaper_id = (SELECT id FROM articles_newspaper WHERE merged_into_id IS "
        "NOT NULL) WHERE id = (SELECT max(id) FROM articles_article)"),
        {"indexed", "index-contents", "judged", "pair-facts"}),
    "collections": (("WITH two AS (INSERT INTO articles_collection (kind, name) VALUES ('owner', 'A'), ('owner', 'B') "
        "RETURNING id) INSERT INTO articles_collection_newspapers (collection_id, newspaper_id) "
        "SELECT two.id, min(paper.id) FROM two, articles_newspaper AS paper GROUP BY two.id"), set()),
    "merges": ("UPDATE articles_newspaper SET merged_into_id = NULL", set()),
    "later-versions": (("INSERT INTO articles_articlerevision (article_id, number, kind, seen_at, headline, content, "
        "note, url, content_type, body, extractor_version) SELECT max(id), 2, 'gone', now(), '', '', '', '', '', '', 0 "
        "FROM articles_article"), set()),
    "repeated-sentences": (("INSERT INTO articles_repeatedsentence (newspaper_id, week, digest, sentence, kind, "
        "articles, article_ids) SELECT min(id), '2026-03-02', gen_random_uuid(), 'Again.', 'boilerplate', 3, '{{}}' "
        "FROM articles_newspaper"), set()),
    "own-urls": ("DELETE FROM articles_articleurl WHERE id = (SELECT max(id) FROM articles_articleurl)", set()),
    "indexed": ("DELETE FROM dedup_articleshingles", set()),
    "index-contents": ("UPDATE dedup_articleshingles SET date = date + 1", set()),
    "judged": ("UPDATE dedup_pair SET duplicate_probability = duplicate_probability / 2", set()),
    "scores": ("UPDATE dedup_pair SET best_score = best_score / 2 WHERE id = (SELECT min(id) FROM dedup_pair)", set()),
    "pair-facts": ("UPDATE dedup_pair SET days_apart = 9 WHERE id = (SELECT min(id) FROM dedup_pair)", set()),
    "verdicts": ("UPDATE dedup_pair SET left_matched = 2 WHERE id = (SELECT min(id) FROM dedup_pair)",
        {"judged", "shared-words"}),
    "shared-words": ("UPDATE dedup_pair SET right_matched = 0.123 WHERE id = (SELECT max(id) FROM dedup_pair)",
        {"judged"}),
    "evidence-marked": ("DELETE FROM dedup_runblock WHERE pass_name = 'trigram'", set()),
    "marks-with-evidence": ("UPDATE dedup_runblock SET pairs = pairs + 1 WHERE pass_name = 'trigram'", set()),
    "runs-ended": ("UPDATE dedup_detectionrun SET finished_at = NULL", set()),
    "pair-states": ("UPDATE dedup_pair SET state = 'unsure' WHERE state = 'rejected'", set()),
    "implications": ("DELETE FROM dedup_confirmedarticle", set()),
    "decisions-linked": ("DELETE FROM dedup_link WHERE decision_id = {rejection}", {"pair-states", "clusters"}),
    "links-decided": (("INSERT INTO dedup_link (decision_id, left_id, right_id, kind) SELECT {undo}, left_id, "
        "right_id, 'unsure' FROM dedup_link WHERE decision_id = {rejection}"), {"clusters", "pair-states"}),
    "undone": ("UPDATE dedup_decision SET kind = 'rule_group' WHERE id = {undone}", set()),
    "batches": (("INSERT INTO dedup_batch (kind, query, seed, size, drawn, made_by_id, made_at, after, left_out) "
        "SELECT 'confirm', '', 1, 2, 1, min(id), now(), 0, '{{}}' FROM auth_user"), set()),
    "cluster-sizes": ("UPDATE dedup_cluster SET size = size + 1 WHERE id = (SELECT min(id) FROM dedup_cluster)",
        {"clusters"}),
    "clusters": ("UPDATE dedup_cluster SET lowest_score = 0.123", {"questions"}),
    "questions": ("UPDATE dedup_openquestion SET doubt = 0.123", set()),
    "question-counts": ("UPDATE dedup_questioncount SET number = number + 1 WHERE tab = 'clusters'", set()),
}  # fmt: skip
# They need another server, or another database.
NOT_BROKEN_HERE = {"server"}


def sentences(count: int, seed: int) -> list[str]:
    dice = random.Random(seed)
    letters = "abdeghiklmnoprstuw"
    return [
        " ".join("".join(dice.choices(letters, k=dice.randint(3, 9))) for _ in range(12)).capitalize() + "."
        for _ in range(count)
    ]


@pytest.fixture
def archive(store: StoreArticle) -> dict[str, int]:
    return build_archive(store)


def build_archive(store: StoreArticle) -> dict[str, int]:
    """Return the numbers of some decisions in an archive after a run, decisions, an undo and a merge."""
    editor = make_user("anna", "editor")
    for story in range(4):
        text = sentences(12, story)
        for copy, paper in enumerate(("Harbour Post", "Inland Courier", "Island Times")):
            store(
                " ".join([*text[: 12 - copy], *sentences(copy, 90 + 10 * story + copy)]),
                newspaper=paper,
                headline=f"{text[0]} as {paper} has it",
            )
    call_command("find_duplicates", "--no-progress", "--workers", "1", stdout=io.StringIO())
    merged, into = (Newspaper.objects.get(name=name) for name in ("Island Times", "Inland Courier"))
    merge_newspapers(merged, into, user=editor)
    call_command("find_duplicates", "--no-progress", "--workers", "1", stdout=io.StringIO())
    clusters = list(Cluster.objects.order_by("pk"))
    confirm_cluster(clusters[0].pk, seen_as(members_of(clusters[0].pk)), user=editor)
    keep_article(clusters[0].pk, members_of(clusters[0].pk)[-1], user=editor, kind=Decision.Kind.KEEP_TEXT)
    first, second = Pair.objects.filter(left__in=members_of(clusters[1].pk)).order_by("pk")[:2]
    rejection = decide_pair(first.pk, "reject", user=editor)
    undone = decide_pair(second.pk, "version", user=editor)
    return {"rejection": rejection.pk, "undone": undone.pk, "undo": undo(undone.pk, user=editor).pk}


def found() -> set[str]:
    return {check.invariant.name for check in examine() if not check.is_healthy}


@pytest.mark.slow
def test_a_healthy_archive_has_no_finding_and_each_break_exactly_its_own(archive: dict[str, int]) -> None:
    looked = examine(sample=None)
    assert {check.invariant.name: check.found for check in looked if check.found.faults or check.found.waiting} == {}
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT conname FROM pg_constraint WHERE conrelid = 'dedup_evidence'::regclass AND contype = 'f' "
            "ORDER BY conname LIMIT 1"
        )
        evidence_key = f'"{cursor.fetchone()[0]}"'
    wrong = {}
    for name, (statement, also) in BREAKS.items():
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SET CONSTRAINTS ALL IMMEDIATE; SET LOCAL session_replication_role = replica")
            cursor.execute(statement.format(**archive, evidence_key=evidence_key))
            if (broken := found()) != {name, *also}:
                wrong[name] = broken
            transaction.set_rollback(True)
    assert wrong == {}


def test_every_promise_is_broken_once() -> None:
    assert {invariant.name for invariant in INVARIANTS} == BREAKS.keys() | NOT_BROKEN_HERE


def doctor(*arguments: str) -> tuple[int, str]:
    """Return the exit code of the command and what it prints."""
    output = io.StringIO()
    try:
        call_command("doctor", *arguments, stdout=output)
    except SystemExit as end:
        return int(end.code or 0), output.getvalue()
    return 0, output.getvalue()


def test_a_database_with_nothing_but_roles_and_users_is_healthy() -> None:
    make_user("anna", "editor")
    code, printed = doctor()
    assert code == 0
    assert printed.endswith(f"\nAll {len(INVARIANTS)} checks passed.\n")


def test_a_state_that_no_decision_gives_is_found_named_and_repaired_by_nobody(store: StoreArticle) -> None:
    make_cluster(store(), store())
    with connection.cursor() as cursor:
        cursor.execute("UPDATE dedup_pair SET state = 'confirmed' RETURNING id")
        [(pair,)] = cursor.fetchall()
    code, printed = doctor("pair-states")
    assert code == 1
    assert f"         pair {pair} is confirmed, and by the decisions in force undecided\n" in printed
    assert printed.endswith("1 of 1 checks found something.\n")


def test_programs_read_the_result_as_json(store: StoreArticle) -> None:
    make_cluster(store(), store())
    code, printed = doctor("scores", "forms", "--format", "json")
    result: dict[str, Any] = json.loads(printed)
    assert (code, result["healthy"]) == (0, True)
    assert [check["name"] for check in result["checks"]] == ["forms", "scores"]


def test_an_unknown_check_is_an_error_of_usage_that_names_all() -> None:
    with pytest.raises(CommandError, match="There is no check named hearts; there are tables, server, ") as raised:
        doctor("hearts")
    assert raised.value.returncode == 2


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
def kept_archive(module_db: Any) -> None:
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
        "judged": "verdict probability duplicate_probability reasons joins left_matched right_matched relation "
        "relation_probability left_own right_own new_text quoted",
    },
    "dedup_evidence": {"scores": "* score stale pair_id", "evidence-marked": "pass_name run_id"},
    "dedup_cluster": {"questions": "*", "clusters": "state size lowest_score first_day last_day kept_id kept_text_id"},
    "dedup_membership": {"clusters": "* article_id cluster_id"},
    "dedup_articleshingles": {"indexed": "* article_id revision", "index-contents": "newspaper_id date shingles"},
    "dedup_headlineform": {"indexed": "* article_id revision date newspaper_id"},
    "dedup_openquestion": {"questions": "* number article size asked certain conflict change doubt cluster_id pair_id"},
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


@pytest.mark.slow
@pytest.mark.usefixtures("kept_archive")
@pytest.mark.parametrize("table", NOTICED)
def test_another_value_and_a_row_that_is_gone_are_noticed(table: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(COLUMNS, [table])
        types = dict(cursor.fetchall())
    noticed = {name: check for check, names in NOTICED[table].items() for name in names.split()}
    assert types.keys() <= noticed.keys() | {name for names in UNNOTICED.values() for name in names.split()}
    one = f"ctid = (SELECT ctid FROM {table} ORDER BY 1 DESC LIMIT 1)"
    missed = []
    for name, check in noticed.items():
        changed, where = f"DELETE FROM {table}", one
        if name != "*":
            changed = f"UPDATE {table} SET {name} = {OTHER[types[name]].format(name)}"
            where = one.replace(" ORDER", f" WHERE {name} IS NOT NULL ORDER")
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SET CONSTRAINTS ALL IMMEDIATE; SET LOCAL session_replication_role = replica")
            cursor.execute(f"{changed} WHERE {where}")
            assert cursor.rowcount, (changed, where)
            if not faults(check):
                missed.append((check, name))
            transaction.set_rollback(True)
    assert missed == []


# What other tables refer to, as far as the archive has rows of it.
REFERRED_TO = """
SELECT DISTINCT confrelid::regclass::text FROM pg_constraint
WHERE contype = 'f' AND connamespace = current_schema()::regnamespace ORDER BY 1
"""


@pytest.mark.slow
@pytest.mark.usefixtures("kept_archive")
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


@pytest.mark.usefixtures("kept_archive")
@pytest.mark.parametrize("removed", ["article", "newspaper"])
def test_an_installation_is_healthy_after_what_the_documents_allow_to_remove(removed: str) -> None:
    in_a_pair = Pair.objects.filter(best_score__gt=0).order_by("pk")[0].left_id
    name = "Inland Courier" if removed == "newspaper" else str(in_a_pair)
    evidence = Evidence.objects.count()
    call_command(f"remove_{removed}", name, confirm=name, reason="Erasure", stdout=io.StringIO())
    assert Evidence.objects.count() < evidence
    assert {finding.invariant.name for finding in examine(sample=None) if not finding.is_healthy} == set()
