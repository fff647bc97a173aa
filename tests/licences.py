"""The licences of every locked package, by its installed metadata.

`python -m tests.licences` writes them into docs/dependencies.md. The parts of a wheel that are not its own (libpq in
psycopg-binary, OpenBLAS in numpy) have their licences in the wheel.
"""

import importlib.metadata
import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from email.message import Message
from pathlib import Path

from packaging.requirements import Requirement

CHECKOUT = Path(__file__).resolve().parents[1]
PAGE = CHECKOUT / "docs" / "dependencies.md"
BEGIN, END = "<!-- licences: script/lock writes them -->\n", "<!-- end of licences -->\n"
# What fields and classifiers of packages without an SPDX expression say, and the expression that it means.
WORDINGS = {
    "Apache 2.0": "Apache-2.0",
    "Apache License, Version 2.0": "Apache-2.0",
    "Apache Software License": "Apache-2.0",
    "BSD": "BSD-3-Clause",
    "BSD License": "BSD-3-Clause",
    "GNU Lesser General Public License v2 or later (LGPLv2+)": "LGPL-2.0-or-later",
    "MIT License": "MIT",
    "PSFL": "PSF-2.0",
    "ZPL 2.1": "ZPL-2.1",
}
_SPDX = re.compile(r"[A-Za-z0-9.+-]+-\d[A-Za-z0-9.+-]*|MIT|0BSD")


def locked(name: str) -> dict[str, Requirement]:
    """Return the packages of a list, by name; those that this Python or system does not install are left out."""
    lines = re.findall(r"^([a-z0-9][^\\\n]*?) *\\?$", (CHECKOUT / name).read_text(), re.MULTILINE)
    found = [Requirement(line) for line in lines]
    return {
        requirement.name: requirement
        for requirement in found
        if requirement.marker is None or requirement.marker.evaluate()
    }


def of_several_versions(name: str) -> set[str]:
    """Return the packages of a list whose version depends on the version of Python."""
    names = re.findall(r"^([a-z0-9][a-z0-9.-]*)==", (CHECKOUT / name).read_text(), re.MULTILINE)
    return {label for label, times in Counter(names).items() if times > 1}


def licence_of(metadata: Message) -> str:
    """Return the licence that a package declares, as an SPDX expression. Raises ValueError if it is not known."""
    if expression := metadata.get("License-Expression"):
        return str(expression)
    classifiers = [
        classifier.rpartition(" :: ")[2]
        for classifier in metadata.get_all("Classifier", [])
        if classifier.startswith("License ::")
    ]
    # The classifier of the LGPL says which version, the field next to it does not.
    for said in [
        *(classifier for classifier in classifiers if "Lesser" in classifier),
        metadata.get("License") or "",
        *classifiers,
    ]:
        meant = WORDINGS.get(said.strip(), said.strip())
        if _SPDX.fullmatch(meant):
            return meant
    raise ValueError(
        f"{metadata['Name']} declares no known licence: {classifiers}; add its wording to tests/licences.py"
    )


def by_licence(names: Iterable[str]) -> dict[str, list[str]]:
    """Return the names of installed packages by licence, both in order."""
    found: dict[str, list[str]] = defaultdict(list)
    for name in names:
        found[licence_of(importlib.metadata.metadata(name))].append(name)
    return {licence: sorted(found[licence]) for licence in sorted(found)}


def asks_for_gpl(expression: str) -> bool:
    """Return whether an SPDX expression leaves no choice but the GPL or AGPL; the LGPL is another licence."""
    choices = re.split(r"\s+OR\s+", expression.strip("()"))
    return all(re.search(r"(?<!L)GPL-", choice) for choice in choices)


def table() -> str:
    """Return the table of the page: what a trial installs, that is production and the embedded PostgreSQL."""
    rows = [
        f"| {licence} | {', '.join(names)} |" for licence, names in by_licence(locked("requirements-trial.txt")).items()
    ]
    return "\n".join(["| licence | packages |", "|---|---|", *rows, ""])


def main() -> None:
    """Write the table into the page."""
    before, _, rest = PAGE.read_text().partition(BEGIN)
    _, _, after = rest.partition(END)
    PAGE.write_text(f"{before}{BEGIN}{table()}{END}{after}")


if __name__ == "__main__":
    main()
