"""User names and passwords in URLs."""

import logging
import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from articles.normalization.logins import LogRecord, without_login, without_logins
from articles.normalization.urls import canonicalize_url, host_of, url_key


@pytest.mark.parametrize(
    ("url", "left"),
    [
        ("http://mara:se@cret@paper.example/a", "http://paper.example/a"),
        ("HTTPS://mara@paper.example:8443/a?b=c@d", "HTTPS://paper.example:8443/a?b=c@d"),
        (" //mara:secret@paper.example/a", " //paper.example/a"),
        ("ftp://mara:secret@paper.example/", "ftp://paper.example/"),
        ("http:\\\\mara:secret@paper.example\\a", "http:\\\\paper.example\\a"),
        ("http://:@paper.example/", "http://paper.example/"),
        ("http://a:b@c:d@paper.example", "http://paper.example"),
        # inside another URL
        ("http://web.archive.example/web/2026/http://u:secret@paper.example/a",
         "http://web.archive.example/web/2026/http://paper.example/a"),
        ("https://go.example/?to=https%3A%2F%2Fu%3Asecret%40paper.example%2Fa&b=1",
         "https://go.example/?to=https%3A%2F%2Fpaper.example%2Fa&b=1"),
        ("https://go.example/?to=https://u:secret@paper.example/a", "https://go.example/?to=https://paper.example/a"),
        # none
        ("https://site.example/@mara/story:1", "https://site.example/@mara/story:1"),
        ("https://go.example/?to=https://site.example/@mara&mail=a:b@c", "https://go.example/?to=https://site.example/@mara&mail=a:b@c"),
        ("https://go.example/?to=https%3A%2F%2Fsite.example%2F%40mara", "https://go.example/?to=https%3A%2F%2Fsite.example%2F%40mara"),
        ("mara@paper.example", "mara@paper.example"),
        ("mailto:mara@paper.example", "mailto:mara@paper.example"),
    ],
)  # fmt: skip
def test_a_url_without_its_login(url: str, left: str) -> None:
    assert without_login(url) == left


def test_with_and_without_a_login_it_is_one_article() -> None:
    assert canonicalize_url("http://mara:secret@paper.example/a") == "http://paper.example/a"
    assert url_key("https://mara:secret@paper.example:443/a#top") == url_key("http://paper.example/a")
    assert host_of("http://mara:secret@paper.example/a") == "paper.example"


_PARTS = st.lists(st.sampled_from(["http:", "https://", "//", "/", "\\", "@", ":", "a", "%40", "%3A", "%2F", "?", " "]))


@given(_PARTS.map("".join))
@example("http://a@http://b:c@d")
def test_what_is_left_has_no_login(url: str) -> None:
    left = without_login(url)
    assert without_login(left) == left
    if re.match(r"\s*[a-z]+://", left):
        assert "@" not in left.partition("://")[2].partition("/")[0].partition("?")[0].partition("\\")[0]


def test_a_log_has_no_passwords() -> None:
    record = LogRecord(
        "x", logging.INFO, "x.py", 1, "Redirecting to <GET %s> from %s", ("http://a:b@c.example/x", 7), None
    )
    assert record.getMessage() == "Redirecting to <GET http://c.example/x> from 7"
    assert logging.getLogRecordFactory() is LogRecord
    row = '{"url": "http://u:secret@c.example/", "mail": "a@b.example"},http://d.example,Ann,e@f.example'
    assert without_logins(row) == row.replace("u:secret@", "")
