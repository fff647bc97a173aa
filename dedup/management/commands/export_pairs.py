"""`manage.py export_pairs`: exports pairs of articles with their verdicts and decisions."""

from __future__ import annotations

from dedup.management.commands._exporting import ExportCommand


class Command(ExportCommand):
    """Parse the options and write."""

    name = "pairs"
    help = "Exports pairs of articles with their verdicts and decisions, as JSON lines or CSV."
