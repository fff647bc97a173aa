"""Writes stored articles to a file, with or without boilerplate; `import_articles` can read it."""

from __future__ import annotations

import datetime
import gzip
import io
import os
from collections.abc import Collection, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any, BinaryIO, TextIO, cast

from django.db import transaction

from articles.boilerplate.mode import Mode
from articles.boilerplate.rules import without_boilerplate
from articles.models import Article

_COLUMNS = ("external_id", "date", "headline", "url", "content", "language", "byline", "agency", "dateline")
# Articles fetched from the database at a time.
_AT_ONCE = 500


def exported_rows(
    boilerplate: Mode,
    *,
    since: datetime.date | None = None,
    until: datetime.date | None = None,
    newspaper_ids: Collection[int] | None = None,
) -> Iterator[dict[str, Any]]:
    """Yield a row for each article, by day and id, all as of the same moment.

    The content is without what its marks remove in this mode; it is empty if nothing else is left.
    """
    # One statement sees one state of the database; in a transaction, its rows are streamed.
    with transaction.atomic():
        articles = Article.objects.in_scope(since, until, newspaper_ids).select_related("newspaper")
        wanted = articles.order_by("date", "id").only(*_COLUMNS, "boilerplate", "newspaper__name")
        for article in wanted.iterator(_AT_ONCE):
            values = {name: getattr(article, name) for name in _COLUMNS}
            yield {
                "id": article.pk,
                **values,
                "date": article.date.isoformat(),
                "newspaper": article.newspaper.name,
                "content": without_boilerplate(article.content, article.boilerplate, boilerplate),
            }


@contextmanager
def whole_file(path: Path) -> Iterator[TextIO]:
    """Open a text file that gets its name only when it is complete; compressed if the name ends in .gz.

    Until then it has a hidden name in the same folder. After an error that file is removed, and any existing file
    keeps its content.
    """
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with part.open("wb") as raw:
            # Without a file name and a time in the header, so that the same articles give the same bytes.
            packed = gzip.GzipFile("", "wb", fileobj=raw, mtime=0) if path.suffix == ".gz" else nullcontext(raw)
            with packed as stream:
                text = io.TextIOWrapper(cast("BinaryIO", stream), encoding="utf-8")
                yield text
                text.flush()
                text.detach()
            raw.flush()
            os.fsync(raw.fileno())
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
