import uuid

import pytest
from hypothesis import given
from hypothesis import strategies as st

from articles.normalization import canonicalize_url, host_of, normalize_url, url_key
from articles.normalization.urls import registered_name

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
def test_no_url_has_no_host_and_no_lossy_form(text: str) -> None:
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
        ("http://me@example.com./x", "http://me@example.com/x"),
    ],
)
def test_canonical_address(url: str, address: str) -> None:
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
        "http://example.com/2024/05/01/harbour-bridge-closes?UTM_Source=x&amp;utm_medium=y",
    ],
)
def test_urls_of_one_story(url: str) -> None:
    assert normalize_url(url) == SLUG


@pytest.mark.parametrize(
    "name",
    [
        "utm_source",
        "ga_source",
        "fb_action_ids",
        "fb_action_types",
        "fb_source",
        "fb_ref",
        "action_object_map",
        "action_type_map",
        "action_ref_map",
        "fsrc_fb_noscript",
        "fbclid",
        "gclid",
        "msclkid",
        "mc_cid",
        "mc_eid",
        "igshid",
        "yclid",
        "_openstat",
        "PHPSESSID",
        "PHPSESSIONID",
        "ns_mchannel",
        "ns_campaign",
        "ITO",
        "wprss",
        "custom_click",
        "feedName",
        "feedType",
        "skipmobile",
        "skip_mobile",
        "altcast_code",
    ],
)
def test_tracking_goes_from_any_url(name: str) -> None:
    assert normalize_url(f"http://example.com/story?{name}=Ab1&id=7") == "example.com/story?id=7"
    assert normalize_url(f"http://example.com/story?id=7&{name.upper()}=Ab1") == "example.com/story?id=7"


@pytest.mark.parametrize(
    "name", ["sort", "cid", "s_cid", "sid", "ncid", "ir", "ref", "oref", "eref", "source", "_r", "_ref"]
)
def test_ambiguous_parameters_go_where_the_path_names_the_story(name: str) -> None:
    assert normalize_url(f"http://{SLUG}?{name}=123") == SLUG
    assert normalize_url(f"http://example.com/news/48213?{name}=123") == "example.com/news/48213"
    assert normalize_url(f"http://example.com/story?{name}=123") == f"example.com/story?{name}=123"


@pytest.mark.parametrize(
    "address",
    [
        "example.com/story",
        "example.com/article.php",
        "example.com/index.php",
        "example.com/news/2024",
        "example.com/news/20240501",
        "example.com/read-full-story",
        "example.com/view_press_release.aspx",
        "example.com/latest-news/",
        "example.com",
    ],
)
def test_stories_told_apart_by_one_parameter_stay_apart(address: str) -> None:
    assert normalize_url(f"http://{address}?sid=123") != normalize_url(f"http://{address}?sid=456")


@pytest.mark.parametrize(
    ("url", "form"),
    [
        ("https://www.facebook.com/page/posts/5?fref=nf&hc_location=x", "facebook.com/page/posts/5"),
        ("https://www.nytimes.com/x.html?smid=tw&WT.z_sma=1&_r=0&emc=a&id=4", "nytimes.com/x.html?id=4"),
        ("http://someone.livejournal.com/17.html?thread=9&nojs=1", "someone.livejournal.com/17.html"),
        ("https://www.google.de/about?ei=5&gws_rd=ssl&hl=de", "google.de/about?hl=de"),
        ("http://example.com/x.html?smid=tw&fref=nf&thread=9&ei=5", "example.com/x.html?ei=5&fref=nf&smid=tw&thread=9"),
    ],
)
def test_parameters_of_one_site(url: str, form: str) -> None:
    assert normalize_url(url) == form


@pytest.mark.parametrize(
    ("url", "form"),
    [
        ("http://press.com/a", "press.com/a"),
        ("http://news.press.com/a", "press.com/a"),
        ("http://m.co.uk/a", "m.co.uk/a"),
        ("http://www.example.co.uk/a", "example.co.uk/a"),
        ("http://news.blogspot.com/a", "news.blogspot.com/a"),
        ("http://mayor.example.com/a", "mayor.example.com/a"),
        ("http://news.localhost/a", "news.localhost/a"),
        ("http://www.paper.localhost/a", "paper.localhost/a"),
        ("http://10.0.0.1/a", "10.0.0.1/a"),
        ("http://[2001:DB8::1]/a", "[2001:db8::1]/a"),
    ],
)
def test_labels_go_while_a_registrable_domain_remains(url: str, form: str) -> None:
    assert normalize_url(url) == form


@pytest.mark.parametrize(
    ("url", "form"),
    [
        ("http://example.com?p=82", "example.com?p=82"),
        ("http://example.com/Story?B=2&a=1", "example.com/story?a=1&b=2"),
        ("http://example.com/s?q=a+b&r=%7E", "example.com/s?q=a%20b&r=~"),
        ("http://example.com/amp", "example.com/amp"),
        ("http://example.com/best-amp", "example.com/best-amp"),
        ("http://example.com/story?amp=5&outputType=print", "example.com/story?amp=5&outputtype=print"),
        ("http://example.com/guitar.amp.html", "example.com/guitar.html"),
        ("http://example.com/#!/Story/5", "example.com#!/story/5"),
        ("https://www.google.com/search?q=http://example.com", "google.com/search?q=http://example.com"),
        ("https://www.google.com/url?q=bridge", "google.com/url?q=bridge"),
    ],
)
def test_lossy_form(url: str, form: str) -> None:
    assert normalize_url(url) == form


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
    assert normalize_url(url) == "youtube.com/watch?v=aB3_dEf-H1j"


def test_other_youtube_pages_keep_their_case() -> None:
    assert (
        normalize_url("https://www.youtube.com/embed/videoseries?list=PLab")
        == "youtube.com/embed/videoseries?list=PLab"
    )
    assert normalize_url("https://www.youtube.com/channel/UCab?utm_source=x") == "youtube.com/channel/UCab"


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


@given(st.text() | _ADDRESSES)
def test_any_text_has_one_stable_form(text: str) -> None:
    form, address = normalize_url(text), canonicalize_url(text)
    assert normalize_url(form) == form
    assert canonicalize_url(address) == address
    assert url_key(text) == url_key(address)
    assert host_of(address) == host_of(text)
