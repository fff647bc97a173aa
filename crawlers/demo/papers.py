"""The five newspapers: how they differ, how a crawl is configured for each, and the troubles that each makes.

A trouble is what real sites do to their articles, done to some of the demo's: one for a crawl or an extraction. An
article with a trouble has the same text as without it, so its pairs are the same; only how it is served differs.
"""

from __future__ import annotations

import datetime
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from articles.loading import read_table

if TYPE_CHECKING:
    from crawlers.demo.scenarios import Article


Metadata = Literal["json-ld", "graph", "opengraph", "meta", "text"]


@dataclass(frozen=True, slots=True)
class Paper:
    """A newspaper, and how it publishes.

    `metadata` is where its pages declare headline and day. With `canonical`, every copy of an article names the
    article's one address; without, a crawler stores an article for every address. `suffix` follows the headline in the
    title that a page declares. `between` is HTML that it puts between the paragraphs of an article.
    """

    key: str
    name: str
    place: str
    slogan: str
    metadata: Metadata
    article_url_pattern: str
    charset: str = "utf-8"
    canonical: bool = False
    suffix: str = ""
    title_affixes: Sequence[str] = ()
    feed: Literal["", "rss", "atom"] = ""
    sitemap: bool = False
    section_pages: bool = False
    between: str = ""

    def path(self, slug: str, section: str, language: str, date: datetime.date) -> str:
        """Return the path of an article; another day or slug gives another path."""
        match self.key:
            case "courier":
                return f"/{date:%Y/%m/%d}/{section}/{slug}"
            case "gazette":
                return f"/news/{slug}-{zlib.crc32(f'{slug} {date}'.encode()) % 900_000 + 100_000}"
            case "echo":
                return f"/story/{date:%Y%m%d}/{slug}.html"
            case "dunmere" if section in UNDATED_SECTIONS:
                return f"/{section}/{slug}/"
            case "dunmere":
                return f"/{date:%Y/%m/%d}/{slug}/"
            case _:
                return f"/{language}/{slug}-{date:%Y-%m-%d}"

    def short_paths(self, path: str, date: datetime.date) -> tuple[str, str, str]:
        """Return three short addresses that may redirect to the article at this path."""
        number = zlib.crc32(path.encode()) % 900_000 + 100_000
        folder = {"echo": f"/story/{date:%Y%m%d}/?id=", "dunmere": f"/{date:%Y/%m/%d}/?p="}.get(self.key, "/go/")
        return f"{folder}{number}", f"{folder}{number + 1}", f"{folder}{number + 2}"


# In these sections of the Dunmere Post, articles have no day in their path, only in words on the page.
UNDATED_SECTIONS = ("sport", "culture")

_DESIGNS = Path(__file__).with_name("designs")
PHRASES = read_table(_DESIGNS / "phrases.toml")
_TABLES = read_table(_DESIGNS / "papers.toml")
PAPERS = {table["key"]: Paper(**table) for table in _TABLES["paper"]}
SECTIONS = ("local", "national", "business", "sport", "culture", "science", "opinion", "world")


def newspapers(base_urls: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return the fields of each paper's row in the database, given its address, such as http://127.0.0.1:8701."""
    return [
        {
            "name": paper.name,
            "host": "127.0.0.1",
            "title_affixes": list(paper.title_affixes),
            "feed_urls": [f"{base_urls[key]}/{paper.feed}.xml"] if paper.feed else [],
            "sitemap_urls": [f"{base_urls[key]}/sitemap.xml"] if paper.sitemap else [],
            "section_urls": [f"{base_urls[key]}/{section}/" for section in SECTIONS] if paper.section_pages else [],
            "article_url_pattern": paper.article_url_pattern,
        }
        for key, paper in PAPERS.items()
    ]


Trouble = Literal["", "wrapped", "paged", "stub", "refused", "mislabelled", "consent", "canonical", "live"]

# What each trouble is, and the newspapers of which one article each has it.
TROUBLES: dict[Trouble, tuple[str, list[str]]] = {
    name: (trouble["what"], trouble["papers"]) for name, trouble in _TABLES["trouble"].items()
}
# Of articles with these, the text is taken from the feed, and the article says so.
FROM_FEED = frozenset({"stub", "refused"})
LEAST_PARAGRAPHS = 4
# The pages of an article that is "paged".
PARTS = 3


def troubles_of(articles: Iterable[Article]) -> dict[tuple[str, str], Trouble]:
    """Return the troubles of the articles that have one, by newspaper and path.

    Of a newspaper they fall on the first able articles in the order of a digest of their paths.
    """
    able = [article for article in articles if article.language == "en" and len(article.paragraphs) >= LEAST_PARAGRAPHS]
    able.sort(key=lambda article: zlib.crc32(article.path.encode()))
    found: dict[tuple[str, str], Trouble] = {}
    for trouble, (_, papers) in TROUBLES.items():
        for paper in papers:
            # A charset is no trouble for a text in ASCII.
            fit = (
                article
                for article in able
                if article.paper == paper and not (trouble == "mislabelled" and article.text.isascii())
            )
            found[next((paper, article.path) for article in fit if (paper, article.path) not in found)] = trouble
    return found
