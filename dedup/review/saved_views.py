"""The writer of saved views: lists with a filter and an order, by user."""

from collections.abc import Iterable

from django.contrib.auth.models import User
from django.db import transaction
from django.http import QueryDict

from dedup.models import SavedView

MOST_VIEWS = 50
NAME_CHARACTERS = 60
_QUERY_CHARACTERS = 1000
# What an address has that is not part of a view: the number of a page, and a mark of the form.
_LEFT_OUT = ("page", "csrfmiddlewaretoken", "skip")


class SavedViewError(ValueError):
    """A view cannot be saved or renamed; the message says why."""


def filled_query(query: str, left_out: Iterable[str] = ()) -> QueryDict:
    """Return a query string without empty fields, and without those that are left out."""
    kept = QueryDict(mutable=True)
    for name, values in QueryDict(query).lists():
        if name not in left_out and (filled := [value for value in values if value]):
            kept.setlist(name, filled)
    return kept


def view_query(query: str) -> str:
    """Return the part of a query string that a view keeps: what filters, sorts, or chooses a tab."""
    return filled_query(query, _LEFT_OUT).urlencode()


def save_view(user: User, page: str, name: str, query: str) -> SavedView:
    """Save a view of a page. Raises SavedViewError."""
    kept, name = view_query(query), _checked_name(name)
    if page not in SavedView.Page.values:
        raise SavedViewError(f"There are no views of {page!r}; a page is one of {', '.join(SavedView.Page.values)}.")
    if not kept:
        raise SavedViewError("This list is neither filtered nor sorted. Choose something first, then save it.")
    if len(kept) > _QUERY_CHARACTERS:
        raise SavedViewError(f"The filter has {len(kept):,} characters; a view keeps up to {_QUERY_CHARACTERS:,}.")
    with transaction.atomic():
        _lock(user)
        if user.saved_views.count() >= MOST_VIEWS:
            raise SavedViewError(f"You have {MOST_VIEWS} saved views, which is the most. Delete one first.")
        _check_free(user, page, name)
        return SavedView.objects.create(user=user, page=page, name=name, query=kept)


def rename_view(view: SavedView, name: str) -> None:
    """Give a view another name. Raises SavedViewError."""
    name = _checked_name(name)
    with transaction.atomic():
        _lock(view.user)
        _check_free(view.user, view.page, name, but=view.pk)
        SavedView.objects.filter(pk=view.pk).update(name=name)


def _lock(user: User) -> None:
    """Make two clicks of one user wait for each other."""
    User.objects.select_for_update().get(pk=user.pk)


def _checked_name(name: str) -> str:
    name = " ".join(name.split())
    if not 1 <= len(name) <= NAME_CHARACTERS:
        raise SavedViewError(f"The name has {len(name)} characters; it must have from 1 to {NAME_CHARACTERS}.")
    return name


def _check_free(user: User, page: str, name: str, *, but: int = 0) -> None:
    if user.saved_views.filter(page=page, name=name).exclude(pk=but).exists():
        label = SavedView.Page(page).label
        raise SavedViewError(f"You already have a view “{name}” of {label}. Choose another name, or delete that one.")
