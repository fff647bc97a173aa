"""`manage.py export_clusters`: the old name of `manage.py export clusters`."""

from dedup.management.commands import export


class Command(export.Command):
    old_name_of = "clusters"
