"""Which URLs belong together, and which can be an article's."""

from urllib.parse import urlsplit

from articles.storage.incoming import url_fault


def site_of(url: str) -> str:
    """Return the URL's host in lower case without www., with its port; empty if it is no URL of the web.

    One with a user name is none: it was made to look like another host, or gives away a password.
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


def is_visitable(url: str) -> bool:
    """Return whether a URL is one of the web, and an article could be stored under it."""
    return bool(site_of(url)) and not url_fault(url)


def same_site(left: str, right: str) -> bool:
    """Return whether two URLs stand on one site: the same host, or a host and its subdomain."""
    sites = sorted((site_of(left), site_of(right)), key=len)
    return bool(sites[0]) and (sites[0] == sites[1] or sites[1].endswith(f".{sites[0]}"))


def is_front_page(url: str) -> bool:
    """Return whether the URL is its site's root, where articles that are gone are often sent."""
    parts = urlsplit(url)
    return parts.path in {"", "/"} and not parts.query
