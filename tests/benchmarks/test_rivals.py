"""The rivals' jobs, and how they and newsdedup are judged."""

import datetime
import random
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from django.core.management import call_command

from benchmarks.corpus import Source, articles, write_files
from benchmarks.dense import words
from benchmarks.measuring import CHECKOUT, Usage
from benchmarks.results import Results, RivalResult
from benchmarks.rival_jobs import JOBS
from benchmarks.rivals import placed, taken
from dedup.research.labels import Label, Named, find_articles

COPIED, DAY, SITE = [0, 12, 24, 36], datetime.date(2026, 3, 1), "https://paper.example"
LABELS = [Label(n, (Named(f"b{n}"), Named(f"a{n}")), "D", weight=n + 1.0) for n in COPIED]
LABELS += [Label(50, (Named(url=f"{SITE}/a1"), Named("a2")), "T"), Label(51, (Named("a3"), Named("gone")), "T")]


def made_up() -> list[Source]:
    """Return articles, of which some come again the day after with three other words."""
    dice, known, found = random.Random(7), words(3_000), []
    for number in range(60):
        text, day = dice.choices(known, k=120), DAY + datetime.timedelta(days=number // 24)
        found.append(Source(day, "Post", " ".join(text[50:56]), f"{SITE}/a{number}", "-", " ".join(text), f"a{number}"))
        if number in COPIED:
            day, text[60:63] = day + datetime.timedelta(days=1), dice.choices(known, k=3)
            found.append(
                Source(day, "Herald", found[-1].headline, f"{SITE}/b{number}", "-", " ".join(text), f"b{number}")
            )
    return found


@pytest.mark.django_db
def test_each_rival_finds_the_copies_alone_and_labels_are_of_places_and_of_stored_articles(tmp_path: Path) -> None:
    sources, path, output = made_up(), tmp_path / "news.jsonl.gz", tmp_path / "pairs.npy"
    rows = list(articles(sources, len(sources) + 1, per_day=None))
    write_files(rows[:-1], [(path, len(rows))])
    assert (rows[0]["date"], rows[-2]["date"], rows[-1]["date"]) == ("2026-03-01", "2026-03-03", "2026-04-02")
    labels = placed(LABELS, sources, {row["url"]: place for place, row in enumerate(rows)})
    assert (rows[labels[4].left]["url"], rows[labels[4].right]["url"], len(labels)) == (f"{SITE}/a1", f"{SITE}/a2", 5)
    for name in JOBS:
        if find_spec("sklearn" if name.startswith("TF-IDF") else name.lower()):  # of the extra `benchmarks`
            command = [sys.executable, "-m", "benchmarks.rival_jobs", name, str(path), str(output)]
            subprocess.run(command, cwd=CHECKOUT, check=True, capture_output=True)
            assert set(map(tuple, np.load(output))) == {(label.left, label.right) for label in labels[:4]}, name
    call_command("import_articles", str(path), no_progress=True)
    assert [label.line for label in find_articles(labels)[0]] == [*COPIED, 50]
    usage = Usage(wall=2.0, command_cpu=4.0, server_cpu=6.0, command_memory=40.0, server_memory=50.0)
    row = RivalResult(65, 5, 6, "newsdedup", 1, taken(labels, {(labels[1].left, labels[1].right)}), usage)
    results = Results.from_json(Results({}, {}, rivals=[row]).to_json())
    found = ("65", "5 of 6", "newsdedup", "1", "0.171 (1 of 4)", "", "0.000 (0 of 1)", "", "")
    assert results.sheets()["rivals"][0].rows == [(*found, "10.0 (6.00)", "2.00", "40 (50)")]
