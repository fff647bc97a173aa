"""The newspapers that a crawl visits."""

from collections.abc import Sequence

from articles.models import Newspaper
from articles.storage.newspapers import newspapers_named


def newspapers_to_crawl(references: Sequence[str]) -> list[Newspaper]:
    """Return the newspapers of these names or ids; without any, all with crawl=True. Raises UnknownNewspaperError."""
    every = Newspaper.objects.in_use().filter(crawl=True).order_by("name")
    return newspapers_named(references) if references else list(every)
