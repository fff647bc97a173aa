"""The pure packages load the libraries they name and nothing heavier, so that a job elsewhere can use them alone."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest
from django.contrib import admin

from articles.loading import when_used
from dedup.models import Profile
from newsdedup_site.apps import check_admin_pages
from tests.databases import child_environment

LOADED = """
import importlib, json, sys
before = set(sys.modules)
importlib.import_module(sys.argv[1])
new = {name: getattr(sys.modules[name], "__file__", None) or "" for name in set(sys.modules) - before}
print(json.dumps(sorted({name.partition(".")[0] for name, file in new.items() if "site-packages" in file})))
"""


@pytest.mark.parametrize(
    ("module", "libraries"),
    [
        ("dedup.detection.types", []),
        ("articles.normalization", []),
        ("dedup.detection.clustering.components", []),
        ("dedup.detection.kernels.tokens", ["numpy"]),
        ("dedup.detection.kernels.parity_join", ["numpy"]),
        ("dedup.detection.kernels.minhash", ["numpy"]),
        ("dedup.detection.kernels.masked_shingles", ["numpy", "regex"]),
        ("dedup.detection.kernels.sentences", ["numpy", "sentencex"]),
        ("dedup.detection.kernels.stopwords", ["numpy", "stopwordsiso"]),
        ("dedup.detection.comparison.differences", ["babel", "numpy", "rapidfuzz", "regex", "sentencex"]),
        ("dedup.detection.comparison.compare", ["babel", "numpy", "rapidfuzz", "regex", "sentencex"]),
        ("dedup.detection.verdicts.verdict", ["babel", "numpy", "rapidfuzz", "regex", "sentencex"]),
    ],
)
def test_a_pure_module_loads_only_the_libraries_it_names(module: str, libraries: list[str]) -> None:
    answer = subprocess.run([sys.executable, "-c", LOADED, module], check=True, capture_output=True, text=True)
    assert json.loads(answer.stdout) == libraries


def test_a_command_loads_no_page_of_the_admin() -> None:
    program = "import django, sys; django.setup(); print([name for name in sys.modules if name.endswith('.admin')])"
    answer = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    assert answer.stdout.strip() == "['django.contrib.admin']"
    # `manage.py check` loads them.
    assert check_admin_pages(None) == []
    assert Profile in admin.site._registry


# What only charts, crawls and extraction use: loading them takes longer than all else that a page or a command needs.
LATE = {"altair", "htmldate", "networkx", "readability", "requests", "scrapy", "tldextract", "twisted", "vl_convert"}
RUN = """
import sys, manage
try:
    manage.main(["manage.py", *sys.argv[1:]])
except SystemExit:
    pass
print(*sorted({name.partition(".")[0] for name in sys.modules}))
"""


@pytest.mark.slow
@pytest.mark.django_db
@pytest.mark.parametrize(
    "command", ["check", "migrate --check", "db_worker --batch --no-startup-delay", "find_duplicates --help"]
)
def test_pages_and_commands_load_libraries_when_they_use_them(command: str) -> None:
    answer = subprocess.run(
        [sys.executable, "-c", RUN, *command.split()],
        env=os.environ | child_environment(),
        check=True,
        capture_output=True,
        text=True,
    )
    loaded = set(answer.stdout.splitlines()[-1].split())
    assert ("ninja" in loaded) == (command == "check"), "only check loads all pages"
    assert loaded & LATE == set()


def test_a_library_that_is_put_off_is_there_when_it_is_used() -> None:
    assert when_used("json").dumps([1]) == "[1]"
    with pytest.raises(ImportError, match=r"no_such_package is not installed; install requirements\.txt"):
        when_used("no_such_package")
