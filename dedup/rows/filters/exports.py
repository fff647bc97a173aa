"""The filters of exports: those of the lists, by the name of the export."""

from __future__ import annotations

from typing import Any

from django.http import QueryDict

from dedup.models import Cluster, Decision
from dedup.rows.filters.base import ListFilter
from dedup.rows.filters.clusters import ClusterFilter
from dedup.rows.filters.decisions import DecisionFilter
from dedup.rows.filters.pairs import PairFilter

# In a list, a field without a value may mean a choice; a command exports everything that its filter does not exclude.
EVERYTHING = {"pairs": "state=any&verdict=any&sort=-score"}


class FilterError(ValueError):
    """A filter names a field that the list does not have, or a value that the field does not take."""


def list_filter(name: str, data: Any) -> ListFilter:
    """Return the filter of the list that an export writes; values that are not valid are ignored, as in the list."""
    if name == "pairs":
        return PairFilter(data)
    if name == "clusters":
        return ClusterFilter(data, Cluster.objects.all())
    return DecisionFilter(data, Decision.objects.all())


def strict_filter(name: str, query: str) -> ListFilter:
    """Return the filter that a query string describes: "verdict=duplicate&newspaper=3". Raises FilterError."""
    data = QueryDict(EVERYTHING.get(name, ""), mutable=True)
    try:
        asked = QueryDict(query)
    except UnicodeDecodeError as error:
        raise FilterError(f"the filter {query!r} is not UTF-8") from error
    for field, value in asked.items():
        data[field] = str(value)
    chosen = list_filter(name, data)
    known = [each for each in chosen.form.fields if each != "sort"]
    for field in asked:
        if field not in known:
            raise FilterError(f"the filter has no field {field!r}; its fields are {', '.join(known)}")
    if not chosen.form.is_valid():
        faults = [
            f"{field}={asked.get(field)}: {error}" for field, errors in chosen.form.errors.items() for error in errors
        ]
        raise FilterError(f"the filter is not valid: {'; '.join(faults)}")
    return chosen
