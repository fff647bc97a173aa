"""`manage.py migrate`: Django's command, in one process at a time."""

from typing import Any

from django.core.checks import Tags
from django.core.management.commands import migrate
from django.db import connections

from articles.storage.locks import Lock, waited_lock


class Command(migrate.Command):
    """A second one waits for the first: both at once would change the same tables, until a deadlock ends one."""

    def check(self, *args: Any, **kwargs: Any) -> None:
        """Check models and databases; the code of all pages, which no migration needs, takes seconds to load."""
        super().check(*args, **kwargs | {"tags": [Tags.models, Tags.database]})

    def handle(self, *args: Any, **options: Any) -> None:
        """Hold the lock; an answer about what is to be done needs none."""
        if options["plan"] or options["check_unapplied"]:
            super().handle(*args, **options)
            return
        with waited_lock(connections[options["database"]], Lock.MIGRATE):
            super().handle(*args, **options)
