"""Pairs of addresses of one newspaper: those of one story have equal forms, those of two stories different ones."""

import base64
import re
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from articles.normalization.parameters import TRACKERS, is_tracker, read_parameters
from articles.normalization.urls import (
    comparable_url,
    dropped_parameters,
    normalize_url,
    page_form,
    page_key,
    unwrap_url,
    url_key,
)

SITE = "https://www.example.com"
SLUG = "example.com/2024/05/01/harbour-bridge-closes"
STORY = f"{SITE}/2024/05/01/harbour-bridge-closes"

ONE_STORY = [
    (STORY, f"{SITE}/2024/05/01/harbour-bridge-closes/"),
    (STORY, f"{SITE}/./2024/05/./01/harbour-bridge-closes"),
    (STORY, f"{SITE}/2024/04/../05/01/harbour-bridge-closes"),
    (STORY, f"{SITE}/%2e/2024/05/01/harbour%2Dbridge-closes"),
    (STORY, f"{STORY}/index.html"),
    (STORY, f"{STORY}/index.php?utm_source=x"),
    (STORY, f"{STORY}/Default.aspx"),
    (STORY, f"{SITE}/index.php/2024/05/01/harbour-bridge-closes"),
    (f"{SITE}/?p=82", f"{SITE}/index.php?p=82"),
    (STORY, "http://amp-www.example.com/2024/05/01/harbour-bridge-closes"),
    (STORY, "http://amp-example.com/2024/05/01/harbour-bridge-closes"),
    (STORY, "https://mobile.example.com/2024/05/01/harbour-bridge-closes"),
    ("https://en.example.com/story-17", "https://en.m.example.com/story-17"),
    ("https://en.example.com/story-17", "https://m.en.example.com/story-17"),
    ("https://de.example.co.uk/story-17", "https://www.de.amp.example.co.uk/story-17"),
    (STORY, f"{SITE}/amp/2024/05/01/harbour-bridge-closes"),
    (f"{SITE}/1", f"{SITE}/amp/1"),
    (STORY, f"{STORY}#/"),
    (STORY, f"{STORY}#comments"),
    (STORY, f"{STORY}#:~:text=bridge"),
    (STORY, f"{STORY}#/photo/3"),
    (STORY, f"{STORY}?print=1&output=amp"),
    (STORY, f"{STORY}?m=1&view=print&tmpl=component"),
    (STORY, f"{STORY}/print/"),
    (STORY, f"{STORY}-amp"),
    (f"{STORY}.html", f"{STORY}-amp.html"),
    (STORY, f"{SITE}/print/2024/05/01/harbour-bridge-closes"),
    (STORY, f"{SITE}/m/2024/05/01/harbour-bridge-closes"),
    (STORY, f"{STORY}#xtor=RSS-3208"),
    (f"{SITE}/#/news/1", f"{SITE}/index.html#/news/1?utm_source=x"),
    (STORY, f"{STORY};jsessionid=1A530637289A03B07199A44E8D531427?fbclid=x"),
    (STORY, f"{STORY};jsessionid=1A530637289A03B07199A44E8D531427.node-7"),
    (f"{SITE}/(S(lit3py55t21z5v55vlm25s55))/story.aspx?id=5", f"{SITE}/story.aspx?id=5"),
    (f"{SITE}/%28S%28lit3py55t21z5v55vlm25s55%29%29/story.aspx?id=5", f"{SITE}/story.aspx?id=5"),
    (f"{SITE}/story.php?id=5&PHPSESSID=298zf09hf012fh2", f"{SITE}/story.php?id=5"),
    (
        f"{SITE}/story.php?id=5&sid=298zf09hf012fh2kk3j4ab",
        f"{SITE}/story.php?id=5&sid=d41d8cd98f00b204e9800998ecf8427e",
    ),
    (f"{STORY}?sid=298zf09hf012fh2kk3j4ab", STORY),
    (f"{SITE}/story.php?id=5&ref=home&source=rss", f"{SITE}/story.php?id=5"),
    (f"{SITE}/harbour-bridge-closes.aspx?ref=rss", f"{SITE}/harbour-bridge-closes.aspx"),
    (f"{SITE}/story,17.html", f"{SITE}/story%2C17.html"),
    (f"{SITE}/story?id=5&id=5", f"{SITE}/story?id=5"),
    (f"{STORY}?pk_abtest=2", STORY),
    (f"{SITE}/Story?ID=AB12", f"{SITE}/story?id=ab12"),
    (f"{SITE}/World-News/Ferry-Sails", f"{SITE}/world-news/ferry-sails"),
    ("https://instagram.com/p/CxYz12AbQ/?igsh=MzRlODBiNWFlZA==", "https://www.instagram.com/p/CxYz12AbQ"),
]
_NUMBERS = (
    "pk_noticia mkt_id itm_story ga_news ito mtm_id at_id id p pk cid aid nid sid story article from source share uid"
    " eid s session token ref _id clid"
)
_PATHS = (
    "ver-noticia-completa.aspx",
    "ver-noticia-completa",
    "leer_la_noticia_completa.php",
    "news/show-full-story.jsp",
    "harbour-bridge-closes.asp",
    "nachricht-im-detail-anzeigen.do",
    "",
    "index.php",
    "2024/",
    "noticias/20240501",
    "story",
    "article.php",
    "news/2024",
    "read-full-story",
    "view_press_release.aspx",
    "latest-news/",
    "index2024.php",
)
TWO_STORIES = [
    *((f"{SITE}/noticia.php?{name}=10", f"{SITE}/noticia.php?{name}=11") for name in _NUMBERS.split()),
    *(
        (f"{SITE}/{path}?{name}=100", f"{SITE}/{path}?{name}=101")
        for path in _PATHS
        for name in ("cid", "sid", "source", "ref", "pk_noticia")
    ),
    (f"{SITE}/noticia.php?seccion=4&ito=10", f"{SITE}/noticia.php?seccion=4&ito=11"),
    (f"{SITE}/story.php?id=5&cid=1", f"{SITE}/story.php?id=5&cid=2"),
    (f"{SITE}/show.php?source=mayor-opens-the-bridge", f"{SITE}/show.php?source=ferry-sails-again-today"),
    (f"{SITE}/#/news/1", f"{SITE}/#/news/2"),
    (f"{SITE}/#!/news/1", f"{SITE}/#!/news/2"),
    (f"{SITE}/#!news-1", f"{SITE}/#!news-2"),
    (f"{SITE}/the-harbour-post/#/news/1", f"{SITE}/the-harbour-post/#/news/2"),
    (f"{SITE}/#/", f"{SITE}/#/news/2"),
    (f"{SITE}/app/index.html#/story?id=1", f"{SITE}/app/index.html#/story?id=2"),
    (f"{SITE}/news.html#id=1", f"{SITE}/news.html#id=2"),
    (f"{SITE}/#news/1", f"{SITE}/#news/2"),
    (f"{SITE}/news#article-1", f"{SITE}/news#article-2"),
    ("https://bit.ly/3AbCdEf", "https://bit.ly/3aBcDeF"),
    ("https://bit.ly/Abcdef", "https://bit.ly/abcdef"),
    ("https://www.instagram.com/p/CxYzAbQwErT/", "https://www.instagram.com/p/CxYzAbQwErt/"),
    (f"{SITE}/p/H2EvwJSK2VE6OF7iK1g3PP/", f"{SITE}/p/h2EvwJSK2VE6OF7iK1g3PP/"),
    (f"{SITE}/show?id=dGhlIGZlcnJ5", f"{SITE}/show?id=dGhlIGZlcnJ5".replace("dGh", "DgH")),
    (f"{SITE}/index1.html", f"{SITE}/index2.html"),
    (f"{SITE}/news/index.html?id=1", f"{SITE}/news/index.html?id=2"),
    (f"{SITE}/story/1", f"{SITE}/story/2"),
    (f"{SITE}/story,17.html", f"{SITE}/story,18.html"),
    (f"{SITE}/amp/", f"{SITE}/"),
    ("https://en.example.com/story-17", "https://fr.example.com/story-17"),
    (f"{STORY}?page=2", f"{STORY}?page=3"),
]


@pytest.mark.parametrize(("first", "second"), ONE_STORY)
def test_addresses_of_one_story(first: str, second: str) -> None:
    assert comparable_url(first) == comparable_url(second) != ""
    assert normalize_url(normalize_url(second)) == normalize_url(second)


@pytest.mark.parametrize(("first", "second"), TWO_STORIES)
def test_addresses_of_two_stories(first: str, second: str) -> None:
    assert comparable_url(first) != comparable_url(second)
    forms = [normalize_url(first), normalize_url(second)]
    assert [normalize_url(form) for form in forms] == forms


def test_fragments_that_name_stories_are_part_of_the_identity() -> None:
    assert len({url_key(f"{SITE}/{state}") for state in ("", "#/news/1", "#/news/2", "#!/news/1", "#!news/2")}) == 5
    assert len({url_key(f"{SITE}/{state}") for state in ("", "#", "#/", "#//", "#top", "#news/1")}) == 1


_NAMES = (
    "utm_source utm_id at_custom1 CMP ICID ocid cvid guccounter guce_referrer mibextid igsh igshid srsltid "
    "ttclid twclid li_fat_id usqp amp_js_v amp_gsa bxid __twitter_impression hmb_campaign __hstc __hssc __hsfp "
    "vero_id oly_enc_id oly_anon_id Echobox xtor spm scm wt_mc wt.mc_id wt_zmc smc s_kwcid ef_id fbclid gclid "
    "gclsrc dclid gbraid wbraid msclkid mc_cid mc_eid _hsenc _hsmi mkt_tok mkt_source pk_campaign pk_kwd "
    "mtm_source mtm_cid itm_source ga_source gaa_at cmpid at_medium at_campaign at_link_id ns_mchannel "
    "ns_campaign yclid ysclid _openstat _ga _gl gad_source epik rdt_cid tblci dicbo cjevent irclickid awc "
    "_branch_match_id adjust_t spMailingID ml_subscriber ck_subscriber_id dm_i _kx __s fb_action_ids __tn__ "
    "ref_src soc_src tsrc guce_referrer_sig wprss feedName PHPSESSID JSESSIONID ASPSESSIONIDQATTRBBT CFTOKEN "
    "int_cmp intcmp mbid cndid adobe_mc sms_ss"
)
_NAMES += (
    " ved usg sxsrf gs_lcp elq elqTrackId trkInfo lipi wpisrc wpmm shareType ftag cx_testId cx_artPos adbid "
    " adbpl sf123456 emci emdi rb_clickid ir_clickid algo_pvid msockid wprov sr_share replytocom yptr"
    " fb_action_types fb_source fb_ref action_object_map action_type_map action_ref_map fsrc_fb_noscript PHPSESSIONID"
    " feedType custom_click skipmobile skip_mobile altcast_code"
)
SHARED = _NAMES.split()


@pytest.mark.parametrize("name", SHARED)
def test_parameters_of_shared_links_name_no_story(name: str) -> None:
    assert comparable_url(f"{STORY}?{name}=Ab1") == comparable_url(STORY)
    assert comparable_url(f"{SITE}/story.php?{name.upper()}=17&id=7") == comparable_url(f"{SITE}/story.php?id=7")
    assert comparable_url(f"{SITE}/story?{name}=17") == comparable_url(f"{SITE}/story")


def test_each_tracker_has_a_source_and_none_is_a_word_for_a_story() -> None:
    assert all(len(source.split()) >= 1 and re.compile(names) for source, names in TRACKERS.items())
    unused = [source for source, names in TRACKERS.items() if not any(re.fullmatch(names, n.lower()) for n in SHARED)]
    assert unused == []
    words = (
        "id p pk cid aid nid story article noticia news nota item post page s v q n a t lang section gallery reference"
    )
    assert [word for word in words.split() if is_tracker(word)] == []
    assert not any(parameter.dropped for parameter in read_parameters("example.com", "/story", "gallery=5&reference=6"))


@pytest.mark.parametrize(
    "name",
    ["ito", "sort", "cid", "s_cid", "sid", "ncid", "ir", "ref", "oref", "eref", "source", "_r", "_ref", "referrer"],
)
def test_ambiguous_parameters_are_dropped_if_the_path_names_the_story(name: str) -> None:
    assert normalize_url(f"http://{SLUG}?{name}=123") == f"http://{SLUG}"
    assert normalize_url(f"http://example.com/news/48213?{name}=123") == "http://example.com/news/48213"
    assert normalize_url(f"http://example.com/x/fdf95bf448e1f2a8?{name}=123") == "http://example.com/x/fdf95bf448e1f2a8"
    assert normalize_url(f"http://example.com/story?{name}=123") == f"http://example.com/story?{name}=123"


def test_kept_parameters_are_not_dropped() -> None:
    url = f"http://{SLUG}?SID=A12&utm_source=x&amp=1"
    assert normalize_url(url) == f"http://{SLUG}"
    assert normalize_url(url, ["sid"]) == f"http://{SLUG}?sid=a12"
    assert normalize_url(url, ["amp", "utm_source"]) == f"http://{SLUG}?amp=1&utm_source=x"
    assert dropped_parameters(url) == {"sid": "a12", "utm_source": "x", "amp": "1"}
    assert dropped_parameters(url, ["sid", "amp"]) == {"utm_source": "x"}
    assert dropped_parameters(f"https://archive.ph/AbC/{url}") == dropped_parameters(url)
    assert dropped_parameters("http://example.com/story?sid=5&page=2") == {}
    assert dropped_parameters("https://youtu.be/aB3_dEf-H1j?utm_source=x") == {}
    assert dropped_parameters("no url") == {}


def test_one_page_has_one_form_for_fetching_and_what_may_be_another_page_has_its_own() -> None:
    one = [
        *(
            f"{STORY}{end}"
            for end in ("", "/", "#top", "#/", "#/photo/3", "?utm_source=feed", "/?utm_medium=x#comments")
        ),
        *(f"{STORY}{end}" for end in (";jsessionid=1A53?at_custom1=x", "?sid=298zf09hf012fh2kk3j4ab")),
        "http://example.com/2024/05/01/harbour-bridge-closes?fbclid=Ab1&PHPSESSID=3",
    ]
    assert {page_form(url) for url in one} == {"http://example.com/2024/05/01/harbour-bridge-closes"}
    assert len({page_key(url) for url in one}) == 1
    assert page_form(f"{SITE}/a?b=2&a=1&utm_id=3", ("utm_id",)) == "http://example.com/a?a=1&b=2&utm_id=3"
    others = [*(f"{STORY}{end}" for end in ("", "?ref=5", "?sid=5", "?page=2", "/index.html")), STORY.replace("b", "B")]
    others += [f"{SITE}/#/news/1", f"{SITE}/#/news/2", "https://m.example.com/2024/05/01/harbour-bridge-closes"]
    assert len({page_form(url) for url in others}) == len(others)
    assert page_form("no url") == "no url"


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
