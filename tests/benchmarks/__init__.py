"""The detection measured against the plain SQL self-join, datasketch and rensa; docs/benchmarks.md says how."""
