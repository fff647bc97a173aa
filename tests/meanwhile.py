"""What another process does at a moment that a test decides."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest


def meanwhile(monkeypatch: pytest.MonkeyPatch, module: ModuleType, function: str, act: Callable[[], object]) -> None:
    """Do something when this function of a module is done for the first time."""
    original = getattr(module, function)

    def done(*arguments: Any, **named: Any) -> Any:
        monkeypatch.setattr(module, function, original)
        result = original(*arguments, **named)
        act()
        return result

    monkeypatch.setattr(module, function, done)
