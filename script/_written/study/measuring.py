"""Runs the commands of docs/study.md on a file of alerts, keeps their figures, and writes the page with them."""

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
from string import Template
from typing import Any

import networkx
from datasketch import MinHash, MinHashLSH

from articles.normalization.text import normalize_text

CHECKOUT = Path(__file__).resolve().parents[3]
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
            _python(home, "manage.py", "migrate", "--verbosity=0")
            _python(home, "manage.py", "import_articles", str(source), "--no-progress")
            yield "exact", _report(home, "exact")
            _python(home, "manage.py", "find_duplicates", "--passes=minhash", "--no-progress")
            for name in REPORTS:
                yield name, _report(home, name, *(["--subset-check"] if name == "thresholds" else []))
            _python(home, "manage.py", "export_articles", f"--output={stored}", "--no-progress")
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
    return json.loads(_python(home, "manage.py", "report", name, *options, "--format=json"))


def _python(home: Path, *arguments: str) -> str:
    kept = {name: value for name, value in os.environ.items() if name not in ("DATABASE_URL", "DJANGO_SETTINGS_MODULE")}
    environment = kept | {"NEWSDEDUP_HOME": str(home)}
    command = [sys.executable, *arguments]
    return subprocess.run(command, cwd=CHECKOUT, env=environment, check=True, stdout=subprocess.PIPE, text=True).stdout


# ---- the pairs that datasketch finds with the parameters of the study, at each threshold ----


def datasketch_pairs(texts: Iterable[str], thresholds: Sequence[float]) -> dict[str, Any]:
    """Return how many pairs it finds at each threshold, and how many of these are missing at the next one; then None.

    Its candidates are compared exactly, so each pair has the score that it is counted by.
    """
    shingles = [{text[at : at + SHINGLE] for at in range(max(len(text) - SHINGLE + 1, 1))} for text in texts if text]
    sketches = [MinHash(num_perm=PERMUTATIONS) for _ in shingles]
    for sketch, of_text in zip(sketches, shingles, strict=True):
        sketch.update_batch([shingle.encode() for shingle in of_text])
    found = [_found(shingles, sketches, threshold) for threshold in thresholds]
    lost: list[int | None] = [len(pairs - lower) for pairs, lower in pairwise(found)]
    version = importlib.metadata.version("datasketch")
    return {"version": version, "found": [len(pairs) for pairs in found], "lost": [*lost, None]}


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


HERE = Path(__file__).parent
RESULTS = HERE / "results.json"
PAGE = CHECKOUT / "docs" / "study.md"
TOGETHER, DESCRIPTION = "together", "description"
_COUNTS = ("pairs", "exact", "partial", "same_headline", "same_text", "same_both", "new", "articles", "headline_again")
# What the page does not say of gaps, or says of all of a band.
_LEFT_OUT = {"timed", "far"}


def record(reports: dict[str, Any]) -> dict[str, Any]:
    """Return the counts of the reports of one installation, without names of websites and titles of articles."""
    thresholds, gaps, network = reports["thresholds"], reports["gaps"], reports["network"]
    return {
        "exact": reports["exact"],
        "bands": [_band(band) for band in thresholds["bands"]],
        "thresholds": [_band(threshold) for threshold in thresholds["thresholds"]],
        "subset": thresholds["subset"],
        "gaps": [{name: gap[name] for name in gap if name not in _LEFT_OUT} for gap in gaps["gaps"]],
        "far": gaps["far"],
        "advised": gaps["advised"],
        "policies": {
            policy["policy"]: {"removed": policy["removed"], "by_reason": policy["by_reason"]}
            for policy in reports["policies"]["policies"]
        },
        "websites": _websites(reports["sources"], network),
    }


def _band(found: dict[str, Any]) -> dict[str, Any]:
    bounds = {name: found[name] for name in ("lowest", "highest") if name in found}
    return bounds | {name: found["counts"][name] for name in _COUNTS}


def _websites(sources: dict[str, Any], network: dict[str, Any]) -> dict[str, int]:
    edges = [(edge["left_id"], edge["right_id"]) for edge in network["edges"]]
    newspapers = sources["newspapers"]
    return {
        "websites": len(newspapers),
        "sharing": len(network["nodes"]),
        "edges": len(edges),
        "most_shared": max((edge["pairs"] for edge in network["edges"]), default=0),
        "groups": networkx.number_connected_components(networkx.Graph(edges)),
        "duplicates": sum(newspaper["duplicates"] for newspaper in newspapers),
        "own": sum(newspaper["own_same_day"] + newspaper["own_other_day"] for newspaper in newspapers),
        "others": sum(newspaper["others_same_day"] + newspaper["others_other_day"] for newspaper in newspapers),
    }


def page_of(results: dict[str, Any]) -> str:
    """Return the page. Raises KeyError if it has a figure that the results do not give."""
    return Template((HERE / "study.md").read_text(encoding="utf-8")).substitute(dict(_figures(results)))


def _figures(results: dict[str, Any]) -> Iterator[tuple[str, str]]:
    both = {name: results[name] for name in (TOGETHER, DESCRIPTION)}
    together, articles = both[TOGETHER], both[DESCRIPTION]["exact"]["exact"]["articles"]
    yield from {"alerts": f"{results['alerts']:,}", "articles": f"{articles:,}"}.items()
    yield "repeated", str(results["alerts"] - articles)
    yield from _exact(both[DESCRIPTION]["exact"])
    yield from _thresholds(together["thresholds"], articles)
    yield "bands", "\n".join(_bands(both[DESCRIPTION]["bands"], articles))
    yield from _subset(together["subset"])
    yield from _datasketch(results["datasketch"], together["thresholds"])
    yield from _gaps(together["gaps"])
    for name, counts in both.items():
        *bands, in_all = counts["far"]
        for band in bands:
            yield f"far{band['lowest'] * 100:.0f}_{name}", _far_of(**band)
        yield f"farall_{name}", _far_of(**in_all)
        yield f"advised_{name}", str(counts["bands"][0]["pairs"])
        yield from _policies(name, counts["policies"], articles)
    yield "advised_days", str(together["advised"]["days"])
    yield "advised_share", f"{together['advised']['share']:.0%}"
    yield from ((name, f"{count:,}") for name, count in together["websites"].items())


def _of(count: int, whole: int) -> str:
    return f"{count:,} ({count / whole:.2%})"


def _exact(forms: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for form, counts in forms.items():
        for name in ("headline", "text", "both"):
            yield f"{form}_{name}", f"{counts[name]['groups']:,}"
        for name in ("any", "same_day", "other_day"):
            yield f"{form}_{name}", _of(counts[name], counts["articles"])


def _thresholds(thresholds: list[dict[str, Any]], articles: int) -> Iterator[tuple[str, str]]:
    for threshold in thresholds:
        begin = f"t{threshold['lowest'] * 100:.0f}"
        yield from ((f"{begin}_{name}", f"{threshold[name]:,}") for name in ("pairs", "exact", "partial", "new"))
        yield f"{begin}_articles", f"{threshold['articles'] / articles:.2%}"
        yield f"{begin}_headline_again", f"{threshold['headline_again'] / threshold['articles']:.2%}"


def _bands(bands: list[dict[str, Any]], articles: int) -> Iterator[str]:
    names = ("pairs", "exact", "partial", "same_headline", "same_text", "same_both", "new", "articles")
    for band in bands:
        cells = [f"{band[name]:,}" for name in names]
        yield f"| {_label(band)} | {' | '.join(cells)} | {band['articles'] / articles:.2%} |"


def _label(band: dict[str, Any]) -> str:
    return f"{_score(band['lowest'])} to {_score(band['highest'])}"


def _score(score: float) -> str:
    return "1" if score == 1 else f"{score:.2f}"[1:]


def _subset(subset: list[dict[str, Any]]) -> Iterator[tuple[str, str]]:
    rows = (
        f"| {_score(row['threshold'])} | {_score(row['lower'])} | {row['pairs']:,} | {row['missing']:,} | "
        f"{row['only_lower']:,} |"
        for row in subset
    )
    yield "subset", "\n".join(rows)
    missed = sum(row["only_lower"] for row in subset)
    yield "missed", f"It missed {missed:,} here." if missed else "It missed none here."


def _datasketch(datasketch: dict[str, Any], thresholds: list[dict[str, Any]]) -> Iterator[tuple[str, str]]:
    yield "datasketch_version", datasketch["version"]
    found, lost = datasketch["found"], datasketch["lost"]
    rows = [
        f"| {_score(threshold['lowest'])} | {threshold['pairs']:,} | {mine:,} | {'' if gone is None else gone} |"
        for threshold, mine, gone in zip(thresholds, found, lost, strict=True)
    ]
    yield "datasketch", "\n".join(rows).replace("|  |", "| |")
    shares = [1 - mine / threshold["pairs"] for threshold, mine in zip(thresholds, found, strict=True)]
    yield from {"missed_least": f"{min(shares):.0%}", "missed_most": f"{max(shares):.0%}"}.items()
    yield "lost", f"{sum(filter(None, lost))}"


def _gaps(gaps: list[dict[str, Any]]) -> Iterator[tuple[str, str]]:
    rows = []
    for gap in gaps:
        website = "the same" if gap["same_newspaper"] else "two"
        unknown = gap["mean"] is None
        days = ["", "", ""] if unknown else [f"{gap['quantiles'][2]:g}", f"{gap['mean']:.1f}", gap["longest"]]
        cells = [_label(gap), website, gap["pairs"], gap["same_day"], gap["later"], *days]
        rows.append(f"| {' | '.join(map(str, cells))} |")
    yield "gaps", "\n".join(rows)
    below = [gap for gap in gaps if gap["highest"] < 1]
    for name, same in (("same", True), ("two", False)):
        medians = [row["quantiles"][2] for row in below if row["same_newspaper"] is same and row["quantiles"]]
        yield from {f"{name}_least": f"{min(medians):g}", f"{name}_most": f"{max(medians):g}"}.items()
    hours = [row["median_hours"] for row in below if not row["same_newspaper"]]
    yield from {"least_hours": f"{min(hours):.1f}", "most_hours": f"{max(hours):.1f}"}.items()


def _far_of(far: int, later: int, **_band: float) -> str:
    return f"{far:,} of {later:,}" + (f" ({far / later:.2%})" if far else "")


def _policies(name: str, policies: dict[str, Any], articles: int) -> Iterator[tuple[str, str]]:
    syndication = policies["keep-syndication"]["by_reason"]
    later = sum(syndication.get(f"same newspaper, {which} day", 0) for which in ("later", "earlier"))
    counts = {
        "one": policies["one-per-cluster"]["removed"],
        "day": syndication.get("same newspaper, same day", 0),
        "later": later,
        "drop": policies["drop-all-copies"]["removed"],
    }
    yield from ((f"{name_of_count}_{name}", _of(count, articles)) for name_of_count, count in counts.items())
