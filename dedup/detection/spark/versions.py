"""The versions on which results depend: a database, a cluster and each of its machines must have the same."""

from __future__ import annotations

import hashlib
import importlib.metadata
import sys
import unicodedata
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable

from articles.normalization import NORMALIZER_VERSION

# Increase this when the files of spark/schema.py change.
FORMAT = 2
# The packages and modules that decide pairs, verdicts and clusters.
_DECISIVE = {
    "articles": ("boilerplate", "normalization"),
    "dedup.detection": (
        "bounds.py",
        "clustering/components.py",
        "comparison",
        "judging",
        "kernels",
        "passes",
        "spark",
        "types.py",
        "verdicts",
    ),
}
_LIBRARIES = ("numpy", "rapidfuzz", "regex", "sentencex")


class VersionsError(RuntimeError):
    """Two sides have different versions; the message says which, and the remedy."""


@cache
def versions() -> dict[str, str]:
    """Return the versions of this process by name.

    Of Python, the minor version and that of its Unicode tables, which differ between minor versions; of our own code, a
    hash of the packages that decide results, so that an old copy on one machine is noticed.
    """
    return {
        "format": str(FORMAT),
        "normalizer": str(NORMALIZER_VERSION),
        "code": _code(),
        "Python": f"{sys.version_info.major}.{sys.version_info.minor}",
        "Unicode": unicodedata.unidata_version,
        **{name: importlib.metadata.version(name) for name in _LIBRARIES},
    }


def check_versions(theirs: Mapping[str, str], ours: Mapping[str, str], *, theirs_are: str, ours_are: str) -> None:
    """Raise VersionsError if any version differs; `theirs_are` and `ours_are` name the two sides: "the export"."""
    different = [
        f"{name} {theirs.get(name, 'none')} in {theirs_are} and {ours.get(name, 'none')} in {ours_are}"
        for name in sorted(theirs.keys() | ours.keys())
        if theirs.get(name) != ours.get(name)
    ]
    if different:
        raise VersionsError(
            f"the versions differ: {'; '.join(different)}; install the same newsdedup, Python and libraries on both "
            "sides, or export again"
        )


def _code() -> str:
    digest = hashlib.sha256()
    for package, parts in _DECISIVE.items():
        for part in parts:
            for name, content in _sources(files(package) / part, f"{package}/{part}"):
                digest.update(name.encode() + b"\0" + content + b"\0")
    return digest.hexdigest()[:16]


def _sources(place: Traversable, name: str) -> Iterator[tuple[str, bytes]]:
    if place.is_dir():
        for path in sorted(place.iterdir(), key=lambda entry: entry.name):
            yield from _sources(path, f"{name}/{path.name}")
    elif name.endswith((".py", ".json")):
        yield name, place.read_bytes()
