"""URLs that carry another URL: redirects of Google, archived pages, AMP copies."""

import base64
import binascii
import re
from urllib.parse import unquote

_TARGET = re.compile(r"(?:\A|&)(?:url|q)=(?P<url>https?(?::|%3a)[^&]+)", re.IGNORECASE)
_AMP_VIEWER = re.compile(r"/amp/(?P<secure>s/)?(?P<url>[^/]+\.[^/]+/.+)", re.IGNORECASE)
_NEWS_CODE = re.compile(r"/(?:[a-z_]+/)*(?:articles|read)/(?P<code>[\w-]+)=*", re.IGNORECASE)
# A protocol buffer: a number, then the text of field 4 with its length in one byte or two.
_NEWS_TEXT = re.compile(rb"\x08.\x22(?:(?P<short>[\0-\x7f])|(?P<long>[\x80-\xff][\0-\x7f]))(?=https?://)", re.DOTALL)

_ARCHIVES = frozenset({"archive.is", "archive.ph", "archive.today"})
_ARCHIVED = re.compile(r"/(?:o/)?[^/]+/(?P<url>(?:https?:/|[^/:]+\.[^/]+/).+)", re.IGNORECASE)
_AMP_CACHED = re.compile(r"/[cv]/(?:s/)?(?P<url>[^/]+\.[^/]+/.+)", re.IGNORECASE)


def redirect_target(site: str, path: str, query: str) -> str:
    """Return the target of a Google redirect if its URL contains it; '' otherwise.

    Alerts and the older forms of Google News contain it. The newer form and feedproxy do not.
    """
    if site != "google":
        return ""
    if path.lower().endswith("/url"):
        target = _TARGET.search(query)
        return unquote(target["url"]) if target else ""
    if viewed := _AMP_VIEWER.fullmatch(path):
        return _with_query(f"http{'s' if viewed['secure'] else ''}://{viewed['url']}", query)
    coded = _NEWS_CODE.fullmatch(path)
    return _decoded(coded["code"]) if coded else ""


def copied_url(host: str, site: str, path: str, query: str) -> str:
    """Return the original URL of a page in an archive or an AMP cache; '' otherwise."""
    if host in _ARCHIVES:
        archived = _ARCHIVED.fullmatch(path)
        # The archive escapes the fragment of the original URL.
        return _with_query(archived["url"].partition("%23")[0], query) if archived else ""
    cached = _AMP_CACHED.fullmatch(path) if site == "ampproject.org" else None
    return _with_query(cached["url"], query) if cached else ""


def _with_query(url: str, query: str) -> str:
    return f"{url}?{query}" if query else url


def _decoded(code: str) -> str:
    """Return the URL in the code of a Google News article; '' if it holds none."""
    try:
        data = base64.urlsafe_b64decode(code + "=" * (-len(code) % 4))
    except (binascii.Error, ValueError):
        return ""
    found = _NEWS_TEXT.match(data)
    if found is None:
        return ""
    length = found["short"][0] if found["short"] else (found["long"][0] & 0x7F) + (found["long"][1] << 7)
    return data[found.end() :][:length].decode(errors="replace")
