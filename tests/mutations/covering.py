"""Which tests run which lines: recorded once, and again only for what has changed."""

from __future__ import annotations

import ast
import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from newsdedup_site import embedded
from tests.mutations.areas import CHECKOUT, Area, all_modules, area_of, files_of_tests

if TYPE_CHECKING:  # they need mutmut, or what starts processes
    from tests.mutations.mutants import Mutant
    from tests.mutations.workshop import Bench

# Test files that are recorded by one process, whose start takes some seconds.
_FILES_AT_ONCE = 4
# Of each test, besides what it takes by its own account.
_OVERHEAD_SECONDS = 0.02


@dataclass
class Covering:
    """The tests that passed on the code as it is, by id, in seconds, and those that run each line of each module."""

    seconds: dict[str, float] = field(default_factory=dict)
    lines: dict[str, dict[int, set[str]]] = field(default_factory=dict)
    failed: list[str] = field(default_factory=list)

    def add(self, recorded: dict[str, Any], moved: Callable[[str, int], int | None] = lambda _path, line: line) -> None:
        """Add what a process recorded; `moved` returns where a line of a module is now, None if it has changed."""
        self.seconds |= recorded["seconds"]
        self.failed += recorded["failed"]
        for path, lines in recorded["lines"].items():
            of_path = self.lines.setdefault(path, {})
            for line, tests in lines.items():
                now = moved(path, int(line))
                if now is not None:
                    of_path.setdefault(now, set()).update(tests)

    def forget(self, tests: Iterable[str]) -> None:
        """Ask these tests no more."""
        for test in tests:
            self.seconds.pop(test, None)

    def tests_for(self, mutant: Mutant, budget: float) -> list[str]:
        """Return the tests that run a mutant, the telling and quick ones first, up to `budget` seconds of them.

        What a module does when it is imported is recorded for whichever test imported it first. Of that, the tests of
        its users in the module come first, then those of all its functions.
        """
        own = set(range(mutant.line, mutant.last_line + 1))
        functions = [node for node in ast.walk(ast.parse(mutant.before)) if isinstance(node, ast.FunctionDef)]
        # The lines that run when a function is called, and not when the module is imported.
        called = {line for node in functions for line in range(node.body[0].lineno, (node.end_lineno or 0) + 1)}
        found = covered_by(self, mutant.path, [own], budget) if mutant.line in called else []
        nearer_and_nearer = [_users_lines(mutant) & called, called, set(self.lines.get(str(mutant.path), {}))]
        return found or covered_by(self, mutant.path, nearer_and_nearer, budget)


def covered_by(covering: Covering, path: Path, nearer_and_nearer: Sequence[set[int]], budget: float) -> list[str]:
    """Return the tests of the area that run one of the first lines, then those of the next ones, quick ones first."""
    of_path, folders = covering.lines.get(str(path), {}), area_of(path).tests
    found: list[str] = []
    spent = 0.0
    for lines in nearer_and_nearer:
        running = {test for line in lines for test in of_path.get(line, ())}
        wanted = [test for test in running - set(found) if test in covering.seconds and test.startswith(folders)]
        for test in _ordered(wanted, covering.seconds, path):
            spent += covering.seconds[test] + _OVERHEAD_SECONDS
            if spent > budget and found:
                return found
            found.append(test)
    return found


def _ordered(tests: Iterable[str], seconds: Mapping[str, float], path: Path) -> list[str]:
    """Return the tests of files that are named after the module, then the others; of each file the quickest first."""
    quickest = sorted(tests, key=lambda test: (seconds[test], test))
    places: Counter[str] = Counter()
    keys: dict[str, tuple[bool, int, float]] = {}
    for test in quickest:
        file = test.partition("::")[0]
        is_named_after = path.stem.rstrip("s") in Path(file).stem
        keys[test] = (not is_named_after, places[file], seconds[test])
        places[file] += 1
    return sorted(keys, key=keys.__getitem__)


def _users_lines(mutant: Mutant) -> set[int]:
    """Return the lines of what uses the name whose definition at the module's level has the mutant, and of itself."""
    body = ast.parse(mutant.before).body
    names: set[str] = set()
    lines: set[int] = set()
    for statement in body:
        first = min([statement.lineno, *(by.lineno for by in getattr(statement, "decorator_list", ()))])
        if first <= mutant.line <= (statement.end_lineno or first):
            names |= _defined(statement)
            lines.update(range(first, (statement.end_lineno or first) + 1))
    for _ in range(3):  # constants that are made of constants
        for statement in body:
            if names.isdisjoint(_names(statement, ast.Load)):
                continue
            if isinstance(statement, ast.FunctionDef | ast.ClassDef):
                lines.update(range(statement.lineno, (statement.end_lineno or statement.lineno) + 1))
            else:
                names |= _defined(statement)
    return lines


def _defined(statement: ast.stmt) -> set[str]:
    if isinstance(statement, ast.FunctionDef | ast.ClassDef):
        return {statement.name}
    return _names(statement, ast.Store)


def _names(statement: ast.stmt, context: type[ast.expr_context]) -> set[str]:
    return {name.id for name in ast.walk(statement) if isinstance(name, ast.Name) and isinstance(name.ctx, context)}


def covering_of(areas: Iterable[Area], benches: Sequence[Bench], say: Any = print) -> Covering:
    """Return which tests of these areas run which lines; record the test files that have not been recorded as they are.

    What was recorded stays valid when the code changes: lines that are the same have moved, and for those that are not
    the tests of the whole module are asked.
    """
    folder = embedded.home() / "mutations" / "records"
    (folder / "sources").mkdir(parents=True, exist_ok=True)
    kept = {path: folder / f"{_digest_of(path)}.json" for path in files_of_tests(areas)}
    missing = [path for path, file in kept.items() if not file.exists()]
    batches = [missing[start : start + _FILES_AT_ONCE] for start in range(0, len(missing), _FILES_AT_ONCE)]
    sources = {str(path): _digest_of(path) for path in all_modules()}
    for path, digest in sources.items():
        (folder / "sources" / digest).write_text((CHECKOUT / path).read_text())
    if missing:
        say(f"Recording which lines the tests run: {len(missing)} test files, {len(batches)} processes.")

    def record(batch: Sequence[Path]) -> None:
        bench = idle.pop()
        try:
            recorded = bench.record(batch)
        finally:
            idle.append(bench)
        for path in batch:
            kept[path].write_text(json.dumps(_part(recorded, f"{path}::") | {"sources": sources}))
            say(f"  {path}")

    idle = list(benches)
    with ThreadPoolExecutor(len(benches)) as pool:
        list(pool.map(record, batches))
    covering = Covering()
    for file in kept.values():
        recorded = json.loads(file.read_text())
        covering.add(recorded, partial(_moved, folder / "sources", recorded["sources"]))
    return covering


def _moved(folder: Path, sources: dict[str, str], path: str, line: int) -> int | None:
    """Return where a line of a module is that was recorded with these sources."""
    if not (CHECKOUT / path).exists():
        return None
    return _moves(folder / sources[path], CHECKOUT / path).get(line)


@cache
def _moves(before: Path, now: Path) -> dict[int, int]:
    blocks = SequenceMatcher(None, before.read_text().splitlines(), now.read_text().splitlines()).get_matching_blocks()
    return {block.a + place + 1: block.b + place + 1 for block in blocks for place in range(block.size)}


def _digest_of(path: Path) -> str:
    return hashlib.sha256(f"{path}\0".encode() + (CHECKOUT / path).read_bytes()).hexdigest()[:32]


def _part(recorded: Any, start: str) -> Any:
    """Return what was recorded of the tests whose ids begin like this."""

    def own(tests: Iterable[str]) -> list[str]:
        return [test for test in tests if test.startswith(start)]

    return {
        "seconds": {test: recorded["seconds"][test] for test in own(recorded["seconds"])},
        "failed": own(recorded["failed"]),
        "lines": {
            path: {line: found for line, tests in of_path.items() if (found := own(tests))}
            for path, of_path in recorded["lines"].items()
        },
    }
