"""Backups of the whole database in one file, and their restore into an empty one. The formats: docs/running.md."""
