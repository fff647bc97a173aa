"""Which URLs belong to one site, and which can be an article's."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import urljoin, urlsplit

from articles.normalization.known_sites import suffixes
from articles.storage.incoming import url_fault

if TYPE_CHECKING:
    from scrapy.http import Response


def site_of(url: str) -> str:
    """Return the URL's host in lower case without www., with its port; empty if it is not a web URL.

    URLs with a user name do not count: they imitate another host, or reveal a password.
    """
    try:
        parts = urlsplit(url.strip())
        host, port = parts.hostname or "", parts.port
    except ValueError:  # such as http://[undefined]/
        return ""
    if parts.scheme.lower() not in {"http", "https"} or "@" in parts.netloc:
        return ""
    host = host.removeprefix("www.")
    return f"{host}:{port}" if host and port else host


def shared_site(url: str) -> str:
    """Return the same for all hosts of one registered domain, which one site owner runs; for an IP address, its port.

    Different blogs of one provider are different sites: publicsuffix.org, with its private domains.
    """
    host = site_of(url)
    name, _, _ = host.partition(":")
    if not re.search(r"\.[a-z][^.:]*$", name):  # an IP address, or a name in its own network
        return host
    # Below a suffix that is not in the list, it is the name with one label more, by the same source.
    return suffixes()(name).top_domain_under_public_suffix or ".".join(name.split(".")[-2:])


def is_visitable(url: str) -> bool:
    """Return whether a URL is a web URL under which an article could be stored."""
    return bool(site_of(url)) and not url_fault(url)


def absolute(base: str, url: str) -> str:
    """Return a URL that a page names as an absolute one; as it is if it is not valid, such as http://[undefined]/."""
    try:
        return urljoin(base, url.strip()) if url else ""
    except ValueError:
        return url


def content_type(response: Response) -> str:
    """Return the Content-Type header; empty if there is none."""
    return (response.headers.get("Content-Type") or b"").decode("latin-1")


def same_site(left: str, right: str) -> bool:
    """Return whether two URLs are on one site: the same host, or a host and its subdomain."""
    sites = sorted((site_of(left), site_of(right)), key=len)
    return bool(sites[0]) and (sites[0] == sites[1] or sites[1].endswith(f".{sites[0]}"))


def is_front_page(url: str) -> bool:
    """Return whether the URL is its site's root, to which deleted articles often redirect."""
    parts = urlsplit(url)
    return parts.path in {"", "/"} and not parts.query
