"""The form that two URLs share if they lead to one page for sure, so that a crawler fetches it once."""

import re
import uuid
from functools import lru_cache

from articles.normalization.parameters import names_a_story, untracked_query
from articles.normalization.trackers import without_session
from articles.normalization.urls import canonicalize_url, is_part_of_page

_PARTS = re.compile(r"http://(?P<host>[^/]+)(?P<path>/[^?#]*)(?:\?(?P<query>[^#]*))?(?P<state>#.*)?", re.DOTALL)


@lru_cache(maxsize=4096)
def page_form(url: str, kept: tuple[str, ...] = ()) -> str:
    """Return the canonical URL without `www.`, last slash, trackers and sessions, and with its query sorted.

    `kept` are names of parameters that are never dropped. Stricter than normalize_url: what
    may name a story stays, and so do host and case. A text that is not an http(s) URL is returned trimmed.
    """
    address = canonicalize_url(url)
    parts = _PARTS.fullmatch(address)
    if parts is None:
        return address
    host, path, query, state = parts.groups(default="")
    path = without_session(path).rstrip("/")
    query = untracked_query(path, query, kept)
    state = "" if names_a_story(path) and is_part_of_page(state) else state
    return f"http://{host.removeprefix('www.')}{path}{'?' if query else ''}{query}{state}"


def page_key(url: str, kept: tuple[str, ...] = ()) -> uuid.UUID:
    """Return UUID version 5 of page_form(url, kept)."""
    return uuid.uuid5(uuid.NAMESPACE_URL, page_form(url, kept))
