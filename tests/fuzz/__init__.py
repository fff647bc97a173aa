"""Inputs that nobody thought of, for every address, reader of files and parser: `python -m tests.fuzz --help`."""
