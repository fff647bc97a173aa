"""`manage.py export_clusters`: the old name of `manage.py export clusters`."""

from __future__ import annotations

from dedup.management.commands import export


class Command(export.Command):
    """Parse the options and write."""

    name = "clusters"
    help = "The old name of: export clusters."
