"""Runs the commands of docs/study.md on a file of alerts, in two installations of their own."""

from __future__ import annotations

import csv
import gzip
import html
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from articles.normalization.text import normalize_text
from tests.study.datasketch import datasketch_pairs
from tests.study.page import DESCRIPTION, TOGETHER, record

CHECKOUT = Path(__file__).resolve().parents[2]
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
