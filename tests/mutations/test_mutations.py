"""The mutation testing itself: what is mutated, how mutants are chosen and counted."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.mutations.__main__ import report
from tests.mutations.areas import AREAS, CHECKOUT, area_of, files_of_tests
from tests.mutations.covering import Covering, covered_by
from tests.mutations.scores import Judged, Score, equivalents

CODE = '''\
"""Pays."""

import logging

log = logging.getLogger(__name__)
LOCK_SQL = """
SELECT owner
FROM account
WHERE balance >= 0 AND owner IS NOT NULL
"""


def pay(owner: str, amount: int = 1) -> int:
    """Pay."""
    with transaction():
        lock(owner)
        log.info("paying")
        if amount > limit():
            raise ValueError(owner)
        return amount


def limit() -> int:
    return BOUND


BOUND = 3
'''


def test_loops_are_killed_and_what_hangs_is_not() -> None:
    kinds = ["killed", "killed", "loop", "hung", "survived", "survived"]
    judged = [Judged(f"a#{place}", "area", "a", kind) for place, kind in enumerate(kinds)]
    judged[5] = Judged("a#5", "area", "a", "survived", equivalent="Both are quick.")
    score = Score.of(judged)
    assert score == Score(mutants=6, killed=3, survived=2, loops=1, hung=1, equivalent=1)
    assert score.said(without_equivalent=False) == "50.0 % (18.8–81.2)"
    assert score.said(without_equivalent=True) == "60.0 % (23.1–88.2)"
    assert Score.of([]).said(without_equivalent=True) == "–"


def test_the_report_has_a_line_a_module_and_shows_what_survived() -> None:
    said: list[str] = []
    report(
        [
            Judged("dedup.links#1", "review", "dedup.links", "killed", "tests/test_links.py::test_it"),
            Judged("dedup.links#2", "review", "dedup.links", "survived", diff="-    lock()\n+    pass"),
        ],
        said.append,
    )
    assert said == [
        "                     mutants  killed survived  loops  hung equiv.  score (95 %)",
        "dedup.links                2       1        1      0     0      0  50.0 % (9.5–90.5)",
        "REVIEW                     2       1        1      0     0      0  50.0 % (9.5–90.5)",
        "ALL                        2       1        1      0     0      0  50.0 % (9.5–90.5)",
        "Score with equivalent mutants counted as survivors: 50.0 % (9.5–90.5)",
        "\nsurvived: dedup.links#2\n-    lock()\n+    pass",
    ]


def test_every_area_has_code_and_tests_and_no_module_is_in_two() -> None:
    modules = [path for area in AREAS for path in area.modules()]
    assert len(modules) == len(set(modules)) > 30
    assert all((CHECKOUT / path).exists() for area in AREAS for path in area.tests)
    assert area_of(Path("dedup/review/answers/decisions.py")).name == "review"
    assert Path("tests/dedup/review/test_decisions.py") in files_of_tests()


def test_tests_named_after_the_module_come_first_then_quick_ones_within_the_budget() -> None:
    covering = Covering()
    seconds = {
        "tests/dedup/views/test_pairs.py::test_quick": 1.0,
        "tests/dedup/views/test_pairs.py::test_slow": 30.0,
        "tests/dedup/review/test_decisions.py::test_own": 5.0,
        "tests/articles/test_other.py::test_of_another_area": 0.1,
    }
    covering.add(
        {"seconds": seconds, "failed": [], "lines": {"dedup/review/answers/decisions.py": {"7": list(seconds)}}}
    )
    path, lines = Path("dedup/review/answers/decisions.py"), [{7}]
    assert covered_by(covering, path, lines, budget=60) == [
        "tests/dedup/review/test_decisions.py::test_own",
        "tests/dedup/views/test_pairs.py::test_quick",
        "tests/dedup/views/test_pairs.py::test_slow",
    ]
    assert len(covered_by(covering, path, lines, budget=10)) == 2
    assert covered_by(covering, path, [{8}], budget=60) == []
    covering.forget(["tests/dedup/views/test_pairs.py::test_quick"])
    assert len(covered_by(covering, path, lines, budget=60)) == 2


def test_of_what_runs_at_import_the_tests_of_its_users_are_asked_not_the_one_that_imported_it_first() -> None:
    pytest.importorskip("mutmut", reason="mutmut, which makes the mutants, is not installed")
    from tests.mutations.mutants import Mutant  # noqa: PLC0415

    before = "LIMIT = 3\n\n\ndef used():\n    return LIMIT\n\n\ndef other(size=2):\n    return size\n"
    path, tests = Path("dedup/review/answers/decisions.py"), "tests/dedup/views/test_pairs.py::test_{}"
    running = {"1": ["first"], "4": ["first"], "5": ["user"], "8": ["first"], "9": ["other"]}
    covering = Covering()
    covering.add(
        {
            "seconds": {tests.format(name): 1.0 for name in ("first", "user", "other")},
            "failed": [],
            "lines": {str(path): {line: [tests.format(name) for name in names] for line, names in running.items()}},
        }
    )

    def asked(line: int) -> list[str]:
        mutant = Mutant(path, 0, line, line, before.replace("3", "4"), before)
        return [test.rpartition("_")[2] for test in covering.tests_for(mutant, budget=60)]

    assert asked(1) == ["user", "other", "first"]
    assert asked(8) == ["other", "user", "first"]
    assert asked(9) == ["other"]


def test_equivalent_mutants_are_of_lines_that_are_there_and_have_a_reason() -> None:
    for (module, removed, added), reason in equivalents().items():
        lines = {line.strip() for line in (CHECKOUT / f"{module.replace('.', '/')}.py").read_text().splitlines()}
        assert set(removed.splitlines()) <= lines
        assert added != removed
        assert reason.endswith(".")


def test_without_mutmut_the_command_says_what_to_install() -> None:
    # -S: without the packages of the environment, but for the one that prints.
    hidden = "import sys; sys.modules['mutmut'] = None; from tests.mutations.__main__ import main; sys.exit(main([]))"
    done = subprocess.run([sys.executable, "-c", hidden], cwd=CHECKOUT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, 'This needs mutmut: pip install "mutmut>=3.8,<3.9"\n')


@pytest.fixture
def changes(tmp_path: Path) -> dict[tuple[str, str], int]:
    """The changes that are made to CODE, with the line of each."""
    pytest.importorskip("mutmut", reason="mutmut, which makes the mutants, is not installed")
    from tests.mutations.mutants import Module  # noqa: PLC0415

    (tmp_path / "pays.py").write_text(CODE)
    module = Module(Path("pays.py"), tmp_path)
    mutants = [module.mutant(number) for number in range(len(module.spans))]
    return {mutant.change: mutant.line for mutant in mutants if mutant}


def test_locks_transactions_conditions_and_results_are_taken_away(changes: dict[tuple[str, str], int]) -> None:
    assert changes["lock(owner)", "pass"] == 16
    assert changes["with transaction():", "if True:"] == 15
    assert changes["if amount > limit():", "if not (amount > limit()):"] == 18
    assert changes["if amount > limit():", "if amount >= limit():"] == 18
    assert changes["raise ValueError(owner)", "pass"] == 19
    assert changes["return amount", "return None"] == 20
    assert changes["BOUND = 3", "BOUND = 4"] == 27


def test_the_conditions_inside_sql_are_turned_round(changes: dict[tuple[str, str], int]) -> None:
    line = "WHERE balance >= 0 AND owner IS NOT NULL"
    assert {added for removed, added in changes if removed == line} == {
        "WHERE balance > 0 AND owner IS NOT NULL",
        "WHERE balance >= 0 OR owner IS NOT NULL",
        "WHERE balance >= 0 AND owner IS NULL",
    }
    assert changes[line, "WHERE balance > 0 AND owner IS NOT NULL"] == 9


def test_docstrings_annotations_and_what_is_only_logged_stay(changes: dict[tuple[str, str], int]) -> None:
    assert not [removed for removed, _ in changes if "Pay" in removed or "log" in removed.split("=")[0]]
    assert ("def pay(owner: str, amount: int = 1) -> int:", "def pay(owner: str, amount: int = 2) -> int:") in changes


def test_a_sample_is_the_same_for_the_same_seed_and_has_all_areas() -> None:
    pytest.importorskip("mutmut", reason="mutmut, which makes the mutants, is not installed")
    from tests.mutations.mutants import mutant_of, sample  # noqa: PLC0415

    first = sample(5, seed=3, only="locks")
    assert [mutant.key for mutant in first] == [mutant.key for mutant in sample(5, seed=3, only="locks")]
    assert [mutant.key for mutant in first] != [mutant.key for mutant in sample(5, seed=4, only="locks")]
    assert mutant_of(first[0].key) == first[0]
    with pytest.raises(ValueError, match=r"There is no mutant 'dedup\.nothing#1'; copy one from a report"):
        mutant_of("dedup.nothing#1")
