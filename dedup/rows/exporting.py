"""All exports, and their filters: those of the lists."""

from django.http import QueryDict

from dedup.rows.clusters import CLUSTERS, LINEAGE
from dedup.rows.decisions import DECISIONS
from dedup.rows.files import Export
from dedup.rows.filtering import ListFilter
from dedup.rows.pairs import PAIRS

# Those of the page Exports: a row of it for each list of the pages.
EXPORTS: dict[str, Export] = {export.name: export for export in (PAIRS, CLUSTERS, DECISIONS)}
# Those of the command; that of lineages takes the filter of clusters.
WRITTEN = {**EXPORTS, LINEAGE.name: LINEAGE}

# In a list, a field without a value may mean a choice; a command exports everything that its filter does not exclude.
EVERYTHING = {"pairs": "state=any&verdict=any&sort=-score"}


class FilterError(ValueError):
    """A filter names a field that the list does not have, or a value that the field does not take."""


def strict_filter(name: str, query: str) -> ListFilter:
    """Return the filter that a query string describes: "verdict=duplicate&newspaper=3". Raises FilterError."""
    data = QueryDict(EVERYTHING.get(name, ""), mutable=True)
    try:
        asked = QueryDict(query)
    except UnicodeDecodeError as error:
        raise FilterError(f"the filter {query!r} is not UTF-8") from error
    for field, value in asked.items():
        data[field] = str(value)
    chosen: ListFilter = WRITTEN[name].filter(data)
    known = [field for field in chosen.form.fields if field != "sort"]
    for field in asked:
        if field not in known:
            raise FilterError(f"the filter has no field {field!r}; its fields are {', '.join(known)}")
    if not chosen.form.is_valid():
        faults = [
            f"{field}={asked.get(field)}: {error}" for field, errors in chosen.form.errors.items() for error in errors
        ]
        raise FilterError(f"the filter is not valid: {'; '.join(faults)}")
    return chosen
