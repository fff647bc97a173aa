"""Finds newspapers by name, alias or id, or by the URLs of their articles.

A newspaper that was merged is found too, by its name, host or alias: the functions return the one that has its articles
now, except newspaper_itself.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from articles.models import Newspaper, NewspaperAlias
from articles.normalization.urls import host_of, normalize_url
from articles.storage.incoming import MAX_NEWSPAPER_CHARACTERS, story_url

_SHOWN_NAMES = 20


class UnknownNewspaperError(ValueError):
    """A newspaper that is not in the database; the message lists some of those that are."""


def newspapers_named(references: Sequence[str]) -> list[Newspaper]:
    """Return the newspapers of these names, aliases or ids, each once, in that order.

    A name takes precedence over an alias, and an alias over an id. Raises UnknownNewspaperError.
    """
    found = [newspaper.current for newspaper in _referenced(references)]
    return list({newspaper.pk: newspaper for newspaper in found}.values())


def newspaper_itself(reference: str) -> Newspaper:
    """Return the newspaper of this name, alias or id, even if it was merged. Raises UnknownNewspaperError."""
    [newspaper] = _referenced([reference])
    return newspaper


def _referenced(references: Sequence[str]) -> list[Newspaper]:
    newspapers = {newspaper.pk: newspaper for newspaper in Newspaper.objects.order_by("name")}
    by_reference = {str(pk): newspaper for pk, newspaper in newspapers.items()}
    by_reference |= {row.alias: newspapers[row.newspaper_id] for row in NewspaperAlias.objects.all()}
    by_reference |= {newspaper.name: newspaper for newspaper in newspapers.values()}
    if unknown := [reference for reference in references if reference not in by_reference]:
        names = [newspaper.name for newspaper in newspapers.values() if newspaper.merged_into_id is None]
        known = ", ".join(names[:_SHOWN_NAMES]) or "none"
        more = ", …" if len(names) > _SHOWN_NAMES else ""
        raise UnknownNewspaperError(
            f"no newspaper is named {', '.join(map(repr, unknown))}; known newspapers: {known}{more}"
        )
    return [by_reference[reference] for reference in references]


def current_ids(ids: Collection[int]) -> tuple[int, ...]:
    """Return the ids of the newspapers that have the articles of these newspapers now, ascending."""
    return tuple(sorted({newspaper.current.pk for newspaper in Newspaper.objects.filter(pk__in=ids)}))


def newspaper_host(url: str) -> str:
    """Return the host of the site that published the URL; of a redirect or an archived page, the target's."""
    url = story_url(url)
    host = host_of(url)
    target = host_of(normalize_url(url))
    # The normal form of a plain URL only drops labels such as m. from its host.
    if not target or len(target) > MAX_NEWSPAPER_CHARACTERS or f".{host}".endswith(f".{target}"):
        return host
    return target


def newspapers_for(wanted: Sequence[tuple[str, str]]) -> list[Newspaper]:
    """Return the newspaper of each name or, without a name, of each URL; creates those that are missing.

    If a row of the batch names a newspaper, its rows without a name find it by its host, whatever their order. An alias
    takes precedence over the host of another newspaper.
    """
    keys = [(name.strip(), "" if name.strip() else newspaper_host(url)) for name, url in wanted]
    first_urls = {name: url for (name, _), (_, url) in zip(reversed(keys), reversed(wanted), strict=True) if name}
    by_name = _named({name: newspaper_host(url) for name, url in first_urls.items()})
    hosts = {host for _, host in keys if host}
    by_host = {each.host: each for each in Newspaper.objects.filter(host__in=hosts).order_by("-id")} | _aliased(hosts)
    by_host |= _named({host: host for host in hosts if host not in by_host})
    return [(by_name[name] if name else by_host[host]).current for name, host in keys]


def _named(hosts: Mapping[str, str]) -> dict[str, Newspaper]:
    """Return the newspapers of these names; creates a missing one with the host given for it."""
    found = {each.name: each for each in Newspaper.objects.filter(name__in=hosts)}
    if missing := {name for name in hosts if name not in found}:
        found |= _aliased(missing)
    if missing := {name for name in hosts if name not in found}:
        # Always in the same order, so that two writers of the same names cannot deadlock.
        rows = [Newspaper(name=name, host=hosts[name]) for name in sorted(missing)]
        Newspaper.objects.bulk_create(rows, ignore_conflicts=True)
        found |= {each.name: each for each in Newspaper.objects.filter(name__in=missing)}
    return found


def _aliased(names: Collection[str]) -> dict[str, Newspaper]:
    rows = NewspaperAlias.objects.filter(alias__in=names).select_related("newspaper") if names else ()
    return {row.alias: row.newspaper for row in rows}
