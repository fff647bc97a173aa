"""What commands say when what they write to is full: one sentence, and nothing half-written is left."""

import errno
import gc
import gzip
import io
import os
import re
import resource
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from articles.files.whole_files import UnwritableError, whole_file, writing
from articles.models import Article, ArticlePage
from tests.conftest import StoreArticle
from tests.databases import child_environment, run_python
from tests.factories import make_pair

FULL = Path("/dev/full")
LIMIT = 3_000  # bytes of a file
STDOUT_FULL = (
    "standard output cannot be written: No space left on device; send it elsewhere, then run the same command again."
)
REMEDY = "Make room or send it elsewhere, then run this again"
TOO_LARGE = (
    "{} cannot be written: File too large (this process may write at most 3,000 bytes to a file); raise the limit "
    "(ulimit -f), then run the same command again."
)

pytestmark = pytest.mark.skipif(not FULL.exists(), reason="this system has no /dev/full")


@contextmanager
def small_files() -> Iterator[None]:
    """Let the kernel refuse to make a file longer than LIMIT."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (LIMIT, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def manage(*arguments: str, stdout: object) -> tuple[int, str]:
    """Run a command in a process of its own; return its exit status and what it says."""
    done = run_python("manage.py", *arguments, stdout=stdout, **child_environment())
    return done.returncode, done.stderr


def fault_of(command: object, *arguments: str, **streams: object) -> str:
    with pytest.raises(CommandError) as raised:
        call_command(command, *arguments, **({"stdout": io.StringIO(), "stderr": io.StringIO()} | streams))
    said = str(raised.value)
    # The rows that were not written any more keep a transaction open as long as somebody knows them.
    del raised
    gc.collect()
    return said


@pytest.fixture
def long_articles(db: None, store: StoreArticle) -> list[Article]:
    """A pair of articles with pages and later versions; each is longer than a file may be, also compressed."""
    found = []
    for place in range(2):
        text = os.urandom(20 * LIMIT).hex()
        article = store(text, headline=f"{place} {text[:1900]}", url=f"https://paper.example/story-{place}")
        ArticlePage.objects.create(article=article, url=article.url, body=gzip.compress(os.urandom(20 * LIMIT)))
        found.append(article)
    make_pair(*found, trigram=0.9)
    return found


@pytest.mark.django_db(transaction=True)
def test_standard_output_that_is_full_is_one_sentence(store: StoreArticle) -> None:
    store("A short text, which is written only when the command ends.")
    with FULL.open("w") as full:
        assert manage("export_articles", stdout=full) == (1, f"CommandError: {STDOUT_FULL}\n")
        status, said = manage("diffsettings", stdout=full)  # a command of Django's own
    assert (status, said) == (1, f"Standard output cannot be written: No space left on device. {REMEDY}.\n")


@pytest.mark.django_db(transaction=True)
def test_a_reader_that_has_gone_gets_no_words(store: StoreArticle) -> None:
    store("A text that nobody reads.")
    read, write = os.pipe()
    os.close(read)
    assert manage("export_articles", stdout=write) == (1, "")
    os.close(write)


@pytest.mark.slow
@pytest.mark.parametrize(
    "command",
    [
        "articles export_articles --format=jsonl",
        "articles export_articles --format=csv",
        "articles export_revisions --format=csv",
        "dedup export pairs --format=jsonl",
        "dedup export clusters --format=csv",
        "dedup export decisions --format=csv",
        "dedup export lineage --format=csv",
        "dedup export validation --seed=1",
        "dedup report overview",
        "dedup report overview --format=json",
        "dedup fit_verdicts --list",
        "newsdedup_site version",
        "crawlers demo_newspapers --manifest",
    ],
)
def test_every_command_names_the_full_standard_output(long_articles: list[Article], command: str) -> None:
    app, name, *arguments = command.split()
    with FULL.open("wb", buffering=0) as raw, io.TextIOWrapper(raw, write_through=True) as full:
        made = import_module(f"{app}.management.commands.{name}").Command(stdout=full)
        assert fault_of(made, *arguments, stdout=None) == STDOUT_FULL


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("export_articles", "--output=a.jsonl"), "a.jsonl"),
        (("export_articles", "--output=a.jsonl.gz"), "a.jsonl.gz"),
        (("export_articles", "--output=a.csv"), f"a temporary file in {tempfile.gettempdir()} (TMPDIR)"),
        (("export", "pairs", "--output=a.csv"), "a.csv"),
        (("export_corpus", "--policy=keep-all", "--output=a.jsonl"), "a.jsonl"),
        (
            ("export_corpus", "--policy=keep-all", "--output=a.parquet"),
            f"a temporary file in {tempfile.gettempdir()} (TMPDIR)",
        ),
        (("export_warc", "a.warc.gz"), "a.warc.gz"),
        (("export", "validation", "--seed=1", "--texts", "--output=a.jsonl"), "a.jsonl"),
        (("export_detection", "bundle"), "bundle"),
    ],
)
def test_a_file_that_cannot_be_written_leaves_what_was_there(
    long_articles: list[Article],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: tuple[str, ...],
    named: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    old = {f"a{ending}": b"old" for ending in (".jsonl", ".csv", ".parquet", ".warc.gz", ".removed.jsonl", ".json")}
    for name, content in old.items():
        Path(name).write_bytes(content)
    with small_files():
        assert fault_of(*arguments) == TOO_LARGE.format(named)
    assert {str(path): path.read_bytes() for path in Path().rglob("*") if path.is_file()} == old


def test_rejected_rows_that_cannot_be_written_name_their_file(db: None, tmp_path: Path) -> None:
    source, rejects = tmp_path / "a.csv", tmp_path / "rejects.jsonl"
    rows = [f"2026-03-02,One,,{'x' * 20},Post\n"] * 100  # without a URL
    source.write_text("date,headline,url,content,newspaper\n" + "".join(rows))
    with small_files():
        assert fault_of("import_articles", str(source), f"--rejects={rejects}") == TOO_LARGE.format(rejects)


def test_a_full_disk_names_what_is_free_and_the_remedy(tmp_path: Path) -> None:
    with pytest.raises(UnwritableError) as raised, writing("a.jsonl", tmp_path), FULL.open("w") as full:
        full.write("text")
    assert re.fullmatch(
        r"a\.jsonl cannot be written: No space left on device \(it needs more than the [\d,]+\.\d MB that are free in "
        rf"{tmp_path}\); make room or choose another folder, then run the same command again",
        str(raised.value),
    )


def test_a_read_only_folder_is_named_with_what_a_container_needs(tmp_path: Path) -> None:
    said = rf"Read-only file system; {tmp_path} is read-only: choose another folder \(for a container, mount one: docs/"
    with pytest.raises(UnwritableError, match=said), writing("a.jsonl", tmp_path):
        raise OSError(errno.EROFS, "read-only")


def test_a_folder_without_permission_is_named(tmp_path: Path) -> None:
    folder = tmp_path / "file"
    folder.touch()
    why = rf"cannot be written: Not a directory; check {folder}, then"
    with pytest.raises(UnwritableError, match=why), whole_file(folder / "a.jsonl"):
        pass
