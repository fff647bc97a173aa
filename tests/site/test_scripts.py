"""The scripts: an unfinished environment is made again, and a taken port is found before anything is installed."""

import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parents[2]


def virtual_environment(folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["sh", "-euc", f". '{CHECKOUT}/script/_environment'; virtual_environment"],
        cwd=folder,
        env={"PATH": "/usr/bin:/bin", "PYTHON": sys.executable},
        capture_output=True,
        text=True,
        check=True,
    )


@pytest.mark.slow
def test_an_environment_killed_before_pip_was_there_is_made_anew_and_then_kept(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", ".venv"], cwd=tmp_path, check=True)
    (tmp_path / ".venv" / "installed-requirements.txt").touch()
    made = virtual_environment(tmp_path)
    assert made.stderr.startswith("Making .venv with Python 3.")
    assert not (tmp_path / ".venv" / "installed-requirements.txt").exists()
    subprocess.run([".venv/bin/python", "-m", "pip", "--version"], cwd=tmp_path, check=True, capture_output=True)
    assert virtual_environment(tmp_path).stderr == ""


def demo(folder: Path, port: str) -> subprocess.CompletedProcess[str]:
    # The copy has nothing to install, so the script also fails if it accepts the port.
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
