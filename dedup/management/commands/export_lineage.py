"""`manage.py export_lineage`: the old name of `manage.py export lineage`."""

from dedup.management.commands import export


class Command(export.Command):
    old_name_of = "lineage"
