"""A run of the detection: its scope, blocks, evidence, verdicts and counts."""
