"""What production starts with: it cannot be run here, so what it refers to is looked up."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml
from django.core.management import get_commands
from django.db import connection
from django.utils import timezone
from django_tasks.signals import task_finished, task_started
from gunicorn.app.wsgiapp import WSGIApplication

from dedup.checks import MINIMUM_VERSION
from dedup.detection.runs.requests import GONE_AFTER
from dedup.management.commands.db_worker import _HANGS_AFTER, _Pulse
from dedup.models import Worker
from newsdedup_site import healthcheck
from tests.crawlers.conftest import served
from tests.databases import CHECKOUT, TEST_KEY, child_environment, run_python

COMPOSE = yaml.safe_load((CHECKOUT / "docker-compose.yml").read_text())
DOCKERFILE = (CHECKOUT / "Dockerfile").read_text()
SERVICES = COMPOSE["services"]


def test_the_services_are_those_of_one_host_and_the_database_is_utf8_in_a_named_volume() -> None:
    assert list(SERVICES) == ["db", "migrate", "web", "worker", "proxy"]
    assert [name for name, service in SERVICES.items() if "profiles" in service] == ["proxy"]
    database = SERVICES["db"]
    assert database["environment"]["POSTGRES_INITDB_ARGS"] == "--encoding=UTF8 --locale=C.UTF-8"
    [volume] = database["volumes"]
    assert volume.split(":")[0] in COMPOSE["volumes"]
    assert int(re.fullmatch(r"postgres:(\d+)", database["image"])[1]) >= MINIMUM_VERSION


@pytest.mark.parametrize("name", list(SERVICES))
def test_no_service_runs_as_root(name: str) -> None:
    if name == "proxy":  # in its image, root owns where certificates are kept; it gets nothing else
        assert (SERVICES[name]["cap_drop"], SERVICES[name]["cap_add"]) == (["ALL"], ["NET_BIND_SERVICE"])
        return
    user, *_ = str(SERVICES[name]["user"]).split(":")
    assert user not in ("0", "root")
    if "build" in SERVICES[name]:
        assert f"--uid {user} " in DOCKERFILE
        assert f"\nUSER {SERVICES[name]['user']}\n" in DOCKERFILE


@pytest.mark.parametrize("name", list(SERVICES))
def test_every_service_has_bounded_logs_and_time_to_stop_and_what_keeps_running_a_healthcheck(name: str) -> None:
    options = SERVICES[name]["logging"]["options"]
    assert SERVICES[name]["logging"]["driver"] == "local"
    assert int(options["max-size"].removesuffix("m")) * int(options["max-file"]) <= 50
    number, unit = SERVICES[name]["stop_grace_period"][:-1], SERVICES[name]["stop_grace_period"][-1]
    # gunicorn waits 30 seconds for what it answers.
    assert int(number) * {"s": 1, "m": 60}[unit] >= 40
    if name in ("db", "web", "worker"):
        assert SERVICES[name]["healthcheck"]["test"][0] == "CMD"
        assert SERVICES[name]["restart"] == "unless-stopped"


@pytest.mark.parametrize("name", list(SERVICES))
def test_every_service_gets_the_secrets_that_it_uses_and_no_other(name: str) -> None:
    uses = {
        "db": {"POSTGRES_PASSWORD"},
        "migrate": {"SECRET_KEY", "DATABASE_URL"},
        "web": {"SECRET_KEY", "DATABASE_URL", "METRICS_TOKEN", "EMAIL_URL"},
        "worker": {"SECRET_KEY", "DATABASE_URL", "EMAIL_URL"},
        "proxy": set(),
    }
    secret = re.compile("SECRET|PASSWORD|TOKEN|DATABASE_URL|EMAIL_URL")
    example = re.findall(r"^#? ?([A-Z_]+)=", (CHECKOUT / ".env.example").read_text(), re.MULTILINE)
    given = dict.fromkeys(example, "set") if "env_file" in SERVICES[name] else {}
    given |= SERVICES[name].get("environment", {})
    assert {variable for variable, value in given.items() if value and secret.search(variable)} == uses[name]


def test_the_migration_runs_once_before_pages_and_worker_and_one_file_sets_their_processes() -> None:
    assert SERVICES["migrate"]["restart"] == "no"
    assert SERVICES["migrate"]["depends_on"] == {"db": {"condition": "service_healthy"}}
    for name in ("web", "worker"):
        assert SERVICES[name]["depends_on"] == {"migrate": {"condition": "service_completed_successfully"}}
    for name in ("Dockerfile", "docker-compose.yml", "script/demo"):
        assert not re.search(r"gunicorn.*--(workers|threads|worker-class)", (CHECKOUT / name).read_text()), name


def test_commands_modules_and_files_that_are_named_exist() -> None:
    named = re.findall(r"manage\.py[\", ]+([a-z_]+)", (CHECKOUT / "docker-compose.yml").read_text())
    assert named == ["make_editor", "crawl", "migrate", "check", "db_worker"]
    assert set(named) <= set(get_commands())
    for module in re.findall(r"newsdedup_site\.[a-z]+", str(COMPOSE) + DOCKERFILE):
        assert (CHECKOUT / f"{module.replace('.', '/')}.py").exists(), module
    for line in re.findall(r"^COPY (.+) \S+$", DOCKERFILE, re.MULTILINE):
        for name in line.split():
            assert (CHECKOUT / name).exists(), name


def test_every_variable_of_compose_is_in_the_example_which_says_what_a_password_in_a_url_may_be() -> None:
    example = (CHECKOUT / ".env.example").read_text()
    for variable in re.findall(r"\$\{([A-Z_]+):\?", (CHECKOUT / "docker-compose.yml").read_text()):
        assert f"\n{variable}=" in example
    comment, _, _ = example.partition("\nPOSTGRES_PASSWORD=")
    assert comment.splitlines()[-1].startswith("# Letters and digits only: it becomes part of a URL")


def test_static_files_can_be_collected_for_production(tmp_path: Path) -> None:
    """Every file that a template or style sheet names is there, or the manifest refuses."""
    program = (
        "import django, newsdedup_site.settings as s; s.STATIC_ROOT = r'%s'; "
        # Compressing the large files would take ten times as long as all else, and prove nothing more.
        "s.WHITENOISE_SKIP_COMPRESS_EXTENSIONS = ('css', 'js', 'map', 'svg'); django.setup(); "
        "from django.core.management import call_command; call_command('collectstatic', '--no-input', verbosity=0)"
    )
    environment = {"SECRET_KEY": TEST_KEY, "DATABASE_URL": "postgres://u@h/d"}
    run_python("-c", program % tmp_path, **environment, DJANGO_SETTINGS_MODULE="newsdedup_site.settings")
    assert (tmp_path / "staticfiles.json").exists()
    assert list(tmp_path.rglob("*.gz"))


def test_gunicorn_loads_the_pages_once_and_leaves_connections_to_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(CHECKOUT)
    monkeypatch.setattr(sys, "argv", ["gunicorn", "newsdedup_site.wsgi"])
    settings = WSGIApplication().cfg
    assert settings.preload_app
    assert settings.control_socket_disable
    # Runs, crawls and commands need connections to the database too; PostgreSQL allows 100.
    assert settings.workers * settings.threads <= 50
    # What draws charts is loaded before the first request.
    program = (
        "import sys, newsdedup_site.wsgi; print({'altair', 'jsonschema', 'networkx', 'vl_convert'} - set(sys.modules))"
    )
    assert run_python("-c", program, SECRET_KEY=TEST_KEY, DATABASE_URL="postgres://u@h/d").stdout == "set()\n"


@pytest.mark.parametrize(("status", "well"), [(200, True), (503, False), (302, False)])
def test_the_healthcheck_asks_a_real_server(status: int, well: bool) -> None:
    with served() as site:
        site.add("/healthz", "", status=status)
        assert healthcheck.healthy(f"{site.url}/healthz", {"Host": "localhost"}) is well
    assert healthcheck.healthy("http://127.0.0.1:9/healthz", {}) is False


def is_worker_healthy() -> bool:
    """Run the health check of the worker's container, here."""
    program, *arguments = SERVICES["worker"]["healthcheck"]["test"][1:]
    assert program == "python"
    return not run_python(*arguments, **child_environment()).returncode


def wait_for_sign() -> None:
    """Make all signs of life too old, and wait for a new one."""
    Worker.objects.update(seen_at=timezone.now() - GONE_AFTER)
    until = time.monotonic() + 120
    while not is_worker_healthy():
        assert time.monotonic() < until


@pytest.mark.slow
@pytest.mark.usefixtures("transactional_db")
def test_the_healthcheck_tells_a_living_worker_from_one_that_hangs_or_is_dead() -> None:
    assert GONE_AFTER.total_seconds() == healthcheck.GONE_SECONDS
    assert is_worker_healthy() is False
    command = [sys.executable, "manage.py", "db_worker", "--no-startup-delay"]
    with subprocess.Popen(command, cwd=CHECKOUT, env={"PATH": os.environ["PATH"], **child_environment()}) as worker:
        try:
            wait_for_sign()
            wait_for_sign()
            worker.send_signal(signal.SIGSTOP)
            Worker.objects.update(seen_at=timezone.now() - GONE_AFTER)
            assert is_worker_healthy() is False
            worker.send_signal(signal.SIGCONT)
            wait_for_sign()
        finally:
            worker.terminate()
    assert is_worker_healthy() is False


@pytest.mark.django_db
def test_a_worker_whose_loop_hangs_gives_no_sign_but_a_long_task_may_go_on() -> None:
    pulse = _Pulse(interval=-_HANGS_AFTER)
    assert pulse.is_well() is False
    result = SimpleNamespace(id="1", status="SUCCESSFUL", task=SimpleNamespace(module_path="a.task"))
    task_started.send(sender=None, task_result=result)
    assert pulse.is_well() is True
    task_finished.send(sender=None, task_result=result)
    assert pulse.is_well() is False
    pulse.patience = _HANGS_AFTER
    pulse.asked -= 2 * _HANGS_AFTER
    with connection.execute_wrapper(pulse):
        assert pulse.is_well() is False
        assert not Worker.objects.exists()
    assert pulse.is_well() is True
