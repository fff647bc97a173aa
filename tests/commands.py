"""Commands, as tests call them, and what another process does meanwhile."""

import io
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from articles.jobs.work import do_job
from articles.models import Job


def called(command: str, *arguments: Any, **options: Any) -> tuple[str, str]:
    """Call a command; return what it writes to stdout and to stderr."""
    output, errors = io.StringIO(), io.StringIO()
    call_command(command, *map(str, arguments), **options, stdout=output, stderr=errors)
    return output.getvalue(), errors.getvalue()


def refused(command: str, *arguments: Any, status: int = 2) -> str:
    """Call a command that refuses its arguments, or ends with another exit status; return what it says."""
    with pytest.raises(CommandError) as raised:
        called(command, *arguments)
    assert raised.value.returncode == status
    return str(raised.value)


def printed(report: str, *arguments: Any) -> str:
    """Return what a report prints."""
    return called("report", report, *arguments)[0]


def work() -> None:
    """Do what a worker does with the jobs that wait."""
    for job in Job.objects.filter(state="waiting"):
        do_job(job.pk)


def meanwhile(monkeypatch: pytest.MonkeyPatch, module: ModuleType, function: str, act: Callable[[], object]) -> None:
    """Do something when this function of a module is done for the first time."""
    original = getattr(module, function)

    def done(*arguments: Any, **named: Any) -> Any:
        monkeypatch.setattr(module, function, original)
        result = original(*arguments, **named)
        act()
        return result

    monkeypatch.setattr(module, function, done)
