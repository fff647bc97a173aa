"""`manage.py export_validation`: the old name of `manage.py export validation`."""

from __future__ import annotations

from dedup.management.commands import export


class Command(export.Command):
    """Parse the options and write."""

    name = "validation"
    help = "The old name of: export validation."
