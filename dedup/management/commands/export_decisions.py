"""`manage.py export_decisions`: the old name of `manage.py export decisions`."""

from __future__ import annotations

from dedup.management.commands import export


class Command(export.Command):
    """Parse the options and write."""

    name = "decisions"
    help = "The old name of: export decisions."
