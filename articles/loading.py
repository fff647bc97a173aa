"""Packages that are loaded when they are first used."""

from __future__ import annotations

import importlib
import importlib.util
from typing import Any


class _WhenUsed:
    """A package that is loaded at its first use; not a module, whose attributes `inspect.stack` would look at."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        return getattr(importlib.import_module(self._name), attribute)


_put_off: set[str] = set()


def when_used(name: str) -> Any:
    """Return a package that is loaded when it is first used: loading these takes most commands longer than their work.

    Scrapy calls `inspect.stack` while it is loaded, which would load every package that importlib's LazyLoader put off.
    """
    if importlib.util.find_spec(name) is None:
        raise ImportError(f"{name} is not installed; install requirements.txt")
    _put_off.add(name)
    return _WhenUsed(name)


def load_all() -> None:
    """Load what was put off so far: for what is to answer quickly, and parts into processes only then."""
    for name in sorted(_put_off):
        importlib.import_module(name)
