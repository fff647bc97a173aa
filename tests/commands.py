"""Commands, as tests call them."""

from __future__ import annotations

import io
from typing import Any

import pytest
from django.core.management import CommandError, call_command


def called(command: str, *arguments: Any, **options: Any) -> tuple[str, str]:
    """Call a command; return what it writes to stdout and to stderr."""
    output, errors = io.StringIO(), io.StringIO()
    call_command(command, *map(str, arguments), **options, stdout=output, stderr=errors)
    return output.getvalue(), errors.getvalue()


def refused(command: str, *arguments: Any) -> str:
    """Call a command that refuses its arguments; return what it says."""
    with pytest.raises(CommandError) as raised:
        called(command, *arguments)
    assert raised.value.returncode == 2
    return str(raised.value)
