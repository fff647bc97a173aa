"""Two forms of a URL: the safe one that names an address, and the lossy one that names a story.

`canonicalize_url` joins only what surely is one address, and is the identity of an article. `normalize_url`
guesses: its result may not lead anywhere, and equal results are evidence, never identity. Its rules are
those of Media Cloud's URL pass, with guards so that two stories of one newspaper do not meet.
"""

import re
import uuid
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import quote, unquote

from tldextract import TLDExtract
from w3lib.url import safe_url_string

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
_IPV4 = re.compile(r"[\d.]+")
_SLASHES = re.compile("/{2,}")
_ESCAPED_AMPERSAND = re.compile("&(?:amp;)+", re.IGNORECASE)
# story/amp, story/amp/, story.amp, story.amp.html; not the front page's own /amp, before which nothing stands.
_AMP_TAIL = re.compile(r"(?<=[^/])(?:[/.]amp)+(?P<extension>\.html?)?\Z", re.IGNORECASE)
_AMP_PARAMETERS = frozenset({"amp", "amp=", "amp=1", "amp=true", "amp=yes", "outputtype=amp"})

_TRACKING_PARAMETER = re.compile(
    r"(?:utm|ga)_.*|_ga|_gl|_hsenc|_hsmi|_openstat|fb_action_ids|fb_action_types|fb_source|fb_ref"
    r"|action_object_map|action_type_map|action_ref_map|fsrc_fb_noscript|fbclid|gclid|msclkid|yclid|igshid"
    r"|mc_cid|mc_eid|phpsessid|phpsessionid|ns_mchannel|ns_campaign|ito|wprss|custom_click|feedname|feedtype"
    r"|skipmobile|skip_mobile|altcast_code"
)
# Decoration on most sites, the story's number on some; so is any name that begins with an underscore.
_AMBIGUOUS_PARAMETER = re.compile("sort|cid|s_cid|sid|ncid|ir|ref|oref|eref|source|_.*")
_PARAMETER_BY_SITE = {
    "facebook.com": re.compile("fref|hc_location"),
    "nytimes.com": re.compile(r"emc|partner|_r|hp|inline|smid|wt\.z_sma|bicmp|bicmlukp|bicmst|bicmet|abt|abg"),
    "livejournal.com": re.compile("thread|nojs"),
    "google": re.compile("gws_rd|ei"),
}
_NO_PARAMETER = re.compile(r"(?!)")

_YOUTUBE = frozenset({"youtube.com", "youtube-nocookie.com", "youtu.be"})
_VIDEO_PATH = re.compile(r"/(?:(?:embed|v|shorts|live)/)?(?!videoseries)(?P<id>[\w-]{11})", re.IGNORECASE)
_VIDEO_PARAMETER = re.compile(r"(?:\A|&)v=(?P<id>[\w-]{11})(?:&|\Z)", re.IGNORECASE)

_ARCHIVES = frozenset({"archive.is", "archive.ph", "archive.today"})
_ARCHIVED = re.compile(r"/(?:o/)?[^/]+/(?P<url>https?:/.+)", re.IGNORECASE)
_AMP_CACHED = re.compile(r"/(?:amp|[cv])/(?:s/)?(?P<url>[^/]+\.[^/]+/.+)", re.IGNORECASE)
_REDIRECT_TARGET = re.compile(r"(?:\A|&)(?:url|q)=(?P<url>https?(?::|%3a)[^&]+)", re.IGNORECASE)

_WORD_BREAK = re.compile("[-_+.,~]|%20")
_NUMBER = re.compile(r"\d{4,}")
_YEAR_OR_DATE = re.compile(r"(?:19|20)\d\d(?:\d\d){0,2}")
# Words of which scripts and sections are named, not stories.
_GENERIC_WORD = re.compile(
    "articles?|aspx?|blogs?|breaking|category|cfm|cgi|center|content|default|details?|display|do|document|full|get"
    "|home|html?|index|item|jsp|latest|list|media|more|news|newsroom|of|page|php|popup|posts?|press|print|read"
    "|releases?|room|section|show|shtml|single|story|stories|the|top|video|view|xhtml"
)


class _Address(NamedTuple):
    user: str  # with its @
    host: str  # in IDNA form, lower-case, with www.
    port: str  # with its colon; empty for 80 and 443
    path: str
    query: str
    state: str  # a "#!" fragment, by which single-page sites tell their pages apart


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


def normalize_url(url: str) -> str:
    """Return the lossy form `host/path?query`, such as example.com/2024/01/02/story?id=5.

    No scheme, port, user, fragment and last slash; host without labels such as www., m. and amp.; lower-case
    but for YouTube's ids; the query without tracking parameters, sorted. A redirect, an archived page and an
    AMP copy give the form of the URL inside. '' for a text that is no URL; one without a scheme is read as
    http. The result of a result is that result.
    Source: mediacloud/metadata-lib, mcmetadata/urls.py, and mediacloud/backend, mediawords/util/url.
    """
    while (address := _parse(_repair(url))) is not None:
        host, site = _site(address.host)
        path = _AMP_TAIL.sub(r"\g<extension>", _SLASHES.sub("/", address.path).rstrip("/"))
        query = _ESCAPED_AMPERSAND.sub("&", address.query)
        inner = _url_inside(host, site, path, query)
        if not inner:
            return _lossy_form(host, site, path, query, address.state)
        url = inner
    return ""


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
    """Return the URL with one scheme, http; '' for what has another scheme or begins with no host."""
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
    while (label := _DROPPED_LABEL.match(host)) and host.count(".") > suffix_labels:
        host = host[label.end() :]
    return host, "google" if parts.domain == "google" else site


def _url_inside(host: str, site: str, path: str, query: str) -> str:
    """Return the URL that a redirect, an archive or an AMP cache carries; '' if this is none of these."""
    if site == "google" and path.lower() == "/url":
        target = _REDIRECT_TARGET.search(query)
        return unquote(target["url"]) if target else ""
    if host in _ARCHIVES:
        wrapped = _ARCHIVED.fullmatch(path)
    elif site in {"google", "ampproject.org"}:
        wrapped = _AMP_CACHED.fullmatch(path)
    else:
        return ""
    return f"{wrapped['url']}?{query}" if wrapped else ""


def _lossy_form(host: str, site: str, path: str, query: str, state: str) -> str:
    if site in _YOUTUBE:
        video = _VIDEO_PARAMETER.search(query) or _VIDEO_PATH.fullmatch(path)
        if video:
            return f"youtube.com/watch?v={video['id']}"
    kept = "&".join(sorted(_kept_parameters(site, path, query))) if query else ""
    form = f"{host}{path}?{kept}{state}" if kept else f"{host}{path}{state}"
    return form if site in _YOUTUBE else form.lower()


def _kept_parameters(site: str, path: str, query: str) -> list[str]:
    dropped_here = _PARAMETER_BY_SITE.get(site, _NO_PARAMETER)
    ambiguous = _AMBIGUOUS_PARAMETER if _names_a_story(path) else _NO_PARAMETER
    kept = []
    for parameter in filter(None, query.replace("+", "%20").split("&")):
        lower = parameter.lower()
        name = lower.partition("=")[0]
        rules = (_TRACKING_PARAMETER, dropped_here, ambiguous)
        if lower not in _AMP_PARAMETERS and not any(rule.fullmatch(name) for rule in rules):
            kept.append(parameter if site in _YOUTUBE else lower)
    return kept


def _names_a_story(path: str) -> bool:
    """Whether the path alone tells a story: its last part has three words or a number that is no year or date.

    Only then may a parameter go that could be the story's number: story?sid=123 is told by the sid alone.
    """
    last = path.rpartition("/")[2].lower()
    if any(not _YEAR_OR_DATE.fullmatch(number) for number in _NUMBER.findall(last)):
        return True
    words = [word for word in _WORD_BREAK.split(last) if len(word) > 1 and not word.isdecimal()]
    return sum(not _GENERIC_WORD.fullmatch(word) for word in words) >= 3
