"""What commands are asked for, as it is used."""

from __future__ import annotations

from collections.abc import Sequence

from articles.models import Newspaper
from dedup.runs.scope import ScopeError


def newspaper_ids(names: Sequence[str] | None) -> tuple[int, ...] | None:
    """Return the ids of the newspapers of these names; None, which is all of them, for None. Raises ScopeError."""
    if names is None:
        return None
    known = dict(Newspaper.objects.values_list("name", "id"))
    unknown = [name for name in names if name not in known]
    if unknown:
        some = ", ".join(list(known)[:20]) or "none"
        raise ScopeError(f"there is no newspaper {unknown[0]!r}; there are: {some}")
    return tuple(sorted({known[name] for name in names}))
