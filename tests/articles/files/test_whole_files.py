"""A file has its own name only when it is whole: nobody reads the half of an export."""

import gzip
import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from articles.files import whole_files
from articles.files.whole_files import whole_file

LINES = "".join(f"{number}\n" for number in range(50_000))


@pytest.fixture(params=["without a name", "with a hidden name"])
def _kind(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "with a hidden name":
        monkeypatch.setattr(whole_files, "_nameless_file", lambda _folder, _mode: None)


@pytest.mark.usefixtures("_kind")
@pytest.mark.parametrize("name", ["rows.csv", "rows.csv.gz"])
@pytest.mark.parametrize("before", [None, "what was there"])
def test_a_file_appears_under_its_name_when_it_is_whole(tmp_path: Path, name: str, before: str | None) -> None:
    path = tmp_path / name
    if before:
        path.write_text(before)
    with whole_file(path) as file:
        file.write(LINES)
        file.flush()
        assert (path.read_text() if path.exists() else None) == before
    assert (gzip.decompress(path.read_bytes()).decode() if name.endswith(".gz") else path.read_text()) == LINES
    assert os.listdir(tmp_path) == [name]  # noqa: PTH208 - with hidden ones


@pytest.mark.usefixtures("_kind")
@pytest.mark.parametrize("before", [None, "what was there"])
def test_a_file_that_breaks_off_leaves_what_was_there(tmp_path: Path, before: str | None) -> None:
    path = tmp_path / "rows.csv"
    if before:
        path.write_text(before)

    def break_off() -> None:
        with whole_file(path) as file:
            file.write(LINES)
            file.flush()
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        break_off()
    assert [entry.read_text() for entry in tmp_path.iterdir()] == ([before] if before else [])


# Writes a file, and is killed when the file already has a hidden name, but not its own.
_KILLED = """
import os, signal, sys
from pathlib import Path
from articles.files import whole_files
if sys.argv[2] == "with a hidden name":
    whole_files._nameless_file = lambda folder, mode: None
whole_files._name = lambda part, path, replace: os.kill(os.getpid(), signal.SIGKILL)
with whole_files.whole_file(Path(sys.argv[1])) as file:
    file.write("half of it")
"""


@pytest.mark.parametrize("kind", ["without a name", "with a hidden name"])
def test_a_hidden_name_that_a_kill_leaves_goes_with_the_next_file_and_no_other_name_does(
    tmp_path: Path, kind: str
) -> None:
    path, other = tmp_path / "rows[1].csv", tmp_path / ".rows[1].csv.backup"
    path.write_text("what was there")
    other.write_text("somebody else's")
    assert subprocess.run([sys.executable, "-c", _KILLED, str(path), kind], check=False).returncode == -signal.SIGKILL
    [part] = tmp_path.glob(".rows[[]1].csv.*.part")
    assert set(tmp_path.iterdir()) == {part, other, path}
    assert path.read_text() == "what was there"
    with whole_file(path) as file:
        file.write("all of it")
    assert sorted(entry.name for entry in tmp_path.iterdir()) == [other.name, path.name]
    assert path.read_text() == "all of it"


def test_a_hidden_name_of_a_process_that_still_writes_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(whole_files, "_nameless_file", lambda _folder, _mode: None)
    path = tmp_path / "rows.csv"
    with whole_file(path) as first:
        first.write("first")
        with monkeypatch.context() as patch:
            patch.setattr(os, "getpid", lambda: 1)
            with whole_file(path) as second:
                second.write("second")
        assert path.read_text() == "second"
    assert path.read_text() == "first"
    assert os.listdir(tmp_path) == ["rows.csv"]  # noqa: PTH208 - with hidden ones


def test_a_file_is_on_the_disk_before_it_gets_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, seen, fsync = tmp_path / "rows.csv", [], os.fsync

    def synced(descriptor: int) -> None:
        if stat.S_ISREG(os.fstat(descriptor).st_mode):  # and not of the folder, which has the name by then
            seen.append((path.exists(), os.fstat(descriptor).st_size))
        fsync(descriptor)

    monkeypatch.setattr(whole_files.os, "fsync", synced)
    with whole_file(path) as file:
        file.write("all of it")
    assert seen == [(False, 9)]
