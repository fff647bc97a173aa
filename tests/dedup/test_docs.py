"""What the documents say is what the code does."""

import re
from pathlib import Path

from dedup.passes import PASSES
from dedup.passes.base import settings_of

CHECKOUT = Path(__file__).resolve().parents[2]


def settings_table() -> str:
    """Return the table of docs/detection.md, from what the passes declare."""
    rows = ["| pass | setting | default | range | meaning | source |", "|---|---|---|---|---|---|"]
    for name, each in PASSES.items():
        for setting, (field, declared) in settings_of(each.config_class).items():
            default = (
                {True: "yes", False: "no"}.get(field.default, field.default)
                if declared.minimum is None
                else field.default
            )
            limits = declared.unit
            if declared.minimum is not None:
                limits = f"{declared.minimum:g} to {declared.maximum:g} {declared.unit}"
            rows.append(f"| {name} | {setting} | {default} | {limits} | {declared.help} | {declared.source} |")
    return "\n".join(rows)


def test_the_table_of_settings_is_the_declared_one() -> None:
    document = (CHECKOUT / "docs" / "detection.md").read_text()
    assert settings_table() in document, f"docs/detection.md should hold this table:\n{settings_table()}"


def test_every_variable_that_is_read_is_in_the_settings_document() -> None:
    source = (CHECKOUT / "newsdedup_site" / "settings.py").read_text()
    read = set(re.findall(r'env(?:ironment)?\.\w+\("([A-Z_]+)"', source))
    documented = set(re.findall(r"^\| `([A-Z_]+)` \|", (CHECKOUT / "docs" / "settings.md").read_text(), re.MULTILINE))
    assert read <= documented
    assert documented - read == {"NEWSDEDUP_HOME", "PORT"}


def test_every_dependency_is_explained() -> None:
    project = (CHECKOUT / "pyproject.toml").read_text()
    required = re.search(r"^dependencies = \[(.*?)^\]", project, re.MULTILINE | re.DOTALL)[1]
    document = (CHECKOUT / "docs" / "dependencies.md").read_text()
    for name in re.findall(r'"([a-z0-9-]+)', required):
        assert re.search(rf"^\|[^|]*\b{name.removesuffix('5')}\b", document, re.MULTILINE), name
