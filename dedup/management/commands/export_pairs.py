"""`manage.py export_pairs`: the old name of `manage.py export pairs`."""

from dedup.management.commands import export


class Command(export.Command):
    old_name_of = "pairs"
