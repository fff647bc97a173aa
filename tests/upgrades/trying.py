"""Upgrading one state and using it, in `manage.py shell`; what is wrong afterwards, in sentences.

`main` prints one JSON object: `faults`, a list of sentences, and `pairs`, what a run finds.
"""

from __future__ import annotations

import datetime
import json
import os
import sys
import tempfile
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

from django.contrib.auth.models import Group, User
from django.db import connection
from django.test import Client

from articles.models import Article
from articles.storage.incoming import IncomingArticle
from dedup.models import Cluster, DetectionRun, Evidence, Pair, Profile
from newsdedup_site.doctor.examining import examine
from tests.commands import called
from tests.factories import store_article
from tests.upgrades.fill import FERRY, write_articles
from tests.upgrades.states import Rows, all_rows, differences

PAGES = (
    "/",
    "/queue/",
    "/clusters/",
    "/articles/",
    "/runs/",
    "/history/",
    "/reports/",
    "/crawls/",
    "/people/",
)
# The settings of the default profile after the first migrate.
NEW_SETTINGS = {"containment": {"enabled": True}}
# What people decided, and what follows from it: no run may change it.
DECIDED = "SELECT id, state FROM dedup_pair WHERE state <> 'undecided' ORDER BY id"


def try_state() -> dict[str, Any]:
    """Upgrade the database of DATABASE_URL, and use it."""
    url = os.environ["DATABASE_URL"]
    before = all_rows(url)
    called("migrate", verbosity=0)
    after = all_rows(url)
    faults = differences(before, after)
    decided = _decided()
    called("check", databases=["default"])
    called("renormalize", no_progress=True)
    called("find_duplicates", no_progress=True)
    faults += _lost_decisions(after, all_rows(url))
    if not decided.items() <= (now := _decided()).items():
        faults.append(f"Decided pairs were {decided} and are {now}")
    return {"faults": faults + _doctor() + _pages(), "pairs": _pairs()}


def import_afresh(*, in_test: bool = False) -> dict[str, Any]:
    """Import the articles of the states into an empty database, as each of them did."""
    if not in_test:
        called("migrate", verbosity=0)
    with tempfile.TemporaryDirectory() as folder:
        write_articles(Path(folder, "articles.jsonl"))
        called("import_articles", str(Path(folder, "articles.jsonl")), no_progress=True)
    store_article(
        IncomingArticle(datetime.date(2026, 3, 5), "The ferry", FERRY, "The ferry left late again.", "Selby Herald")
    )
    called("find_duplicates", no_progress=True)
    faults = [] if Profile.objects.get(is_default=True).settings == NEW_SETTINGS else ["NEW_SETTINGS are out of date"]
    return {"faults": faults + _doctor() + _pages(), "pairs": _pairs()}


def _decided() -> dict[int, str]:
    with connection.cursor() as cursor:
        cursor.execute(DECIDED)
        return dict(cursor.fetchall())


def _lost_decisions(before: Rows, after: Rows) -> list[str]:
    tables = ("dedup_decision", "dedup_link", "auth_user", "articles_articlepage")
    return differences({table: before.get(table, {}) for table in tables}, after)


def _doctor() -> list[str]:
    return [f"doctor: {finding}" for finding in examine(sample=None) if finding.found.faults]


def _pages() -> list[str]:
    admin = User.objects.create(username="who-looks", password="!")
    admin.groups.add(Group.objects.get(name="admin"))
    client = Client(raise_request_exception=False, SERVER_NAME="localhost")
    client.force_login(admin, backend="newsdedup_site.access.backend.RightsBackend")
    first = [
        f"/{name}/{model.objects.earliest('pk').pk}/"
        for name, model in (("pairs", Pair), ("clusters", Cluster), ("articles", Article))
    ]
    answers = {path: client.get(path, follow=True).status_code for path in (*PAGES, *first)}
    return [f"{path} answers {status}" for path, status in answers.items() if status != 200]


def _pairs() -> list[list[Any]]:
    """Return what a run with the settings of a new installation finds, by what names articles to people."""
    Profile.objects.create(name="as in a new installation", settings=NEW_SETTINGS)
    called("find_duplicates", no_progress=True, profile="as in a new installation")
    run = DetectionRun.objects.latest("pk")
    ends = [f"pair__{end}__{field}" for end in ("left", "right") for field in ("newspaper__name", "date", "headline")]
    rows = Evidence.objects.filter(run=run).values_list(*ends, "pass_name", "score")
    return sorted([*sorted([_name(row[:3]), _name(row[3:6])]), row[6], round(row[7], 6)] for row in rows)


def _name(row: tuple[Any, ...]) -> str:
    return " | ".join(map(str, row))


def main(name: str) -> None:
    """Try a state, or an import into an empty database if that is called fresh, and print the result."""
    # Migrations and commands print what they have done.
    with redirect_stdout(sys.stderr):
        result = import_afresh() if name == "fresh" else try_state()
    json.dump(result, sys.stdout, ensure_ascii=False, default=str)
