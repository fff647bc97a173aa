"""In which layer each test runs: script/test, --all, or --soak. `script/test --layers` prints the list."""

import os
from collections import Counter

import pytest
from hypothesis import HealthCheck, settings

# A marker, and the option of script/test that it waits for.
MARKED = {"soak": "--soak", "slow": "--all", "real_data": "--all"}
# Examples of a property that says nothing else, by the layer.
_EXAMPLES = {"script/test": 25, "--all": 100, "--soak": 500}
# Before which statements two writers are interrupted, by the layer: tests/interleavings/schedule.py.
_INTERLEAVINGS = {"script/test": "few", "--all": "both", "--soak": "all"}


def effort(layer: str) -> None:
    """Set how much is tried by the tests that run in every layer, in this process and those that it starts.

    Examples are the same at every run, except with --soak. A busy machine is no failure: there is no deadline.
    """
    settings.register_profile(
        layer,
        max_examples=_EXAMPLES[layer],
        derandomize=layer != "--soak",
        print_blob=True,
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
    )
    settings.load_profile(layer)
    os.environ.setdefault("INTERLEAVINGS", _INTERLEAVINGS[layer])


def layer_of(item: pytest.Item) -> str:
    """Return the option of script/test with which a test runs first, or `script/test` if it runs without one."""
    return next((option for marker, option in MARKED.items() if item.get_closest_marker(marker)), "script/test")


def listed(items: list[pytest.Item]) -> list[str]:
    """Return lines of Markdown: for each layer, the files of tests, each with the number of its tests."""
    lines = []
    for layer in _EXAMPLES:
        counts = Counter(item.nodeid.partition("::")[0] for item in items if layer_of(item) == layer)
        lines += [f"## {layer}: {counts.total():,} tests", *(f"- {path}: {counts[path]}" for path in sorted(counts))]
    return lines


def pytest_runtestloop(session: pytest.Session) -> bool:
    """Print the list in place of the tests. This module is a plugin with `--layers`."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    reporter.write_line("\n".join(listed(session.items)))
    return True
