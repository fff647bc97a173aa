"""Saves the URLs of a list as links that wait, each under the newspaper of its host."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from uuid import UUID

from articles.models import ArticleURL, Newspaper
from articles.storage.newspapers import Naming, Paper, newspapers_for
from crawlers import frontier
from crawlers.items import ArticleLink, Source
from crawlers.listings.lists import ListedURL

MAX_SHOWN_FAULTS = 5


@dataclass(slots=True)
class SavedList:
    """What became of a list: URLs by outcome, and the newspapers that have links to visit.

    `urls` counts the rows that are URLs, and `repeated` those of them that came before in the list.
    """

    new: int = 0
    known: int = 0
    refused_earlier: int = 0
    urls: int = 0
    repeated: int = 0
    faults: int = 0
    first_faults: list[str] = field(default_factory=list)
    newspapers: dict[int, Newspaper] = field(default_factory=dict)


def save_list(listed: Iterable[ListedURL]) -> SavedList:
    """Save the URLs that are neither stored nor refused; a list that was saved before is saved again to the same end.

    Newspapers that are missing are created, named by their hosts, as an import does.
    """
    saved = SavedList()
    seen: set[UUID] = set()
    rows = iter(listed)
    while batch := list(islice(rows, frontier.BATCH)):
        for newspaper, all_links in _by_newspaper(_links(batch, saved)):
            links = [link for link in all_links if link.key not in seen]
            if not links:
                continue
            seen |= {link.key for link in links}
            if newspaper.teasers:
                saved.faults += len(links)
                saved.first_faults.append(f"{links[0].url}: the pages of {newspaper} are never fetched (teasers)")
                continue
            found = frontier.sort_links(links[0].source, links)
            frontier.save_links(found.new)
            saved.new += len(found.new)
            saved.known += len(found.known)
            saved.refused_earlier += len(found.refused)
            if found.new:
                saved.newspapers[newspaper.pk] = newspaper
    saved.repeated = saved.urls - len(seen)
    return saved


def _links(batch: Iterable[ListedURL], saved: SavedList) -> Iterator[ListedURL]:
    """Yield the rows that have a URL; count all."""
    for row in batch:
        if row.fault:
            saved.faults += 1
            if len(saved.first_faults) < MAX_SHOWN_FAULTS:
                saved.first_faults.append(f"line {row.line:,}: {row.fault}")
        else:
            saved.urls += 1
            yield row


def _by_newspaper(rows: Iterable[ListedURL]) -> list[tuple[Newspaper, list[ArticleLink]]]:
    rows = list(rows)
    newspapers = newspapers_for([Naming.of("", row.url) for row in rows])
    links: defaultdict[int, list[ArticleLink]] = defaultdict(list)
    for row, newspaper in zip(rows, newspapers, strict=True):
        source = Source(newspaper.pk, newspaper.name, newspaper.article_url_pattern, Paper.of(newspaper))
        kind = ArticleURL.Kind.IMPORT
        link = ArticleLink(source, row.url, kind, row.published, headline=row.headline, language=row.language)
        links[newspaper.pk].append(link)
    by_id = {newspaper.pk: newspaper for newspaper in newspapers}
    return [(by_id[pk], own_links) for pk, own_links in links.items()]
