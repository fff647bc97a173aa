"""What is known of sites for their URLs: public suffixes, ids whose case counts, and pages that carry another URL."""

from __future__ import annotations

import base64
import binascii
import re
from functools import cache
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote

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


# Sites whose whole path is an id in base 62 or 64: link shorteners, and sites that share single posts.
# Each makes its ids of the capital and small letters and the digits, as its short links show.
_HOSTS = (
    "amzn.to apne.ws bbc.in bit.ly bitly.com bl.ink bloom.bg buff.ly cnb.cx cnn.it cutt.ly db.tt dlvr.it "
    "econ.st fb.me fb.watch flic.kr flip.it ft.trib.al goo.gl gu.com hubs.la hubs.ly ift.tt imgur.com "
    "instagram.com instagr.am interc.pt is.gd j.mp lat.ms lnkd.in mol.im n.pr nyp.st nyti.ms on.ft.com "
    "on.wsj.com ow.ly pastebin.com pin.it politi.co qr.ae rb.gy rebrand.ly reut.rs sco.lt shar.es shorturl.at "
    "slate.me spoti.fi spr.ly streamable.com t.co t.ly telegra.ph theatln.tc threads.net vm.tiktok.com "
    "vt.tiktok.com tmblr.co trib.al usat.ly v.gd vk.cc wapo.st wp.me youtu.be zpr.io"
)
_OF_IDS = frozenset(_HOSTS.split())
_ID = re.compile("[A-Za-z0-9]{5,64}")
_BETWEEN_WORDS = re.compile("[^A-Za-z0-9]+")
_CHUNK = re.compile("[A-Z]?[a-z]+|[A-Z]+|[0-9]+")
# Words in camel case are longer. Among random letters and digits, every second one or more begins a chunk.
_LEAST_CHUNKS, _LONGEST_CHUNK = 3, 2.5
# Letters of other scripts, and single escapes.
_ESCAPED_TEXT = re.compile("(?:%[89a-f][0-9a-f])+|%[0-7][0-9a-f]")


def lower_part(part: str) -> str:
    """Return a part of a URL in lower case, except ids of random letters: /p/CxYz12AbQ stays as it is.

    Escaped letters become lower-case too, and the digits of escapes upper-case.
    """
    lower = part.lower()
    if lower != part:
        pieces = re.split("([/?&=;.,+])", part)
        has_id = (any(map(_is_random, _BETWEEN_WORDS.split(piece))) for piece in pieces)
        lower = "".join(piece if kept else piece.lower() for piece, kept in zip(pieces, has_id, strict=True))
    return _ESCAPED_TEXT.sub(_lower_escaped, lower) if "%" in lower else lower


def has_cased_ids(host: str, site: str) -> bool:
    """Return whether the case distinguishes all paths of a site."""
    return site in _OF_IDS or host in _OF_IDS


def _is_random(word: str) -> bool:
    """Return whether a word without separators has letters of both cases in no order."""
    if word.islower() or word.isupper() or not _ID.fullmatch(word):
        return False
    chunks = _CHUNK.findall(word)
    return len(chunks) >= _LEAST_CHUNKS and len(word) / len(chunks) < _LONGEST_CHUNK


def _lower_escaped(escaped: re.Match[str]) -> str:
    try:
        return quote(unquote(escaped[0], errors="strict").lower(), safe="")
    except UnicodeDecodeError:
        return escaped[0].upper()
