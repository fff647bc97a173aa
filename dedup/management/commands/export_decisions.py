"""`manage.py export_decisions`: exports all decisions, also those that were undone."""

from __future__ import annotations

from dedup.management.commands._exporting import ExportCommand


class Command(ExportCommand):
    """Parse the options and write."""

    name = "decisions"
    help = "Exports all decisions, also those that were undone, as JSON lines or CSV."
