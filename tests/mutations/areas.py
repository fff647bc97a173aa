"""What is mutated, and which tests have to notice: one list."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Area:
    """Code that keeps one kind of promise: patterns of its files, and the test files and folders that are asked."""

    name: str
    code: tuple[str, ...]
    tests: tuple[str, ...]

    def modules(self) -> list[Path]:
        """Return the files of the area, relative to the checkout, ordered."""
        found = {path.relative_to(CHECKOUT) for pattern in self.code for path in CHECKOUT.glob(pattern)}
        return sorted(path for path in found if path.name != "__init__.py")


AREAS = (
    Area(
        "review",
        tuple(f"dedup/review/{room}/*.py" for room in ("answers", "readings", "rules", "questions")),
        (
            "tests/dedup/review",
            "tests/dedup/views",
            "tests/dedup/api/test_api.py",
            "tests/dedup/research/test_validation_files.py",
            "tests/dedup/test_merge_newspapers.py",
            "tests/interleavings",
            "tests/site/test_removal.py",
            "tests/site/test_withholding.py",
        ),
    ),
    Area(
        "clustering",
        ("dedup/detection/clustering/*.py",),
        (
            "tests/dedup/clustering",
            "tests/dedup/review",
            "tests/dedup/runs/test_evidence.py",
            "tests/dedup/runs/test_dense_run.py",
            "tests/dedup/runs/test_incremental.py",
            "tests/dedup/views",
            "tests/dedup/webhooks/test_webhooks.py",
            "tests/interleavings",
            "tests/site/test_doctor_finds.py",
        ),
    ),
    Area(
        "writers of runs",
        ("dedup/detection/runs/evidence.py", "dedup/detection/runs/dense_groups.py", "dedup/detection/runs/judging.py"),
        ("tests/dedup/runs", "tests/dedup/views/test_pairs.py", "tests/interleavings"),
    ),
    Area(
        "ingest",
        (
            "articles/storage/ingest.py",
            "articles/storage/known_articles.py",
            "articles/storage/incoming.py",
            "articles/storage/newspapers.py",
            "articles/storage/preparing.py",
            "articles/storage/url_parameters.py",
            "articles/storage/locks.py",
        ),
        ("tests/articles/storage", "tests/articles/files", "tests/interleavings"),
    ),
    Area(
        "guards",
        (
            "newsdedup_site/access/*.py",
            "newsdedup_site/logins.py",
            "newsdedup_site/people/actions.py",
            "dedup/api/auth.py",
            "dedup/integrations/tokens.py",
            "dedup/forms/base.py",
            "dedup/views/requests.py",
            "dedup/views/integrations.py",
        ),
        (
            "tests/site/test_addresses.py",
            "tests/site/test_rights.py",
            "tests/site/test_logins.py",
            "tests/site/test_users.py",
            "tests/site/test_people.py",
            "tests/site/test_metrics.py",
            "tests/dedup/test_forms.py",
            "tests/dedup/views",
            "tests/dedup/api/test_api.py",
        ),
    ),
)


def module_name(path: Path) -> str:
    """Return the dotted name of a file of the checkout."""
    return ".".join(path.with_suffix("").parts)


@cache
def all_modules() -> dict[Path, Area]:
    """Return the files of all areas, each with the area that it is in."""
    return {path: area for area in AREAS for path in area.modules()}


def area_of(path: Path) -> Area:
    """Return the area that a file is in. Raises KeyError."""
    return all_modules()[path]


def files_of_tests(areas: Iterable[Area] = AREAS) -> list[Path]:
    """Return the test files of these areas, relative to the checkout, ordered."""
    found: set[Path] = set()
    for file in {path for area in areas for path in area.tests}:
        place = CHECKOUT / file
        found.update(path.relative_to(CHECKOUT) for path in (place.rglob("test_*.py") if place.is_dir() else [place]))
    return sorted(found)
