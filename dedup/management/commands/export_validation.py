"""`manage.py export_validation`: the old name of `manage.py export validation`."""

from dedup.management.commands import export


class Command(export.Command):
    old_name_of = "validation"
