"""The truth about the demo newspapers: every article, and every pair of articles that belongs to a scenario.

Tests compare a crawl and a run with it. Addresses are paths, so it does not matter where the newspapers are served.
"""

from dataclasses import asdict, dataclass
from functools import cache
from itertools import combinations
from typing import Any

from crawlers.demo.papers import FROM_FEED
from crawlers.demo.scenarios import Article, Truth, groups


@dataclass(frozen=True, slots=True)
class ManifestPair:
    """Two articles, and what they are to each other."""

    left: str
    right: str
    scenario: str
    truth: Truth


def manifest() -> dict[str, list[dict[str, Any]]]:
    """Return the articles and the pairs in the order of scenarios, as objects that JSON has."""
    rows = [_row(article, group.scenario) for group in groups() for article in group.articles]
    return {"articles": rows, "pairs": [asdict(pair) for pair in pairs()]}


@cache
def pairs() -> tuple[ManifestPair, ...]:
    """Return the pairs in the order of scenarios."""
    return tuple(
        ManifestPair(left.id, right.id, group.scenario, group.truth)
        for group in groups()
        for left, right in combinations(group.articles, 2)
    )


def _row(article: Article, scenario: str) -> dict[str, Any]:
    """Return a stored article, and the paths that lead to it, without fragments.

    `trouble` is how it is served (see papers.py), `text` what must be stored in spite of it, and `from_feed` whether
    the article must say that its text is that of the feed.
    """
    redirects = (path for path, _ in article.redirects)
    return {
        "id": article.id,
        "paper": article.paper,
        "scenario": scenario,
        "paths": list(dict.fromkeys((article.path, *article.part_paths, *article.copies, *redirects))),
        "date": article.date.isoformat(),
        "headline": article.stored_headline,
        "text": article.text,
        "trouble": article.trouble,
        "from_feed": article.trouble in FROM_FEED,
    }
