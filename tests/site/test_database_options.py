"""The options of every connection, and that the processes of a run have them too."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.db import connection

from newsdedup_site.environment import application_name, with_options
from tests.databases import child_environment

ASKED = ["client_connection_check_interval", "application_name"]


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        (["manage.py", "find_duplicates", "--new"], "newsdedup find_duplicates"),
        (["/srv/news/manage.py", "runserver"], "newsdedup pages"),
        (["/srv/news/.venv/bin/gunicorn", "newsdedup_site.wsgi"], "newsdedup pages"),
        (["/lib/gunicorn/__main__.py"], "newsdedup pages"),
        (["/lib/django/__main__.py", "db_worker"], "newsdedup db_worker"),
        (["manage.py"], "newsdedup manage.py"),
        (["/usr/bin/scrapy", "list"], "newsdedup scrapy"),
        (["-c"], "newsdedup -c"),
        ([], "newsdedup"),
        (["manage.py", "x" * 80], "newsdedup " + "x" * 53),
    ],
)
def test_a_process_is_named_by_its_command(arguments: list[str], name: str) -> None:
    assert application_name(arguments) == name


def test_options_of_the_url_outweigh_ours() -> None:
    own = {"application_name": "desk", "connect_timeout": 30, "options": "-c search_path=news", "sslmode": "require"}
    entry = with_options({"NAME": "news", "OPTIONS": own}, ["manage.py", "crawl"])
    assert entry["NAME"] == "news"
    assert entry["OPTIONS"] == own | {
        "keepalives_idle": 10,
        "keepalives_interval": 5,
        "keepalives_count": 3,
        "tcp_user_timeout": 25_000,
        "options": "-c client_connection_check_interval=1s -c tcp_keepalives_idle=10 -c tcp_keepalives_interval=5 "
        "-c tcp_keepalives_count=3 -c search_path=news",
    }
    assert with_options({}, ["manage.py", "crawl"])["OPTIONS"]["application_name"] == "newsdedup crawl"


@pytest.mark.django_db
def test_every_connection_has_them() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SHOW client_connection_check_interval")
        assert cursor.fetchone() == ("1s",)


PROCESSES = """
import sys
sys.argv = ["manage.py", "find_duplicates"]
import django
django.setup()
from django.db import connection
from articles.storage.workers import database_pool
from tests.site.test_database_options import shown

if __name__ == "__main__":
    with database_pool(2) as pool:
        print(*(settings for _, settings in pool.results([0, 1], shown)))
"""


def shown(_task: int, _on_read: object) -> str:
    """Return the settings of this process's connection."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT current_setting('client_connection_check_interval'), current_setting('application_name')"
        )
        return "/".join(cursor.fetchone())


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_worker_processes_have_them_too(tmp_path) -> None:
    program = tmp_path / "run.py"
    program.write_text(PROCESSES)
    environment = os.environ | child_environment() | {"DJANGO_SETTINGS_MODULE": "newsdedup_site.settings"}
    environment["PYTHONPATH"] = str(Path.cwd())
    done = subprocess.run([sys.executable, program], env=environment, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("1s/newsdedup find_duplicates 1s/newsdedup find_duplicates\n", "")
