"""Runs the commands of docs/study.md on a file of alerts, in two installations of their own."""

from __future__ import annotations

import csv
import gzip
import html
import importlib.metadata
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from datasketch import MinHash, MinHashLSH

from articles.normalization.text import normalize_text
from tests.study.page import DESCRIPTION, TOGETHER, record

CHECKOUT = Path(__file__).resolve().parents[2]
SHINGLE, PERMUTATIONS = 5, 256
REPORTS = ("thresholds", "gaps", "policies", "sources", "network")


def results_of(alerts: Path) -> dict[str, Any]:
    """Return what the page shows: the counts of descriptions alone and together with titles, and datasketch's."""
    results: dict[str, Any] = {"alerts": sum(1 for _ in _rows(alerts))}
    for name in (TOGETHER, DESCRIPTION):
        reports = dict(_installation(alerts, together=name == TOGETHER))
        texts = reports.pop("texts")
        results[name] = json.loads(json.dumps(record(reports)))
        if name == TOGETHER:
            results["datasketch"] = datasketch_pairs(
                texts, [threshold["lowest"] for threshold in reports["thresholds"]["thresholds"]]
            )
    return results


def _installation(alerts: Path, *, together: bool) -> Iterator[tuple[str, Any]]:
    with tempfile.TemporaryDirectory(prefix="newsdedup-study-") as folder:
        Path(folder).chmod(0o711)  # root starts the server as another user
        home, source, stored = (Path(folder) / name for name in ("home", "alerts.csv", "stored.jsonl"))
        _write(alerts, source, together=together)
        try:
            _manage(home, "migrate", "--verbosity=0")
            _manage(home, "import_articles", str(source), "--no-progress")
            yield "exact", _report(home, "exact")
            _manage(home, "find_duplicates", "--passes=minhash", "--no-progress")
            for name in REPORTS:
                yield name, _report(home, name, *(["--subset-check"] if name == "thresholds" else []))
            _manage(home, "export_articles", f"--output={stored}", "--no-progress")
            yield "texts", [normalize_text(json.loads(line)["content"]) for line in stored.open(encoding="utf-8")]
        finally:
            _python(home, "-m", "newsdedup_site.embedded", "stop")


def _rows(alerts: Path) -> Iterator[dict[str, str]]:
    with gzip.open(alerts, "rt", newline="", encoding="utf-8") as source:
        yield from csv.DictReader(source)


def _write(alerts: Path, target: Path, *, together: bool) -> None:
    names = ["time", "title", "content" if together else "description", "link"]
    with target.open("w", newline="", encoding="utf-8") as file:
        out = csv.DictWriter(file, names, extrasaction="ignore")
        out.writeheader()
        for row in _rows(alerts):
            out.writerow(row | {"content": f"{plain(row['title'])}. {plain(row['description'])}"})


def plain(text: str) -> str:
    """Return a text without HTML, as the page does it."""
    return html.unescape(re.sub("<[^>]*>", "", text))


def _report(home: Path, name: str, *options: str) -> Any:
    return json.loads(_manage(home, "report", name, *options, "--format=json"))


def _manage(home: Path, *arguments: str) -> str:
    return _python(home, "manage.py", *arguments)


def _python(home: Path, *arguments: str) -> str:
    command = [sys.executable, *arguments]
    return subprocess.run(
        command, cwd=CHECKOUT, env=_environment(home), check=True, stdout=subprocess.PIPE, text=True
    ).stdout


def _environment(home: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name not in ("DATABASE_URL", "DJANGO_SETTINGS_MODULE")}
    return kept | {"NEWSDEDUP_HOME": str(home)}


# ---- the pairs that datasketch finds with the parameters of the study, at each threshold ----


def datasketch_pairs(texts: Iterable[str], thresholds: Sequence[float]) -> dict[str, Any]:
    """Return how many pairs it finds at each threshold, and how many of these are missing at the next one; then None.

    Its candidates are compared exactly, so each pair has the score that it is counted by.
    """
    shingles = [{text[at : at + SHINGLE] for at in range(max(len(text) - SHINGLE + 1, 1))} for text in texts if text]
    sketches = [_sketch(shingle) for shingle in shingles]
    found = [_found(shingles, sketches, threshold) for threshold in thresholds]
    lost: list[int | None] = [len(pairs - lower) for pairs, lower in pairwise(found)]
    version = importlib.metadata.version("datasketch")
    return {"version": version, "found": [len(pairs) for pairs in found], "lost": [*lost, None]}


def _sketch(shingles: set[str]) -> MinHash:
    sketch = MinHash(num_perm=PERMUTATIONS)
    sketch.update_batch([shingle.encode() for shingle in shingles])
    return sketch


def _found(shingles: Sequence[set[str]], sketches: Sequence[MinHash], threshold: float) -> set[tuple[int, int]]:
    index = MinHashLSH(threshold=threshold, num_perm=PERMUTATIONS)
    pairs: set[tuple[int, int]] = set()
    for number, sketch in enumerate(sketches):
        for other in index.query(sketch):
            both = len(shingles[number] & shingles[other])
            if both / (len(shingles[number]) + len(shingles[other]) - both) >= threshold:
                pairs.add((other, number))
        index.insert(number, sketch)
    return pairs
