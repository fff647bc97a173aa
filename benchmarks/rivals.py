"""newsdedup and its rivals on the same articles, judged by what editors say of labelled pairs."""

import argparse
import sys
import tempfile
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from benchmarks import database
from benchmarks.corpus import Source, articles, write_files
from benchmarks.measuring import MeasuringError, Server, Usage, measure
from benchmarks.passes import Benchmark
from benchmarks.results import RivalResult
from benchmarks.rival_jobs import JOBS
from dedup.models import Pair
from dedup.research.labels import Label, Named, find_articles, read_label_files
from tests.databases import child_environment

Pairs = Collection[tuple[int, int]]
NEWSDEDUP = "newsdedup"
# As users run it; $0 is Python, and $1 the file.
_COMMANDS = '"$0" manage.py import_articles "$1" --no-progress && "$0" manage.py find_duplicates --no-progress'


class RivalBenchmark(Benchmark):
    """newsdedup and its rivals on the same articles, judged by what editors say of labelled pairs.

    Each does its whole job, from a file to pairs, in processes of its own. Articles keep their own dates: the last ones
    of the file, or all and copies of them at later dates. Labels whose articles are not among them are left out.
    """

    sizes = [20_000, 100_000]
    name = "rivals"

    def __init__(self, options: argparse.Namespace, sources: Sequence[Source], server: Server) -> None:
        super().__init__(options, sources, server)
        if not options.labels:
            raise MeasuringError("give the labelled pairs too: --labels LABELS.jsonl")
        try:
            self.labels, problems = read_label_files(options.labels)
        except ValueError as error:  # its message says which file, and what to do
            raise MeasuringError(str(error)) from error
        self.given = len(self.labels) + len(problems)

    @classmethod
    def add_options(cls, parser: argparse.ArgumentParser) -> None:
        """Declare the options."""
        super().add_options(parser)
        parser.add_argument("--labels", type=Path, nargs="+", help="labelled pairs, in the format of evaluate --labels")
        everyone = [NEWSDEDUP, *JOBS]
        parser.add_argument("--only", nargs="+", choices=everyone, default=everyone, help="these alone")

    def measure(self, size: int) -> None:
        """Measure all on so many articles."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "articles.jsonl.gz"
            rows = list(articles(self.sources, size, per_day=None))
            write_files(rows, [(path, size)])
            labels = placed(self.labels, self.sources, {row["url"]: place for place, row in enumerate(rows)})
            for name in self.options.only:
                self.console.print(f"{size:,} articles, {len(labels)} labelled pairs: {name}")
                usage, known, pairs = (self._newsdedup if name == NEWSDEDUP else self._rival)(name, path, labels)
                result = RivalResult(size, len(known), self.given, name, len(pairs), taken(known, pairs), usage)
                self.results.rivals.append(result)
                self.write()

    def _newsdedup(self, _name: str, path: Path, labels: list[Label]) -> tuple[Usage, list[Label], Pairs]:
        """Return the cost, the labels by stored articles, and the pairs with the verdict “duplicate”."""
        command, usages = ["sh", "-c", _COMMANDS, sys.executable, str(path)], []
        for _ in range(self.options.repeat):
            database.empty()
            database.settle()
            usages.append(measure(command, self.server, child_environment())[0])
        pairs = set(Pair.objects.filter(verdict="duplicate").values_list("left", "right"))
        return min(usages, key=lambda usage: usage.cpu), find_articles(labels)[0], pairs

    def _rival(self, name: str, path: Path, labels: list[Label]) -> tuple[Usage, list[Label], Pairs]:
        """Return the cost, the labels by places in the file, and the pairs that it finds."""
        output = path.with_name("pairs.npy")
        command = [sys.executable, "-m", "benchmarks.rival_jobs", name, str(path), str(output)]
        usage, _ = measure(command, self.server, {}, repeat=self.options.repeat)
        usage = replace(usage, server_cpu=0.0, server_memory=0.0)  # of an idle server
        return usage, labels, set(map(tuple, np.load(output).tolist()))


def placed(labels: Sequence[Label], sources: Sequence[Source], places: Mapping[str, int]) -> list[Label]:
    """Return the labels whose two articles are in the file, by their URLs and places in it."""
    urls = {source.external_id: source.url for source in sources if source.external_id}
    found = []
    for label in labels:
        ends = sorted(
            {urls.get(end.external_id, end.url) for end in label.ends} & places.keys(), key=places.__getitem__
        )
        if len(ends) == 2:
            one, other = (Named(url=url) for url in ends)
            found.append(replace(label, ends=(one, other), left=places[one.url], right=places[other.url]))
    return found


def taken(labels: Sequence[Label], pairs: Pairs) -> dict[str, list[float]]:
    """Return by label how many labelled pairs are among `pairs`, how many there are, and the same by weight."""
    judged: dict[str, list[float]] = {}
    for label in labels:
        found = (label.left, label.right) in pairs
        counts = (found, 1, found * label.weight, label.weight)
        judged[label.label] = [sum(both) for both in zip(judged.get(label.label, [0] * 4), counts, strict=True)]
    return judged
