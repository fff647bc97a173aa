"""What is kept of the reports, and docs/study.md, which is tests/study/study.md with the figures of it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from string import Template
from typing import Any

import networkx

HERE = Path(__file__).parent
RESULTS = HERE / "results.json"
PAGE = HERE.parents[1] / "docs" / "study.md"
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
        yield from _far(name, counts["far"])
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
    yield "gaps", "\n".join(map(_gap, gaps))
    below = [gap for gap in gaps if gap["highest"] < 1]
    for name, same in (("same", True), ("two", False)):
        medians = [row["quantiles"][2] for row in below if row["same_newspaper"] is same and row["quantiles"]]
        yield from {f"{name}_least": f"{min(medians):g}", f"{name}_most": f"{max(medians):g}"}.items()
    hours = [row["median_hours"] for row in below if not row["same_newspaper"]]
    yield from {"least_hours": f"{min(hours):.1f}", "most_hours": f"{max(hours):.1f}"}.items()


def _gap(gap: dict[str, Any]) -> str:
    website = "the same" if gap["same_newspaper"] else "two"
    days = ["", "", ""] if gap["mean"] is None else [f"{gap['quantiles'][2]:g}", f"{gap['mean']:.1f}", gap["longest"]]
    cells = [_label(gap), website, gap["pairs"], gap["same_day"], gap["later"], *days]
    return f"| {' | '.join(map(str, cells))} |"


def _far(name: str, far: list[dict[str, Any]]) -> Iterator[tuple[str, str]]:
    *bands, in_all = far
    for band in bands:
        yield f"far{band['lowest'] * 100:.0f}_{name}", _far_of(**band)
    yield f"farall_{name}", _far_of(**in_all)


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
