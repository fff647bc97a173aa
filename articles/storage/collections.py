"""Collections of newspapers: which newspapers are in them, and how they get there."""

from collections.abc import Iterable, Sequence
from typing import Any

from django.contrib.admin.models import ADDITION, CHANGE, DELETION
from django.db import transaction
from django.db.models import Count, Prefetch, Q, QuerySet

from articles.models import Article, Collection, Newspaper
from articles.numbers import counted
from articles.storage.audit_log import log_action
from articles.storage.newspapers import UnknownNewspaperError

# Kinds that are offered before there is a collection of them. That of owners is known to lineage.
OWNER = "owner"
KINDS = (OWNER, "edition", "country")


def known_kinds() -> list[str]:
    """Return by what newspapers are grouped, and by what they usually are."""
    return sorted({*KINDS, *Collection.objects.order_by().values_list("kind", flat=True)})


def names_by(kind: str) -> dict[int, str]:
    """Return the name of the collection of this kind that each newspaper is in, by the id of the newspaper."""
    return dict(Collection.objects.filter(kind=kind).exclude(newspapers=None).values_list("newspapers", "name"))


def units_by(kind: str) -> tuple[dict[int, int], dict[int, str]]:
    """Return what each newspaper counts as, if those of a collection of this kind are one, and the names of all that.

    That is the newspaper itself, or the number of its collection, below zero. Without a kind, it is itself.
    """
    names = dict(Newspaper.objects.values_list("pk", "name"))
    units = {newspaper: newspaper for newspaper in names}
    for collection, newspaper, name in Collection.objects.filter(kind=kind).values_list("pk", "newspapers", "name"):
        if newspaper is not None:
            units[newspaper], names[-collection] = -collection, name
    return units, names


def newspapers_of(collections: Iterable[Collection]) -> QuerySet[Newspaper]:
    """Return the newspapers in any of these collections, by name. A merged one gave its place to the other one."""
    return Newspaper.objects.in_use().filter(collections__in=collections).distinct()


def collections_named(references: Sequence[str]) -> list[Collection]:
    """Return the collections of these names: "Coast Media", or "Coast Media (owner)" where there are others.

    Raises UnknownNewspaperError.
    """
    known = list(Collection.objects.all())
    if unknown := [name for name in references if all(name not in (row.name, str(row)) for row in known)]:
        there = ", ".join(map(str, known)) or "none"
        raise UnknownNewspaperError(f"no collection is named {unknown[0]!r}; known collections: {there}")
    return [row for row in known if row.name in references or str(row) in references]


def collections_counted() -> list[tuple[Collection, int, int]]:
    """Return the collections by kind and name, each with the numbers of its newspapers and of their articles."""
    by_paper = dict(Article.objects.order_by().values_list("newspaper").annotate(Count("pk")))
    rows = Collection.objects.prefetch_related(Prefetch("newspapers", Newspaper.objects.in_use().only("pk"), "papers"))
    return [(row, len(row.papers), sum(by_paper.get(paper.pk, 0) for paper in row.papers)) for row in rows]


# A search for newspapers to put in shows so many.
MOST_FOUND = 50


def newspapers_to_put(collection: Collection, typed: str) -> list[tuple[Newspaper, str]]:
    """Return other newspapers with these letters in a name or alias, each with its collection of this kind, if any."""
    names = names_by(collection.kind)
    fitting = Newspaper.objects.in_use().filter(Q(name__icontains=typed) | Q(aliases__alias__icontains=typed))
    found = fitting.exclude(collections=collection).distinct()[:MOST_FOUND]
    return [(newspaper, names.get(newspaper.pk, "")) for newspaper in found]


# ---- the writer --------------------------------------------------------------------------------------


@transaction.atomic
def save_collection(collection: Collection, *, user: Any) -> None:
    """Make a collection, or change its name."""
    is_new = collection.pk is None
    collection.save()
    log_action(collection, ADDITION if is_new else CHANGE, "made it." if is_new else "renamed it.", user=user)


@transaction.atomic
def delete_collection(collection: Collection, *, user: Any) -> None:
    """Delete a collection; its newspapers stay."""
    log_action(collection, DELETION, "deleted it.", user=user)
    collection.delete()


@transaction.atomic
def put_or_take(collection: Collection, newspapers: Iterable[Newspaper], *, put: bool, user: Any) -> int:
    """Put newspapers into a collection, or take them out; return how many left another one of its kind for it."""
    # Locked in order, so that two people cannot put one into two collections of a kind.
    ids = [newspaper.pk for newspaper in newspapers]
    papers = list(Newspaper.objects.in_use().select_for_update().filter(pk__in=ids).order_by("pk"))
    (collection.newspapers.add if put else collection.newspapers.remove)(*papers)
    act = "put {} in." if put else "took {} out."
    log_action(collection, CHANGE, act.format(counted(len(papers), "newspaper")), user=user)
    places = Collection.newspapers.through.objects.filter(newspaper__in=papers, collection__kind=collection.kind)
    return places.exclude(collection=collection).delete()[0] if put else 0
