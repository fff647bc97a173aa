"""`manage.py export_pairs`: the old name of `manage.py export pairs`."""

from __future__ import annotations

from dedup.management.commands import export


class Command(export.Command):
    """Parse the options and write."""

    name = "pairs"
    help = "The old name of: export pairs."
