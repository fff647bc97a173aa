"""Values of the environment, the sentence for what cannot be one, and the options of every connection."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.db import connection

from newsdedup_site import environment
from newsdedup_site.environment import application_name, with_options
from tests.databases import child_environment

UNREADABLE = "the port must be a number from 1 to 65535"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("true", True),
        (" Yes ", True),
        ("ON", True),
        ("1", True),
        ("", True),
        ("false", False),
        ("No", False),
        ("off", False),
        ("0", False),
    ],
)
def test_a_boolean_has_few_spellings_and_empty_means_the_default(monkeypatch, value: str, expected: bool) -> None:
    monkeypatch.setenv("SERVE_COLLECTED_STATIC", value)
    assert environment.boolean("SERVE_COLLECTED_STATIC", default=True) is expected


@pytest.mark.parametrize("value", ["ture", "2", "y", "none"])
def test_another_boolean_is_refused(monkeypatch, value: str) -> None:
    monkeypatch.setenv("BEHIND_TLS_PROXY", value)
    with pytest.raises(ImproperlyConfigured) as refused:
        environment.boolean("BEHIND_TLS_PROXY", default=False)
    assert str(refused.value) == (
        f"BEHIND_TLS_PROXY={value} is neither true nor false. Set one of true, yes, on, 1, false, no, off, 0."
    )


def test_a_list_has_no_blanks_and_no_empty_entries(monkeypatch) -> None:
    monkeypatch.setenv("ALLOWED_HOSTS", " desk.example , ,127.0.0.1,")
    assert environment.words("ALLOWED_HOSTS", default=[]) == ["desk.example", "127.0.0.1"]
    monkeypatch.setenv("ALLOWED_HOSTS", " ")
    assert environment.words("ALLOWED_HOSTS", default=["localhost"]) == ["localhost"]


@pytest.mark.parametrize("value", ["Europe/Atlantis", "/etc/localtime", "../UTC", "Europe"])
def test_an_unknown_time_zone_is_refused(monkeypatch, value: str) -> None:
    monkeypatch.setenv("TIME_ZONE", value)
    with pytest.raises(ImproperlyConfigured) as refused:
        environment.time_zone("TIME_ZONE", "UTC")
    assert str(refused.value).startswith(f"TIME_ZONE={value} is ")
    assert "Europe/London" in str(refused.value)


def test_a_level_of_logging_may_be_written_small(monkeypatch) -> None:
    monkeypatch.setenv("LOG_LEVEL", "info")
    assert environment.log_level("LOG_LEVEL", "WARNING") == "INFO"
    monkeypatch.setenv("LOG_LEVEL", "loud")
    with pytest.raises(ImproperlyConfigured, match=r"LOG_LEVEL=loud .* DEBUG, INFO"):
        environment.log_level("LOG_LEVEL", "WARNING")


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("postgres://anna:s%40fe@db:5432/news", ("db", 5432, "s@fe", None)),
        ("postgresql://anna@db/news", ("db", "", "", None)),
        ("postgres://anna@/news?host=%2Frun%2Fpg&port=5433", ("", "", "", {"host": "/run/pg", "port": 5433})),
    ],
)
def test_a_database_url_is_read(monkeypatch, url: str, expected: tuple[object, ...]) -> None:
    monkeypatch.setenv("DATABASE_URL", url)
    entry = environment.database("DATABASE_URL")
    assert (entry["ENGINE"], entry["NAME"]) == ("django.db.backends.postgresql", "news")
    assert (entry["HOST"], entry["PORT"], entry["PASSWORD"], entry.get("OPTIONS")) == expected


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("s3cret", "DATABASE_URL must begin with postgres://"),
        ("anna:s3cret@db/news", "DATABASE_URL must begin with postgres://"),
        ("mysql://anna:s3cret@db/news", "with pg_trgm. It begins with mysql://."),
        ("postgres://anna:s3cret@db:54a2/news", UNREADABLE),
        ("postgres://anna:s3cret@db:70000/news", UNREADABLE),
        ("postgres://anna:s3cret@/news?host=db&port=none", UNREADABLE),
        ("postgres://anna:s3cret/x@db/news", UNREADABLE),
        ("postgres://anna:s3cret@db/", "DATABASE_URL names no database."),
    ],
)
def test_another_database_url_is_refused_without_its_password(monkeypatch, url: str, message: str) -> None:
    monkeypatch.setenv("DATABASE_URL", url)
    with pytest.raises(ImproperlyConfigured) as refused:
        environment.database("DATABASE_URL")
    assert message in str(refused.value)
    assert "s3cret" not in str(refused.value)
    assert refused.value.__suppress_context__ or refused.value.__context__ is None


def test_networks_are_read_and_anything_else_is_refused(monkeypatch) -> None:
    monkeypatch.setenv("CRAWL_PRIVATE_ADDRESSES", "10.1.2.3, fd00::/8")
    assert [str(network) for network in environment.networks("CRAWL_PRIVATE_ADDRESSES")] == ["10.1.2.3/32", "fd00::/8"]
    monkeypatch.setenv("CRAWL_PRIVATE_ADDRESSES", "")
    assert environment.networks("CRAWL_PRIVATE_ADDRESSES") == []
    monkeypatch.setenv("CRAWL_PRIVATE_ADDRESSES", "localhost")
    with pytest.raises(ImproperlyConfigured) as refused:
        environment.networks("CRAWL_PRIVATE_ADDRESSES")
    message = str(refused.value)
    assert "CRAWL_PRIVATE_ADDRESSES " in message
    assert "'localhost'" in message
    assert "10.1.0.0/16" in message


@pytest.mark.parametrize(
    ("url", "host", "tls"),
    [
        ("smtp+tls://desk%40paper.example:s%2Fe@mail.example:587", "mail.example", True),
        ("smtp://127.0.0.1:25", "127.0.0.1", None),
    ],
)
def test_the_url_of_a_mail_server_is_read(monkeypatch, url: str, host: str, tls: bool | None) -> None:
    monkeypatch.setenv("EMAIL_URL", url)
    entry = environment.email("EMAIL_URL")
    assert (entry["EMAIL_HOST"], entry.get("EMAIL_USE_TLS")) == (host, tls)


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("mail.example", "EMAIL_URL must begin with one of smtp://, smtp+tls://, smtp+ssl://."),
        ("smtp://", "EMAIL_URL names no mail server."),
        ("smtp+tls://u:s3cret/x@mail.example", "EMAIL_URL names no mail server."),
    ],
)
def test_another_url_of_a_mail_server_is_refused_without_its_password(monkeypatch, url: str, message: str) -> None:
    monkeypatch.setenv("EMAIL_URL", url)
    with pytest.raises(ImproperlyConfigured) as refused:
        environment.email("EMAIL_URL")
    assert message in str(refused.value)
    assert "s3cret" not in str(refused.value)


def test_a_number_is_whole_and_large_enough(monkeypatch) -> None:
    assert environment.number("NUMBER_OF", default=7, least=1) == 7
    monkeypatch.setenv("NUMBER_OF", " 12 ")
    assert environment.number("NUMBER_OF", default=7, least=1) == 12
    for value in ("0", "-3", "1.5", "ten", "²"):
        monkeypatch.setenv("NUMBER_OF", value)
        with pytest.raises(ImproperlyConfigured, match=f"NUMBER_OF={value} is not a whole number of 1 or more"):
            environment.number("NUMBER_OF", default=7, least=1)


def test_addresses_a_site_and_a_secret_are_read_and_anything_else_is_refused(monkeypatch) -> None:
    for name in ("ALARM_EMAIL", "SITE_URL", "METRICS_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    assert environment.mail_addresses("ALARM_EMAIL") == []
    assert environment.site("SITE_URL") == environment.secret("METRICS_TOKEN", least=32) == ""
    monkeypatch.setenv("ALARM_EMAIL", "desk@paper.example, on.call@paper.example")
    assert environment.mail_addresses("ALARM_EMAIL") == ["desk@paper.example", "on.call@paper.example"]
    monkeypatch.setenv("SITE_URL", "https://dedup.example:8443/")
    assert environment.site("SITE_URL") == "https://dedup.example:8443"
    monkeypatch.setenv("METRICS_TOKEN", "x" * 32)
    assert environment.secret("METRICS_TOKEN", least=32) == "x" * 32
    monkeypatch.setenv("ALARM_EMAIL", "desk@paper.example, desk")
    with pytest.raises(ImproperlyConfigured, match="ALARM_EMAIL has desk, which is not a valid e-mail address"):
        environment.mail_addresses("ALARM_EMAIL")
    for value in ("dedup.example", "ftp://dedup.example", "https://dedup.example/path", "https://a b"):
        monkeypatch.setenv("SITE_URL", value)
        with pytest.raises(ImproperlyConfigured, match=f"SITE_URL={value} is not the address of a site"):
            environment.site("SITE_URL")
    for value in ("short-and-s3cret", "x" * 31, "ü" * 32, "x" * 16 + " " + "x" * 16):
        monkeypatch.setenv("METRICS_TOKEN", value)
        with pytest.raises(ImproperlyConfigured, match=f"METRICS_TOKEN has {len(value)} characters") as refused:
            environment.secret("METRICS_TOKEN", least=32)
        assert value not in str(refused.value)


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
from tests.site.test_environment import shown

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
