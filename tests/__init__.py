"""The tests, and programs: `python -m tests.NAME`, which say in a sentence that a package or memory is missing."""

import sys
from importlib.util import find_spec
from types import TracebackType

_OWN = ("articles", "benchmarks", "client", "crawlers", "dedup", "newsdedup", "newsdedup_site", "tests")


def need(*names: str) -> None:
    """Raise ModuleNotFoundError for the first of these packages that is not installed."""
    for name in names:
        if find_spec(name) is None:
            raise ModuleNotFoundError(name=name)


def _say(kind: type[BaseException], error: BaseException, traceback: TracebackType | None) -> None:
    name = (getattr(error, "name", None) or "").partition(".")[0]
    if isinstance(error, ModuleNotFoundError) and name not in _OWN:
        listed = "requirements-benchmarks.txt" if _module().startswith("benchmarks") else "requirements-dev.txt"
        print(f"{name} is not installed, which {_module()} needs. Install it: pip install -r {listed}", file=sys.stderr)
    elif isinstance(error, MemoryError):
        print(f"Memory ran out during {_module()}. Free some, or run it where there is more.", file=sys.stderr)
    else:
        sys.__excepthook__(kind, error, traceback)


def _module() -> str:
    """Return what was given to `python -m`."""
    return sys.orig_argv[sys.orig_argv.index("-m") + 1]


# While Python looks for the module of `python -m`, it imports its packages with this in place of the name.
if sys.argv[0] == "-m" and _module().startswith(("benchmarks", "tests")):
    sys.excepthook = _say
