"""Imports a file of articles into a scratch schema and runs the detection there, with labelled pairs to measure it."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeVar

from django.core.management import call_command

from articles.boilerplate.mode import Mode
from articles.files.formats import source_named
from dedup.detection.runs.pipeline import run_detection
from dedup.detection.runs.profiles import Configs, choose_passes
from dedup.detection.runs.progress import run_progress
from dedup.detection.runs.scope import Scope
from dedup.detection.runs.starting import start_run
from dedup.models import DetectionRun, FittedModel, Profile
from dedup.research.labels import FoundPair, Label, LabelsError, Problem, find_labelled, read_label_files
from dedup.research.scratch import scratch_schema

Found = TypeVar("Found")


@dataclass(frozen=True, slots=True)
class Detection:
    """How the detection runs: the profile, its configs as the options change them, and where messages go.

    Without `judging`, no pass runs and no pair is judged: what the features of pairs rest on is made, and no more.
    """

    profile: Profile
    configs: Configs
    boilerplate: Mode
    workers: int
    show_progress: bool
    say: Callable[[str], object]
    judging: bool = True


@dataclass(frozen=True, slots=True)
class Corpus:
    """A file of articles and files of labels of its pairs, already read, so that bad files stop a command early."""

    articles: Path
    paths: tuple[Path, ...]
    labels: Sequence[Label]
    problems: Sequence[Problem]


@dataclass(frozen=True, slots=True)
class Detected:
    """A finished run, and the labelled pairs of its articles; rows that do not count are in `problems`."""

    run: DetectionRun
    found: Sequence[FoundPair]
    problems: Sequence[Problem]


def read_corpus(articles: str, labels: Sequence[str]) -> Corpus:
    """Read the labels of a corpus, and check that its file of articles can be opened.

    Raises FileUsageError, UnreadableFileError and LabelsError.
    """
    paths = tuple(map(Path, labels))
    return Corpus(readable_articles(articles), paths, *read_label_files(paths))


def readable_articles(name: str) -> Path:
    """Return the path of a file of articles that can be opened. Raises FileUsageError and UnreadableFileError."""
    with source_named(name).open():
        return Path(name)


def read_corpora(named: Sequence[Sequence[str]]) -> dict[str, Corpus]:
    """Return corpora by name; each is named by its file of articles and its files of labels, in this order.

    Raises LabelsError, FileUsageError and UnreadableFileError.
    """
    if alone := [articles for articles, *labels in named if not labels]:
        raise LabelsError(f"--corpus {alone[0]} has no labels; name its files of labels after the file of articles")
    corpora = [read_corpus(articles, labels) for articles, *labels in named]
    return dict(zip(_names(corpora), corpora, strict=True))


def _names(corpora: Sequence[Corpus]) -> list[str]:
    """Return a name for each corpus: that of its file of articles, and those of its labels where they share one."""
    names = [_stem(corpus.articles) for corpus in corpora]
    told_apart = [
        f"{name}: {', '.join(map(_stem, each.paths))}" if names.count(name) > 1 else name
        for name, each in zip(names, corpora, strict=True)
    ]
    if len(set(told_apart)) < len(told_apart):
        listed = ", ".join(told_apart)
        raise LabelsError(f"two corpora have files of the same names ({listed}); rename one, or leave one out")
    return told_apart


def _stem(path: Path) -> str:
    return path.name.partition(".")[0]


@contextmanager
def detected(corpus: Corpus, how: Detection) -> Iterator[Detected]:
    """Import the articles of a corpus into a schema of its own, and run there; the schema is dropped at the end.

    The model is the installation's. Raises LabelsError before the run if the labels name none of the articles.
    """
    with run_apart(corpus.articles, how, partial(find_labelled, corpus.labels, corpus.problems, corpus.paths)) as each:
        run, (found, problems) = each
        yield Detected(run, found, problems)


@contextmanager
def run_apart(articles: Path, how: Detection, find: Callable[[], Found]) -> Iterator[tuple[DetectionRun, Found]]:
    """Import a file of articles into a schema of its own, and run there; the schema is dropped at the end.

    `find` looks for what is to be measured; it is called after the import, so that it may stop the command before the
    run. Yields the finished run and what was found.
    """
    model = FittedModel.objects.filter(in_use=True).first()
    kept = {name: getattr(how.profile, name) for name in ("settings", "versions_join", "boilerplate")}
    with scratch_schema():
        if model:
            FittedModel.objects.create(content=model.content, decisions=model.decisions, in_use=True)
        _import(articles, how)
        found = find()
        profile, _ = Profile.objects.update_or_create(name=how.profile.name, defaults=kept)
        # No other process uses this schema, so a run here needs no lock and does not wait for other runs.
        scope = Scope(boilerplate=how.boilerplate)
        with run_progress(show=how.show_progress) as progress:
            configs = how.configs if how.judging else choose_passes(how.configs, ())
            run = start_run(configs, scope, profile=profile)
            run_detection(run, configs, scope, progress=progress, workers=how.workers)
        yield run, found


def _import(articles: Path, how: Detection) -> None:
    """Import the articles, and print its messages at the end: an import that stops here cannot be resumed."""
    messages = io.StringIO()
    try:
        call_command(
            "import_articles", str(articles), no_progress=not how.show_progress, stdout=messages, stderr=messages
        )
    except SystemExit:
        raise KeyboardInterrupt from None
    how.say(messages.getvalue().rstrip())
