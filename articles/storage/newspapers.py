"""Finds newspapers by name, alias or id, or by the URLs of their articles.

A newspaper that was merged is found too, by its name, host or alias: the functions return the one that has its articles
now, except newspaper_itself.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple, Self

from articles.models import Newspaper, NewspaperAlias
from articles.normalization.urls import host_of, normalize_url
from articles.storage.incoming import MAX_NEWSPAPER_CHARACTERS, story_url

_SHOWN_NAMES = 20


class Naming(NamedTuple):
    """By what the newspaper of an article is found: its name, or else the host of the article's URL."""

    name: str
    host: str

    @classmethod
    def of(cls, name: str, url: str) -> Self:
        """Return it for an article that names this newspaper, or none, and has this URL."""
        return cls(name.strip(), newspaper_host(url))


class Paper(NamedTuple):
    """What the prepared forms of an article depend on in its newspaper."""

    name: str
    host: str = ""
    affixes: tuple[str, ...] = ()
    kept_url_parameters: tuple[str, ...] = ()

    @classmethod
    def of(cls, newspaper: Newspaper) -> Self:
        return cls(newspaper.name, newspaper.host, tuple(newspaper.affixes), tuple(newspaper.kept_url_parameters))


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
    if not target or len(target) > MAX_NEWSPAPER_CHARACTERS or target == host_of(normalize_url(f"http://{host}/")):
        return host
    return target


def newspapers_for(wanted: Sequence[Naming]) -> list[Newspaper]:
    """Return the newspaper of each name or, without a name, of each host; creates those that are missing.

    If a row of the batch names a newspaper, its rows without a name find it by its host, whatever their order. An alias
    takes precedence over the host of another newspaper.
    """
    return _found(wanted, create=True)


def existing_newspaper(wanted: Naming) -> Newspaper | None:
    """Return the newspaper of a name or, without a name, of a host; None if there is none."""
    [found] = _found([wanted], create=False)
    return found if found.pk else None


def papers_for(wanted: Sequence[Naming]) -> list[Paper]:
    """Return what newspapers_for would find, or create, if nothing else changed; creates nothing."""
    found = _found(wanted, create=False)
    # By name, because one that is missing has no id.
    papers = {name: Paper.of(newspaper) for name, newspaper in {paper.name: paper for paper in found}.items()}
    return [papers[newspaper.name] for newspaper in found]


def _found(wanted: Sequence[Naming], *, create: bool) -> list[Newspaper]:
    by_name, new = _named({name: host for name, host in reversed(wanted) if name}, create=create)
    hosts = {host for name, host in wanted if not name}
    stored = Newspaper.objects.filter(host__in=hosts).order_by("-id")
    by_host = {newspaper.host: newspaper for newspaper in (*reversed(new), *stored)} | _aliased(hosts)
    by_host |= _named({host: host for host in hosts if host not in by_host}, create=create)[0]
    return [(by_name[name] if name else by_host[host]).current for name, host in wanted]


def _named(hosts: Mapping[str, str], *, create: bool) -> tuple[dict[str, Newspaper], list[Newspaper]]:
    """Return the newspapers of these names, by name, and those of them that were missing: created, or without an id."""
    found = {newspaper.name: newspaper for newspaper in Newspaper.objects.filter(name__in=hosts)}
    if missing := {name for name in hosts if name not in found}:
        found |= _aliased(missing)
    # Always in the same order, so that two writers of the same names cannot deadlock.
    new = [Newspaper(name=name, host=hosts[name]) for name in sorted(missing) if name not in found]
    if new and create:
        Newspaper.objects.bulk_create(new, ignore_conflicts=True)
        new = list(Newspaper.objects.filter(name__in=[newspaper.name for newspaper in new]))
    return found | {newspaper.name: newspaper for newspaper in new}, new


def _aliased(names: Collection[str]) -> dict[str, Newspaper]:
    rows = NewspaperAlias.objects.filter(alias__in=names).select_related("newspaper") if names else ()
    return {row.alias: row.newspaper for row in rows}
