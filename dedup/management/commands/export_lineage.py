"""`manage.py export_lineage`: the old name of `manage.py export lineage`."""

from __future__ import annotations

from dedup.management.commands import export


class Command(export.Command):
    """Parse the options and write."""

    name = "lineage"
    help = "The old name of: export lineage."
