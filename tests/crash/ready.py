"""Commands under test, which begin at once; as a program, the process that they are forked from."""

from __future__ import annotations

import os
import runpy
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

from tests.crash.faults import Plan, arm
from tests.forked import CHECKOUT, Ended, ForkedCommands, serve

_INJECTED = Path(__file__).parent / "inject"
# More than any command here takes, on a machine that has other things to do.
_PATIENCE_SECONDS = 600


class ReadyCommands(ForkedCommands):
    """Commands of manage.py and programs of the tests, armed with faults."""

    def __init__(self, environment: dict[str, str], folder: Path) -> None:
        paths = {"PYTHONPATH": os.pathsep.join((str(_INJECTED), str(CHECKOUT)))}
        super().__init__("tests.crash.ready", environment | paths)
        self._folder = folder

    def run_armed(self, arguments: list[str], plan: Plan | None = None, folder: Path | None = None) -> Ended:
        """Run `manage.py ARGUMENTS`, or the program `-m MODULE ARGUMENTS`, in a folder, armed with a plan.

        Raises TimeoutError for one that hangs; then it is killed.
        """
        environment = plan.environment() if plan else {}
        request = {"arguments": arguments, "environment": environment, "folder": str(folder or CHECKOUT)}
        return self.run(request, self._folder, _PATIENCE_SECONDS)


def main() -> None:
    import_module("django").setup()
    import_module("articles.management.base")
    serve(_run)


def _run(request: dict[str, Any]) -> None:
    os.environ.update(request["environment"])
    arguments: list[str] = request["arguments"]
    os.chdir(request["folder"])
    sys.path.insert(0, str(CHECKOUT))
    arm()
    if arguments[0] == "-m":
        sys.argv = arguments[1:]
        runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
    else:
        sys.argv = ["manage.py", *arguments]
        runpy.run_path(str(CHECKOUT / "manage.py"), run_name="__main__")


if __name__ == "__main__":
    main()
