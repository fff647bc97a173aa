"""What real sites do to their articles, done to some of the demo's: each is one trouble for a crawl or an extraction.

An article with a trouble has the same text as without it, so its pairs are the same; only how it is served differs.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from typing import Literal, Protocol

Trouble = Literal["", "wrapped", "paged", "stub", "refused", "mislabelled", "consent", "canonical", "live"]

# What each trouble is, and the newspapers of which one article each has it.
TROUBLES: dict[Trouble, tuple[str, tuple[str, ...]]] = {
    "wrapped": ("Each paragraph has a wrapper of its own.", ("gazette", "meridian", "echo")),
    "paged": ("The article is on three pages.", ("gazette", "meridian")),
    "stub": ("The page shows the first paragraph, and the feed carries all.", ("courier", "gazette")),
    "refused": ("The page answers HTTP 403, and the feed carries all.", ("courier", "gazette")),
    "mislabelled": ("The page is in windows-1252 and says that it is in UTF-8.", ("echo", "dunmere")),
    "consent": ("The page redirects to one that sets a cookie, until it gets that cookie.", ("dunmere", "courier")),
    "canonical": ("The canonical link names another story.", ("courier", "dunmere", "courier")),
    "live": ("A live blog, which is longer each time that it is asked for.", ("meridian",)),
}
# Of articles with these, the text is taken from the feed, and the article says so.
FROM_FEED = frozenset({"stub", "refused"})
LEAST_PARAGRAPHS = 4
# The pages of an article that is "paged".
PARTS = 3


class _Article(Protocol):
    @property
    def paper(self) -> str: ...
    @property
    def path(self) -> str: ...
    @property
    def language(self) -> str: ...
    @property
    def paragraphs(self) -> tuple[str, ...]: ...
    @property
    def text(self) -> str: ...


def troubles_of(articles: Iterable[_Article]) -> dict[tuple[str, str], Trouble]:
    """Return the troubles of the articles that have one, by newspaper and path.

    Of a newspaper they fall on the first able articles in the order of a digest of their paths.
    """
    able = [article for article in articles if article.language == "en" and len(article.paragraphs) >= LEAST_PARAGRAPHS]
    able.sort(key=lambda each: zlib.crc32(each.path.encode()))
    found: dict[tuple[str, str], Trouble] = {}
    for trouble, (_, papers) in TROUBLES.items():
        for paper in papers:
            # A charset is no trouble for a text in ASCII.
            fit = (
                each for each in able if each.paper == paper and not (trouble == "mislabelled" and each.text.isascii())
            )
            found[next((paper, each.path) for each in fit if (paper, each.path) not in found)] = trouble
    return found
