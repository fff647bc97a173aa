"""A newspaper on loopback for crawls that are killed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from random import Random

from tests.crawlers.conftest import served
from tests.crawlers.pages import article_page

_ARTICLES = 40
# Letters of words that no stop list knows.
_LETTERS = "abdeghiklmnoprstuw"


def story(place: int) -> tuple[str, str]:
    """Return the headline and the text of an invented article."""
    dice = Random(place)

    def sentence() -> str:
        words = ["".join(dice.choices(_LETTERS, k=dice.randint(3, 8))) for _ in range(14)]
        return f"{' '.join(words).capitalize()}."

    return sentence()[:40], " ".join(sentence() for _ in range(6))


@contextmanager
def newspaper() -> Iterator[str]:
    """Serve a newspaper; give its URL."""
    with served() as site:
        paths = [f"/2024/05/story-{place}" for place in range(_ARTICLES)]
        for place, path in enumerate(paths):
            site.add(path, article_page(*story(1_000 + place)))
        site.feed(*paths)
        yield site.url
