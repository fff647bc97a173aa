"""The pure packages load the libraries they name and nothing heavier, so that a job elsewhere can use them alone."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from django.contrib import admin

from dedup.models import Profile
from newsdedup_site.apps import check_admin_pages

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
        ("dedup.types", []),
        ("articles.normalization", []),
        ("dedup.clustering.components", []),
        ("dedup.kernels.tokens", ["numpy"]),
        ("dedup.kernels.parity_join", ["numpy"]),
        ("dedup.kernels.minhash", ["numpy"]),
        ("dedup.kernels.contents", ["numpy"]),
        ("dedup.kernels.sentences", ["numpy", "sentencex"]),
        ("dedup.kernels.stopwords", ["numpy", "stopwordsiso"]),
        ("dedup.comparison.differences", ["rapidfuzz"]),
        ("dedup.comparison.compare", ["babel", "numpy", "rapidfuzz", "regex", "sentencex"]),
        ("dedup.verdicts.verdict", ["babel", "numpy", "rapidfuzz", "regex", "sentencex"]),
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
