"""The types of the client: script/write-docs writes them from the API's shapes into client/newsdedup_client.py."""

import datetime
from collections.abc import Iterator
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from ninja import Schema
from pydantic.fields import FieldInfo

from dedup.api import shapes
from dedup.api.articles import NewArticle, StoredRow
from dedup.api.checks import CheckResult, CopyRow
from dedup.api.pairs import NewDecision
from dedup.api.runs import AskedRun
from dedup.models import Pair, Verdict, Webhook

# By their names in the client, which leave out that they are rows. One that is read in full adds to that of its list.
TYPES: dict[str, type[Schema]] = {
    "Article": shapes.ArticleRow,
    "ArticleFull": shapes.ArticleFull,
    "NewArticle": NewArticle,
    "Stored": StoredRow,
    "Cluster": shapes.ClusterRow,
    "Story": shapes.StoryRow,
    "Pair": shapes.PairRow,
    "Evidence": shapes.EvidenceRow,
    "PairFull": shapes.PairFull,
    "Decision": shapes.DecisionRow,
    "Copy": CopyRow,
    "Check": CheckResult,
    "Run": shapes.RunRow,
    "RunRequest": shapes.RequestRow,
    "AskedRun": AskedRun,
    "Webhook": shapes.WebhookRow,
    "NewWebhook": shapes.MadeWebhook,
    "Delivery": shapes.DeliveryRow,
}
_BASES = {"ArticleFull": "Article", "PairFull": "Pair", "NewWebhook": "Webhook"}
_NAMES = {shape: name for name, shape in TYPES.items()}
_CHOICES = {
    "Kind": get_args(NewDecision.model_fields["kind"].annotation),
    "State": tuple(state for state, _ in Pair.STATES),
    "Verdict": tuple(Verdict.values),
    "Event": tuple(Webhook.Event.values),
}
# A type of more values is a plain text.
_MOST_NAMED = 8
_OF_JSON = {datetime.date: "str", datetime.datetime: "str", NoneType: "None", Any: "Any"}


def client_types() -> str:
    """Return the types as Python."""
    written = ["\n".join(f"{name} = {_literal(values)}" for name, values in _CHOICES.items())]
    for name, shape in TYPES.items():
        base = _BASES.get(name, "TypedDict")
        head = [f"class {name}({base}):", f'    """{shape.__doc__}"""', ""]
        written.append("\n".join([*head, *_fields(shape, TYPES.get(base))]))
    return "\n\n\n".join(written)


def _fields(shape: type[Schema], base: type[Schema] | None) -> Iterator[str]:
    for name, field in shape.model_fields.items():
        if base is None or name not in base.model_fields:
            written = _written(field.annotation, field)
            yield f"    {name}: {written if field.is_required() else f'NotRequired[{written}]'}"


def _written(kind: Any, field: FieldInfo | None = None) -> str:
    """Return a type as the client writes it: what JSON has, and one of the client's names if it has one."""
    for known in field.metadata if field else get_args(kind)[1:] if get_origin(kind) is Annotated else ():
        if isinstance(known, shapes.OneOf):
            named = _choice(known.values)
            return f"list[{named}]" if get_origin(kind) is list or kind == list[str] else named
    if get_origin(kind) is Annotated:
        return _written(get_args(kind)[0])
    if get_origin(kind) is Literal:
        return _choice(get_args(kind))
    if get_origin(kind) in (Union, UnionType):
        return " | ".join(map(_written, get_args(kind)))
    if get_origin(kind) in (list, dict):
        return f"{get_origin(kind).__name__}[{', '.join(map(_written, get_args(kind)))}]"
    return _NAMES.get(kind) or _OF_JSON.get(kind) or str(kind.__name__)


def _choice(values: tuple[str, ...]) -> str:
    named = next((name for name, known in _CHOICES.items() if known == values), "")
    return named or (_literal(values) if len(values) <= _MOST_NAMED else "str")


def _literal(values: tuple[str, ...]) -> str:
    quoted = ", ".join(f'"{value}"' for value in values)
    return f"Literal[{quoted}]"
