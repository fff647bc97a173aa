"""Bad pages, headers and redirects by name: what is served, and what must become of it.

The outcome is "stored", or the reason that must be counted.
"""

import gzip
import zlib
from dataclasses import dataclass

import brotli
from backports import zstd

from tests.crawlers.hostile.answers import Answer, Connection, bomb, dripping, flooding, html, redirect, response
from tests.crawlers.pages import LIBRARY, article_page

STORED = "stored"
HTML = "Content-Type: text/html; charset=utf-8"


@dataclass(frozen=True)
class Kind:
    name: str
    answer: Answer
    outcome: str
    day: str = ""  # that the feed gives


def page(name: str, **more: str) -> str:
    """Return an article's page whose text is like no other's."""
    return article_page(f"The {name} case", f"This is the page of the {name} case. {LIBRARY}", **more)


def packed(name: str, encoding: str, body: bytes) -> Kind:
    return Kind(name, html(body, f"Content-Encoding: {encoding}"), STORED)


OK = b"HTTP/1.1 200 OK\r\n"
BODY = OK + b"Content-Type: text/html\r\n\r\n<html>"
CHUNKED = OK + b"Content-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n"
ON_AND_ON = b"<p>on and on</p>" * 4_000
HUGE = OK + b"Content-Type: text/html\r\nX-Huge: " + b"h" * 300_000 + b"\r\n\r\n"

PAGES = [
    # Types and bodies.
    Kind("good", html(page("good")), STORED),
    Kind("text-type", html(page("text-type"), content_type="text/plain"), "no HTML page: text/plain"),
    Kind("odd-type", html(page("odd-type"), content_type="image/jpeg"), STORED),
    Kind("no-type", response(page("no-type").encode()), STORED),
    Kind("pdf", html(b"%PDF-1.4", content_type="application/pdf"), "no HTML page: application/pdf"),
    Kind("pdf-as-html", html(b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n1 0 obj\n<< /Type /Catalog >>"), "no article text"),
    Kind("empty", html(""), "empty page"),
    Kind("blank", html(" \n\t \n"), "empty page"),
    Kind("comment-only", html("<!-- nothing -->"), "empty page"),
    Kind("cookie-wall", html("<p>We value your privacy.</p><button>OK</button>"), "no article text"),
    Kind("nul-bytes", html(page("nul-bytes").replace("<p>", "<p>\0\0")), STORED),
    Kind("deep", html("<div>" * 50_000 + page("deep")), "no article text"),
    Kind("utf-16", html(page("utf-16").encode("utf-16"), content_type="text/html"), STORED),
    Kind("wrong-charset", html(page("wrong-charset déjà").encode("cp1252")), STORED),
    Kind("unknown-charset", html(page("unknown-charset"), content_type="text/html; charset=klingon"), STORED),
    Kind("bad-base", html(page("bad-base").replace("<head>", "<head><base href='http://[x'>")), STORED),
    Kind("canonical-elsewhere", html(page("elsewhere", canonical="https://agency.example/x")), STORED),
    Kind("canonical-nonsense", html(page("nonsense", canonical="http://[undefined]/")), STORED),
    # Compression.
    packed("gzip", "gzip", gzip.compress(page("gzip").encode(), mtime=0)),
    packed("deflate", "deflate", zlib.compress(page("deflate").encode())),
    packed("brotli", "br", brotli.compress(page("brotli").encode())),
    packed("zstd", "zstd", zstd.compress(page("zstd").encode())),
    packed("gzip-twice", "gzip, gzip", gzip.compress(gzip.compress(page("gzip-twice").encode(), mtime=0), mtime=0)),
    packed("not-packed", "gzip", page("not-packed").encode()),
    packed("identity", "identity", page("identity").encode()),
    Kind("gzip-of-nothing", html(b"", "Content-Encoding: gzip"), "empty page"),
    Kind("gzip-cut-off", html(gzip.compress(page("cut").encode(), mtime=0)[:-40], "Content-Encoding: gzip"), "cut off"),
    Kind("gzip-bomb", html(bomb(30_000_000), "Content-Encoding: gzip"), "too large"),
    Kind("brotli-bomb", html(brotli.compress(b" " * 30_000_000, quality=1), "Content-Encoding: br"), "too large"),
    Kind("gzip-of-noise", html(b"\x1f\x8b\x08\xff\xff\xff", "Content-Encoding: gzip"), "unreadable compression"),
    Kind("noise-as-brotli", html(b"\x01\x02\x03noise", "Content-Encoding: br"), "unreadable compression"),
    Kind("unknown-packing", html(b"\x01\x02\x03noise", "Content-Encoding: lzma"), "unreadable compression"),
    # Sizes and times.
    Kind("50-megabytes", response(b"<html>", HTML, length=50_000_000), "too large"),
    Kind("endless", flooding(BODY, ON_AND_ON), "too large"),
    Kind("endless-chunks", flooding(CHUNKED, b"FA00\r\n" + ON_AND_ON + b"\r\n"), "too large"),
    Kind("dripping", dripping(BODY, b"x"), "no answer in time"),
    Kind("dripping-headers", dripping(OK, b"X-Drip: drop\r\n"), "no answer in time"),
    Kind("silent", Connection.wait, "no answer in time"),
    # Headers.
    Kind("huge-headers", HUGE, "headers too large"),
    Kind("endless-headers", flooding(OK, b"X-More: and more\r\n" * 1_000), "headers too large"),
    Kind("endless-header-line", flooding(OK + b"X-Long: ", b"x" * 10_000), "headers too large"),
    Kind("endless-interim-answers", flooding(b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 1_000), "headers too large"),
    Kind("cookie-flood", html(page("cookie-flood"), *(f"Set-Cookie: c{number}=1" for number in range(2_000))), STORED),
    Kind("header-without-colon", html(page("header-without-colon"), "this is no header"), STORED),
    Kind("two-lengths", html(page("two-lengths"), "Content-Length: 7"), "not HTTP"),
    Kind("negative-length", response(b"<html>", HTML, length=-5), "not HTTP"),
    Kind("length-too-large", response(page("length").encode(), HTML, length=100_000), "cut off"),
    Kind("no-http", b"SSH-2.0-OpenSSH_9.6\r\n", "not HTTP"),
    Kind("http-0.9", b"<!doctype html>\n" + page("http-0.9").encode(), "not HTTP"),
    Kind("odd-status-line", b"HTTP/1.1 twohundred Fine\r\n\r\n" + page("odd").encode(), "not HTTP"),
    Kind("bad-chunks", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n<html>", "cut off"),
    Kind("closed-at-once", b"", "connection lost"),
    Kind("reset-at-once", Connection.reset, "connection lost"),
    Kind("reset-in-the-body", lambda connection: connection.reset(response(b"<html>", HTML, length=10_000)), "cut off"),
    # Statuses.
    Kind("status-204", b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n", "empty page"),
    Kind("status-206", response(page("206")[:200].encode(), HTML, status="206 Partial Content"), "cut off"),
    Kind("status-304", response(b"", status="304 Not Modified"), "HTTP 304"),
    *(
        Kind(f"status-{status}", response(b"no", HTML, status=f"{status} No"), f"HTTP {status}")
        for status in (401, 403, 410, 429, 500, 503, 999)
    ),
    # Redirects.
    Kind("loop", redirect("/2024/05/loop"), "too many redirects"),
    Kind("meta-loop", html("<meta http-equiv='refresh' content='0; url=/2024/05/meta-loop'>"), "too many redirects"),
    Kind("to-file", redirect("file:///etc/passwd"), "redirect to nowhere"),
    Kind("to-script", redirect("javascript:alert(1)"), "bad address"),
    Kind("to-data", redirect("data:text/html,<p>x</p>"), "redirect to nowhere"),
    Kind("to-odd-spelling", redirect("http://0xa9fea9fe/2024/05/x"), "private address: 169.254.169.254"),
    Kind("to-own-network", redirect("http://10.0.0.1/2024/05/x"), "private address: 10.0.0.1"),
    Kind("to-ipv6-loopback", redirect("http://[::1]:1/2024/05/x"), "private address: ::1"),
    Kind("to-front-page", redirect("/"), "redirected to a page that is no article"),
    Kind("to-login", redirect("/login?back=1"), "redirected to a page that is no article"),
    Kind("to-user-name", redirect("http://anna:secret@127.0.0.1/2024/05/x"), "connection refused"),
    Kind("to-no-host", redirect("http:///2024/05/x"), "HTTP 404"),
    Kind("to-bad-host", redirect("http://[undefined]/2024/05/x"), "bad address"),
    Kind("to-bad-port", redirect("http://127.0.0.1:99999999/2024/05/x"), "bad address"),
    Kind("to-empty", redirect(""), "too many redirects"),
    Kind("to-bytes", redirect(b"/2024/05/\xff\xfe\x80"), "HTTP 404"),
    Kind("to-blanks", redirect("/2024/05/with blanks"), STORED),
    Kind("no-location", response(b"", HTML, status="302 Found"), "redirect to nowhere"),
    Kind("permanently", redirect("/2024/05/moved", "308 Permanent Redirect"), STORED),
    # Days.
    Kind("no-day", html(page("no-day", day="")), "no publication date"),
    Kind("day-from-the-feed", html(page("day-from-the-feed", day="")), STORED, day="2024-05-09"),
    Kind("year-2099", html(page("year-2099", day="2099-01-01")), "date out of range"),
    Kind("year-2099-and-feed", html(page("year-2099-and-feed", day="2099-01-01")), STORED, day="2024-05-09"),
    Kind("year-1901", html(page("year-1901", day="1901-12-13")), "date out of range"),
    Kind("days-apart", html(page("days-apart")), STORED, day="2024-05-20"),
]

# Where some of the redirects lead.
TARGETS: dict[str, Answer] = {
    "/2024/05/with%20blanks": html(page("to-blanks")),
    "/2024/05/moved": html(page("permanently")),
    "/": html(page("front page")),
    "/login?back=1": html("<html><body>Log in</body></html>"),
}
