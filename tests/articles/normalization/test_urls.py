import re
import uuid
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from articles.normalization.urls import (
    canonicalize_url,
    comparable_url,
    dropped_parameters,
    host_of,
    normalize_url,
    registered_name,
    unwrap_url,
    url_key,
)

SLUG = "example.com/2024/05/01/harbour-bridge-closes"
NO_URLS = [
    "",
    "   ",
    "hello world",
    "/relative/path",
    "#top",
    "ftp://example.com/x",
    "mailto:someone@example.com",
    "javascript:void(0)",
    "http://",
    "http://a..b/",
    "http://exa mple.com/",
    "http://example.com:99999/",
    "http://[::1/",
]


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("https://www.Example.com:8443/a?b#c", "example.com"),
        ("HTTP://EXAMPLE.COM", "example.com"),
        (" http://user:secret@m.example.com./x ", "m.example.com"),
        ("http://münchen.example/", "xn--mnchen-3ya.example"),
        ("http://XN--MNCHEN-3YA.example/", "xn--mnchen-3ya.example"),
        ("http://127.0.0.1:8000/x", "127.0.0.1"),
        ("http://[::1]:8000/x", "[::1]"),
        ("http://www.localhost/", "www.localhost"),
        ("http://http://example.com/", ""),
        ("http://@https./x", ""),
        ("//example.com/x", ""),
        ("example.com/x", ""),
    ],
)
def test_host(url: str, host: str) -> None:
    assert host_of(url) == host


@pytest.mark.parametrize("text", NO_URLS)
def test_a_text_that_is_not_a_url_has_no_host_and_no_lossy_form(text: str) -> None:
    assert host_of(text) == ""
    assert normalize_url(text) == ""
    assert canonicalize_url(text) == text.strip()


@pytest.mark.parametrize(
    ("host", "name"),
    [("example.com", "example"), ("www.example.co.uk", "example"), ("news.example.com", ""), ("localhost", "")],
)
def test_registered_name(host: str, name: str) -> None:
    assert registered_name(host) == name


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("HTTPS://Example.COM:443/A/B?b=2&a=1#top", "http://example.com/A/B?b=2&a=1"),
        ("http://example.com:80", "http://example.com/"),
        ("http://example.com:8080/x", "http://example.com:8080/x"),
        ("http://example.com?q=1", "http://example.com/?q=1"),
        ("http://example.com/x?", "http://example.com/x"),
        ("\ufeff http://example.com/x\n", "http://example.com/x"),
        ("http://example.com/%7euser/%e0%b6%9a?x=%2f+a", "http://example.com/~user/%E0%B6%9A?x=%2F+a"),
        ("http://example.com/ක b", "http://example.com/%E0%B6%9A%20b"),
        ("http://example.com/100%", "http://example.com/100%25"),
        ("http://example.com/%%34%31", "http://example.com/%2541"),
        ("http://example.com/\ud800", "http://example.com/%ED%A0%80"),
        ("http://example.com/#!/story/5", "http://example.com/#!/story/5"),
        ("http://me:secret@example.com./x", "http://example.com/x"),
    ],
)
def test_canonical_url(url: str, address: str) -> None:
    assert canonicalize_url(url) == address


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("http://example.com/a", "http://www.example.com/a"),
        ("http://example.com/a", "http://example.com/A"),
        ("http://example.com/a", "http://example.com/a/"),
        ("http://example.com/?a=1&b=2", "http://example.com/?b=2&a=1"),
        ("http://example.com/a", "http://example.com/a?utm_source=feed"),
        ("http://example.com/#!/a", "http://example.com/#!/b"),
        ("http://example.com/%2F", "http://example.com//"),
    ],
)
def test_identity_is_not_lossy(left: str, right: str) -> None:
    assert url_key(left) != url_key(right)


def test_key_is_fixed_because_it_is_stored() -> None:
    assert url_key("https://example.com") == uuid.UUID("0a300ee9-f9e4-5697-a51a-efc7fafaba67")


@pytest.mark.parametrize(
    "url",
    [
        "https://www.example.com/2024/05/01/harbour-bridge-closes/",
        " http://http://example.com/2024/05/01/harbour-bridge-closes",
        "http://https//example.com/2024/05/01/harbour-bridge-closes",
        "http:/example.com/2024/05/01/harbour-bridge-closes",
        "//example.com/2024/05/01/harbour-bridge-closes",
        "http:\\\\example.com\\2024\\05\\01\\harbour-bridge-closes",
        "http://example.com:/2024/05/01/harbour-bridge-closes",
        "http://example.com:8080//2024/05//01/harbour-bridge-closes#comments",
        "EXAMPLE.COM/2024/05/01/Harbour-Bridge-Closes",
        "http://m.example.com/2024/05/01/harbour-bridge-closes",
        "http://www.news.example.com/2024/05/01/harbour-bridge-closes",
        "http://www2.example.com/2024/05/01/harbour-bridge-closes",
        "http://24.example.com/2024/05/01/harbour-bridge-closes",
        "http://amp.example.com/2024/05/01/harbour-bridge-closes",
        "http://example.com/2024/05/01/harbour-bridge-closes/amp",
        "http://example.com/2024/05/01/harbour-bridge-closes/amp/",
        "http://example.com/2024/05/01/harbour-bridge-closes?amp=1",
        "http://example.com/2024/05/01/harbour-bridge-closes?amp",
        "http://example.com/2024/05/01/harbour-bridge-closes?outputType=amp",
        "https://www-example-com.cdn.ampproject.org/c/s/www.example.com/2024/05/01/harbour-bridge-closes",
        "https://www.google.com/amp/s/www.example.com/2024/05/01/harbour-bridge-closes/amp/",
        "https://www.google.com/url?sa=t&url=https://example.com/2024/05/01/harbour-bridge-closes&usg=A",
        "https://google.co.uk/url?q=https%3A%2F%2Fexample.com%2F2024%2F05%2F01%2Fharbour-bridge-closes%3Futm_id%3D1",
        "https://archive.ph/AbC12/https://example.com/2024/05/01/harbour-bridge-closes",
        "https://archive.today/20240501/http://example.com/2024/05/01/harbour-bridge-closes?utm_source=x",
        "https://archive.is/o/AbC12/www.example.com/2024/05/01/harbour-bridge-closes",
        "https://archive.is/o/AbC12/https://example.com/2024/05/01/harbour-bridge-closes%23comments",
        "http://example.com/2024/05/01/harbour-bridge-closes?UTM_Source=x&amp;utm_medium=y",
    ],
)
def test_urls_of_one_story(url: str) -> None:
    assert comparable_url(url) == f"http://{SLUG}"


LABELS = (
    "m amp beta media data image www www3 cdn topic article news archive blog video search preview login shop sport"
    " sports act donate press web photo photos 7 543"
)


@pytest.mark.parametrize("label", LABELS.split())
def test_a_label_is_dropped_only_as_a_whole_and_before_the_domain(label: str) -> None:
    assert normalize_url(f"https://{label}.example.com/a") == "http://example.com/a"
    assert normalize_url(f"https://{label}s7.example.com/a") == f"http://{label}s7.example.com/a"
    assert normalize_url(f"https://{label}.com/a") == f"http://{label}.com/a"


@pytest.mark.parametrize(
    ("url", "form"),
    [
        ("http://example.com", "http://example.com/"),
        ("HTTPS://www.Example.com/", "http://example.com/"),
        ("http://example.com?p=82", "http://example.com/?p=82"),
        ("http://example.com/Story/?b=2#top", "http://example.com/story/?b=2"),
        ("http://example.com/story/amp/", "http://example.com/story/"),
        ("http://example.com/?244321", "http://example.com/?244321"),
        ("http://example.com/a?x=&y=1&=_r%3D6&z", "http://example.com/a?x&y=1&z"),
        ("http://example.com/a?nk=440cd48f&p=1", "http://example.com/a?p=1"),
        ("http://example.com/a?nk=north", "http://example.com/a?nk=north"),
        ("http://example.com/the peer/ a.html", "http://example.com/the%20peer/%20a.html"),
        ("http://example.com/%C3%89t%C3%89/%e0%b6%9a", "http://example.com/%C3%A9t%C3%A9/%E0%B6%9A"),
        ("http://example.com/Éte", "http://example.com/%C3%A9te"),
        ("http://example.com/a%2fB%C3", "http://example.com/a%2Fb%C3"),
        ("http://localhost:8000/a/B", "http://localhost/a/b"),
        ("http://example.com/Story?B=2&a=1", "http://example.com/story?a=1&b=2"),
        ("http://example.com/s?q=a+b&r=%7E", "http://example.com/s?q=a%20b&r=~"),
        ("http://example.com/amp", "http://example.com/amp"),
        ("http://example.com/best-amp", "http://example.com/best-amp"),
        ("http://example.com/story?amp=5&outputType=print", "http://example.com/story?amp=5&outputtype=print"),
        ("http://example.com/guitar.amp.html", "http://example.com/guitar.html"),
        ("http://example.com/#!/Story/5", "http://example.com/#!/story/5"),
        ("https://www.google.com/search?q=http://example.com", "http://google.com/search?q=http://example.com"),
        ("https://www.google.com/url?q=bridge", "http://google.com/url?q=bridge"),
        ("https://www.youtube.com/embed/videoseries?list=PLab", "http://youtube.com/embed/videoseries?list=PLab"),
        ("https://www.youtube.com/channel/UCab?utm_source=x", "http://youtube.com/channel/UCab"),
        # Labels go while a registrable domain remains.
        ("http://press.com/a", "http://press.com/a"),
        ("http://news.press.com/a", "http://press.com/a"),
        ("http://m.co.uk/a", "http://m.co.uk/a"),
        ("http://www.example.co.uk/a", "http://example.co.uk/a"),
        ("http://news.blogspot.com/a", "http://news.blogspot.com/a"),
        ("http://mayor.example.com/a", "http://mayor.example.com/a"),
        ("http://news.localhost/a", "http://news.localhost/a"),
        ("http://cdn.com.do/a", "http://cdn.com.do/a"),
        ("http://543.r2.ly", "http://543.r2.ly/"),
        ("http://www.paper.localhost/a", "http://paper.localhost/a"),
        ("http://10.0.0.1/a", "http://10.0.0.1/a"),
        ("http://[2001:DB8::1]/a", "http://[2001:db8::1]/a"),
        # Parameters of one site.
        ("https://www.facebook.com/page/posts/5?fref=nf&hc_location=x", "http://facebook.com/page/posts/5"),
        ("https://www.facebook.com/HarbourPost?ref=br_tf", "http://facebook.com/harbourpost"),
        ("https://www.nytimes.com/x.html?smid=tw&WT.z_sma=1&_r=0&emc=a&id=4", "http://nytimes.com/x.html?id=4"),
        ("http://someone.livejournal.com/17.html?thread=9&nojs=1", "http://someone.livejournal.com/17.html"),
        ("https://www.google.de/about?ei=5&gws_rd=ssl&hl=de", "http://google.de/about?hl=de"),
        (
            "http://example.com/x.html?smid=tw&fref=nf&thread=9&ei=5",
            "http://example.com/x.html?ei=5&fref=nf&smid=tw&thread=9",
        ),
    ],
)
def test_lossy_form(url: str, form: str) -> None:
    assert normalize_url(url) == form


@pytest.mark.parametrize(
    ("url", "form"),
    [
        ("http://example.com/story/", "http://example.com/story"),
        ("http://example.com/story/?id=5&u=/a/", "http://example.com/story?id=5&u=/a/"),
        ("http://example.com/#!/story/", "http://example.com/#!/story/"),
        ("http://example.com/?u=http://a.b/c/", "http://example.com/?u=http://a.b/c/"),
        ("http://example.com/", "http://example.com/"),
        ("http://example.com/?p=82", "http://example.com/?p=82"),
        ("no url", ""),
    ],
)
def test_the_last_slash_of_a_path_is_not_compared(url: str, form: str) -> None:
    assert comparable_url(url) == form


@pytest.mark.parametrize(
    "url",
    [
        "http://example.com/" + "a" * 2_000_000,
        "http://example.com/?" + "&".join(f"p{number}=1" for number in range(100_000)),
        "http://example.com/?" + "&sid=1" * 100_000,
        "https://google.com/url?q=" * 50_000 + "http://example.com/",
        "https://archive.is/a/" * 500 + "http://example.com/",
        "https://google.com/url?q=" * 11 + "http://example.com/",
        "http:" * 300_000,
        "http://" + "m." * 500_000 + "example.com/",
        "\\" * 1_000_000,
        "http://example.com/" + "%C3%89" * 300_000,
    ],
)
def test_far_too_long_texts_have_no_form(url: str) -> None:
    assert normalize_url(url) == ""
    assert unwrap_url(url) == url
    assert dropped_parameters(url) == {}


def test_every_url_that_can_be_stored_has_a_form() -> None:
    form = normalize_url("http://example.com/" + "\U0001d11e" * 1_981)
    assert len(form) == 19 + 12 * 1_981
    assert normalize_url(form) == form


@pytest.mark.parametrize(
    "url",
    [
        "https://www.youtube.com/watch?v=aB3_dEf-H1j&t=4",
        "https://m.youtube.com/watch?list=PL1&v=aB3_dEf-H1j",
        "https://www.youtube.com/embed/aB3_dEf-H1j?start=4",
        "https://www.youtube-nocookie.com/embed/aB3_dEf-H1j",
        "https://youtube.com/shorts/aB3_dEf-H1j/",
        "https://youtu.be/aB3_dEf-H1j?si=x",
        "https://archive.is/AbC/https://youtu.be/aB3_dEf-H1j",
    ],
)
def test_video_ids_keep_their_case(url: str) -> None:
    assert normalize_url(url) == "http://youtube.com/watch?v=aB3_dEf-H1j"


_PIECES = st.from_regex(
    r"https?://|//|/|\\|[?&=#%.:@\[\]+|;\n ]|#!|%2|%41|%zz|[/.]?amp/?|www\.|m\.|1\.|google\.com|/url|q=|url="
    r"|http%3A%2F%2F|archive\.is|/x/|youtu\.be|youtube\.com|watch\?v=|dQw4w9WgXcQ|&amp;|sid=12|slug-of-some-words"
    r"|12345|co\.uk|example\.com|cdn\.ampproject\.org|/c/s/|::1|:80|[éßİ。\ud800]|127\.0\.0\.1|_x=1|utm_a=b|ftp://",
    fullmatch=True,
)
_ADDRESSES = st.tuples(
    st.sampled_from(["", "http://", "https://example.com/"]),
    st.lists(_PIECES | st.text(max_size=3), max_size=12).map("".join),
).map("".join)


def test_the_documented_forms_are_the_forms() -> None:
    document = (Path(__file__).parents[3] / "docs" / "normalization.md").read_text()
    rows = re.findall(r"^\| `(\S+)` \| `(\S+)` \|$", document, re.MULTILINE)
    assert len(rows) == 6
    assert [form for _, form in rows] == [normalize_url(url) for url, _ in rows]


@given(st.text() | _ADDRESSES, st.sets(st.sampled_from(["sid", "utm_a", "_x", "v", "amp", "q"])))
def test_any_text_has_one_stable_form(text: str, kept: set[str]) -> None:
    form, address = normalize_url(text, kept), canonicalize_url(text)
    assert normalize_url(form, kept) == form
    assert comparable_url(form, kept) == comparable_url(text, kept) == comparable_url(comparable_url(text, kept), kept)
    assert normalize_url(text, kept | dropped_parameters(text, kept).keys()).count("&") >= form.count("&")
    assert canonicalize_url(address) == address
    assert url_key(text) == url_key(address)
    assert host_of(address) == host_of(text)


@given(st.text() | _ADDRESSES)
def test_unwrapping_is_idempotent_and_keeps_the_form(text: str) -> None:
    assert unwrap_url(unwrap_url(text)) == unwrap_url(text)
    assert normalize_url(unwrap_url(text)) == normalize_url(text)


@given(
    st.from_regex(r"[a-z0-9.-]{1,8}\.[a-z-]{1,4}(/[A-Za-z0-9._~/-]{0,6})?(\?[A-Za-z0-9._~=&-]{0,6})?", fullmatch=True)
)
def test_plain_urls_take_a_shortcut_to_the_same_key(rest: str) -> None:
    # Capital letters in the scheme rule the shortcut out.
    assert canonicalize_url(f"https://{rest}").lower() == canonicalize_url(f"HTTPS://{rest}").lower()
    assert host_of(f"https://{rest}") == host_of(f"HTTPS://{rest}")
    assert normalize_url(f"https://{rest}") == normalize_url(f"HTTPS://{rest}")
