"""Values that break programs, as bytes: what arrives in a request has no type yet."""

# ruff: noqa: E501, RUF005 - a list of values

from urllib.parse import quote_from_bytes

from hypothesis import strategies as st

# A page that shows it unescaped would run it.
MARKER = "<zq7'\">&zq7;"
LONG = "9" * 4301

_KNOWN: tuple[bytes, ...] = tuple(
    text.encode("utf-8", "surrogatepass")
    for text in (
        "", "0", "1", "2", "3", "-1", "00", "+1", "1.5", "1e9", "1e400", "-1e400", "NaN", "nan", "inf", "-inf", "Infinity",
        "9223372036854775807", "9223372036854775808", "-9223372036854775809", "2147483648", LONG, "²", "٣", "１", "1_000",
        " 1", "1 ", "0x10", "true", "false", "on", "null", "None", "undefined", "[]", "{}", '{"a":1}', '[[[1]]]', "[" * 3000,
        "0001-01-01", "9999-12-31", "2026-02-30", "2026-03-02", "10000-01-01", "0000-00-00", "-2026-01-01", "2026-W10-1",
        "2026-03-02T25:00", "12:60", "\0", "a\0b", "\ud800", "\udfff", "\ufeff", "\u202e", "\u2028", "\x85", "\r\nX-A: b",
        "\x1b[31m", "𝔘𝔫", "ﷺ", "a" * 3000, "é" * 500, "\u0301" * 300, "%", "%%", "%s", "%(x)s", "{0}", "{{7*7}}", "{% x %}",
        "'", '"', "\\", "';--", "' OR 1=1 --", "\\\\", "_", "*", "(", "[", "(a+)+$", "../../etc/passwd", "/", "//evil.example",
        "http://", "http://[", "http://[::1", "http://a:b@c.example/x", "https://paper.example/a?b=%", "http://xn--a", "http://a..b",
        "javascript:alert(1)", "http://\ud800", "http://a:99999/", "paper.example", "p1,c2", "p" + "9" * 18, "1,2,3", ",,,", "1,",
        MARKER, f"http://paper.example/{MARKER}", f"2026-03-02{MARKER}",
    )
) + (b"\xff", b"\xc0\x80", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xe2\x82", b"a\xffb", b"+", b"&", b"=", b";")  # fmt: skip

known = st.sampled_from(_KNOWN)
any_bytes = st.one_of(
    known,
    known,
    st.text(max_size=40).map(lambda text: text.encode("utf-8", "surrogatepass")),
    st.binary(max_size=20),
    st.integers(-(2**70), 2**70).map(lambda number: str(number).encode()),
    st.dates().map(lambda day: day.isoformat().encode()),
)

HEADERS: dict[str, tuple[str, ...]] = {
    "HX-Request": ("true", "false", MARKER),
    "HX-Target": ("rows", "", MARKER, "a" * 3000),
    "HX-Current-URL": ("http://[", "http://testserver/queue/?page=2", MARKER),
    "HX-Trigger": (MARKER,),
    "HX-Boosted": ("true",),
    "HX-Prompt": (MARKER,),
    "X-Answer": ("background", MARKER),
    "Accept": ("application/json", "text/html;q=x", "*/*;q=99999999999", ",,,", "a" * 3000),
    "Accept-Encoding": ("gzip", "br;q=x", ""),
    "Accept-Language": ("xx", "de;q=2", "a" * 300),
    "Cookie": ("sessionid=" + "x" * 4000, "csrftoken=%00", "messages=bad", "=;=", 'a="\\', "sessionid=\xff"),
    "Range": ("bytes=0-0", "bytes=-1", "bytes=9-1", "bytes=" + LONG + "-", "lines=1"),
    "If-None-Match": ("*", '"a"', "W/", "a" * 3000),
    "If-Modified-Since": ("x", "Thu, 01 Jan 1970 00:00:00 GMT", "Fri, 31 Dec 9999 23:59:59 GMT", "Mon, 99 Foo 0000"),
    "If-Unmodified-Since": ("x", "Thu, 01 Jan 1970 00:00:00 GMT"),
    "If-Match": ("*", '"a"', MARKER),
    "If-Range": ('"a"', "x"),
    "Referer": ("http://[", MARKER, "//"),
    "X-Forwarded-For": ("1.2.3.4", "::ffff:1.2.3.4", "x, y", "," * 300, LONG),
    "X-Forwarded-Proto": ("https", "x"),
    "Authorization": ("Bearer x", "Basic x", "Bearer \xff", "Basic " + "A" * 3000),
    "X-CSRFToken": ("x", "a" * 64),
    "Idempotency-Key": ("1", MARKER, "a" * 3000),
    "Origin": ("null", "http://evil.example"),
    "Content-Length": ("0", "-1", "x", LONG),
}
headers = st.dictionaries(
    st.sampled_from(sorted(HEADERS)), st.integers(0, 9), max_size=3
).map(lambda drawn: {name: HEADERS[name][place % len(HEADERS[name])] for name, place in drawn.items()})  # fmt: skip

CONTENT_TYPES = (
    "application/x-www-form-urlencoded",
    "application/x-www-form-urlencoded; charset=utf-7",
    "application/x-www-form-urlencoded; charset=nonsense",
    "application/json",
    "multipart/form-data; boundary=b",
    "multipart/form-data",
    "multipart/form-data; boundary=\xff",
    "text/plain",
    "",
)


def query_of(pairs: list[tuple[bytes, bytes]]) -> str:
    """Return names and values as a query, with every byte that is not ASCII escaped."""
    return "&".join(f"{quote_from_bytes(name)}={quote_from_bytes(value)}" for name, value in pairs)


def multipart_of(pairs: list[tuple[bytes, bytes]]) -> bytes:
    """Return names and values as multipart/form-data with the boundary b; what is called a file is one."""
    parts = []
    for name, value in pairs:
        clean = name.replace(b'"', b"").replace(b"\r", b"").replace(b"\n", b"")
        file = b'; filename="a.jsonl"' if clean == b"file" else b""
        parts.append(
            b'--b\r\nContent-Disposition: form-data; name="' + clean + b'"' + file + b"\r\n\r\n" + value + b"\r\n"
        )
    return b"".join(parts) + b"--b--\r\n"
