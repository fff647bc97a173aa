"""Articles of the collections of real news, which may be beside the checkout."""

import datetime
import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from articles.storage.incoming import IncomingArticle

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"


def news(name: str) -> Iterator[IncomingArticle]:
    """Yield the articles of a collection; the test is skipped if it is not there."""
    path = DATA / f"{name}.jsonl.gz"
    if not path.exists():
        pytest.skip(f"the collection {name} is not beside the checkout")
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            row: dict[str, Any] = json.loads(line)
            day = datetime.date.fromisoformat(row["date"])
            yield IncomingArticle(day, row["headline"], row["url"], row["content"], row["newspaper"])
