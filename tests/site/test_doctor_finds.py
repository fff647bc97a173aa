"""The doctor finds each promise that SQL breaks, exactly that, and nothing in a healthy archive."""

from __future__ import annotations

import io
import json
import random
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection, transaction

from articles.models import Newspaper
from articles.storage.newspaper_merges import merge_newspapers
from dedup.models import Cluster, Pair
from dedup.review.answers.decisions import confirm_cluster, decide_pair, members_of, undo
from newsdedup_site.doctor.examining import INVARIANTS, examine
from tests.conftest import StoreArticle
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
    confirm_cluster(clusters[0].pk, members_of(clusters[0].pk), user=editor)
    first, second = Pair.objects.filter(left__in=members_of(clusters[1].pk)).order_by("pk")[:2]
    rejection = decide_pair(first.pk, "reject", user=editor)
    undone = decide_pair(second.pk, "version", user=editor)
    undo_ = undo(undone.pk, user=editor)
    return {"rejection": rejection.pk, "undone": undone.pk, "undo": undo_.pk}


def found() -> set[str]:
    return {check.invariant.name for check in examine() if not check.is_healthy}


@pytest.mark.slow
def test_a_healthy_archive_has_no_finding_and_each_break_exactly_its_own(archive: dict[str, int]) -> None:
    looked = examine(sample=None)
    assert {check.invariant.name: check.found for check in looked if check.found.faults or check.found.waiting} == {}
    wrong = {}
    for name, (statement, also) in BREAKS.items():
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SET CONSTRAINTS ALL IMMEDIATE; SET LOCAL session_replication_role = replica")
            cursor.execute(statement.format(**archive, evidence_key=_key_of_evidence()))
            if (broken := found()) != {name, *also}:
                wrong[name] = broken
            transaction.set_rollback(True)
    assert wrong == {}


def _key_of_evidence() -> str:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT conname FROM pg_constraint WHERE conrelid = 'dedup_evidence'::regclass AND contype = 'f' "
            "ORDER BY conname LIMIT 1"
        )
        return f'"{cursor.fetchone()[0]}"'


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


def test_an_empty_database_is_healthy() -> None:
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


def test_roles_and_users_are_no_fault() -> None:
    make_user("anna", "editor")
    assert found() == set()
