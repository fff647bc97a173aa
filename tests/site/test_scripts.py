"""script/_environment: an environment that was never finished is made anew."""

import subprocess
import sys
from pathlib import Path

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


def test_an_environment_killed_before_pip_was_there_is_made_anew_and_then_kept(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", ".venv"], cwd=tmp_path, check=True)
    (tmp_path / ".venv" / "installed-requirements.txt").touch()
    made = virtual_environment(tmp_path)
    assert made.stderr.startswith("Making .venv with Python 3.")
    assert not (tmp_path / ".venv" / "installed-requirements.txt").exists()
    subprocess.run([".venv/bin/python", "-m", "pip", "--version"], cwd=tmp_path, check=True, capture_output=True)
    assert virtual_environment(tmp_path).stderr == ""
