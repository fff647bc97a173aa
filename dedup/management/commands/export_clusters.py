"""`manage.py export_clusters`: exports clusters, a row for each of their articles."""

from __future__ import annotations

from dedup.management.commands._exporting import ExportCommand


class Command(ExportCommand):
    """Parse the options and write."""

    name = "clusters"
    help = "Exports clusters, a row for each of their articles, as JSON lines or CSV."
