"""Decides for a whole archive which articles leave a corpus, and keeps the decisions in temporary tables.

The tables keep memory bounded: it holds one cluster and a batch of decisions at a time.
"""

from __future__ import annotations

import datetime
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import Any

from django.db import connection, transaction
from django.db.models import BooleanField, ExpressionWrapper, Q, Value

from articles.boilerplate.mode import Mode
from articles.models import Article, Newspaper
from articles.normalization.times import Precision, PublicationTime
from articles.processes import in_batches
from articles.querysets import executed, given
from articles.storage.collections import units_by
from dedup.detection.article_sql import article_sql
from dedup.detection.clustering.policies import Member, Policy, in_order, removals
from dedup.detection.clustering.rebuild import expected_clusters
from dedup.detection.runs.scope import Scope
from dedup.detection.types import SameAs
from dedup.models import Cluster, Membership
from dedup.research.labels import in_parts

NOTHING_LEFT = "nothing but boilerplate"

# Articles of clusters that are read, or whose places are stored, at a time.
_AT_ONCE = 5_000
_CLUSTERS_AT_ONCE = 1_000

_TABLES_SQL = """
CREATE TEMPORARY TABLE corpus_other (article_id bigint PRIMARY KEY) ON COMMIT DROP;
CREATE TEMPORARY TABLE corpus_cluster (
    id bigint PRIMARY KEY, state text, kept bigint, copies integer, newspapers text[], first_published text, text bigint
) ON COMMIT DROP;
CREATE TEMPORARY TABLE corpus_place (
    article_id bigint PRIMARY KEY, cluster_id bigint, reason text, represented_by bigint
) ON COMMIT DROP
"""
_DROP_SQL = "DROP TABLE corpus_other, corpus_cluster, corpus_place"
_COPY_CLUSTERS_SQL = "COPY corpus_cluster (id, state, kept, copies, newspapers, first_published, text) FROM STDIN"
_COPY_PLACES_SQL = "COPY corpus_place (article_id, cluster_id, reason, represented_by) FROM STDIN"
_OTHERS_SQL = "SELECT article_id FROM corpus_other WHERE article_id = ANY (%(ids)s)"
# The articles in no cluster, in two statements: those of the other corpus, and those without a text. By their primary
# key, and by a scan.
_ALONE_IN_OTHER_SQL = article_sql(
    """
INSERT INTO corpus_place (article_id, reason, represented_by)
SELECT article.id, %(reason)s, article.id
FROM corpus_other JOIN {articles} AS article ON article.id = corpus_other.article_id
WHERE {article.in_scope}
ON CONFLICT DO NOTHING
""",
    "article",
)
_ALONE_AND_EMPTY_SQL = article_sql(
    """
INSERT INTO corpus_place (article_id, reason)
SELECT article.id, %(reason)s
FROM {articles} AS article
WHERE (CASE %(mode)s WHEN 'story' THEN article.story_text WHEN 'topic' THEN article.topic_text END) = ''
  AND {article.in_scope}
ON CONFLICT DO NOTHING
""",
    "article",
)
# What is left of a text without boilerplate has neither letters nor digits.
_NOTHING_LEFT = {Mode.STORY: Q(article__story_text=""), Mode.TOPIC: Q(article__topic_text="")}
_COLUMNS = (
    *("cluster", "cluster__state", "cluster__kept", "cluster__kept_text", "article", "article__newspaper"),
    *("article__date", "article__published_at", "article__published_offset", "article__published_precision"),
)


def in_part(part: Scope, members: Iterable[Member]) -> list[Member]:
    """Return the articles that are of a part of the archive."""
    return [
        member
        for member in members
        if (part.since is None or member.date >= part.since)
        and (part.until is None or member.date <= part.until)
        and (part.newspaper_ids is None or member.newspaper_id in part.newspaper_ids)
        and (part.found is None or member.pk in part.found)
    ]


@dataclass(frozen=True, slots=True)
class WholeCluster:
    """A cluster with all its articles, by id; `empty` are those with nothing but boilerplate, `times` as written.

    `text` is the article whose text represents it; None: that of the kept one.
    """

    pk: int
    state: str
    kept: int
    text: int | None
    members: list[Member]
    empty: frozenset[int]
    times: dict[int, str]


def whole_clusters(
    *, confirmed_only: bool, boilerplate: Mode = Mode.KEEP, same_as: SameAs | None = None
) -> Iterator[WholeCluster]:
    """Yield the proposed and confirmed clusters by id, or the confirmed ones alone. Memory: one cluster.

    With `same_as`, those that would be stored if the default profile counted this as the same; the id of one is the
    lowest id of its articles. Memory: all pairs that are compared.
    """
    if same_as is not None:
        yield from _clusters_under(same_as, confirmed_only=confirmed_only, boilerplate=boilerplate)
        return
    found = Membership.objects.filter(given(cluster__state=Cluster.State.CONFIRMED if confirmed_only else None))
    empty = _NOTHING_LEFT.get(boilerplate, Value(value=False))
    rows = found.annotate(empty=ExpressionWrapper(empty, output_field=BooleanField()))
    ordered = rows.order_by("cluster_id", "article_id").values_list(*_COLUMNS, "empty")
    with transaction.atomic():  # so that the rows are streamed
        for (pk, state, kept, text), of_cluster in groupby(ordered.iterator(_AT_ONCE), key=itemgetter(0, 1, 2, 3)):
            yield _whole(pk, state, kept, text, [row[4:] for row in of_cluster])


def _clusters_under(same_as: SameAs, *, confirmed_only: bool, boilerplate: Mode) -> Iterator[WholeCluster]:
    empty = ExpressionWrapper(_NOTHING_LEFT.get(boilerplate, Value(value=False)), output_field=BooleanField())
    columns = [name.removeprefix("article__") for name in _COLUMNS[5:]]
    found = sorted(expected_clusters(same_as).items(), key=itemgetter(0))
    wanted = [both for both in found if not confirmed_only or both[1].state == Cluster.State.CONFIRMED]
    for batch in in_parts(wanted, _CLUSTERS_AT_ONCE):
        articles = Article.objects.filter(pk__in=[article for members, _ in batch for article in members])
        read = articles.annotate(empty=empty).order_by().values_list("pk", *columns, "empty")
        rows = {row[0]: row for row in read}
        for members, row in batch:
            yield _whole(members[0], row.state, row.kept_id, row.kept_text_id, [rows[article] for article in members])


def _whole(pk: int, state: str, kept: int, text: int | None, rows: Sequence[Any]) -> WholeCluster:
    """Return a cluster, given the columns of each article in the order of _COLUMNS, and whether it is empty."""
    emptied = frozenset(row[0] for row in rows if row[6])
    times = {row[0]: _written(*row[2:6]) for row in rows}
    return WholeCluster(pk, state, kept, text, [Member(*row[:4]) for row in rows], emptied, times)


def _written(date: datetime.date, at: datetime.datetime | None, offset: int | None, precision: str) -> str:
    """Return when an article was published, in ISO 8601: the time if it is known, else the day."""
    return date.isoformat() if at is None else str(PublicationTime(at, offset, Precision(precision)))


@dataclass(frozen=True, slots=True)
class Asked:
    """What a corpus is made of. Of the scope `part`, only the days and the newspapers matter.

    `also_in` is the reason given for what is in the other corpus; empty: there is none. `same_as`: what counts as the
    same; None: what the stored clusters rest on. Newspapers in one collection of the kind `together` count as one.
    """

    policy: Policy
    part: Scope
    boilerplate: Mode
    confirmed_only: bool
    also_in: str = ""
    same_as: SameAs | None = None
    together: str = ""

    @classmethod
    def of(cls, part: Scope, said: Mapping[str, Any], also_in: str = "") -> Asked:
        """Return what a form, a command or a stored export says in words."""
        same_as = SameAs(said["same"]) if said.get("same") else None
        return cls(
            Policy(said["policy"]),
            part,
            Mode(said["boilerplate"]),
            said["confirmed"],
            also_in,
            same_as,
            said.get("together", ""),
        )


@contextmanager
def corpus_tables() -> Iterator[None]:
    """Make the temporary tables, and drop them afterwards. All of it is one transaction."""
    with transaction.atomic():
        executed(_TABLES_SQL)
        yield
        executed(_DROP_SQL)


def decide_places(asked: Asked) -> None:
    """Fill the tables: each cluster, and the place of each article of the part that is in one or leaves the corpus.

    corpus_other must have the articles of the other corpus.
    """
    names = dict(Newspaper.objects.values_list("pk", "name"))
    clusters = whole_clusters(confirmed_only=asked.confirmed_only, boilerplate=asked.boilerplate, same_as=asked.same_as)
    units, _ = units_by(asked.together)
    for batch in in_batches(clusters, lambda cluster: len(cluster.members), _AT_ONCE):
        _store(batch, asked, names, units)
    bounds = asked.part.bounds()
    if asked.also_in:
        executed(_ALONE_IN_OTHER_SQL, {"reason": asked.also_in, **bounds})
    if asked.boilerplate is not Mode.KEEP:
        executed(_ALONE_AND_EMPTY_SQL, {"reason": NOTHING_LEFT, "mode": asked.boilerplate.value, **bounds})


def _store(clusters: Sequence[WholeCluster], asked: Asked, names: dict[int, str], units: dict[int, int]) -> None:
    others: set[int] = set()
    with connection.cursor() as cursor:
        if asked.also_in:
            cursor.execute(_OTHERS_SQL, {"ids": [member.pk for cluster in clusters for member in cluster.members]})
            others = {article for (article,) in cursor.fetchall()}
        with cursor.copy(_COPY_CLUSTERS_SQL) as copy:
            for cluster in clusters:
                copy.write_row(_facts(cluster, asked, names))
        with cursor.copy(_COPY_PLACES_SQL) as copy:
            for cluster in clusters:
                for place in _places(cluster, asked, others, units):
                    copy.write_row(place)


def _facts(cluster: WholeCluster, asked: Asked, names: dict[int, str]) -> tuple[Any, ...]:
    ordered = in_order(cluster.members)
    newspapers = list(dict.fromkeys(names[member.newspaper_id] for member in ordered))
    first = cluster.times[ordered[0].pk]
    # The text of an article that the corpus may not have is not given to another one.
    has_text = {member.pk for member in in_part(asked.part, cluster.members)} - cluster.empty
    text = cluster.text if cluster.text in has_text else None
    return cluster.pk, cluster.state, cluster.kept, len(ordered) - 1, newspapers, first, text


def _places(
    cluster: WholeCluster, asked: Asked, others: Collection[int], units: dict[int, int]
) -> Iterator[tuple[Any, ...]]:
    """Yield the row in corpus_place of each article of the part.

    What the other corpus has goes before what is empty and copies.
    """
    members = in_part(asked.part, cluster.members)
    if in_other := [member for member in cluster.members if member.pk in others]:
        first = in_order(in_other)[0].pk
        for member in members:
            yield member.pk, cluster.pk, asked.also_in, member.pk if member.pk in others else first
        return
    with_text = [member for member in members if member.pk not in cluster.empty]
    gone = {removed.article: removed for removed in removals(asked.policy, with_text, cluster.kept, units)}
    for member in members:
        if member.pk in cluster.empty:
            yield member.pk, cluster.pk, NOTHING_LEFT, None
        elif removal := gone.get(member.pk):
            yield member.pk, cluster.pk, removal.reason.value, removal.represented_by
        else:
            yield member.pk, cluster.pk, None, None
