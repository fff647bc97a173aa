"""Reads clusters with all their articles, one after the other."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import Any

from django.db import transaction
from django.db.models import BooleanField, ExpressionWrapper, Q, Value

from articles.boilerplate.mode import Mode
from articles.normalization.times import Precision, PublicationTime
from dedup.detection.clustering.policies import Member
from dedup.models import Cluster, Membership

# Articles fetched from the database at a time.
_AT_ONCE = 5_000
# What is left of a text without boilerplate has neither letters nor digits.
_NOTHING_LEFT = {Mode.STORY: Q(article__story_text=""), Mode.TOPIC: Q(article__topic_text="")}
_COLUMNS = (
    *("cluster", "cluster__state", "cluster__kept", "article", "article__newspaper"),
    *("article__date", "article__published_at", "article__published_offset", "article__published_precision"),
)


@dataclass(frozen=True, slots=True)
class Part:
    """The articles that a corpus is made of: those of these days and newspapers; None: no bound."""

    since: datetime.date | None = None
    until: datetime.date | None = None
    newspaper_ids: tuple[int, ...] | None = None

    def has(self, article: Member) -> bool:
        """Return whether an article is one of them."""
        return (
            (self.since is None or article.date >= self.since)
            and (self.until is None or article.date <= self.until)
            and (self.newspaper_ids is None or article.newspaper_id in self.newspaper_ids)
        )

    def bounds(self) -> dict[str, Any]:
        """Return the bounds by name, also as the parameters of an SQL statement."""
        ids = None if self.newspaper_ids is None else list(self.newspaper_ids)
        return {"since": self.since, "until": self.until, "newspaper_ids": ids}


@dataclass(frozen=True, slots=True)
class WholeCluster:
    """A cluster with all its articles, by id; `empty` are those with nothing but boilerplate, `times` as written."""

    pk: int
    state: str
    kept: int
    members: list[Member]
    empty: frozenset[int]
    times: dict[int, str]


def whole_clusters(*, confirmed_only: bool, boilerplate: Mode = Mode.KEEP) -> Iterator[WholeCluster]:
    """Yield the proposed and confirmed clusters by id, or the confirmed ones alone. Memory: one cluster."""
    found = (
        Membership.objects.filter(cluster__state=Cluster.State.CONFIRMED)
        if confirmed_only
        else Membership.objects.all()
    )
    empty = _NOTHING_LEFT.get(boilerplate, Value(value=False))
    rows = found.annotate(empty=ExpressionWrapper(empty, output_field=BooleanField()))
    ordered = rows.order_by("cluster_id", "article_id").values_list(*_COLUMNS, "empty")
    with transaction.atomic():  # so that the rows are streamed
        for _, of_cluster in groupby(ordered.iterator(_AT_ONCE), key=itemgetter(0)):
            yield _whole(list(of_cluster))


def _whole(rows: list[tuple[Any, ...]]) -> WholeCluster:
    pk, state, kept = rows[0][:3]
    return WholeCluster(
        pk,
        state,
        kept,
        [Member(*row[3:7]) for row in rows],
        frozenset(row[3] for row in rows if row[9]),
        {row[3]: _written(*row[5:9]) for row in rows},
    )


def _written(date: datetime.date, at: datetime.datetime | None, offset: int | None, precision: str) -> str:
    """Return when an article was published, in ISO 8601: the time if it is known, else the day."""
    return date.isoformat() if at is None else str(PublicationTime(at, offset, Precision(precision)))
