"""The shapes of the API, made of the declared columns: the rows that programs read, and the filters of its lists."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeVar, cast

from django.db.models import QuerySet
from ninja import Schema
from pydantic import Field, create_model

from articles.models import Newspaper
from articles.storage.collections import collections_named, newspapers_of
from articles.storage.newspapers import UnknownNewspaperError
from dedup.api.problems import refused
from dedup.api.requests import Day, Number, Text
from dedup.models import Delivery, DetectionRun, Profile, Webhook
from dedup.rows.articles import ARTICLE
from dedup.rows.clusters import CLUSTER, STORY
from dedup.rows.columns import Column, ColumnType, Filter, Place, Rows
from dedup.rows.decisions import DECISION
from dedup.rows.filtering import MOST_CHARACTERS
from dedup.rows.pairs import EVIDENCE, PAIR

AnyQuery = TypeVar("AnyQuery", bound=type[Schema])
AnyRows = TypeVar("AnyRows", bound=QuerySet[Any])
_SHAPES: dict[Rows, Any] = {}


@dataclass(frozen=True)
class OneOf:
    """The values that a text can have. The client's types name them; the API's description does not."""

    values: tuple[str, ...]


def shape(rows: Rows, name: str, *, full: str = "") -> tuple[Any, Callable[..., dict[str, Any]]]:
    """Return the shape of a row, and what gives a row that shape.

    It is that of its lists or, with what `full` says of it, the one in which it is read by its number.
    """
    shown = rows.at(Place.ROW | Place.FULL if full else Place.ROW)
    fields = {column.name: (_type(column), Field(description=column.help or None)) for column in shown}
    made = create_model(name, __base__=Schema, __doc__=full or rows.help, **cast("Any", fields))
    _SHAPES.setdefault(rows, made)
    return made, rows.api_values(full=bool(full))


def _type(column: Column) -> Any:
    kind: Any = column.type.of_python if column.of is None else _SHAPES[column.of]
    if column.choices:
        kind = Annotated[kind, OneOf(tuple(value for value, _ in column.choices))]
    if column.many:
        kind = list[kind]
    return kind | None if column.optional else kind


def filtering(rows: Rows, query: AnyQuery) -> AnyQuery:
    """Return the query of a list with the filters of its columns, which come after its own."""
    fields = {
        found.name or column.name: (_asked(column, found) | None, Field(None, description=found.help or None))
        for column, found in rows.filters(Place.ROW)
    }
    return cast("AnyQuery", create_model(query.__name__, __base__=query, __doc__=query.__doc__, **cast("Any", fields)))


def _asked(column: Column, found: Filter) -> Any:
    if column.choices:
        return Literal[tuple(value for value, _ in column.choices)]
    if column.type is ColumnType.TEXT:
        return Annotated[Text, Field(max_length=int(found.most or MOST_CHARACTERS))]
    if column.type is ColumnType.PROBABILITY:
        return Annotated[float, Field(ge=0, le=1)]
    if column.type is ColumnType.COUNT:
        return Annotated[int, Field(ge=found.least, le=found.most)]
    return {ColumnType.DAY: Day, ColumnType.INTEGER: Number, ColumnType.BOOLEAN: bool}[column.type]


def filtered(queryset: AnyRows, rows: Rows, query: Schema) -> AnyRows:
    """Return the rows that a query made by `filtering` asks for."""
    for column, found in rows.filters(Place.ROW):
        if (value := getattr(query, found.name or column.name)) is not None:
            queryset = queryset.filter(found.condition(column, value))
    return queryset


def in_collections(where: str, names: Sequence[str]) -> QuerySet[Newspaper]:
    """Return the newspapers of the collections with these names. Raises ProblemError, 422, for an unknown name."""
    try:
        return newspapers_of(collections_named(names))
    except UnknownNewspaperError as error:
        raise refused(where, str(error)) from error


# What only the API lists.
RUN = Rows(
    "A run of the detection.",
    (
        Column("id"),
        Column("profile", source="profile_name"),
        *map(Column, ("state", "scope", "counts", "started_at", "finished_at", "error")),
    ),
    model=DetectionRun,
)
REQUEST = Rows(
    "A run that somebody asked for; `run` is null while it waits for a worker.",
    (
        Column("id", type=ColumnType.INTEGER),
        Column("profile", source=lambda job: Profile.objects.get(pk=job.arguments["profile"]).name),
        Column("since", type=ColumnType.DAY, source=lambda job: job.arguments["since"], optional=True),
        Column("until", type=ColumnType.DAY, source=lambda job: job.arguments["until"], optional=True),
        Column("new", type=ColumnType.BOOLEAN, source=lambda job: job.arguments["new"]),
        Column("requested_at", type=ColumnType.MOMENT),
        Column(
            "run",
            type=ColumnType.INTEGER,
            source=lambda job: job.runs.values_list("pk", flat=True).first(),
            optional=True,
        ),
    ),
)
WEBHOOK = Rows(
    "A webhook.",
    (
        *map(Column, ("id", "url")),
        Column("events", type=ColumnType.TEXTS, choices=tuple(Webhook.Event.choices)),
        *map(Column, ("active", "fault", "made_at")),
        Column("secret", help="To check signatures with; the API shows it only now.", places=Place.FULL),
    ),
    model=Webhook,
)
DELIVERY = Rows(
    "A request to a webhook.",
    (
        Column("id"),
        Column("message", help="The id in its header webhook-id.", source=lambda delivery: str(delivery.message)),
        *map(Column, ("event", "state", "attempts", "answer", "made_at", "tried_at")),
        Column(
            "due_at",
            type=ColumnType.MOMENT,
            help="When it is tried next, if it waits.",
            source=lambda delivery: delivery.due_at if delivery.state == Delivery.State.WAITING else None,
            optional=True,
        ),
    ),
    model=Delivery,
)

ArticleRow, article_row = shape(ARTICLE, "ArticleRow")
ArticleFull, article_full = shape(ARTICLE, "ArticleFull", full="An article with its text and all its URLs.")
ClusterRow, cluster_row = shape(CLUSTER, "ClusterRow")
StoryRow, story_row = shape(STORY, "StoryRow")
EvidenceRow, _ = shape(EVIDENCE, "EvidenceRow")
PairRow, pair_row = shape(PAIR, "PairRow")
PairFull, pair_full = shape(PAIR, "PairFull", full="A pair with the evidence and the reasons.")
DecisionRow, decision_row = shape(DECISION, "DecisionRow")
RunRow, run_row = shape(RUN, "RunRow")
RequestRow, request_row = shape(REQUEST, "RequestRow")
WebhookRow, webhook_row = shape(WEBHOOK, "WebhookRow")
MadeWebhook, made_webhook = shape(WEBHOOK, "MadeWebhook", full="A new webhook with its secret.")
DeliveryRow, delivery_row = shape(DELIVERY, "DeliveryRow")
