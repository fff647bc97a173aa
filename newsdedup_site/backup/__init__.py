"""Backups of the whole database in one file, and their restore into an empty one. The file: docs/running.md."""
