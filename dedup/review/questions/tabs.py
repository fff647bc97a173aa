"""Questions to editors: the tabs of the queue, the next question, those put off until later, and leases.

An editor who reads a question has it alone for two minutes, unless the page renews the lease.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, NamedTuple

from django.contrib.auth.models import User
from django.db import connection, transaction
from django.db.models import Exists, F, OuterRef, Q, QuerySet
from django.db.models.functions import Coalesce
from django.urls import reverse
from django.utils import timezone
from psycopg.sql import SQL, Identifier

from dedup.models import Cluster, Lease, OpenQuestion, Pair, Postponement
from dedup.models.base import Asked, read_each
from dedup.research.lessons import changes_to_answer
from dedup.review.answers.batches import sample_questions
from dedup.review.queries.lists import PairSelection, questions_on
from dedup.review.questions.routes import on_route, route_of
from dedup.review.readings.second_readings import in_dispute, one_of, waiting_for

Rows = QuerySet[Any]
Kind = Literal["pair", "cluster"]
KINDS: tuple[Kind, ...] = ("pair", "cluster")
_BY_CHANGE = ("-change", "doubt", "number", "id")
# The names of tabs that other modules name.
DISAGREEMENTS, SECOND, SAMPLE, CHANGES = "disagreements", "second", "sample", "changes"
_BY_SIZE = ("-size", "number", "id")


@dataclass(frozen=True)
class Tab:
    """One tab of the queue.

    `rows` returns its questions for a user, in order: rows of a model with a key `pair` and, with `cards`, a key
    `cluster`, one of which is set. They must not be distinct or grouped, because a row is locked when it is given out.
    `blind`: the pairs are shown as if nobody had decided them. `quiet`: the queue names the tab only while it has
    questions. `keeps`: a question cannot be put off until later, because the tab is a list of its own.
    """

    name: str
    label: str
    explains: str
    empty: str
    rows: Callable[[User], Rows]
    cards: bool = True
    blind: bool = False
    quiet: bool = False
    keeps: bool = False

    def count(self, user: User, counted: Iterable[tuple[str, int]] | None = None) -> int:
        """Return how many questions there are, without reading those of which a count is stored if there is no route.

        `counted`: what ask_counts gave, if it was asked.
        """
        if self.name not in _STORED or route_of(user):
            return self.rows(user).count()
        return dict(read_each(ask_counts(user))[0] if counted is None else counted).get(self.name, 0)

    def matching(self, user: User, selection: PairSelection | None) -> Rows:
        """Return the questions on these pairs; on a cluster if one of them is inside; None: all questions."""
        rows = self.rows(user)
        if selection is None:
            return rows
        if selection.ids is not None:
            return rows.filter(questions_on(selection.ids, cards=self.cards))
        # Looked up for each question, in their order, until a page is full: they are fewer than the pairs, all of which
        # a join would read.
        pairs = selection.pairs.order_by()
        wanted: Any = one_of(pairs.filter(pk=OuterRef("pair")))
        if self.cards:
            both = {f"{side}__membership__cluster": OuterRef("cluster") for side in ("left", "right")}
            wanted = Coalesce(wanted, one_of(pairs.filter(**both)))
        return rows.alias(wanted=wanted).filter(wanted__isnull=False)


def _open(user: User, *, ordering: Sequence[str], having: Q) -> QuerySet[OpenQuestion]:
    """Return the open questions on the user's route that they have not put off."""
    rows = OpenQuestion.objects.filter(having).order_by(*ordering)
    if route := route_of(user):
        rows = rows.filter(on_route(route))
    for kind in KINDS:
        later = Postponement.objects.filter(user=user, **{kind: OuterRef(kind)})
        rows = rows.filter(~Exists(later))
    return rows


# What the user has put off is a few rows, each looked up by its pair or cluster.
_COUNTS_SQL = """
WITH put_off AS MATERIALIZED (
    SELECT asked, certain, question.cluster_id, conflict
    FROM dedup_postponement AS later JOIN dedup_openquestion AS question ON question.pair_id = later.pair_id
    WHERE later.user_id = %(user)s
    UNION ALL
    SELECT asked, certain, question.cluster_id, conflict
    FROM dedup_postponement AS later JOIN dedup_openquestion AS question ON question.cluster_id = later.cluster_id
    WHERE later.user_id = %(user)s
)
SELECT tab, greatest(number - (
    SELECT count(*) FROM put_off
    WHERE CASE tab
        WHEN 'informative' THEN asked
        WHEN 'certain' THEN certain
        WHEN 'clusters' THEN (asked OR certain) AND cluster_id IS NOT NULL
        WHEN 'conflicts' THEN conflict
    END
), 0)
FROM dedup_questioncount
"""


def ask_counts(user: User) -> Asked:
    """Return what asks for the tabs whose counts are stored, each with its count less what this user has put off."""
    return _COUNTS_SQL, {"user": user.pk}


def _later(user: User) -> QuerySet[Postponement]:
    """Return the questions that this user has put off and that are still open, the longest waiting first."""
    still = Q(pair__state=Pair.State.UNDECIDED, pair__best_score__gt=0) | Q(cluster__question__isnull=False)
    return Postponement.objects.filter(still, user=user).order_by("postponed_at", "id")


# The tabs whose counts dedup/detection/clustering/questions.py keeps, and which questions each has.
_STORED = {
    "informative": Q(asked=True),
    "certain": Q(certain=True),
    "clusters": Q(Q(asked=True) | Q(certain=True), cluster__isnull=False),
    "conflicts": Q(conflict=True),
}


def _stored(name: str, label: str, explains: str, empty: str, ordering: Sequence[str] = _BY_CHANGE) -> Tab:
    return Tab(name, label, explains, empty, partial(_open, ordering=ordering, having=_STORED[name]))


_TABS: tuple[Tab, ...] = (
    _stored(
        "informative",
        "Most informative",
        "What is doubtful. Those questions whose answer is expected to change the clusters most come first.",
        "Nothing is doubtful. You may still confirm what is nearly certain; the next run may bring new questions.",
    ),
    _stored(
        "certain",
        "Nearly certain",
        "Copies with a chance of at least 90% to be the same article, about which nothing is in doubt. Nobody has to "
        "answer; confirm them if you like.",
        "No question is nearly certain.",
    ),
    _stored(
        "clusters",
        "Clusters",
        "Proposed clusters of three or more articles, the largest first. One answer settles all their pairs.",
        "No cluster of three or more articles waits for an answer.",
        _BY_SIZE,
    ),
    _stored(
        "conflicts",
        "Conflicts",
        "Pairs that were judged duplicates but that clusters keep apart, and clusters that contradict a decision.",
        "Nothing contradicts anything.",
    ),
    Tab("later", "Later", "Questions that you put off.", "You have put off no question.", rows=_later),
    Tab(
        DISAGREEMENTS,
        "Disagreements",
        "Pairs that two editors answered differently. A new decision settles the question.",
        "No disagreement is open.",
        rows=lambda _user: in_dispute(is_open=True).order_by("pk"),
        cards=False,
        keeps=True,
    ),
    Tab(
        SECOND,
        "Second readings",
        "Pairs that another editor has answered. You do not see that answer, and yours changes nothing: it shows how "
        "well editors agree.",
        "No pair waits for a second reading by you.",
        rows=lambda user: waiting_for(user).order_by("pk"),
        cards=False,
        blind=True,
        keeps=True,
    ),
    Tab(
        SAMPLE,
        "Sample of your batch",
        "Questions drawn from the latest batch that you began. Once all are answered, you can decide the batch.",
        "The sample of your latest batch is answered.",
        rows=lambda user: sample_questions(user).order_by("place"),
        quiet=True,
        keeps=True,
    ),
    Tab(
        CHANGES,
        "Changes of a new model",
        "Pairs to which a model that was just learnt gives another verdict, drawn at random. Your answers show whether "
        "it is better than the one in use.",
        "All of them are answered.",
        rows=lambda _user: changes_to_answer().annotate(pair=F("pk"), pair_id=F("pk")),
        cards=False,
        quiet=True,
        keeps=True,
    ),
)
# By their names in the address, in the order of the page; the first is the default. A tab needs no more than a line.
TABS: dict[str, Tab] = {tab.name: tab for tab in _TABS}
DEFAULT = _TABS[0].name


def tab_named(name: str | None) -> Tab:
    """Return the tab with this name, or the default one."""
    return TABS.get(name or "", TABS[DEFAULT])


def tab_counts(user: User) -> dict[str, int]:
    """Return how many questions each tab has for a user, by its name."""
    (counted,) = read_each(ask_counts(user))
    return {name: tab.count(user, counted) for name, tab in TABS.items()}


def without(rows: Rows, questions: Collection[Question], *, cards: bool) -> Rows:
    """Return the rows that are not about these questions."""
    for kind in KINDS if cards else KINDS[:1]:
        numbers = [question.number for question in questions if question.kind == kind]
        if numbers:
            rows = rows.filter(Q(**{f"{kind}__isnull": True}) | ~Q(**{f"{kind}__in": numbers}))
    return rows


_LETTERS: dict[str, Kind] = {"p": "pair", "c": "cluster"}
_WRITTEN = re.compile(r"([pc])([0-9]{1,18})")


class Question(NamedTuple):
    """Whether the articles of a pair, or of a cluster, are the same; with its number."""

    kind: Kind
    number: int

    @property
    def address(self) -> str:
        """The path of its page."""
        return reverse("pair" if self.kind == "pair" else "cluster_card", args=[self.number])

    @property
    def key(self) -> dict[str, Any]:
        """The field and the value that name it in a Lease or a Postponement."""
        return {f"{self.kind}_id": self.number}

    def __str__(self) -> str:
        return f"{self.kind[0]}{self.number}"


def question_of(row: Any) -> Question:
    """Return the question of a row that refers to a pair or, if it has that field, to a cluster."""
    if row.pair_id is not None:
        return Question("pair", row.pair_id)
    return Question("cluster", row.cluster_id)


def read_questions(written: str) -> list[Question]:
    """Return the questions of a list like "p12,c7"; what is not a question is left out."""
    found = (_WRITTEN.fullmatch(part) for part in written.split(","))
    return [Question(_LETTERS[match[1]], int(match[2])) for match in found if match]


def write_questions(questions: Iterable[Question]) -> str:
    """Return a list of questions as an address has it: "p12,c7"."""
    return ",".join(map(str, questions))


LEASE_DURATION = datetime.timedelta(minutes=2)

# One row a question: whoever writes it first has the lease. A row that is locked to be given out is passed over by
# others until its lease is written. A pair or cluster that goes at the same moment gets none, so it is locked first.
_TAKE_SQL = SQL("""
WITH found (pair_id, cluster_id) AS MATERIALIZED ({found}), of_pair AS (
    INSERT INTO dedup_lease AS lease (pair_id, user_id, until)
    SELECT row.id, %(user)s, %(until)s FROM found JOIN dedup_pair AS row ON row.id = pair_id FOR KEY SHARE OF row
    ON CONFLICT (pair_id) DO UPDATE SET user_id = excluded.user_id, until = excluded.until
    WHERE lease.user_id = excluded.user_id OR lease.until <= %(now)s
    RETURNING id
), of_cluster AS (
    INSERT INTO dedup_lease AS lease (cluster_id, user_id, until)
    SELECT row.id, %(user)s, %(until)s FROM found JOIN dedup_cluster AS row ON row.id = cluster_id FOR KEY SHARE OF row
    ON CONFLICT (cluster_id) DO UPDATE SET user_id = excluded.user_id, until = excluded.until
    WHERE lease.user_id = excluded.user_id OR lease.until <= %(now)s
    RETURNING id
)
SELECT pair_id, cluster_id, EXISTS (SELECT FROM of_pair UNION ALL SELECT FROM of_cluster) FROM found
""")
_TAKE_ONE = _TAKE_SQL.format(found=SQL("SELECT %(pair)s::bigint, %(cluster)s::bigint")).as_string()
_NEXT = SQL("SELECT pair_id, {cluster} FROM ({rows} FOR UPDATE OF {table} SKIP LOCKED) AS question")
_GIVE_BACK_SQL = "DELETE FROM dedup_lease WHERE user_id = %(user)s AND (pair_id = %(pair)s OR cluster_id = %(cluster)s)"


def ask_lease(question: Question, user: User) -> Asked:
    """Return what takes or renews the lease of a question; its third column says whether it did.

    It does not if another editor has the lease, or the question is gone.
    """
    return _TAKE_ONE, _lease(question, user)


def _lease(question: Question | None, user: User) -> dict[str, Any]:
    now = timezone.now()
    about: dict[str, Any] = {question.kind: question.number} if question else {}
    return {"pair": None, "cluster": None, **about, "user": user.pk, "until": now + LEASE_DURATION, "now": now}


def take_lease(question: Question, user: User) -> bool:
    """Take or renew the lease of a question; return False if another editor has it, or the question is gone."""
    return bool(read_each(ask_lease(question, user))[0][0][2])


def reader_of(question: Question, user: User) -> User | None:
    """Return the other editor who is reading a question."""
    held = Lease.objects.filter(until__gt=timezone.now(), **question.key).exclude(user=user)
    lease = held.select_related("user").first()
    return lease.user if lease else None


def give_back(question: Question, user: User) -> None:
    """End the lease of a question that this editor has answered or put off."""
    read_each((_GIVE_BACK_SQL, _lease(question, user)))


# Another editor may take a question between reading its row and taking its lease.
_TRIES = 20


def next_question(
    user: User,
    tab: str | None = None,
    filters: PairSelection | None = None,
    skip: Collection[Question] = (),
    *,
    lease: bool = True,
    answered: Question | None = None,
) -> Question | None:
    """Return the first question of a tab that no other editor is reading, and take its lease; None if there is none.

    `filters` are the pairs to which the questions are limited, None for all. `skip` is passed over. Without `lease`,
    for users who cannot decide, questions that others read are not passed over either. `answered` is given back.
    """
    chosen = tab_named(tab)
    rows = without(chosen.matching(user, filters), skip, cards=chosen.cards)
    if not lease:
        row = rows.first()
        return question_of(row) if row else None
    back: list[Asked] = [(_GIVE_BACK_SQL, _lease(answered, user))] if answered else []
    for _ in range(_TRIES):
        *_, found = read_each(*back, _ask_next(_free(rows, chosen, user), chosen, user))
        if not found:
            return None
        ((pair, cluster, is_held),) = found
        if is_held:
            return Question("pair", pair) if cluster is None else Question("cluster", cluster)
    return None


def _ask_next(rows: Rows, tab: Tab, user: User) -> Asked:
    """Return what takes the lease of the question of the first of these rows, as ask_lease does."""
    with connection.cursor() as cursor:
        first = cursor.mogrify(*rows[:1].query.sql_with_params()).replace("%", "%%")
    cluster, table = SQL("cluster_id" if tab.cards else "NULL::bigint"), Identifier(rows.model._meta.db_table)  # noqa: SLF001 - public
    found = _NEXT.format(cluster=cluster, rows=SQL(first), table=table)
    return _TAKE_SQL.format(found=found).as_string(), _lease(None, user)


def _free(rows: Rows, tab: Tab, user: User) -> Rows:
    """Return the rows whose question no other editor is reading."""
    held = Lease.objects.filter(until__gt=timezone.now()).exclude(user=user)
    for kind in KINDS if tab.cards else KINDS[:1]:
        rows = rows.filter(~Exists(held.filter(**{kind: OuterRef(kind)})))
    return rows


def put_off(question: Question, user: User) -> None:
    """Put a question off until later, for this user alone; behind those that were put off before."""
    rows: Rows = (Pair if question.kind == "pair" else Cluster).objects.select_for_update(no_key=True)
    with transaction.atomic():
        if rows.filter(pk=question.number).values_list("pk").first():  # else a run or another editor dissolved it
            Postponement.objects.update_or_create(user=user, **question.key, defaults={"postponed_at": timezone.now()})
    give_back(question, user)
