"""The tables of the models, as Django knows them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.apps import apps
from django.db import models


def options(model: Any) -> Any:
    """Return the options of a model, by the name under which Django documents them."""
    return model._meta  # noqa: SLF001


def stored_models() -> Iterator[Any]:
    """Yield the options of each model that has a table of its own, many-to-many tables included."""
    for model in apps.get_models(include_auto_created=True):
        if options(model).managed and not options(model).proxy:
            yield options(model)


def foreign_key_fields() -> Iterator[tuple[str, Any]]:
    """Yield each foreign key with its table."""
    for table in stored_models():
        for field in table.local_concrete_fields:
            if isinstance(field, models.ForeignKey):
                yield table.db_table, field
