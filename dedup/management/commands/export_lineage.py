"""`manage.py export_lineage`: exports which article follows which, a row for each follower."""

from __future__ import annotations

from dedup.management.commands._exporting import ExportCommand
from dedup.rows.exports.lineage import LINEAGE


class Command(ExportCommand):
    """Parse the options and write."""

    name = "clusters"
    export = LINEAGE
    help = "Exports which article of a cluster follows which, a row for each follower, as JSON lines or CSV."
