"""Write between their markers what comes from the code: tables of docs/, and the types of the client."""

import argparse
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "newsdedup_site.settings")
django.setup()

from articles.fields import FROM_FILES
from articles.files.whole_files import whole_file
from dedup.answers import BUTTONS
from dedup.declarations import settings_of
from dedup.detection.clustering.policies import RULES
from dedup.detection.passes import PASSES
from dedup.detection.verdicts.same_as import RULES as SAME_RULES
from dedup.rows.corpus.writing import CORPUS, REMOVED
from dedup.rows.exporting import WRITTEN
from script._written.client_types import client_types

CHECKOUT = Path(__file__).resolve().parents[2]
CLIENT = "newsdedup_client.py"
_MARKED = re.compile(r"(<!-- write_docs: (?P<table>\w+) -->\n\n).*?(\n\n(?:# )?<!-- write_docs: end -->)", re.DOTALL)


def main() -> str | None:
    """Replace what differs, or with --check return what does; only a checkout has it."""
    parser = argparse.ArgumentParser(prog="script/write-docs", description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; exit with 1 if a table differs")
    parser.add_argument("--checkout", type=Path, default=CHECKOUT, help=argparse.SUPPRESS)
    options = parser.parse_args()
    for page in [*sorted((options.checkout / "docs").glob("*.md")), options.checkout / "client" / CLIENT]:
        text = page.read_text(encoding="utf-8")
        # Each marker names its table.
        written = _MARKED.sub(lambda found: found[1] + "\n".join(_TABLES[found["table"]]()) + found[3], text)
        if written != text and options.check:
            return f"{page.parent.name}/{page.name} differs from the code; run script/write-docs"
        if written != text:
            with whole_file(page) as file:
                file.write(written)
            print(f"{page.parent.name}/{page.name} is written.")
    return None


def _table(*rows: Sequence[str]) -> Iterator[str]:
    """Yield the lines of a table; its first row is the head."""
    head, *others = rows
    for row in (head, None, *others):
        yield f"| {' | '.join(row)} |" if row else f"|{'---|' * len(head)}"


def _passes() -> Iterator[str]:
    return _table(
        ("pass", "proposes", "by default"),
        *(
            (name, detection_pass.proposes, "on" if detection_pass.config_class().enabled else "off")
            for name, detection_pass in PASSES.items()
        ),
    )


def _pass_settings() -> Iterator[str]:
    # The forms of profiles show the meaning and the range of each setting.
    rows: dict[tuple[str, ...], list[str]] = {}  # the passes that declare a setting equally
    for name, detection_pass in PASSES.items():
        for setting, (field, declared) in settings_of(detection_pass.config_class).items():
            default = (
                f"{field.default} {declared.unit}"
                if declared.minimum is not None
                else ("no", "yes")[bool(field.default)]
            )
            rows.setdefault((setting, default, declared.source), []).append(name)
    shared_first = sorted(rows.items(), key=lambda shared: len(shared[1]) == 1)
    named = (("all" if len(names) == len(PASSES) else ", ".join(names), *row) for row, names in shared_first)
    return _table(("pass", "setting", "default", "why"), *named)


def _named(name: str, what: str, meanings: Mapping[Any, str]) -> Iterator[str]:
    return _table((name, what), *((f"`{known}`", meaning) for known, meaning in meanings.items()))


def _answers() -> Iterator[str]:
    facts = [answer.facts for answer in BUTTONS]
    rows = ((f"`{fact.letter}`", fact.button, fact.when, fact.example) for fact in facts)
    return _table(("key", "answer", "when", "for example"), *rows)


# A corpus has a data dictionary with the types of its columns.
_COLUMNS = {
    "corpus": {column.name: column.help for column in CORPUS},
    "details": {field.columns[0]: field.meaning for field in FROM_FILES},
    "removed": {column.name: column.help for column in REMOVED},
    **{name: export.columns for name, export in WRITTEN.items()},
}
_TABLES: dict[str, Callable[[], Iterable[str]]] = {
    "answers": _answers,
    "client_types": lambda: [client_types(), ""],
    "passes": _passes,
    "pass_settings": _pass_settings,
    "policies": partial(_named, "policy", "rule", RULES),
    "same": partial(_named, "choice", "two articles are the same", SAME_RULES),
    **{f"{name}_columns": partial(_named, "column", "what it is", found) for name, found in _COLUMNS.items()},
}

if __name__ == "__main__":
    sys.exit(main())
