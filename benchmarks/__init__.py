"""Benchmarks of the detection against the plain SQL self-join, datasketch and rensa; see docs/benchmarks.md."""

import tests  # noqa: F401 - says in a sentence that a package is missing
