import base64
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from articles.normalization.urls import normalize_url, unwrap_url


def _news_code(url: str, *, length: int | None = None) -> str:
    length = len(url) if length is None else length
    size = bytes([length]) if length < 128 else bytes([length & 0x7F | 0x80, length >> 7])
    return base64.urlsafe_b64encode(b"\x08\x13\x22" + size + url.encode() + b"\xd2\x01\x00").decode().rstrip("=")


LONG_URL = f"https://www.example.com/{'a' * 300}?id=7"


@pytest.mark.parametrize(
    ("wrapper", "target"),
    [
        (
            "https://www.google.com/url?rct=j&sa=t&url=https://Example.com/A?b=1&ct=ga&usg=X",
            "https://Example.com/A?b=1",
        ),
        (
            "https://www.google.com/url?q=https%3A%2F%2Fexample.com%2Fa%3Fb%3D1%26c%3D2&sa=D",
            "https://example.com/a?b=1&c=2",
        ),
        ("http://news.google.com/news/url?sa=t&amp;fd=R&amp;url=http://example.com/a", "http://example.com/a"),
        ("http://news.url.google.com/url?url=http://example.com/a", "http://example.com/a"),
        ("https://google.lk/amp/s/www.example.com/a/amp/?x=1", "https://www.example.com/a/amp/?x=1"),
        ("https://www.google.com/amp/www.example.com/a", "http://www.example.com/a"),
        (f"https://news.google.com/rss/articles/{_news_code('https://example.com/a')}?oc=5", "https://example.com/a"),
        (f"https://news.google.com/__i/rss/rd/articles/{_news_code('http://example.com/A')}", "http://example.com/A"),
        (f"https://news.google.com/articles/{_news_code(LONG_URL)}?hl=en-US&gl=US", LONG_URL),
        (f"https://news.google.com/read/{_news_code(LONG_URL)}", LONG_URL),
        ("https://google.com/url?q=https://google.com/url%3Fq=https://example.com/a", "https://example.com/a"),
    ],
)
def test_redirects_of_google_are_unwrapped(wrapper: str, target: str) -> None:
    assert unwrap_url(wrapper) == target
    assert unwrap_url(target) == target
    assert normalize_url(wrapper) == normalize_url(target)


@pytest.mark.parametrize(
    "url",
    [
        "https://www.google.com/url?q=harbour+bridge",
        "https://www.google.com/search?q=https://example.com/a",
        "https://www.google.com/url?q=https://",
        "https://www.google.com/url?q=https://a..b/",
        "https://news.google.com/rss/articles/CBMiSkFVX3lxTE0xNGp1Rkk2X2FCV1dsajZhVUs4YVB2QUtiV2VlMQ?oc=5",
        f"https://news.google.com/rss/articles/{_news_code('ftp://example.com/a')}",
        f"https://news.google.com/rss/articles/{_news_code('')}",
        "https://news.google.com/rss/articles/CBMi",
        "https://news.google.com/rss/articles/A",
        "https://feedproxy.google.com/~r/harbourpost/~3/AbC/ferry-sails",
        "https://example.com/url?q=https://example.org/a",
        "https://archive.ph/AbC/https://example.com/a",
        "https://www-example-com.cdn.ampproject.org/c/s/www.example.com/a",
        "no url",
        "",
    ],
)
def test_other_urls_are_not_unwrapped(url: str) -> None:
    assert unwrap_url(url) == url


def test_a_news_code_shorter_than_its_length_gives_what_is_there() -> None:
    code = _news_code("https://example.com/a", length=22)
    assert unwrap_url(f"https://news.google.com/articles/{code}") == "https://example.com/a\ufffd"


@given(st.binary(max_size=60), st.text(max_size=20))
def test_no_news_code_raises(beginning: bytes, end: str) -> None:
    code = base64.urlsafe_b64encode(b"\x08\x13\x22" + beginning).decode()
    unwrapped = unwrap_url(f"https://news.google.com/articles/{code}{quote(end)}")
    assert unwrap_url(unwrapped) == unwrapped
