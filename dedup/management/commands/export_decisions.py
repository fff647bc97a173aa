"""`manage.py export_decisions`: the old name of `manage.py export decisions`."""

from dedup.management.commands import export


class Command(export.Command):
    old_name_of = "decisions"
