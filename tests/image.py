"""The Dockerfile, executed without Docker: `script/check-image`.

Each instruction is read from the Dockerfile itself. What FROM gives is replaced by a bare Debian (debootstrap) with an
environment of Debian's Python where the image has its own. The result runs as it is deployed: as the user of USER, with
no capability, on a read-only root with the writable folders of docker-compose.yml alone, next to a PostgreSQL outside.
"""

import argparse
import fnmatch
import json
import os
import shlex
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import yaml

CHECKOUT = Path(__file__).resolve().parents[1]
SUITE, PYTHON = "bookworm", "/opt/python"
KNOWN = {"FROM", "ENV", "RUN", "WORKDIR", "COPY", "USER", "EXPOSE", "CMD"}
# From the machine to the lines that install, and nothing else of its environment.
PASSED = ("PIP_", "HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy", "SSL_CERT_FILE")
ARTICLES = "".join(
    json.dumps(
        {
            "date": "2026-03-02",
            "headline": "The last ferry",
            "url": f"https://{paper}.example/2026/03/02/ferry",
            "content": "The ferry Marta left the island of Holm at noon for the last time. The bridge opens on Monday. "
            * 4,
            "newspaper": paper,
        }
    )
    + "\n"
    for paper in ("post", "echo")
)
QUEUE = """
from django.contrib.auth.models import User
from dedup.models import Profile
from dedup.detection.runs.requests import Wanted, request_run
request_run(Wanted(profile=Profile.objects.get(is_default=True)), user=User.objects.create_user("check"))
"""
COUNT = """
from dedup.models import DetectionRun, Pair
print(list(DetectionRun.objects.values_list("state", flat=True)), Pair.objects.count())
"""


def instructions(text: str) -> Iterator[tuple[str, str]]:
    """Yield each instruction of a Dockerfile with its arguments, continued lines joined. Raises ValueError."""
    lines = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    for line in "\n".join(lines).replace("\\\n", "").splitlines():
        name, _, arguments = line.strip().partition(" ")
        if name not in KNOWN:
            raise ValueError(f"Dockerfile: {name} is not known here; add it to tests/image.py")
        yield name, arguments.strip()


def ignored(text: str) -> list[str]:
    """Return the patterns of a .dockerignore."""
    return [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("#")]


def is_ignored(path: str, patterns: list[str]) -> bool:
    """Return whether a path, or a folder above it, is ignored; `**/` stands for any folders, or none."""
    parts = path.split("/")
    above = ["/".join(parts[:end]) for end in range(1, len(parts) + 1)]
    return any(
        fnmatch.fnmatchcase(file, pattern) or fnmatch.fnmatchcase(file.rpartition("/")[2], pattern.removeprefix("**/"))
        if pattern.startswith("**/")
        else fnmatch.fnmatchcase(file, pattern) and file.count("/") == pattern.count("/")
        for file in above
        for pattern in patterns
    )


class Image:
    """A folder in which the instructions are executed."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.environment = {"PATH": f"{PYTHON}/bin:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", "HOME": "/root"}
        self.folder, self.user, self.command = "/", "0:0", [""]
        self.patterns = ignored((CHECKOUT / ".dockerignore").read_text())

    def do(self, name: str, arguments: str) -> None:
        """Execute an instruction."""
        if name == "ENV":
            self.environment |= dict(pair.split("=", 1) for pair in shlex.split(arguments))
        elif name == "WORKDIR":
            self.folder = arguments
            (self.root / arguments.lstrip("/")).mkdir(parents=True, exist_ok=True)
        elif name == "COPY":
            *sources, target = arguments.split()
            for source in sources:
                self._copy(source, target)
        elif name == "RUN":
            passed = {key: value for key, value in os.environ.items() if key.startswith(PASSED)}
            subprocess.run(self.inside(["/bin/sh", "-c", arguments]), env=passed | self.environment, check=True)
        elif name == "USER":
            self.user = arguments
        elif name == "CMD":
            self.command = json.loads(arguments)

    def inside(self, command: list[str]) -> list[str]:
        """Return what runs a command in the image, as its user at this point."""
        uid, _, gid = self.user.partition(":")
        bounds = [] if uid == "0" else ["--no-new-privs", "--bounding-set=-all", "--inh-caps=-all"]
        user = ["setpriv", f"--reuid={uid}", f"--regid={gid}", "--clear-groups", *bounds, "--"]
        script = 'cd "$0" && exec "$@"'
        return ["chroot", str(self.root), *user, "/bin/sh", "-c", script, self.folder, *command]

    def _copy(self, source: str, target: str) -> None:
        if is_ignored(source, self.patterns):
            raise ValueError(f"COPY {source}: .dockerignore keeps it out")
        into = self.root / self.folder.lstrip("/") / target
        if (CHECKOUT / source).is_dir():
            for path in sorted((CHECKOUT / source).rglob("*")):
                name = str(path.relative_to(CHECKOUT))
                if path.is_file() and not is_ignored(name, self.patterns):
                    copied = into / path.relative_to(CHECKOUT / source)
                    copied.parent.mkdir(parents=True, exist_ok=True)
                    shutil.copy(path, copied)
        else:
            shutil.copy(CHECKOUT / source, into / source if target.startswith(".") else into)


def bare_debian(root: Path, cache: Path | None) -> None:
    """Make a bare Debian with Debian's Python in a folder, from a cached archive of one if there is one."""
    if cache and cache.exists():
        subprocess.run(["tar", "-C", str(root), "-xf", str(cache)], check=True)
    else:
        included = "python3,python3-venv,ca-certificates"
        subprocess.run(["debootstrap", "--variant=minbase", f"--include={included}", SUITE, str(root)], check=True)
        if cache:
            subprocess.run(["tar", "-C", str(root), "-cf", str(cache), "."], check=True)
    shutil.copy("/etc/resolv.conf", root / "etc" / "resolv.conf")
    subprocess.run(["chroot", str(root), "python3", "-m", "venv", PYTHON], check=True)


def mount(*arguments: str) -> None:
    """Mount in this process's own namespace: all is gone when it ends."""
    subprocess.run(["mount", *arguments], check=True)


def share(path: Path, root: Path) -> None:
    """Show a file or folder of the machine at the same place in the image, to read."""
    there = root / str(path).lstrip("/")
    if path.is_dir():
        there.mkdir(parents=True, exist_ok=True)
    else:
        there.parent.mkdir(parents=True, exist_ok=True)
        there.touch()
    mount("--bind", str(path), str(there))


def deploy(image: Image, service: Mapping[str, object]) -> None:
    """Make the root read-only, with the writable folders of docker-compose.yml alone."""
    volumes = [str(volume).split(":")[1] for volume in service["volumes"]]  # type: ignore[attr-defined]
    mount("--rbind", str(image.root), str(image.root))
    for name in volumes:
        folder = image.root / name.lstrip("/")
        # A new volume has the content and the owner of the image's folder.
        status = folder.stat()
        options = f"uid={status.st_uid},gid={status.st_gid},mode={status.st_mode & 0o7777:o}"
        mount("-t", "tmpfs", "-o", options, "tmpfs", str(folder))
    for name in service["tmpfs"]:  # type: ignore[attr-defined]
        mount("-t", "tmpfs", "tmpfs", str(image.root / name.lstrip("/")))
    mount("-o", "remount,bind,ro", str(image.root))
    assert f"{image.user}" == str(service["user"]), f"USER {image.user} is not compose's user {service['user']}"


def check(image: Image, url: str) -> None:
    """Migrate, import, have a worker execute a run, and serve: all inside, on a database outside. Raises."""
    folder = parse_qs(urlsplit(url).query).get("host", [""])[0]
    if folder.startswith("/"):
        Path(folder).chmod(0o755)  # made for this check alone: the image's user must reach its socket
        share(Path(folder), image.root)
    environment = image.environment | {
        "DATABASE_URL": url,
        "SECRET_KEY": os.environ["SECRET_KEY"],
        "HOME": "/nonexistent",
    }

    def manage(*arguments: str, given: str = "") -> str:
        command = image.inside(["python", "manage.py", *arguments])
        done = subprocess.run(command, env=environment, input=given, capture_output=True, text=True, check=False)
        if done.returncode:
            raise SystemExit(f"manage.py {arguments[0]} failed: {done.stdout}{done.stderr}")
        print(f"manage.py {arguments[0]}: done", flush=True)
        return done.stdout

    manage("migrate", "--verbosity", "0")
    manage("check", "--deploy", "--database", "default", "--fail-level", "WARNING")
    manage("import_articles", "-", "--format", "jsonl", given=ARTICLES)
    manage("shell", "--no-imports", "-c", QUEUE)
    manage("db_worker", "--batch")
    answer = manage("shell", "--no-imports", "-c", COUNT).strip()
    assert answer == "['done'] 1", f"the run of the worker gave {answer}"
    serve(image, environment)
    # Even root could not write; the image's user owns nothing there besides.
    tried = ["chroot", str(image.root), "touch", "/app/probe"]
    written = subprocess.run(tried, capture_output=True, text=True, check=False)
    assert "Read-only file system" in written.stderr, written


def serve(image: Image, environment: Mapping[str, str]) -> None:
    """Start the image's own command on another port, and ask for /healthz, a page and a collected file."""
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
    command = [word.replace("0.0.0.0:8000", f"127.0.0.1:{port}") for word in image.command]
    server = subprocess.Popen(image.inside(command), env=environment)
    try:
        for path in ("healthz", "login/"):
            print(f"/{path}: {answered(f'http://127.0.0.1:{port}/{path}', server)}", flush=True)
    finally:
        server.terminate()
        server.wait(30)


def answered(url: str, server: subprocess.Popen[bytes]) -> int:
    """Return the status of a page once the server listens. Raises if the server ends, or after two minutes."""
    until = time.monotonic() + 120
    while True:
        try:
            with urllib.request.urlopen(url, timeout=60) as response:  # noqa: S310 - loopback
                return int(response.status)
        except (ConnectionRefusedError, urllib.error.URLError):
            if server.poll() is not None or time.monotonic() > until:
                raise
            time.sleep(0.2)


def build(root: Path, options: argparse.Namespace) -> None:
    """Execute the Dockerfile in a folder, and check what came of it. Its mounts are those of this process alone."""
    bare_debian(root, options.cache)
    image = Image(root)
    for path in [Path("/proc"), Path("/dev"), *options.share]:
        share(path, root)
    mount("-t", "tmpfs", "-o", "size=64m", "tmpfs", str(root / "dev" / "shm"))  # as much as Docker gives
    for name, arguments in instructions((CHECKOUT / "Dockerfile").read_text()):
        print(f"{name} {arguments}", flush=True)
        image.do(name, arguments)
    for path in options.share:
        subprocess.run(["umount", str(root / str(path).lstrip("/"))], check=True)
    compose = yaml.safe_load((CHECKOUT / "docker-compose.yml").read_text())
    deploy(image, compose["services"]["web"])
    check(image, os.environ["DATABASE_URL"])
    print("The image builds, and serves on a read-only root.")


def main() -> int:
    """Check the image in a temporary folder; return an exit code."""
    parser = argparse.ArgumentParser(prog="script/check-image", description=__doc__)
    parser.add_argument("--cache", type=Path, help="keep the bare Debian in this archive, and use it the next time")
    parser.add_argument(
        "--share", type=Path, action="append", default=[], help="show this path of the machine while building"
    )
    parser.add_argument("--inside", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.inside:
        build(options.inside, options)
        return 0
    if os.geteuid() != 0 or not os.environ.get("DATABASE_URL"):
        raise SystemExit("Run it as root, on a database made for it: script/with-postgresql 15 script/check-image")
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        # The mounts are in a namespace that ends with the process. Out here the folder has none, and is safe to remove.
        apart = ["unshare", "--mount", "--propagation", "private", "--", sys.executable, "-m", "tests.image"]
        return subprocess.run([*apart, *sys.argv[1:], "--inside", folder], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
