"""The mutants of a module, and a sample of all: by lines, so that long calls do not outweigh everything else.

One mutant a line is how Google samples them (Petrović, Ivanković: State of Mutation Testing at Google, ICSE-SEIP 2018).
"""

import difflib
import random
from collections import defaultdict
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import islice
from pathlib import Path

import libcst as cst
from libcst.metadata import CodeRange, MetadataWrapper, PositionProvider
from mutmut.mutation.file_mutation import Mutation

from tests.mutations.areas import AREAS, CHECKOUT, Area, module_name
from tests.mutations.operators import FaultVisitor


@dataclass(frozen=True)
class Mutant:
    """One fault: where it is and the module's text with it."""

    path: Path  # relative to the checkout
    number: int
    line: int
    last_line: int
    text: str
    before: str

    @property
    def key(self) -> str:
        """What `--mutant` takes: the module's name and a number, which hold until the module is changed."""
        return f"{module_name(self.path)}#{self.number}"

    @property
    def diff(self) -> str:
        lines = difflib.unified_diff(
            self.before.splitlines(), self.text.splitlines(), str(self.path), str(self.path), lineterm="", n=1
        )
        return "\n".join(lines)

    @property
    def change(self) -> tuple[str, str]:
        """The lines that it removes and those that it adds, without their indentation."""
        changed = [line for line in self.diff.splitlines() if not line.startswith(("---", "+++", "@@"))]
        removed, added = (
            "\n".join(line[1:].strip() for line in changed if line.startswith(sign)) for sign in ("-", "+")
        )
        return removed, added


class Module:
    """A module and its faults. Their texts are made only when they are asked for: a module has hundreds."""

    def __init__(self, path: Path, checkout: Path = CHECKOUT) -> None:
        self.path = path
        self.text = (checkout / path).read_text()
        wrapper = MetadataWrapper(cst.parse_module(self.text))
        visitor = FaultVisitor()
        self._tree = wrapper.module
        wrapper.visit(visitor)
        self._faults = visitor.mutations
        positions = wrapper.resolve(PositionProvider)
        self.spans = [_span(positions[fault.original_node], fault) for fault in self._faults]

    def mutant(self, number: int) -> Mutant | None:
        """Return a mutant; None if its text is no Python, or no other than before."""
        fault = self._faults[number]
        text = self._tree.deep_replace(fault.original_node, fault.mutated_node).code
        try:
            compile(text, str(self.path), "exec")
        except (SyntaxError, ValueError):
            return None
        if text == self.text:
            return None
        line, last = self.spans[number]
        return Mutant(self.path, number, line, last, text, self.text)

    @cached_property
    def by_line(self) -> dict[int, list[int]]:
        """The numbers of the faults that begin on each line."""
        found: dict[int, list[int]] = defaultdict(list)
        for number, (line, _) in enumerate(self.spans):
            found[line].append(number)
        return found


def _span(position: CodeRange, fault: Mutation) -> tuple[int, int]:
    """Return the first and last line of a fault; inside a long string, the line where it is."""
    match fault.original_node, fault.mutated_node:
        case cst.SimpleString(value=was), cst.SimpleString(value=now) if "\n" in was:
            line = position.start.line + was.count("\n", 0, _first_difference(was, now))
            return line, line
    return position.start.line, position.end.line


def _first_difference(one: str, other: str) -> int:
    pairs = enumerate(zip(one, other, strict=False))
    return next((place for place, (left, right) in pairs if left != right), min(len(one), len(other)))


@cache
def module(path: Path) -> Module:
    """Return a module of the checkout, parsed once."""
    return Module(path)


def mutant_of(key: str) -> Mutant:
    """Return a mutant by its key. Raises ValueError."""
    name, _, number = key.rpartition("#")
    path = Path(*name.split(".")).with_suffix(".py") if name else Path()
    if not number.isdecimal() or not (CHECKOUT / path).is_file() or int(number) >= len(module(path).spans):
        raise ValueError(
            f"There is no mutant {key!r}; copy one from a report, such as dedup.review.answers.decisions#12."
        )
    found = module(path).mutant(int(number))
    if found is None:
        raise ValueError(f"The mutant {key!r} is not valid Python and was never tried.")
    return found


def sample(number: int, seed: int, only: str = "") -> list[Mutant]:
    """Return a seeded sample of about `number` mutants, from each area by its number of lines, in a random order.

    With `only`, from modules whose name contains it.
    """
    lines: dict[Area, list[tuple[Path, int]]] = {}
    for area in AREAS:
        paths = [path for path in area.modules() if only in module_name(path)]
        lines[area] = [(path, line) for path in paths for line in sorted(module(path).by_line)]
    total = sum(map(len, lines.values()))
    chosen: list[Mutant] = []
    for area, places in lines.items():
        dice = random.Random(f"{seed} {area.name}")
        dice.shuffle(places)
        wanted = -(-number * len(places) // total) if total else 0
        found = filter(None, (_one_of(path, line, dice) for path, line in places))
        chosen += islice(found, wanted)
    random.Random(seed).shuffle(chosen)
    return chosen


def _one_of(path: Path, line: int, dice: random.Random) -> Mutant | None:
    numbers = list(module(path).by_line[line])
    dice.shuffle(numbers)
    return next((mutant for number in numbers if (mutant := module(path).mutant(number))), None)
