"""The doctor finds what breaks a promise, each time exactly that, and nothing in a healthy archive."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from newsdedup_site.doctor import INVARIANTS, examine
from tests.conftest import StoreArticle
from tests.factories import make_cluster, make_user

pytestmark = pytest.mark.django_db


def doctor(*arguments: str) -> tuple[int, str]:
    """Return the exit code of the command and what it prints."""
    output = io.StringIO()
    try:
        call_command("doctor", *arguments, stdout=output)
    except SystemExit as end:
        return int(end.code or 0), output.getvalue()
    return 0, output.getvalue()


def found() -> dict[str, int]:
    """Return the number of faults of each promise that is broken."""
    return {check.invariant.name: check.found.faults for check in examine() if not check.is_healthy}


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
    assert found() == {}
