"""Making the tables of a new database at once.

Django computes the models of all apps again for each table that a migration makes; with a hundred tables that takes
longer than making them. https://code.djangoproject.com/ticket/22608
"""

from django.db.migrations.operations.base import Operation


class AtOnce(Operation):
    """Operations on new tables alone, carried out on the models that there are after all of them."""

    def __init__(self, *operations):
        self.operations = operations

    def deconstruct(self):
        """Return how it is made."""
        return self.__class__.__name__, list(self.operations), {}

    def state_forwards(self, app_label, state):
        """Change the state without computing its models, which are computed when somebody asks for them."""
        state.__dict__.pop("apps", None)
        for operation in self.operations:
            operation.state_forwards(app_label, state)

    def database_forwards(self, app_label, schema_editor, from_state, to_state):
        """Make the tables; foreign keys are added after the last one."""
        for operation in self.operations:
            operation.database_forwards(app_label, schema_editor, from_state, to_state)

    def database_backwards(self, app_label, schema_editor, from_state, to_state):
        """Drop them, the last one first."""
        for operation in reversed(self.operations):
            operation.database_backwards(app_label, schema_editor, from_state, to_state)

    def describe(self):
        """Say what it does."""
        return f"Carries out {len(self.operations)} operations at once"
