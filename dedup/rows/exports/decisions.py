"""The export of decisions: all of them, also those that were undone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.db.models import QuerySet

from articles.querysets import LONG_TEXTS
from dedup.models import Decision
from dedup.rows.exports.base import Export, in_batches

_COLUMNS = {
    "decision": "number of the decision",
    "kind": "what was decided",
    "decided_by": "who made it",
    "decided_at": "when",
    "pair": "number of the pair, if it was about one",
    "left_article": "number of the pair's left article",
    "right_article": "number of the pair's right article",
    "cluster": "number of the cluster at that time, if it was about one",
    "group": "number of the dense group, if it was about one",
    "articles": "numbers of the articles of that cluster or group",
    "article": "number of the article that was taken out or chosen",
    "note": "the editor's note",
    "undoes": "number of the decision that this one undoes",
    "undone_by": "number of the decision that undoes this one",
    "undone_at": "when",
}


def _rows(decisions: QuerySet[Any]) -> Iterator[dict[str, Any]]:
    texts = [f"pair__{side}__{name}" for side in ("left", "right") for name in LONG_TEXTS]
    full = Decision.objects.select_related("decided_by", "pair__left", "pair__right", "undone_by")
    full = full.defer("pair__reasons", *texts)
    for batch in in_batches(full.filter(pk__in=decisions.order_by().values("pk")).order_by("pk")):
        for decision in batch:
            yield _row(decision)


def _row(decision: Any) -> dict[str, Any]:
    undone_by = getattr(decision, "undone_by", None)
    return {
        "decision": decision.pk,
        "kind": decision.kind,
        "decided_by": decision.decided_by.get_username(),
        "decided_at": decision.decided_at,
        "pair": decision.pair_id,
        "left_article": decision.pair.earlier.pk if decision.pair else None,
        "right_article": decision.pair.later.pk if decision.pair else None,
        "cluster": decision.cluster_number,
        "group": decision.group_number,
        "articles": decision.articles,
        "article": decision.article_id,
        "note": decision.note,
        "undoes": decision.undoes_id,
        "undone_by": undone_by.pk if undone_by else None,
        "undone_at": undone_by.decided_at if undone_by else None,
    }


DECISIONS = Export("decisions", _COLUMNS, _rows)
