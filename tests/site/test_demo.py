"""script/demo: a port that is taken is found before anything is installed or crawled."""

import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parents[2]


def demo(folder: Path, port: str) -> subprocess.CompletedProcess[str]:
    # A copy that has nothing to install: where the port is not refused, it ends all the same.
    shutil.copytree(CHECKOUT / "script", folder / "script")
    environment = {"PATH": "/usr/bin:/bin", "PYTHON": sys.executable, "PORT": port}
    return subprocess.run(["script/demo"], cwd=folder, env=environment, capture_output=True, text=True, check=False)


def test_a_taken_port_is_named_with_the_remedy(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = demo(tmp_path, str(port))
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        f"Port {port} cannot be used: Address already in use. Choose another one: PORT=9000 script/demo\n"
    )
    assert not (tmp_path / ".venv").exists()


@pytest.mark.parametrize("port", ["http", "70000"])
def test_what_is_no_port_is_refused(tmp_path: Path, port: str) -> None:
    done = demo(tmp_path, port)
    assert done.returncode == 1
    assert done.stderr.startswith(f"Port {port} cannot be used: ")
