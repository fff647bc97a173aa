import pytest

from articles.normalization.urls import dropped_parameters, normalize_url

SLUG = "example.com/2024/05/01/harbour-bridge-closes"


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
        "dclid",
        "gbraid",
        "mtm_source",
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
def test_tracking_parameters_are_dropped_from_any_url(name: str) -> None:
    assert normalize_url(f"http://example.com/story?{name}=Ab1&id=7") == "http://example.com/story?id=7"
    assert normalize_url(f"http://example.com/story?id=7&{name.upper()}=Ab1") == "http://example.com/story?id=7"


@pytest.mark.parametrize(
    "name",
    ["sort", "cid", "s_cid", "sid", "ncid", "ir", "ref", "oref", "eref", "source", "_r", "_ref", "referrer"],
)
def test_ambiguous_parameters_are_dropped_if_the_path_names_the_story(name: str) -> None:
    assert normalize_url(f"http://{SLUG}?{name}=123") == f"http://{SLUG}"
    assert normalize_url(f"http://example.com/news/48213?{name}=123") == "http://example.com/news/48213"
    assert normalize_url(f"http://example.com/x/fdf95bf448e1f2a8?{name}=123") == "http://example.com/x/fdf95bf448e1f2a8"
    assert normalize_url(f"http://example.com/story?{name}=123") == f"http://example.com/story?{name}=123"


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
        "example.com/index2024.php",
        "example.com",
    ],
)
def test_stories_distinguished_by_one_parameter_keep_different_forms(address: str) -> None:
    assert normalize_url(f"http://{address}?sid=123") != normalize_url(f"http://{address}?sid=456")


@pytest.mark.parametrize(
    ("url", "form"),
    [
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
def test_parameters_of_one_site(url: str, form: str) -> None:
    assert normalize_url(url) == form


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
