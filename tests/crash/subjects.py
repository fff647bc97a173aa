"""The commands that are killed: from which state, with which options, what they write, and how a user goes on."""

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random

from articles.warc import ArchivedPage, read_pages
from tests.crash.installation import Installation
from tests.crawlers.conftest import in_a_hurry, served
from tests.crawlers.pages import article_page

# What can happen to every command, and to those alone that have workers or write files.
PROCESS = ("kill", "kill soon", "terminate")
DATABASE = ("backend", "server", "immediate stop", "data disk full")
FILES = ("die at a write", "file too large", "output disk full")
_WORKERS = ("worker",)

Content = Callable[[Path], object]


@dataclass(frozen=True)
class Subject:
    """A command and how it is tried.

    `before` are the steps that lead from `state` to where it begins. `again` are functions of tests.crash.states: what
    a user does before the command is run again. It has ended well with one of `statuses`. `written` are its files, and
    `content` is what of them must be the same each time.
    """

    name: str
    state: str
    arguments: Sequence[str]
    faults: Sequence[str] = PROCESS + DATABASE
    again: Sequence[str] = ()
    statuses: Sequence[int] = (0,)
    written: Sequence[str] = ()
    content: Content = Path.read_bytes
    reads: str = ""  # the state that leaves a file for it


def _pages_of(path: Path) -> object:
    with path.open("rb") as stream:
        found = list(read_pages(stream))
    return [(page.url, hashlib.sha256(page.body).hexdigest()) for page in found if isinstance(page, ArchivedPage)]


def _detection_of(folder: Path) -> object:
    """Return an export for a cluster: its manifest without the moment, and its files; nothing without a manifest."""
    if not (folder / "manifest.json").exists():
        return None
    manifest = json.loads((folder / "manifest.json").read_text())
    del manifest["made_at"]
    files = {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*.parquet"))}
    return manifest, files


def _exports() -> list[Subject]:
    faults = PROCESS + DATABASE[:3] + FILES
    plain = {
        "export_articles csv": ("export_articles", "--output=a.csv", "--boilerplate=story"),
        "export_articles jsonl": ("export_articles", "--output=a.jsonl"),
        "export_clusters": ("export", "clusters", "--output=a.csv"),
        "export_decisions": ("export", "decisions", "--output=a.jsonl"),
        "export_lineage": ("export", "lineage", "--output=a.csv"),
        "export_pairs": ("export", "pairs", "--output=a.csv"),
        "export_validation": ("export", "validation", "--sample=crash", "--texts", "--output=a.csv"),
    }
    found = [
        Subject(name, "sample", command, faults, written=[command[1 if "=a." in command[1] else -1].split("=")[1]])
        for name, command in plain.items()
    ]
    corpus = ("export_corpus", "--policy=one-per-cluster", "--output=c.parquet")
    files = ["c.parquet", "c.removed.parquet", "c.json"]
    return [
        *found,
        Subject("export_pairs gz", "sample", ("export", "pairs", "--output=a.csv.gz"), faults, written=["a.csv.gz"]),
        Subject("export_corpus", "sample", corpus, faults, written=files),
        Subject("export_detection", "sample", ("export_detection", "d"), faults, written=["d"], content=_detection_of),
        Subject("export_warc", "pages", ("export_warc", "p.warc.gz"), faults, written=["p.warc.gz"], content=_pages_of),
    ]


def _writers(files: Path) -> list[Subject]:
    rows, labels = str(files / "articles.jsonl"), str(files / "labels.jsonl")
    pages, found = str(files / "pages.warc.gz"), str(files / "detection")
    detect = ("-m", "tests.dedup.runs.detect", "--workers=2", "--boilerplate=story")
    find = ("find_duplicates", "--boilerplate=story", "--workers=1")
    merge = ("merge_newspapers", "Inland Courier", "Harbour Post")
    worker = ("db_worker", "--batch")
    return [
        Subject("import_articles", "empty", ("import_articles", rows, "--batch-size=25", "--workers=1")),
        Subject("import_warc", "empty", ("import_warc", pages, "--workers=1")),
        Subject("crawl", "newspaper", ("crawl", "Fjordbladet", *in_a_hurry("--set"))),
        Subject("find_duplicates", "news", find),
        Subject("find_duplicates, workers", "news", detect, PROCESS + DATABASE + _WORKERS),
        Subject("find_boilerplate", "news", ("find_boilerplate", "--workers=1")),
        Subject("reextract", "old texts", ("reextract", "--batch-size=10", "--workers=1")),
        Subject("renormalize", "old forms", ("renormalize", "--batch-size=50", "--workers=1")),
        Subject("fit_verdicts", "decisions", ("fit_verdicts", "--switch-on")),
        # The second time, the newspaper is merged already, which is wrong usage.
        Subject("merge_newspapers", "news", merge, statuses=(0, 2)),
        Subject("import_labels", "sample", ("import_labels", "crash", labels, "--reader=mara")),
        Subject("import_detection", "news", ("import_detection", found, "--workers=1"), reads="results"),
        Subject("db_worker: a run", "queued run", worker, again=("half_a_minute_later",)),
        Subject("db_worker: an import", "queued import", worker, again=("half_a_minute_later",)),
    ]


def subjects(files: Path) -> list[Subject]:
    """Return all; `files` is the folder of the files that they read."""
    return [*_writers(files), *_exports()]


def make_states(installation: Installation, url: str, wanted: set[str]) -> None:
    """Make the states of these names, and the files that commands read."""
    files = installation.folder / "files"
    files.mkdir(exist_ok=True)
    installation.prepare("file_of_articles", str(files / "articles.jsonl"))
    installation.prepare("archive_of_pages", str(files / "pages.warc.gz"))
    installation.keep("empty")
    steps = _steps(files, url)
    for state in reversed(steps):
        if state in wanted:
            wanted |= {steps[state][0]}
    for state, (before, taken) in steps.items():
        if state in wanted:
            installation.put_back(before)
            for step in taken:
                if step[0] != "manage":
                    installation.prepare(*step)
                elif (done := installation.run(*step[1:])).status:
                    raise RuntimeError(f"{' '.join(step)} failed: {done.errors}")
            installation.keep(state)


def _steps(files: Path, url: str) -> dict[str, tuple[str, Sequence[Sequence[str]]]]:
    """Return, by state, the state before it and the steps that lead from there to it."""
    warc = ("manage", "import_warc", str(files / "pages.warc.gz"), "--workers=1", "--no-progress")
    return {
        "newspaper": ("empty", [("newspaper", url)]),
        "pages": ("empty", [warc]),
        "old texts": ("pages", [("outdated_texts",)]),
        "queued import": ("empty", [("upload", str(files / "articles.jsonl"))]),
        "news": ("empty", [("news",)]),
        "results": ("news", [("results", str(files / "detection"))]),
        "old forms": ("news", [("outdated_forms",)]),
        "decisions": ("news", [("enough_decisions",)]),
        "sample": ("news", [("sample", str(files / "labels.jsonl"))]),
        "queued run": ("news", [("queue_run",)]),
    }


_ARTICLES = 40
# Letters of words that no stop list knows.
_LETTERS = "abdeghiklmnoprstuw"


def story(place: int) -> tuple[str, str]:
    """Return the headline and the text of an invented article."""
    dice = Random(place)

    def sentence() -> str:
        words = ["".join(dice.choices(_LETTERS, k=dice.randint(3, 8))) for _ in range(14)]
        return f"{' '.join(words).capitalize()}."

    return sentence()[:40], " ".join(sentence() for _ in range(6))


@contextmanager
def newspaper() -> Iterator[str]:
    """Serve a newspaper; give its URL."""
    with served() as site:
        paths = [f"/2024/05/story-{place}" for place in range(_ARTICLES)]
        for place, path in enumerate(paths):
            site.add(path, article_page(*story(1_000 + place)))
        site.feed(*paths)
        yield site.url
