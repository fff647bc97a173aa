"""`manage.py write_docs`: write between their markers what comes from the code: tables of the docs, client types."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError, CommandParser

from articles.files.whole_files import whole_file
from articles.management.base import ProjectCommand
from dedup.answers import BUTTONS
from dedup.api.client_types import client_types
from dedup.declarations import settings_of
from dedup.detection.clustering.policies import RULES
from dedup.detection.passes import PASSES
from dedup.rows.columns import Column
from dedup.rows.corpus.rows import CORPUS, REMOVED
from dedup.rows.exporting import WRITTEN

CLIENT = "newsdedup_client.py"
_MARKED = re.compile(r"(<!-- write_docs: (?P<table>\w+) -->\n\n).*?(\n\n(?:# )?<!-- write_docs: end -->)", re.DOTALL)


class Command(ProjectCommand):
    """Replace the tables, or with --check report which differ."""

    help = (
        "Write what comes from the code: tables of docs/, such as the settings of passes, and the types of the client. "
        "Run it in a checkout."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the options."""
        parser.add_argument("--check", action="store_true", help="write nothing; exit with 1 if a table differs")

    def handle(self, **options: Any) -> None:
        """Write or check every page of docs/, and the client."""
        for page in [*sorted((settings.BASE_DIR / "docs").glob("*.md")), settings.BASE_DIR / "client" / CLIENT]:
            self._write(page, check=options["check"])

    def _write(self, page: Path, *, check: bool) -> None:
        text = page.read_text(encoding="utf-8")
        written = with_tables(text)
        if written == text:
            return
        if check:
            raise CommandError(f"{page.parent.name}/{page.name} differs from the code; run manage.py write_docs")
        with whole_file(page) as file:
            file.write(written)
        self.stdout.write(f"{page.parent.name}/{page.name} is written.")


def with_tables(text: str) -> str:
    """Return a page with the tables that its markers name."""
    return _MARKED.sub(lambda found: found[1] + "\n".join(_TABLES[found["table"]]()) + found[3], text)


def _passes() -> Iterator[str]:
    yield "| pass | proposes | by default |"
    yield "|---|---|---|"
    for name, detection_pass in PASSES.items():
        yield f"| {name} | {detection_pass.proposes} | {'on' if detection_pass.config_class().enabled else 'off'} |"


def _pass_settings() -> Iterator[str]:
    # The forms of profiles show the meaning and the range of each setting.
    yield "| pass | setting | default | why |"
    yield "|---|---|---|---|"
    rows: dict[str, list[str]] = {}  # the passes that declare a setting equally
    for name, detection_pass in PASSES.items():
        for setting, (field, declared) in settings_of(detection_pass.config_class).items():
            default = (
                f"{field.default} {declared.unit}"
                if declared.minimum is not None
                else ("no", "yes")[bool(field.default)]
            )
            rows.setdefault(f"{setting} | {default} | {declared.source} |", []).append(name)
    for row, names in sorted(rows.items(), key=lambda shared: len(shared[1]) == 1):
        yield f"| {'all' if len(names) == len(PASSES) else ', '.join(names)} | {row}"


def _policies() -> Iterator[str]:
    yield "| policy | rule |"
    yield "|---|---|"
    for policy, rule in RULES.items():
        yield f"| `{policy.value}` | {rule} |"


def _answers() -> Iterator[str]:
    yield "| key | answer | when |"
    yield "|---|---|---|"
    for answer in BUTTONS:
        yield f"| `{answer.facts.letter}` | {answer.facts.button} | {answer.facts.when} |"


def _columns(columns: Sequence[Column]) -> Iterator[str]:
    # A corpus has a data dictionary with the types.
    yield from _file_columns({column.name: column.help for column in columns})


def _file_columns(columns: Mapping[str, str]) -> Iterator[str]:
    yield "| column | what it is |"
    yield "|---|---|"
    for name, meaning in columns.items():
        yield f"| `{name}` | {meaning} |"


_TABLES: dict[str, Callable[[], Iterable[str]]] = {
    "answers": _answers,
    "client_types": lambda: [client_types(), ""],
    "passes": _passes,
    "pass_settings": _pass_settings,
    "policies": _policies,
    "corpus_columns": lambda: _columns(CORPUS),
    "removed_columns": lambda: _columns(REMOVED),
    **{f"{name}_columns": partial(_file_columns, export.columns) for name, export in WRITTEN.items()},
}
