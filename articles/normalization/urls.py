"""Two forms of a URL: a canonical one that identifies a page, and a lossy one that suggests a story.

`canonicalize_url` makes only spellings of the same URL equal, and its result identifies an article. `normalize_url`
guesses: its result may not lead anywhere, and equal results are evidence, not identity. Its rules are those of
Media Cloud's URL pass, with guards so that two stories of one newspaper do not get one form.
"""

import re
import uuid
from collections.abc import Collection
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import quote, unquote

from w3lib.url import safe_url_string

from articles.normalization.known_sites import copied_url, has_cased_ids, lower_part, redirect_target, suffixes
from articles.normalization.logins import without_login
from articles.normalization.parameters import names_a_story, read_parameters, untracked_query, without_session

# Blanks, control and invisible characters that copying leaves at the ends.
_TRIMMED = "".join(map(chr, range(33))) + "\x7f\x85\xa0\u1680\u200b\u200c\u200d\u200e\u200f\u2028\u2029\u3000\ufeff"
_LINE_BREAKS = str.maketrans("", "", "\t\r\n")
_SURROGATE = re.compile("[\ud800-\udfff]")
_ESCAPE = re.compile("%([0-9A-Fa-f]{2})?")
_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_WEB_ADDRESS = re.compile(
    r"https?://(?:[^@/?#]*@)?"
    r"(?!https?\.?(?:[:/?#]|\Z))"  # a host named http is a scheme written twice
    r"(?P<host>\[[0-9a-f:.]+\]|[a-z0-9_-]+(?:\.[a-z0-9_-]+)*)\.?(?::(?P<port>\d+))?"
    r"(?P<path>/[^?#]*)?(?:\?(?P<query>[^#]*))?(?:#(?P<fragment>.*))?"
)
# An address that safe_url_string leaves as it is: most are. A label has up to 63 characters (RFC 1035).
_LABEL = "[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
_PLAIN_ADDRESS = re.compile(
    rf"https?://(?P<host>{_LABEL}(?:\.{_LABEL})+)(?P<path>/[A-Za-z0-9._~/-]*)?(?:\?(?P<query>[A-Za-z0-9._~=&-]*))?"
)
# http and https count as one, so the default port of either is dropped.
_DEFAULT_PORTS = frozenset({"", "80", "443"})

_SCHEMES = re.compile(r"(?:https?:/*|https?//+|//+)+", re.IGNORECASE)
_BARE_HOST = re.compile(r"(?:\[[0-9a-f:.]+\]|[^/?#@:\[\]]+)(?=[/?#]|\Z)", re.IGNORECASE)
_DROPPED_LABEL = re.compile(
    r"(?:m|amp|beta|media|data|image|www\d*|cdn|topic|article|news|archive|blog|video|search|preview|login|shop"
    r"|sports?|act|donate|press|web|photos?|mobile?|touch|wap|amphtml|\d+)\."
)
# Pages for phones: amp-www.example.com, amp-example.com, en.m.example.com.
_AMP_HOST = re.compile(r"amp-(?=[^.]{3,}\.)")
_PHONE_LABEL = re.compile(r"\.(?:m|mobile?|amp)(?=\.|\Z)")
# A URL shortener that uses labels: 543.r2.ly.
_LABELS_NAME_STORIES = frozenset({"r2.ly"})
_IPV4 = re.compile(r"[\d.]+")
_SLASHES = re.compile("/{2,}")
_ESCAPED_AMPERSAND = re.compile("&(?:amp;)+", re.IGNORECASE)
# story/amp, story/amp/, story.amp, story.amp.html; not the front page's own /amp, with nothing before it.
_AMP_FOLDER = re.compile(r"/amp(?=/[^/])", re.IGNORECASE)
_AMP_TAIL = re.compile(r"(?<=[^/])(?:[/.]amp)+(?P<extension>\.html?)?(?P<slash>/?)\Z", re.IGNORECASE)
# Other pages for phones and printers, as far as the rest names a story: /m/story, /print/story, story/print, story-amp.
_FORM_FOLDER = re.compile(r"\A/(?:m|mobile|print)(?=/[^/])", re.IGNORECASE)
_FORM_TAIL = re.compile(r"(?:/print|-amp)(?P<extension>\.html?)?(?P<slash>/?)\Z", re.IGNORECASE)
_BEFORE_LAST_SLASH = re.compile(r"\A(http://[^/]+/[^?#]+?)/(?=[?#]|\Z)")
_DOT_SEGMENT = re.compile(r"/\.(?=/|\Z)")
_PARENT_SEGMENT = re.compile(r"/(?!\.\./)[^/]+/\.\.(?=/|\Z)|\A/\.\.(?=/|\Z)")
# The page that a folder shows, and the script that shows all pages: /index.php/2024/story.
_INDEX_PAGE = re.compile(r"/(?:index|default)\.(?:[sp]?html?|php\d?|aspx?|jspx?|cfm|do)(?=/|\Z)", re.IGNORECASE)
# Sub-delimiters, a colon and an at sign mean the same escaped in a path (RFC 3986, 3.3): story,17.html.
_NEEDLESS_ESCAPE = re.compile("%(?:2[1478ABC]|3[AB]|40)")
# A fragment that a program reads: /#/news/1, #!news/1. Others lead to a place in the page.
_STATE = re.compile(r"!.+|/+[^/].*", re.DOTALL)
_PART_OF_PAGE = re.compile(
    r"#!?/*(?:(?:photos?|fotos?|images?|bild(?:er)?|slides?|slideshow|gallery|galerie|galeria|comments?|kommentare|comentarios"
    r"|commentaires|videos?|page|share|print|media|lightbox)(?:[/=_-].*)?|\d{1,2}/?)",
    re.IGNORECASE,
)
# The same without its first sign, or a number with its name: #news/1, #id=5, #article-17.
_NAMED_STATE = re.compile(
    r"(?:[\w.-]+/)+[\w.-]*\d[\w.-]*"
    r"|\??(?:id|p|nid|aid|pid|articles?|artikel|articulo|art|news|noticia|nota|story|item|post|page_?id)[=/_-]?\d+"
)

# Longer than any URL that can be stored (2,000 characters), even with each character as four escapes.
_MAX_CHARACTERS = 30_000
_MAX_WRAPPERS = 10

_YOUTUBE = frozenset({"youtube.com", "youtube-nocookie.com", "youtu.be"})
_VIDEO_PATH = re.compile(r"/(?:(?:embed|v|shorts|live)/)?(?!videoseries)(?P<id>[\w-]{11})", re.IGNORECASE)
_VIDEO_PARAMETER = re.compile(r"(?:\A|&)v=(?P<id>[\w-]{11})(?:&|\Z)", re.IGNORECASE)


class _Address(NamedTuple):
    host: str  # in IDNA form, lower-case, with www.
    port: str  # with its colon; empty for 80 and 443
    path: str
    query: str
    state: str  # a "#!" or "#/" fragment, which identifies a page of a single-page site
    fragment: str  # any other


class _Place(NamedTuple):
    host: str  # without its dropped labels
    site: str
    path: str
    query: str
    state: str
    fragment: str


def host_of(url: str) -> str:
    """Return the lower-case host of an http(s) URL in its IDNA form, without `www.` and port; '' if there is none."""
    address = _parse(url)
    if address is None:
        return ""
    host = address.host.removeprefix("www.")
    return host if "." in host else address.host


def canonicalize_url(url: str) -> str:
    """Return the canonical URL, with the scheme http; equal results are the same page.

    Case of scheme and host, user names, passwords, default ports, fragments and the spelling of escapes make no
    difference, nor does https. The order of the query, `www.` and the case of the path do. A "#!" or "#/" fragment is
    kept: it names a page.
    A text that is not an http(s) URL is returned trimmed.
    """
    address = _parse(url)
    if address is None:
        return _trim(url)
    query = f"?{address.query}" if address.query else ""
    return f"http://{address.host}{address.port}{address.path}{query}{address.state}"


@lru_cache(maxsize=4096)
def url_key(url: str) -> uuid.UUID:
    """Return the identity of a URL: UUID version 5 of canonicalize_url(url)."""
    return uuid.uuid5(uuid.NAMESPACE_URL, canonicalize_url(url))


def normalize_url(url: str, kept: Collection[str] = ()) -> str:
    """Return the lossy form http://host/path?query, such as http://example.com/2024/01/02/story?id=5.

    No port, user, session or fragment; host without labels such as www., m. and amp.; lower-case except ids of random
    letters; the query sorted, without decoration. A fragment that a program reads stays if the path names no story.
    `kept` are names of parameters, in lower case, that are not decoration. A redirect, an archived page and an AMP copy
    give the form of the URL inside. '' for a text that is not a URL, or a far too long
    one; a URL without a scheme is read as http. Idempotent.
    Source: mediacloud/metadata-lib, mcmetadata/urls.py, and mediacloud/backend, mediawords/util/url.
    """
    return _form(url, frozenset(kept))


@lru_cache(maxsize=2048)  # the form names the newspaper, and is then stored
def _form(url: str, kept: frozenset[str]) -> str:
    place = _innermost(url)
    if place is None:
        return ""
    is_video = place.site in _YOUTUBE
    if is_video and (video := _VIDEO_PARAMETER.search(place.query) or _VIDEO_PATH.fullmatch(place.path.rstrip("/"))):
        return f"http://youtube.com/watch?v={video['id']}"
    path = _lossy_path(place.path)
    query = _lossy_query(place, path, place.query, kept)
    form = f"http://{place.host}{path}{'?' if query else ''}{query}{_lossy_state(place, path, query, kept)}"
    return form if len(form) <= _MAX_CHARACTERS else ""


def comparable_url(url: str, kept: Collection[str] = ()) -> str:
    """Return normalize_url(url, kept) without the last slash of its path, which sites add and drop freely."""
    return _BEFORE_LAST_SLASH.sub(r"\1", normalize_url(url, kept), count=1)


def dropped_parameters(url: str, kept: Collection[str] = ()) -> dict[str, str]:
    """Return the lower-case names and values of the parameters that normalize_url(url, kept) drops."""
    place = _innermost(url)
    if place is None or place.site in _YOUTUBE:
        return {}
    parameters = read_parameters(place.site, place.path, place.query, kept)
    return {parameter.name: parameter.text.partition("=")[2] for parameter in parameters if parameter.dropped}


def has_decoration(url: str) -> bool:
    """Return whether dropped_parameters(url) has any."""
    return "?" in url and bool(dropped_parameters(url))


def is_part_of_page(state: str) -> bool:
    """Return whether a "#!" or "#/" fragment opens a part of the page of a story: #/photo/3."""
    return _PART_OF_PAGE.fullmatch(state) is not None


def unwrap_url(url: str) -> str:
    """Return the target of a Google redirect if its URL contains it; any other URL unchanged."""
    if "google" not in url.lower():  # most URLs have none, and need no parsing
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
    """Return the registered name of a domain, "example" for www.example.co.uk; '' for other hosts."""
    parts = suffixes().extract_str(host)
    return parts.domain if parts.suffix and parts.subdomain in {"", "www"} else ""


@lru_cache(maxsize=2048)  # a URL is checked, and then asked for its host and its key
def _parse(url: str) -> _Address | None:
    """Return the parts of an http(s) URL with escapes in one spelling; None for another text."""
    if plain := _PLAIN_ADDRESS.fullmatch(url):
        host, path, query = plain.groups(default="")
        return _Address(host=host, port="", path=path or "/", query=query, state="", fragment="")
    try:
        match = _WEB_ADDRESS.fullmatch(safe_url_string(_trim(without_login(url))))
    except ValueError:  # an impossible port, bracket or host
        return None
    if match is None:
        return None
    host, port, path, query, fragment = match.groups(default="")
    return _Address(
        host=host,
        port="" if port in _DEFAULT_PORTS else f":{port}",
        path=_unify_escapes(path) or "/",
        query=_unify_escapes(query),
        state=f"#{_unify_escapes(fragment)}" if _STATE.fullmatch(fragment) else "",
        fragment=_unify_escapes(fragment),
    )


def _trim(url: str) -> str:
    """Strip the URL; half a surrogate pair, which cannot be encoded, becomes an escape."""
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
    """Return the URL with one scheme, http; '' if it has another scheme, no host or too many characters."""
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
    www.news.example.com and news.example.com, which the rule equates with example.com, would stay different.
    """
    if host.startswith("[") or _IPV4.fullmatch(host):
        return host, host
    parts = suffixes().extract_str(host)
    # An unknown last label is a suffix by the list's default rule, as for hosts of a private network.
    suffix_labels = parts.suffix.count(".") + 1
    site = ".".join(host.split(".")[-suffix_labels - 1 :])
    if site in _LABELS_NAME_STORIES:
        return host, site
    host = _AMP_HOST.sub("", host)
    while (label := _DROPPED_LABEL.match(host)) and host.count(".") > suffix_labels:
        host = _AMP_HOST.sub("", host[label.end() :])
    inner = host[: -len(site)] if host.endswith(f".{site}") else ""
    if inner:
        host = _PHONE_LABEL.sub("", f".{inner}".removesuffix("."))[1:] + f".{site}"
    return host, "google" if parts.domain == "google" else site


@lru_cache(maxsize=2048)  # callers ask for the form of a URL and then for its dropped parameters
def _innermost(url: str) -> _Place | None:
    """Return the place of the page that the URL leads to, through redirects, archives and AMP copies."""
    for _ in range(_MAX_WRAPPERS):
        is_plain = len(url) <= _MAX_CHARACTERS and _PLAIN_ADDRESS.fullmatch(url)
        address = _parse(url if is_plain else _repair(url))
        if address is None:
            return None
        host, site = _site(address.host)
        path, query = _SLASHES.sub("/", address.path), _ESCAPED_AMPERSAND.sub("&", address.query)
        url = redirect_target(site, path, query) or copied_url(host, site, path, query)
        if not url:
            lower = str if site in _YOUTUBE or has_cased_ids(host, site) else lower_part
            query = lower(query) if site in _YOUTUBE else lower_part(query).replace("+", "%20")
            return _Place(host, site, lower(path), query, lower_part(address.state), lower_part(address.fragment))
    return None


def _lossy_path(path: str) -> str:
    """Return a path without dots, index page, session and AMP."""
    path = _NEEDLESS_ESCAPE.sub(lambda escape: unquote(escape[0]), path) if "%" in path else path
    path = _SLASHES.sub("/", without_session(path))
    if "/." in path:
        path = _DOT_SEGMENT.sub("", path)
        while _PARENT_SEGMENT.search(path):
            path = _PARENT_SEGMENT.sub("", path, count=1)
    while (folder := _AMP_FOLDER.search(path)) and (folder.start() == 0 or names_a_story(path)):
        path = path[: folder.start()] + path[folder.end() :]
    if (folder := _FORM_FOLDER.match(path)) and names_a_story(path):
        path = path[folder.end() :]
    path = _INDEX_PAGE.sub("/", path)
    path = _AMP_TAIL.sub(r"\g<extension>\g<slash>", _SLASHES.sub("/", path))
    if (tail := _FORM_TAIL.search(path)) and names_a_story(path[: tail.start()]):
        path = f"{path[: tail.start()]}{tail['extension'] or ''}{tail['slash']}"
    return path or "/"


def _lossy_query(place: _Place, path: str, query: str, kept: Collection[str]) -> str:
    parameters = read_parameters(place.site, path, query, kept) if query else ()
    return "&".join(sorted({parameter.text for parameter in parameters if not parameter.dropped}))


def _lossy_state(place: _Place, path: str, query: str, kept: Collection[str]) -> str:
    """Return the fragment if it names the story: neither the path nor the query does, and it is no part of a page."""
    if names_a_story(path) and (not place.state or is_part_of_page(place.state)):
        return ""
    route, _, decoration = place.state.partition("?")
    if route:
        rest = _lossy_query(place, route, decoration, kept)
        return f"{route}{'?' if rest else ''}{rest}"
    return f"#{place.fragment}" if not query and _NAMED_STATE.fullmatch(place.fragment) else ""


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
