"""Values of the environment, the sentence for what cannot be one, and the options of every connection."""

from collections.abc import Callable
from functools import partial
from ipaddress import ip_network

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.db import connection

from newsdedup_site import environment
from newsdedup_site.environment import application_name, with_options
from tests.databases import CHECKOUT, child_environment, run_python

UNREADABLE = "VARIABLE is invalid: the port must be a number from 1 to 65535"
FLAG, NUMBER = partial(environment.boolean, default=True), partial(environment.number, default=7, least=1)
WORDS, TOKEN = partial(environment.words, default=["localhost"]), partial(environment.secret, least=32)
ZONE, LEVEL = partial(environment.time_zone, default="UTC"), partial(environment.log_level, default="WARNING")
NO_FLAG = "is neither true nor false. Set one of true, yes, on, 1, false, no, off, 0."
NO_NUMBER = "is not a whole number of 1 or more. Set one like 7."
NO_DATABASE = "VARIABLE must begin with postgres://"
Read = Callable[[str], object]


@pytest.mark.parametrize(
    ("read", "value", "expected"),
    [
        *((FLAG, value, True) for value in ("true", " Yes ", "ON", "1", "")),
        *((FLAG, value, False) for value in ("false", "No", "off", "0")),
        (NUMBER, "", 7),
        (NUMBER, " 12 ", 12),
        (WORDS, " desk.example , ,127.0.0.1,", ["desk.example", "127.0.0.1"]),
        (WORDS, " ", ["localhost"]),
        (LEVEL, "info", "INFO"),
        (environment.networks, "", []),
        (environment.networks, "10.1.2.3, fd00::/8", [ip_network("10.1.2.3/32"), ip_network("fd00::/8")]),
        (environment.mail_addresses, "", []),
        (
            environment.mail_addresses,
            "desk@paper.example, on.call@paper.example",
            ["desk@paper.example", "on.call@paper.example"],
        ),
        (environment.site, "", ""),
        (environment.site, "https://dedup.example:8443/", "https://dedup.example:8443"),
        (TOKEN, "", ""),
        (TOKEN, "x" * 32, "x" * 32),
    ],
)
def test_a_value_is_read(monkeypatch, read: Read, value: str, expected: object) -> None:
    monkeypatch.setenv("VARIABLE", value)
    assert read("VARIABLE") == expected


@pytest.mark.parametrize(
    ("read", "value", "message"),
    [
        *((FLAG, value, f"VARIABLE={value} {NO_FLAG}") for value in ("ture", "2", "y", "none")),
        *((NUMBER, value, f"VARIABLE={value} {NO_NUMBER}") for value in ("0", "-3", "1.5", "ten", "²")),
        *(
            (ZONE, value, f"VARIABLE={value} is not a known time zone. Set one like Europe/London.")
            for value in ("Europe/Atlantis", "/etc/localtime", "../UTC", "Europe")
        ),
        (LEVEL, "loud", "VARIABLE=loud is not a log level. Set one of DEBUG, INFO"),
        (environment.networks, "localhost", "'localhost' does not appear"),
        (environment.networks, "localhost", "Set addresses or networks like 10.1.0.0/16"),
        (environment.mail_addresses, "desk@paper.example, desk", "VARIABLE has desk, which is not a valid e-mail"),
        *(
            (environment.site, value, f"VARIABLE={value} is not the address of a site")
            for value in ("dedup.example", "ftp://dedup.example", "https://dedup.example/path", "https://a b")
        ),
        *(
            (TOKEN, value, f"VARIABLE has {len(value)} characters")
            for value in ("short-and-s3cret", "x" * 25 + "s3cret", "ü" * 32 + "s3cret", "x" * 26 + " s3cret")
        ),
        (environment.email, "mail.example", "VARIABLE must begin with one of smtp://, smtp+tls://, smtp+ssl://."),
        (environment.email, "smtp://", "VARIABLE names no mail server."),
        (environment.email, "smtp+tls://u:s3cret/x@mail.example", "VARIABLE names no mail server."),
        (environment.database, "s3cret", NO_DATABASE),
        (environment.database, "anna:s3cret@db/news", NO_DATABASE),
        (environment.database, "mysql://anna:s3cret@db/news", "with pg_trgm. It begins with mysql://."),
        (environment.database, "postgres://anna:s3cret@db:54a2/news", UNREADABLE),
        (environment.database, "postgres://anna:s3cret@db:70000/news", UNREADABLE),
        (environment.database, "postgres://anna:s3cret@/news?host=db&port=none", UNREADABLE),
        (environment.database, "postgres://anna:s3cret/x@db/news", UNREADABLE),
        (environment.database, "postgres://anna:s3cret@db/", "VARIABLE names no database."),
    ],
)
def test_another_value_is_refused_in_words_without_its_secret(
    monkeypatch, read: Read, value: str, message: str
) -> None:
    monkeypatch.setenv("VARIABLE", value)
    with pytest.raises(ImproperlyConfigured) as refused:
        read("VARIABLE")
    assert message in str(refused.value)
    assert "s3cret" not in str(refused.value)
    assert "s3cret" not in value or refused.value.__suppress_context__ or refused.value.__context__ is None


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
    django = {"DJANGO_SETTINGS_MODULE": "newsdedup_site.settings", "PYTHONPATH": str(CHECKOUT)}
    done = run_python(str(program), **child_environment(), **django)
    assert (done.stdout, done.stderr) == ("1s/newsdedup find_duplicates 1s/newsdedup find_duplicates\n", "")
