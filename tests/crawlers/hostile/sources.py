"""Bad feeds, sitemaps and section pages by name: what is served, what is found in them, and what must be counted.

A good article stands at /2024/05/ under the name of each source that names it.
"""

import gzip
import json
from dataclasses import dataclass

from tests.crawlers.hostile.answers import Answer, Connection, bomb, flooding, html, redirect, response
from tests.crawlers.pages import item, rss_of, sitemap_index

RSS = "application/rss+xml"
NAMESPACE = ' xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
GZIP = "application/gzip"


@dataclass(frozen=True)
class SourceKind:
    """A source; `finds` is whether its good article is stored, `counted` the reasons with their numbers."""

    name: str
    answer: Answer
    finds: bool
    counted: dict[str, int]


def link(name: str) -> str:
    return f"{{url}}/2024/05/{name}"


def good(name: str, answer: bytes) -> SourceKind:
    return SourceKind(name, answer, True, {})


def bad(name: str, answer: Answer, reason: str, number: int = 1) -> SourceKind:
    return SourceKind(name, answer, False, {reason: number})


def partly(name: str, answer: Answer, **counted: int) -> SourceKind:
    return SourceKind(name, answer, True, {reason.replace("_", " "): number for reason, number in counted.items()})


# -- Feeds --------------------------------------------------------------------------------------------------


def rss(name: str, *, items: str = "", head: str = '<?xml version="1.0"?>', title: str = "One") -> str:
    return rss_of(item(link(name), title), items).replace('<?xml version="1.0"?>', head)


def feed(body: str | bytes, content_type: str = RSS) -> bytes:
    return html(body, content_type=content_type)


LAUGHS = (
    '<?xml version="1.0"?><!DOCTYPE lolz [<!ENTITY a "ha">'
    + "".join(f'<!ENTITY {new} "{f"&{old};" * 20}">' for old, new in zip("abcdefg", "bcdefgh", strict=True))
    + "]>"
)
OUTSIDE = '<?xml version="1.0"?><!DOCTYPE x [<!ENTITY file SYSTEM "file:///etc/passwd">]>'
RDF = (
    '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/">'
    f"<item><title>One</title><link>{link('rss-1.0')}</link></item></rdf:RDF>"
)
ATOM = f"<feed xmlns='http://www.w3.org/2005/Atom'><entry><link href='{link('atom')}'/></entry></feed>"
IMPOSSIBLE_DATE = ATOM.replace("atom'/>", "atom-impossible-date'/><published>0000-00-00T00:00:00Z</published>")
JSON = json.dumps({"version": "https://jsonfeed.org/version/1.1", "items": [{"url": link("json"), "id": "1"}]})
NONSENSE = (
    "<item><title>No link</title></item>"
    "<item><link>javascript:alert(1)</link></item>"
    "<item><link>mailto:desk@fjordbladet.example</link></item>"
    "<item><link>http://anna:secret@127.0.0.1/2024/05/x</link></item>"
    "<item><link>http://[undefined]/2024/05/x</link></item>"
)
MANY = "".join(f"<item><link>javascript:{number}</link></item>" for number in range(3_000))

FEEDS = [
    good("rss-0.91", feed(rss("rss-0.91").replace("2.0", "0.91", 1))),
    good("rss-1.0", feed(RDF)),
    good("atom", feed(ATOM, "application/atom+xml")),
    good("atom-impossible-date", feed(IMPOSSIBLE_DATE, "application/atom+xml")),
    good("json", feed(JSON, "application/feed+json")),
    bad("json-broken", feed(JSON[:-20], "application/feed+json"), "unreadable feed"),
    bad("json-of-numbers", feed('{"items": [1, 2]}', "application/json"), "unreadable feed"),
    good("feed-as-html", feed(rss("feed-as-html"), "text/html")),
    good("feed-as-nothing", response(rss("feed-as-nothing").encode())),
    good("ampersands", feed(rss("ampersands", title="Fish & chips & more"))),
    good("html-entities", feed(rss("html-entities", title="Caf&eacute; &nbsp; &mdash;"))),
    good("leading-blanks", feed(f"\n\n  {rss('leading-blanks')}")),
    good("byte-order-mark", feed(b"\xef\xbb\xbf" + rss("byte-order-mark").encode())),
    good("utf-16", feed(rss("utf-16").replace("{url}", "").encode("utf-16"))),
    good("wrong-encoding", feed(rss("wrong-encoding", title="Søndag").encode("cp1252"), f"{RSS}; charset=utf-8")),
    good("unknown-encoding", feed(rss("unknown-encoding", head='<?xml version="1.0" encoding="klingon"?>'))),
    good("control-characters", feed(rss("control-characters", title="a\x00\x08b"))),
    good("relative-link", feed(rss("relative-link").replace("{url}", ""))),
    partly("cut-off", feed(rss("cut-off", items="<item><title>Half")[:-17]), broken_feed=1, entry_without_a_link=1),
    SourceKind(
        "nonsense",
        feed(rss("nonsense", items=NONSENSE)),
        True,
        {"bad address": 2, "connection refused": 1, "entry without a link": 2},
    ),
    SourceKind("too-many", feed(rss("too-many", items=MANY)), True, {"bad address": 99, "too many entries": 2_901}),
    good("billion-laughs", feed(rss("billion-laughs", head=LAUGHS, title="&h;"))),
    good("outside-entity", feed(rss("outside-entity", head=OUTSIDE, title="&file;"))),
    bad("no-feed", feed("<html><body>Our feed has moved.</body></html>", "text/html"), "unreadable feed"),
    bad("nothing", feed(""), "unreadable feed"),
    bad("noise", feed(bytes(range(256)) * 20), "unreadable feed"),
    bad("bomb", html(bomb(30_000_000), "Content-Encoding: gzip", content_type=RSS), "too large"),
    good("empty", feed(rss("empty"))),
    bad("gone", response(b"", status="410 Gone"), "HTTP 410"),
    bad("away", redirect("http://10.0.0.1/feed"), "private address: 10.0.0.1"),
]


# -- Sitemaps -----------------------------------------------------------------------------------------------


def sitemap(name: str, *, head: str = "", more: str = "") -> str:
    entry = f"<url><loc>{link(name)}</loc></url>"
    return f"{head}<urlset{NAMESPACE}>{entry}{more}</urlset>"


def xml(body: str | bytes) -> bytes:
    return html(body, content_type="application/xml")


SIXTY_THOUSAND = "".join(f"<url><loc>{{url}}/topic/{number}</loc></url>" for number in range(60_000))


def pack(name: str) -> bytes:
    """Return a packed sitemap. Its link is relative: an address could not be put into it any more."""
    return gzip.compress(sitemap(name).replace("{url}", "").encode(), mtime=0)


SITEMAPS = [
    good("xml-as-html", html(sitemap("xml-as-html"))),
    good("packed", html(pack("packed"), content_type=GZIP)),
    good("packed-as-xml", xml(pack("packed-as-xml"))),
    good("packed-as-html", html(pack("packed-as-html"))),
    good("packed-twice", html(gzip.compress(pack("packed-twice")), content_type=GZIP)),
    good("packed-and-encoded", html(gzip.compress(pack("packed-and-encoded")), "Content-Encoding: gzip")),
    good("plain-as-gzip", html(sitemap("plain-as-gzip"), content_type=GZIP)),
    good("byte-order-mark-map", html(b"\xef\xbb\xbf\n" + sitemap("byte-order-mark-map").encode())),
    good("no-namespace", html(sitemap("no-namespace").replace(NAMESPACE, ""))),
    good("ampersands-map", xml(sitemap("ampersands-map", more="<url><loc>{url}/?a&b</loc></url>"))),
    good("sixty-thousand", xml(sitemap("sixty-thousand", more=SIXTY_THOUSAND))),
    good("laughs-map", xml(sitemap("laughs-map", head=LAUGHS, more="<url><loc>&h;</loc></url>"))),
    good("outside-map", xml(sitemap("outside-map", head=OUTSIDE, more="<url><loc>&file;</loc></url>"))),
    good("text-map", html(f"\n{link('text-map')}\n{{url}}/topic/1\n", content_type="text/plain")),
    good("feed-as-map", html(rss("feed-as-map"), content_type=RSS)),
    partly(
        "nonsense-map", html(sitemap("nonsense-map", more="<url><loc>http://[/2024/05/x</loc></url>")), bad_address=1
    ),
    partly("cut-off-map", html(sitemap("cut-off-map", more="<url><loc>http:")[:-9]), broken_sitemap=1),
    bad("packed-cut-off", html(pack("packed-cut-off")[:-60], content_type=GZIP), "unreadable sitemap"),
    bad("packed-noise", html(b"\x1f\x8b\x08noise", content_type=GZIP), "unreadable sitemap"),
    bad("packed-bomb", html(bomb(30_000_000), content_type=GZIP), "unreadable sitemap"),
    bad("no-sitemap", html("<html><body>Not found</body></html>"), "unreadable sitemap"),
    bad("nothing-map", xml(""), "unreadable sitemap"),
    SourceKind("empty-map", xml("<urlset/>"), False, {}),
    SourceKind("names-itself", xml(sitemap_index("{url}/names-itself", "{url}/names-itself")), False, {}),
    bad("names-files", xml(sitemap_index("file:///etc/passwd", "ftp://x.example/a.xml")), "bad address", 2),
    bad("silent-map", Connection.wait, "no answer in time"),
]


# -- Section pages ------------------------------------------------------------------------------------------


def section(name: str, more: str = "") -> str:
    return f"<html><body><a href='/2024/05/{name}'>One</a>{more}</body></html>"


SECTIONS = [
    good("next-is-itself", html(section("next-is-itself", "<a rel='next' href='/next-is-itself'>2</a>"))),
    good("next-is-script", html(section("next-is-script", "<a rel='next' href='javascript:more()'>2</a>"))),
    good("next-is-nonsense", html(section("next-is-nonsense", "<a rel='next' href='http://[x'>2</a>"))),
    good("next-is-elsewhere", html(section("next-is-elsewhere", "<a rel='next' href='http://10.0.0.1/'>2</a>"))),
    good("base-is-nonsense", html(f"<head><base href='http://[x'></head>{section('base-is-nonsense')}")),
    good(
        "odd-links", html(section("odd-links", "<a href='http://[x/2024/05/x'>a</a><a href>b</a><a href='tel:1'>c</a>"))
    ),
    partly("next-is-missing", html(section("next-is-missing", "<a rel='next' href='/no-page'>2</a>")), HTTP_404=1),
    bad("section-is-a-file", html(b"%PDF-1.4", content_type="application/pdf"), "section is no HTML page"),
    bad("section-is-gone", response(b"", status="404 Not Found"), "HTTP 404"),
]


# -- robots.txt ---------------------------------------------------------------------------------------------


PLAIN = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n"
ROBOTS: dict[str, Answer] = {
    "fault": response(b"", status="500 Oh"),
    "silent": Connection.wait,
    "endless": flooding(PLAIN, b"Disallow: /private\n" * 4_000),
    "huge": response(b"Disallow: /private\n" * 50_000, "Content-Type: text/plain"),
    "noise": response(bytes(range(256)) * 20, "Content-Type: text/plain"),
    "loop": redirect("/robots.txt"),
    "private": redirect("http://10.0.0.1/robots.txt"),
    "no-http": b"SSH-2.0-OpenSSH_9.6\r\n",
}
