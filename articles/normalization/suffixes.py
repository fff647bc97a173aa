"""The registered part of a host, by the list of public suffixes that comes with tldextract: nothing is fetched."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from articles.loading import when_used

if TYPE_CHECKING:
    import tldextract
else:
    # It loads requests, which takes longer than all that most commands have to do with URLs.
    tldextract = when_used("tldextract")


@cache
def suffixes() -> tldextract.TLDExtract:
    """Return the list, with private suffixes, so that news.blogspot.com is a site of its own."""
    return tldextract.TLDExtract(suffix_list_urls=(), cache_dir=None, include_psl_private_domains=True)
