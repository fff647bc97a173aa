"""Benchmarks of the detection against the plain SQL self-join, datasketch and rensa; see docs/benchmarks.md."""
