"""What an import would make of a file, from its first rows: its columns, some articles, and what is rejected."""

from __future__ import annotations

from collections import Counter
from itertools import islice
from typing import Any, BinaryIO

from articles.files.columns import check_columns, column_uses
from articles.files.importing import reason_form, row_of
from articles.files.records import FileFormat, find_rows, record_of
from articles.storage.incoming import RejectedArticleError, check_article
from articles.storage.newspapers import newspaper_host

PREVIEWED_ROWS = 1_000
SHOWN_ROWS = 5
SHOWN_REJECTS = 5
_TEXT_CHARACTERS = 300
_MOST_COLUMNS = 100


def storable(text: str) -> str:
    """Return the text without what PostgreSQL does not store."""
    return text.replace("\0", "\ufffd").encode("utf-8", "replace").decode()


def preview_rows(stream: BinaryIO, file_format: FileFormat, newspaper: str) -> dict[str, Any]:
    """Return what the first PREVIEWED_ROWS rows of a file would become, as JSON; store nothing.

    `columns`: pairs of a name and what it becomes, empty if it is kept as it is. `rows`: the first articles. `checked`
    and `rejected`: numbers of rows. `reasons`: kinds of reasons with their numbers. `rejects`: the first ones. Raises
    UnreadableFileError.
    """
    columns: dict[str, None] = {}
    rows: list[dict[str, Any]] = []
    rejects: list[dict[str, Any]] = []
    reasons: Counter[str] = Counter()
    checked = 0
    for found in islice(find_rows(stream, file_format, check_header=check_columns), PREVIEWED_ROWS):
        checked += 1
        record = record_of(found)
        columns |= dict.fromkeys(map(storable, record.values))
        row = row_of(record, newspaper)
        reason = row.reason
        if row.article is not None:
            try:
                check_article(row.article)
            except RejectedArticleError as rejection:
                reason = str(rejection)
        if reason:
            reasons[storable(reason_form(reason))] += 1
            if len(rejects) < SHOWN_REJECTS:
                rejects.append({"line": row.line, "reason": storable(reason), "raw": storable(row.raw)})
        elif row.article is not None and len(rows) < SHOWN_ROWS:
            article = row.article
            rows.append({
                "line": row.line,
                "day": article.date.isoformat(),
                "headline": article.headline,
                "url": article.url,
                "newspaper": article.newspaper or newspaper_host(article.url),
                "text": article.content[:_TEXT_CHARACTERS],
                "language": article.details.language,
            })  # fmt: skip
    uses = column_uses(list(columns)[:_MOST_COLUMNS])
    return {
        "columns": list(uses.items()),
        "more_columns": max(0, len(columns) - _MOST_COLUMNS),
        "rows": rows,
        "checked": checked,
        "rejected": reasons.total(),
        "reasons": reasons.most_common(),
        "rejects": rejects,
    }
