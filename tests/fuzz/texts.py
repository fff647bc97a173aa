"""Pages, feeds, sitemaps, files and URLs that are nearly right: written here, then cut, doubled, nested and blown up."""

# ruff: noqa: E501 - a line is a list of texts

import gzip
import json
import re
from collections.abc import Callable

from hypothesis import strategies as st

TEXT = "The ferry to Little Skerry sails again after forty days, with a new engine and the old captain on the bridge."
JSON_LD = {
    "@context": "https://schema.org", "@type": "NewsArticle", "headline": "Ferry sails", "articleBody": TEXT,
    "datePublished": "2026-03-02T08:00:00+01:00", "author": [{"@type": "Person", "name": "Liv Dahl"}],
    "mainEntityOfPage": {"@id": "https://paper.example/2026/ferry"}, "isAccessibleForFree": "False",
}  # fmt: skip
PAGE = (
    "<!doctype html><html lang=en><head><meta charset=utf-8><base href='/2026/'><title>Ferry sails | Paper</title>"
    "<link rel=canonical href='https://paper.example/2026/ferry'><link rel=next href='?page=2'>"
    "<link rel=amphtml href='/amp/ferry'><link rel=alternate type='application/rss+xml' href='/feed'>"
    "<meta property='article:published_time' content='2026-03-02T08:00:00+01:00'><meta name=robots content='noarchive'>"
    "<meta http-equiv=refresh content='0; url=/x'><meta name=author content='Liv Dahl'>"
    f"<script type='application/ld+json'>{json.dumps(JSON_LD)}</script></head><body><nav><a href='/'>Home</a></nav>"
    f"<article><h1>Ferry sails</h1><p class=byline>By Liv Dahl</p><time datetime='2026-03-02'>2 March 2026</time>"
    f"<p>{TEXT}</p><figure><img src=a.jpg><figcaption>The ferry</figcaption></figure><p>{TEXT} Twice.</p>"
    "<ul><li>One</li><li>Two</li></ul><table><tr><td>1</td></tr></table><aside>Read also</aside></article>"
    "<footer>All rights reserved &copy; 2026 &nbsp; &#x41;</footer></body></html>"
)
RSS = (
    '<?xml version="1.0" encoding="utf-8"?><rss version="2.0" xmlns:content="http://purl.org/rss/1.0/modules/content/" '
    'xmlns:dc="http://purl.org/dc/elements/1.1/"><channel><title>Paper</title><language>en</language><item>'
    "<title>Ferry &amp; sails</title><link>https://paper.example/2026/ferry</link><guid isPermaLink='false'>7</guid>"
    "<pubDate>Mon, 02 Mar 2026 08:00:00 +0100</pubDate><dc:creator>Liv Dahl</dc:creator><description>"
    f"<![CDATA[<p>{TEXT}</p>]]></description><content:encoded><![CDATA[<p>{TEXT}</p>]]></content:encoded></item></channel></rss>"
)
ATOM = (
    '<feed xmlns="http://www.w3.org/2005/Atom" xml:lang="en"><title>Paper</title><entry><title type="html">Ferry</title>'
    '<link rel="alternate" href="/2026/ferry"/><updated>2026-03-02T08:00:00Z</updated><published>2026-03-02</published>'
    f'<content type="html">&lt;p&gt;{TEXT}&lt;/p&gt;</content><id>tag:paper.example,2026:7</id></entry></feed>'
)
JSON_FEED = json.dumps({
    "version": "https://jsonfeed.org/version/1.1", "title": "Paper", "language": "en",
    "items": [{"id": "7", "url": "https://paper.example/2026/ferry", "title": "Ferry", "content_html": f"<p>{TEXT}</p>",
               "date_published": "2026-03-02T08:00:00+01:00", "authors": [{"name": "Liv Dahl"}]}],
})  # fmt: skip
SITEMAP = (
    '<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" '
    'xmlns:news="http://www.google.com/schemas/sitemap-news/0.9"><url><loc>https://paper.example/2026/ferry</loc>'
    "<lastmod>2026-03-02</lastmod><news:news><news:publication_date>2026-03-02T08:00:00Z</news:publication_date>"
    "<news:title>Ferry</news:title></news:news></url></urlset>"
)
INDEX = (
    '<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><sitemap><loc>/sitemap-2026-03.xml</loc>'
    "<lastmod>2026-03-02T08:00:00+01:00</lastmod></sitemap></sitemapindex>"
)
ROBOTS = (
    "User-agent: *\nDisallow: /private/*$\nAllow: /\nCrawl-delay: 2\nRequest-rate: 1/5\nVisit-time: 0100-0200\n"
    "Sitemap: https://paper.example/sitemap.xml\n"
)
LAUGHS = "<!DOCTYPE lolz [<!ENTITY a 'ha'>" + "".join(
    f"<!ENTITY {chr(98 + n)} '{f'&{chr(97 + n)};' * 10}'>" for n in range(9)
) + "]>"  # fmt: skip

ODD = (
    "\0", "\ufeff", "\ud800", "\x1b", "<", ">", "&", "'", '"', "]]>", "<!--", "-->", "<![CDATA[", "</p>", "<p>", "<div>" * 300,
    "<b>" * 5_000, "&#0;", "&#x110000;", "&#xD800;", "&amp" * 500, "&a;&i;", "{", "[" * 5_000, '{"a":' * 2_000, "\\u0000", "\\ud800",
    "9" * 4_301, "1e999", "-0", "NaN", "0001-01-01", "9999-12-31", "9999-12-31T23:59:60-23:59", "Fri, 31 Dec 9999 23:59:59 -2359",
    "2026-02-30", "+275760-09-13", "٢٠٢٦-٠٣-٠٢", "http://[", "http://a:b@c", "http://" + "a." * 300, "//", "?" * 300, "%" * 300,
    "javascript:x", "data:text/html,x", "http://xn--" + "a" * 60, "http://\u0130\u0300.example", "utf-7", "utf-16", "x-user-defined",
    "idna", "punycode", "a" * 20_000, "a " * 10_000, "\n" * 5_000, "\u0301" * 5_000, "ﷺ" * 500, "\u202e", " " * 20_000, LAUGHS,
)  # fmt: skip
_PIECE = re.compile(r"<[^>]*>|[\w:/.+-]+|\s+|.", re.DOTALL)
# (what to do, where it begins and how far it reaches as shares of the pieces, which odd text)
_change = st.tuples(
    st.sampled_from(("cut", "drop", "double", "swap", "nest", "insert", "replace", "case", "repeat")),
    st.floats(0, 1),
    st.integers(1, 12),
    st.sampled_from(ODD),
)


def mutated(*texts: str) -> st.SearchStrategy[bytes]:
    """Return texts like these with up to six changes to their tags and words, in one of some charsets."""
    charset = st.sampled_from(("utf-8", "utf-8", "utf-8", "utf-16", "latin-1", "cp1251"))
    return st.builds(_encoded, st.sampled_from(texts), st.lists(_change, max_size=6), charset)


def _encoded(text: str, changes: list[tuple[str, float, int, str]], charset: str) -> bytes:
    pieces = _PIECE.findall(text)
    for kind, place, reach, odd in changes:
        at = int(place * len(pieces))
        found = pieces[at : at + reach]
        pieces[at : at + reach] = _CHANGES[kind](found, odd)
        if kind == "cut":
            del pieces[at:]
    return "".join(pieces)[:1_000_000].encode(charset, "surrogatepass" if charset.startswith("utf") else "replace")


_CHANGES: dict[str, Callable[[list[str], str], list[str]]] = {
    "cut": lambda found, _odd: found,
    "drop": lambda _found, _odd: [],
    "double": lambda found, _odd: found * 2,
    "swap": lambda found, _odd: found[::-1],
    "nest": lambda found, _odd: [*(text for text in found if text.startswith("<")), *found] * 20,
    "insert": lambda found, odd: [odd, *found],
    "replace": lambda _found, odd: [odd],
    "case": lambda found, _odd: [text.swapcase() for text in found],
    "repeat": lambda found, _odd: (found * 2_000)[:20_000],
}

packed = st.binary(max_size=200) | mutated(SITEMAP, INDEX, RSS, ATOM).map(lambda body: gzip.compress(body, 1, mtime=0))

_URL_PART = st.sampled_from((
    "http:", "https:", "HTTP:", "ftp:", "//", "/", "\\", "://", "@", ":", "user:pw@", "www.", "m.", "amp.", "amp-", "paper", ".",
    "..", "/../", "/./", "example", ".co.uk", "xn--", "münchen", "ΰ", "İ", "ß", "ﬀ", "\u00ad", "\u200d", "。", "[::1]", "[", "127.1",
    "0x7f.1", ":80", ":99999", "?", "&", "=", "#", "#!", "#!/a/1", ";jsessionid=A1", "?utm_source=a", "&id=5", "&amp;", "%", "%2F",
    "%41", "%C3%28", "%ED%A0%80", "%00", "%u0041", "+", " ", "\t", "\n", "\0", "\ud800", "\ufeff", "/amp/", ".amp.html", "/index.php",
    "/2026/03/02/", "story-17.html", "a" * 300, "/a" * 500, "http://web.archive.org/web/2026/", "https://www.google.com/url?q=",
    "youtube.com/watch?v=abcdefghijk", "r2.ly", "-", "_", "~", "A", "1", "é", "*", "'", '"', "<", ">", "|", "^", "`", "{", "}",
))  # fmt: skip
urls = st.one_of(
    st.lists(_URL_PART, max_size=14).map("".join), st.text(max_size=80), st.text(max_size=40).map("http://a.b/".__add__)
)
lines_of_rows = mutated(
    '{"date": "2026-03-02", "headline": "Ferry", "url": "https://paper.example/a", "content": "' + TEXT + '", "id": 7}\n' * 3,
    "date,headline,url,content,newspaper\n2026-03-02,Ferry,https://paper.example/a,\"" + TEXT + "\",Paper\n",
    "left,right,label\nhttps://paper.example/a,https://paper.example/b,duplicate\n1,2,different\n",
    "https://paper.example/a\t2026-03-02\n# a comment\nhttps://paper.example/b\n",
)  # fmt: skip
