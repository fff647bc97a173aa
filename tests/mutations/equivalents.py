"""The mutants that no test can tell from the code: listed by hand, each with its reason."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

from tests.mutations.areas import module_name

if TYPE_CHECKING:  # it needs mutmut
    from tests.mutations.mutants import Mutant

FILE = Path(__file__).with_name("equivalents.toml")
Change = tuple[str, str, str]


def equivalents() -> dict[Change, str]:
    """Return the reasons by module, removed lines and added lines."""
    listed = tomllib.loads(FILE.read_text()).get("equivalent", [])
    return {(row["module"], row["removed"].strip(), row["added"].strip()): row["reason"] for row in listed}


def reason_for(mutant: Mutant) -> str:
    """Return why nothing can notice a mutant; empty if it is not listed."""
    return equivalents().get((module_name(mutant.path), *mutant.change), "")
