"""The methods paragraph, the BibTeX entries and the commands, from the facts."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from typing import Any

from django.template.loader import render_to_string

from articles.numbers import counted
from dedup.detection.passes import PASSES
from dedup.reports.methods_facts import AgreementFacts, Facts, Measured, PassFacts

_MANAGE = "manage.py"
_ANY_DAYS = 36_500  # more is no limit
# Those of the measurements; each pass cites its own.
_WORKS = {
    "cochran1977": """@book{cochran1977,
  author = {Cochran, William G.},
  title = {Sampling Techniques},
  edition = {3},
  publisher = {Wiley},
  year = {1977}
}""",
    "cohen1960": """@article{cohen1960,
  author = {Cohen, Jacob},
  title = {A coefficient of agreement for nominal scales},
  journal = {Educational and Psychological Measurement},
  volume = {20},
  number = {1},
  year = {1960},
  pages = {37--46}
}""",
}


def paragraph(facts: Facts) -> str:
    """Return a paragraph of about 120 words for the methods section of a paper. What was not measured is said."""
    if facts.run is None:
        return "No run has finished yet, so there is nothing to describe."
    if not facts.counts.articles:
        return "There are no articles to describe."
    measured, agreement = facts.measured, facts.agreement
    text = render_to_string(
        "reports/methods.txt",
        {
            "facts": facts,
            "counts": facts.counts,
            "passes": [_pass(found) for found in facts.passes],
            "duplicates": f"{facts.counts.duplicate_articles / facts.counts.articles:.1%}",
            "measured": measured,
            "precision": measured and _estimate(measured.verdict, "precision", "called"),
            "recall": measured and _estimate(measured.verdict, "recall", "duplicates"),
            "kappas": [_kappa(found) for found in agreement if found.kappa is not None],
            "most_readings": max((found.readings for found in agreement), default=0),
        },
    )
    return " ".join(text.split())


def _pass(found: PassFacts) -> str:
    bounds = []
    if found.lowest_score is not None:
        bounds.append(f"score from {found.lowest_score:g}")
    if found.most_days is not None and found.most_days < _ANY_DAYS:
        bounds.append(f"at most {counted(found.most_days, 'day')} apart" if found.most_days else "of the same day")
    name = found.label[:1].lower() + found.label[1:]
    return f"{name} ({', '.join([*bounds, counted(found.pairs, 'pair')])})"


def _estimate(numbers: dict[str, Any], name: str, whole: str) -> str:
    """Return a share with its interval; a sample of all pairs that there are has none."""
    if numbers[name] is None:
        return "unknown value"
    low, high = numbers[f"{name}_interval"]
    if low == high:
        return f"{numbers[name]:.2f} (of all {counted(numbers[whole], 'such pair')}, so without an interval)"
    return f"{numbers[name]:.2f} (95% interval {low:.2f}–{high:.2f})"


def _kappa(found: AgreementFacts) -> str:
    low, high = found.kappa_interval or (0.0, 0.0)
    return f"{found.kappa:.2f} ({low:.2f}–{high:.2f}; {found.of}, {counted(found.readings, 'pair')})"


# ---- BibTeX ----------------------------------------------------------------------------------------


def bibtex(facts: Facts) -> str:
    """Return the entries for newsdedup and for the works that the run's passes and the measurement follow."""
    version = facts.versions["newsdedup"]
    own = (
        "@software{newsdedup,\n"
        "  author = {{The newsdedup developers}},\n"
        "  title = {newsdedup: Finds near-duplicate news articles and lets editors confirm them},\n"
        f"  version = {{{version}}},\n"
        "  license = {MIT}\n"
        "}"
    )
    works = [work for found in facts.passes if found.name in PASSES for work in PASSES[found.name].cites]
    works += [_WORKS["cochran1977"]] if facts.measured else []
    works += [_WORKS["cohen1960"]] if any(row.kappa is not None for row in facts.agreement) else []
    return "\n\n".join([own, *dict.fromkeys(works)]) + "\n"


# ---- commands --------------------------------------------------------------------------------------


def commands(facts: Facts, bounds: Sequence[str]) -> list[str]:
    """Return the commands that give every number again, in order. `bounds` are the options of the report's scope."""
    if facts.run is None or not facts.counts.articles:
        return []
    found = [["version"], _find(facts.run), ["report", "methods", *bounds, "--format", "json"]]
    if facts.measured:
        found += [
            ["export_validation", *_drawing(facts.measured), "--output", "again.csv"],
            ["evaluate", "--sample", facts.measured.sample],
        ]
    return [shlex.join([_MANAGE, *command]) for command in found]


def _find(run: dict[str, Any]) -> list[str]:
    scope = run["scope"]
    options = ["--profile", run["profile"]] if run["profile"] else []
    for name in ("since", "until"):
        options += [f"--{name}", scope[name]] if scope.get(name) else []
    for newspaper in scope.get("newspapers") or ():
        options += ["--newspaper", newspaper]
    options += ["--passes", ",".join(scope["passes"])] if scope.get("passes") else []
    return ["find_duplicates", *options, "--boilerplate", run["boilerplate"]]


# The options of export_validation, by the names that a sample stores.
_DRAWN_BY = {
    "size": "size",
    "per_stratum": "per-stratum",
    "not_proposed": "not-proposed",
    "window_days": "window",
    "pass_name": "pass",
    "near_days": "near",
    "readers": "readers",
}
_LISTS = {"by": "by", "bands": "bands"}


def _drawing(measured: Measured) -> Iterator[str]:
    """Yield the options that draw the sample again, from the same archive."""
    for name, option in _DRAWN_BY.items():
        if (value := measured.options.get(name)) not in (None, ""):
            yield from (f"--{option}", str(value))
    for name, option in _LISTS.items():
        if (value := measured.options.get(name)) is not None:
            yield from (f"--{option}", ",".join(map(str, value)))
    yield from ("--seed", str(measured.seed))
