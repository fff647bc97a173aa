"""A question to an editor, and how addresses write a list of them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

from django.urls import reverse

Kind = Literal["pair", "cluster"]
_LETTERS: dict[str, Kind] = {"p": "pair", "c": "cluster"}
_WRITTEN = re.compile(r"([pc])([0-9]{1,18})")


@dataclass(frozen=True, slots=True)
class Question:
    """Whether the articles of a pair, or of a cluster, are the same; with its number."""

    kind: Kind
    number: int

    @property
    def address(self) -> str:
        """The path of its page."""
        return reverse("pair" if self.kind == "pair" else "cluster_card", args=[self.number])

    @property
    def key(self) -> dict[str, Any]:
        """The field and the value that name it in a Lease or a Postponement."""
        return {self.kind: self.number}

    def __str__(self) -> str:
        return f"{self.kind[0]}{self.number}"


def question_of(row: Any) -> Question:
    """Return the question of a row that refers to a pair or, if it has that field, to a cluster."""
    if row.pair_id is not None:
        return Question("pair", row.pair_id)
    return Question("cluster", row.cluster_id)


def read_questions(written: str) -> list[Question]:
    """Return the questions of a list like "p12,c7"; what is not a question is left out."""
    found = (_WRITTEN.fullmatch(part) for part in written.split(","))
    return [Question(_LETTERS[match[1]], int(match[2])) for match in found if match]


def write_questions(questions: Iterable[Question]) -> str:
    """Return a list of questions as an address has it: "p12,c7"."""
    return ",".join(map(str, questions))
