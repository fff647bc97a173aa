"""Two forms of a URL: the safe one that names an address, and the lossy one that names a story.

`canonicalize_url` joins only what surely is one address, and is the identity of an article. `normalize_url`
guesses: its result may not lead anywhere, and equal results are evidence, never identity. Its rules are
those of Media Cloud's URL pass, with guards so that two stories of one newspaper do not meet.
"""

import re
import uuid
from collections.abc import Collection
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import quote, unquote

from tldextract import TLDExtract
from w3lib.url import safe_url_string

from articles.normalization.parameters import read_parameters
from articles.normalization.wrappers import copied_url, redirect_target

# Blanks, controls and invisible characters that copying and byte order marks leave at the ends.
_TRIMMED = "".join(map(chr, range(33))) + "\x7f\x85\xa0\u1680\u200b\u200c\u200d\u200e\u200f\u2028\u2029\u3000\ufeff"
_LINE_BREAKS = str.maketrans("", "", "\t\r\n")
_SURROGATE = re.compile("[\ud800-\udfff]")
_ESCAPE = re.compile("%([0-9A-Fa-f]{2})?")
_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_WEB_ADDRESS = re.compile(
    r"https?://(?P<user>[^@/?#]*@)?"
    r"(?!https?\.?(?:[:/?#]|\Z))"  # a host named http is a scheme written twice
    r"(?P<host>\[[0-9a-f:.]+\]|[a-z0-9_-]+(?:\.[a-z0-9_-]+)*)\.?(?::(?P<port>\d+))?"
    r"(?P<path>/[^?#]*)?(?:\?(?P<query>[^#]*))?(?:#(?P<fragment>.*))?"
)
# http and https are one identity, so the default port of either is no part of it.
_DEFAULT_PORTS = frozenset({"", "80", "443"})

# The list that comes with the package; private suffixes, so that news.blogspot.com is a site of its own.
_SUFFIXES = TLDExtract(suffix_list_urls=(), cache_dir=None, include_psl_private_domains=True)

_SCHEMES = re.compile(r"(?:https?:/*|https?//+|//+)+", re.IGNORECASE)
_BARE_HOST = re.compile(r"(?:\[[0-9a-f:.]+\]|[^/?#@:\[\]]+)(?=[/?#]|\Z)", re.IGNORECASE)
_DROPPED_LABEL = re.compile(
    r"(?:m|amp|beta|media|data|image|www\d*|cdn|topic|article|news|archive|blog|video|search|preview|login|shop"
    r"|sports?|act|donate|press|web|photos?|\d+)\."
)
# Shortens URLs to labels: 543.r2.ly.
_TOLD_BY_LABELS = frozenset({"r2.ly"})
_IPV4 = re.compile(r"[\d.]+")
_SLASHES = re.compile("/{2,}")
_ESCAPED_AMPERSAND = re.compile("&(?:amp;)+", re.IGNORECASE)
# story/amp, story/amp/, story.amp, story.amp.html; not the front page's own /amp, before which nothing stands.
_AMP_TAIL = re.compile(r"(?<=[^/])(?:[/.]amp)+(?P<extension>\.html?)?(?P<slash>/?)\Z", re.IGNORECASE)
_BEFORE_LAST_SLASH = re.compile(r"\A(http://[^/]+/[^?#]+?)/(?=[?#]|\Z)")
# Letters of other scripts, and single escapes.
_ESCAPED_TEXT = re.compile("(?:%[89a-f][0-9a-f])+|%[0-7][0-9a-f]")

# What can be stored (2,000 characters) is shorter, even with each of them written as four escapes.
_MAX_CHARACTERS = 30_000
_MAX_WRAPPERS = 10

_YOUTUBE = frozenset({"youtube.com", "youtube-nocookie.com", "youtu.be"})
_VIDEO_PATH = re.compile(r"/(?:(?:embed|v|shorts|live)/)?(?!videoseries)(?P<id>[\w-]{11})", re.IGNORECASE)
_VIDEO_PARAMETER = re.compile(r"(?:\A|&)v=(?P<id>[\w-]{11})(?:&|\Z)", re.IGNORECASE)


class _Address(NamedTuple):
    user: str  # with its @
    host: str  # in IDNA form, lower-case, with www.
    port: str  # with its colon; empty for 80 and 443
    path: str
    query: str
    state: str  # a "#!" fragment, by which single-page sites tell their pages apart


class _Place(NamedTuple):
    host: str  # without its dropped labels
    site: str
    path: str
    query: str
    state: str


def host_of(url: str) -> str:
    """Return the lower-case host of a http(s) URL in its IDNA form, without `www.` and port; '' if there is none."""
    address = _parse(url)
    if address is None:
        return ""
    host = address.host.removeprefix("www.")
    return host if "." in host else address.host


def canonicalize_url(url: str) -> str:
    """Return the address that the URL surely names, with the scheme http; equal results are one address.

    Case of scheme and host, default ports, fragments and the spelling of escapes make no difference, nor does
    https. The order of the query, `www.` and the case of the path do. A "#!" fragment is part of the address.
    A text that is no http(s) URL is returned trimmed.
    """
    address = _parse(url)
    if address is None:
        return _trim(url)
    query = f"?{address.query}" if address.query else ""
    return f"http://{address.user}{address.host}{address.port}{address.path}{query}{address.state}"


@lru_cache(maxsize=4096)
def url_key(url: str) -> uuid.UUID:
    """Return the identity of a URL: UUID version 5 of canonicalize_url(url)."""
    return uuid.uuid5(uuid.NAMESPACE_URL, canonicalize_url(url))


def normalize_url(url: str, kept: Collection[str] = ()) -> str:
    """Return the lossy form http://host/path?query, such as http://example.com/2024/01/02/story?id=5.

    No port, user and fragment; host without labels such as www., m. and amp.; lower-case but for YouTube's ids; the
    query without decoration, sorted. `kept` names parameters that are none, in lower case. A redirect, an archived
    page and an AMP copy give the form of the URL inside. '' for a text that is no URL, or one beyond all measure; one
    without a scheme is read as http. The result of a result is that result.
    Source: mediacloud/metadata-lib, mcmetadata/urls.py, and mediacloud/backend, mediawords/util/url.
    """
    place = _innermost(url)
    form = _lossy_form(place, kept) if place else ""
    return form if len(form) <= _MAX_CHARACTERS else ""


def comparable_url(url: str, kept: Collection[str] = ()) -> str:
    """Return normalize_url(url, kept) without the last slash of its path, which sites add and drop as they like."""
    return _BEFORE_LAST_SLASH.sub(r"\1", normalize_url(url, kept), count=1)


def dropped_parameters(url: str, kept: Collection[str] = ()) -> dict[str, str]:
    """Return the lower-case names and values of what normalize_url(url, kept) leaves out of the query."""
    place = _innermost(url)
    if place is None or place.site in _YOUTUBE:
        return {}
    parameters = read_parameters(place.site, place.path, place.query, kept)
    return {each.name: each.text.partition("=")[2] for each in parameters if each.dropped}


def unwrap_url(url: str) -> str:
    """Return where a redirect of Google leads, as far as it says so itself; any other URL as it is."""
    if "google" not in url.lower():  # most are not, and need no parsing
        return url
    target = url
    for _ in range(_MAX_WRAPPERS):
        address = _parse(_repair(target))
        if address is None:
            return url
        inner = redirect_target(_site(address.host)[1], address.path, _ESCAPED_AMPERSAND.sub("&", address.query))
        if not inner:
            return target
        target = inner
    return url


def registered_name(host: str) -> str:
    """Return the name under which a domain was registered, example of www.example.co.uk; '' for other hosts."""
    parts = _SUFFIXES.extract_str(host)
    return parts.domain if parts.suffix and parts.subdomain in {"", "www"} else ""


def _parse(url: str) -> _Address | None:
    """Return the parts of a http(s) URL with escapes in one spelling; None if it is none."""
    try:
        match = _WEB_ADDRESS.fullmatch(safe_url_string(_trim(url)))
    except ValueError:  # an impossible port, bracket or host
        return None
    if match is None:
        return None
    user, host, port, path, query, fragment = match.groups(default="")
    return _Address(
        user=user,
        host=host,
        port="" if port in _DEFAULT_PORTS else f":{port}",
        path=_unify_escapes(path) or "/",
        query=_unify_escapes(query),
        state=f"#{_unify_escapes(fragment)}" if fragment.startswith("!") and len(fragment) > 1 else "",
    )


def _trim(url: str) -> str:
    """Drop what stands around the URL; half a surrogate pair, which cannot be encoded, becomes an escape."""
    url = url.strip(_TRIMMED)
    if url.isascii():
        return url
    return _SURROGATE.sub(lambda half: quote(half[0], errors="surrogatepass"), url)


def _unify_escapes(part: str) -> str:
    return _ESCAPE.sub(_unify_escape, part) if "%" in part else part


def _unify_escape(escape: re.Match[str]) -> str:
    digits = escape[1]
    if digits is None:
        return "%25"
    character = chr(int(digits, 16))
    return character if character in _UNRESERVED else f"%{digits.upper()}"


def _repair(url: str) -> str:
    """Return the URL with one scheme, http; '' for what has another scheme, no host or too many characters."""
    if len(url) > _MAX_CHARACTERS:
        return ""
    url = url.strip(_TRIMMED).translate(_LINE_BREAKS).replace("\\", "/")
    schemes = _SCHEMES.match(url)
    if schemes is None:
        return f"http://{url}" if _BARE_HOST.match(url) else ""
    return f"http://{url[schemes.end() :]}"


@lru_cache(maxsize=4096)
def _site(host: str) -> tuple[str, str]:
    """Return the host without its dropped labels, and its registrable domain ("google" for any of Google's).

    Labels are dropped as long as a registrable domain remains, not only the first: otherwise
    www.news.example.com and news.example.com, which the rule joins with example.com, would stay apart.
    """
    if host.startswith("[") or _IPV4.fullmatch(host):
        return host, host
    parts = _SUFFIXES.extract_str(host)
    # An unknown last label is a suffix by the list's default rule, as for hosts of a private network.
    suffix_labels = parts.suffix.count(".") + 1
    site = ".".join(host.split(".")[-suffix_labels - 1 :])
    if site in _TOLD_BY_LABELS:
        return host, site
    while (label := _DROPPED_LABEL.match(host)) and host.count(".") > suffix_labels:
        host = host[label.end() :]
    return host, "google" if parts.domain == "google" else site


@lru_cache(maxsize=2048)  # the form of a stored URL and what it lost are asked for one after the other
def _innermost(url: str) -> _Place | None:
    """Return where the page stands that the URL names, inside of redirects, archives and AMP copies."""
    for _ in range(_MAX_WRAPPERS):
        address = _parse(_repair(url))
        if address is None:
            return None
        host, site = _site(address.host)
        path, query = _SLASHES.sub("/", address.path), _ESCAPED_AMPERSAND.sub("&", address.query)
        url = redirect_target(site, path, query) or copied_url(host, site, path, query)
        if not url:
            if site in _YOUTUBE:
                return _Place(host, site, path, query, address.state)
            return _Place(host, site, _lower(path), _lower(query).replace("+", "%20"), _lower(address.state))
    return None


def _lossy_form(place: _Place, kept: Collection[str]) -> str:
    if place.site in _YOUTUBE:
        video = _VIDEO_PARAMETER.search(place.query) or _VIDEO_PATH.fullmatch(place.path.rstrip("/"))
        if video:
            return f"http://youtube.com/watch?v={video['id']}"
    path = _AMP_TAIL.sub(r"\g<extension>\g<slash>", place.path)
    parameters = read_parameters(place.site, path, place.query, kept) if place.query else ()
    query = "&".join(sorted(each.text for each in parameters if not each.dropped))
    return f"http://{place.host}{path}{'?' if query else ''}{query}{place.state}"


def _lower(part: str) -> str:
    """Return the part in lower case, escaped letters too, with the digits of escapes in upper case."""
    lower = part.lower()
    return _ESCAPED_TEXT.sub(_lower_escaped, lower) if "%" in lower else lower


def _lower_escaped(escaped: re.Match[str]) -> str:
    try:
        return quote(unquote(escaped[0], errors="strict").lower(), safe="")
    except UnicodeDecodeError:
        return escaped[0].upper()
