"""The truth about the demo newspapers: every article, and every pair of articles that belongs to a scenario.

It is computed from the articles' own texts by the rules of the detection passes; tests compare a crawl and a run with
it. Addresses are paths, so it does not matter where the newspapers are served.
"""

from dataclasses import asdict, dataclass
from functools import cache
from itertools import combinations
from typing import Any

from articles.normalization.text import normalize_text
from articles.normalization.titles import normalize_title
from articles.normalization.urls import comparable_url
from crawlers.demo.papers import FROM_FEED, PAPERS
from crawlers.demo.scenarios import Article, Truth, articles, groups

# The settings of the passes that the manifest assumes.
DAY_WINDOW = 3  # days, inclusive
PREFIX = 1000  # characters of normalised text
TITLE_DAYS = 1  # days apart
LEAST_TITLE_WORDS = 3
GENERIC_CONTENTS = 3  # clearly different texts under one headline
LEAST_TEXT_CHARACTERS = 40
# The trigram pass proposes from 0.6 on. Extraction may lose or add a sentence of a page, so only pairs well above the
# threshold must be found; those near it may be.
SURE_SIMILARITY = 0.7
NEAR_SIMILARITY = 0.5

_ANY_BASE = "http://127.0.0.1"


@dataclass(frozen=True, slots=True)
class ManifestPair:
    """Two articles, what they are to each other, and the passes that must find them.

    `near` names the passes that may find them: one sentence more or less changes the answer.
    """

    left: str
    right: str
    scenario: str
    truth: Truth
    found_by: tuple[str, ...]
    near: tuple[str, ...]


def manifest() -> dict[str, list[dict[str, Any]]]:
    """Return the articles and the pairs in the order of scenarios, as objects that JSON has."""
    rows = [_row(article, group.scenario) for group in groups() for article in group.articles]
    return {"articles": rows, "pairs": [asdict(pair) for pair in pairs()]}


@cache
def pairs() -> tuple[ManifestPair, ...]:
    """Return the pairs in the order of scenarios."""
    return tuple(
        ManifestPair(left.id, right.id, group.scenario, group.truth, *passes(left, right))
        for group in groups()
        for left, right in combinations(group.articles, 2)
    )


def similarity(left: Article, right: Article) -> float:
    """Return the Jaccard similarity of the trigrams of two articles' beginnings, almost as pg_trgm computes it."""
    one, other = _trigrams(left.text), _trigrams(right.text)
    return len(one & other) / len(one | other)


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


def passes(left: Article, right: Article) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the passes that must find the pair, and those that may."""
    score = similarity(left, right) if abs((left.date - right.date).days) <= DAY_WINDOW else 0.0
    urls, other_urls = (
        {comparable_url(_ANY_BASE + path) for path in (article.path, *article.copies)} for article in (left, right)
    )
    title, text = _title(left), _normalized(left.text)
    found = {
        "url": left.paper == right.paper and not urls.isdisjoint(other_urls),
        "title": (left.paper, title) == (right.paper, _title(right))
        and abs((left.date - right.date).days) <= TITLE_DAYS
        and len(title.split()) >= LEAST_TITLE_WORDS
        and not _is_generic(left.paper, title),
        "exact": len(text) >= LEAST_TEXT_CHARACTERS and text == _normalized(right.text),
        "trigram": score >= SURE_SIMILARITY,
    }
    near = ("trigram",) if NEAR_SIMILARITY <= score < SURE_SIMILARITY else ()
    return tuple(name for name, must in found.items() if must), near


@cache
def _is_generic(paper: str, title: str) -> bool:
    """Return whether a newspaper has this headline over so many different texts that it proves nothing."""
    contents: list[Article] = []
    for article in articles():
        if (article.paper, _title(article)) == (paper, title) and not any(
            similarity(article, content) >= NEAR_SIMILARITY for content in contents
        ):
            contents.append(article)
    return len(contents) >= GENERIC_CONTENTS


def _title(article: Article) -> str:
    paper = PAPERS[article.paper]
    return normalize_title(article.declared_headline, [paper.name, *paper.title_affixes])


@cache
def _normalized(text: str) -> str:
    return normalize_text(text)


@cache
def _trigrams(text: str) -> frozenset[str]:
    words = (f"  {word} " for word in _normalized(text)[:PREFIX].split())
    return frozenset(word[place : place + 3] for word in words for place in range(len(word) - 2))
