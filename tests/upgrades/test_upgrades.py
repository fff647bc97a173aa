"""Earlier states, each made by its own code, are upgraded and used; `python -m tests.upgrades` tries all of them."""

import gzip
import os
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from django.db import connection

from tests.databases import database_url, own_database, pg_dump
from tests.upgrades import trying
from tests.upgrades.make_states import make_state
from tests.upgrades.states import FOLDER, STATES, State, differences, restore, use

# The first release has the longest way; `python -m tests.upgrades` tries all.
TRIED = [STATES[0], pytest.param(STATES[-1], marks=pytest.mark.soak)]


@cache
def afresh() -> dict[str, Any]:
    """Return what an import into an empty database gives: once for all states, before anything else is stored."""
    return trying.import_afresh(in_test=True)


@pytest.mark.slow
@pytest.mark.parametrize("state", TRIED, ids=lambda state: state.name)
@pytest.mark.django_db
def test_a_state_is_upgraded_and_loses_nothing(state) -> None:
    assert afresh()["faults"] == []
    with own_database(f"{connection.settings_dict['NAME']}_{state.name}") as url:
        restore(state, url)
        tried = use(url, state.name)
    assert tried["faults"] == []
    assert len(tried["pairs"]) > 8
    assert tried["pairs"] == afresh()["pairs"]


@pytest.mark.soak
@pytest.mark.django_db
def test_the_state_of_the_next_release_can_be_made_and_upgraded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", os.pathsep.join((str(pg_dump().parent), os.environ["PATH"])))
    monkeypatch.setattr(State, "path", tmp_path / "next.sql.gz")
    make_state(tmp_path / "next.sql.gz", database_url())
    with own_database(f"{connection.settings_dict['NAME']}_next") as url:
        restore(STATES[-1], url)
        assert use(url, "next")["faults"] == []


def test_every_difference_is_named() -> None:
    before = {"pair": {"1": {"id": 1, "state": "confirmed"}, "2": {"id": 2, "state": "rejected"}}, "old": {}}
    assert differences(before, {"pair": {"1": {"id": 1, "state": "undecided", "new": True}}, "more": {}}) == [
        "pair 1: state was 'confirmed' and is 'undecided'",
        "pair 2 is gone: {'id': 2, 'state': 'rejected'}",
        "old is gone",
    ]
    assert differences(before, before | {"more": {}}) == []


def test_the_dumps_are_small_and_full() -> None:
    sizes = {state.name: state.path.stat().st_size for state in STATES}
    assert sorted(FOLDER.iterdir()) == [state.path for state in STATES]
    assert max(sizes.values()) < 60_000
    assert sum(sizes.values()) < 500_000
    for state in STATES:
        dump = gzip.decompress(state.path.read_bytes()).decode()
        for table in ("articles_article", "dedup_decision", "dedup_evidence", "dedup_cluster", "auth_user"):
            rows = dump.partition(f"COPY public.{table} (")[2].partition("\n")[2].partition("\n\\.\n")[0]
            assert len(rows.splitlines()) >= 2, (state.name, table)
