"""Finds newspapers by name or id, or by the URLs of their articles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from articles.models import Newspaper
from articles.normalization.urls import host_of, normalize_url
from articles.storage.incoming import MAX_NEWSPAPER_CHARACTERS, story_url

_SHOWN_NAMES = 20


class UnknownNewspaperError(ValueError):
    """A newspaper that is not in the database; the message lists some of those that are."""


def newspapers_named(references: Sequence[str]) -> list[Newspaper]:
    """Return the newspapers of these names or ids, each once, in that order.

    A name takes precedence over an id. Raises UnknownNewspaperError.
    """
    newspapers = list(Newspaper.objects.order_by("name"))
    by_reference = {str(newspaper.pk): newspaper for newspaper in newspapers}
    by_reference |= {newspaper.name: newspaper for newspaper in newspapers}
    if unknown := [reference for reference in references if reference not in by_reference]:
        known = ", ".join(newspaper.name for newspaper in newspapers[:_SHOWN_NAMES]) or "none"
        more = ", …" if len(newspapers) > _SHOWN_NAMES else ""
        raise UnknownNewspaperError(
            f"no newspaper is named {', '.join(map(repr, unknown))}; known newspapers: {known}{more}"
        )
    return list({by_reference[reference].pk: by_reference[reference] for reference in references}.values())


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

    If a row of the batch names a newspaper, its rows without a name find it by its host, whatever their order.
    """
    keys = [(name.strip(), "" if name.strip() else newspaper_host(url)) for name, url in wanted]
    first_urls = {name: url for (name, _), (_, url) in zip(reversed(keys), reversed(wanted), strict=True) if name}
    by_name = _named({name: newspaper_host(url) for name, url in first_urls.items()})
    hosts = {host for _, host in keys if host}
    by_host = {each.host: each for each in Newspaper.objects.filter(host__in=hosts).order_by("-id")}
    by_host |= _named({host: host for host in hosts if host not in by_host})
    return [by_name[name] if name else by_host[host] for name, host in keys]


def _named(hosts: Mapping[str, str]) -> dict[str, Newspaper]:
    """Return the newspapers of these names; creates a missing one with the host given for it."""
    found = {each.name: each for each in Newspaper.objects.filter(name__in=hosts)}
    if missing := sorted(name for name in hosts if name not in found):
        # Always in the same order, so that two writers of the same names cannot deadlock.
        rows = [Newspaper(name=name, host=hosts[name]) for name in missing]
        Newspaper.objects.bulk_create(rows, ignore_conflicts=True)
        found |= {each.name: each for each in Newspaper.objects.filter(name__in=missing)}
    return found
