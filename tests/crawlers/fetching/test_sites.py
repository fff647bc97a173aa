"""Which URLs belong to one site."""

import pytest

from crawlers.fetching.sites import is_front_page, same_site, site_of


@pytest.mark.parametrize(
    ("url", "site"),
    [
        ("https://www.Fjordbladet.example/a", "fjordbladet.example"),
        (" http://fjordbladet.example:8080/a", "fjordbladet.example:8080"),
        ("ftp://fjordbladet.example/a", ""),
        ("file:///etc/hostname", ""),
        ("/a", ""),
        ("http://[undefined]/", ""),
        ("http://fjordbladet.example:port/", ""),
    ],
)
def test_site_of(url: str, site: str) -> None:
    assert site_of(url) == site


@pytest.mark.parametrize(
    ("left", "right", "same"),
    [
        ("https://fjordbladet.example/a", "http://www.fjordbladet.example/b", True),
        ("https://fjordbladet.example/a", "https://sport.fjordbladet.example/b", True),
        ("https://sport.fjordbladet.example/a", "https://fjordbladet.example/b", True),
        ("https://fjordbladet.example/a", "https://notfjordbladet.example/b", False),
        ("http://127.0.0.1:8001/a", "http://127.0.0.1:8002/a", False),
        ("mailto:desk@fjordbladet.example", "mailto:desk@fjordbladet.example", False),
    ],
)
def test_same_site(left: str, right: str, *, same: bool) -> None:
    assert same_site(left, right) is same


@pytest.mark.parametrize(
    ("url", "front"),
    [
        ("https://fjordbladet.example", True),
        ("https://fjordbladet.example/", True),
        ("https://fjordbladet.example/?p=12", False),
        ("https://fjordbladet.example/a", False),
    ],
)
def test_is_front_page(url: str, *, front: bool) -> None:
    assert is_front_page(url) is front
