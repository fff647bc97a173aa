"""Decisions: their columns, the filter of the history, and their export, also of those that were undone."""

from collections.abc import Callable, Iterator
from itertools import chain
from typing import Any

import django_filters as filters
from django.contrib.auth import get_user_model
from django.db.models import Exists, OuterRef, QuerySet

from articles.querysets import texts_of
from dedup.models import Decision
from dedup.rows.columns import Column, ColumnType, Filter, Place, Rows
from dedup.rows.files import Export, in_batches
from dedup.rows.filtering import ListFilter, filters_of


def _of_undo(name: str) -> Callable[[Decision], Any]:
    return lambda decision: getattr(getattr(decision, "undone_by", None), name, None)


def _number(name: str, label: str = "", help_text: str = "", **given: Any) -> Column:
    """Return a column with the number of a row; none if the decision was about no such row."""
    return Column(name, label, ColumnType.INTEGER, help=help_text, optional=True, **given)


DECISION = Rows(
    "One decision of an editor.",
    (
        Column("id", "number of the decision", file="decision"),
        Column("kind", "decision", filters=(Filter(everything="any decision", places=Place.PAGE),)),
        Column(
            "decided_by",
            "who made it",
            source=lambda decision: decision.decided_by.get_username(),
            filters=(Filter(help="Decisions of this editor.", lookup="username", most=150, places=Place.ROW),),
        ),
        Column("decided_at", "when"),
        _number("pair", "number of the pair, if it was about one", source="pair_id"),
        *(
            _number(
                f"{side}_article",
                f"number of the pair's {side} article",
                source=lambda decision, end=end: getattr(decision.pair, end).pk if decision.pair else None,
                places=Place.FILE,
            )
            for side, end in (("left", "earlier"), ("right", "later"))
        ),
        _number("cluster", help_text="The number that the cluster had.", source="cluster_number"),
        _number("group", help_text="The number that the dense group had.", source="group_number"),
        Column("articles", type=ColumnType.INTEGERS, help="The articles that it was about."),
        _number("article", help_text="The article that was taken out or chosen.", source="article_id"),
        Column("note", "the editor's note"),
        _number("undoes", help_text="The decision that it undoes.", source="undoes_id"),
        _number("undone_by", help_text="The decision that undoes it.", source=_of_undo("pk")),
        Column("undone_at", "when it was undone", ColumnType.MOMENT, source=_of_undo("decided_at"), places=Place.FILE),
    ),
    model=Decision,
)


def _whole(decisions: QuerySet[Any]) -> Iterator[Decision]:
    full = Decision.objects.select_related("decided_by", "pair__left", "pair__right", "undone_by")
    full = full.defer("pair__reasons", *texts_of("pair__left", "pair__right"))
    return chain.from_iterable(in_batches(full.filter(pk__in=decisions.order_by().values("pk")).order_by("pk")))


def _deciders(*_args: Any) -> QuerySet[Any]:
    decided = Decision.objects.filter(decided_by=OuterRef("pk"))
    return get_user_model().objects.filter(Exists(decided)).order_by("username")


@filters_of(DECISION, after="decided_by")
class DecisionFilter(ListFilter):
    """Filters decisions by editor and kind."""

    decided_by = filters.ModelChoiceFilter(queryset=_deciders, label="Editor", empty_label="any editor")


DECISIONS = Export("decisions", "all decisions, also those that were undone", DECISION, _whole, DecisionFilter)
