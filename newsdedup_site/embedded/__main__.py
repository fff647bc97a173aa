"""`python -m newsdedup_site.embedded keep|stop|start|home`."""

import sys
from collections.abc import Callable

from newsdedup_site import environment
from newsdedup_site.embedded.folders import CHECKOUT, EmbeddedServerError, home
from newsdedup_site.embedded.server import ensure_running, keep, stop


def main(arguments: list[str]) -> int:
    """Run the action named by the only argument. Returns 2 for wrong arguments, 1 if the server fails."""
    actions: dict[str, Callable[[], object]] = {
        "keep": keep,
        "stop": stop,
        "start": ensure_running,
        "home": lambda: sys.stdout.write(f"{home()}\n"),
    }
    if len(arguments) != 1 or arguments[0] not in actions:
        sys.stderr.write(f"usage: python -m newsdedup_site.embedded {'|'.join(actions)}\n")
        return 2
    environment.read_file(CHECKOUT / ".env")
    try:
        actions[arguments[0]]()
    except EmbeddedServerError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
