"""One page fetched for an editor, over real HTTP: with the address guard, the bounds and the rules of crawls."""

import ipaddress
from typing import Any

import pytest

from crawlers import one_page
from crawlers.one_page import fetch_article
from tests.crawlers.conftest import Page, Site
from tests.crawlers.pages import FERRY, article_page

LOOPBACK = [ipaddress.ip_network("127.0.0.0/8")]


def test_a_page_is_fetched_through_redirects_and_its_article_extracted(site: Site, settings: Any) -> None:
    settings.CRAWL_PRIVATE_ADDRESSES = LOOPBACK
    site.add("/2024/05/ferry", article_page("Last ferry", FERRY))
    site.redirect("/f", "/2024/05/ferry")
    article = fetch_article(f"{site.url}/f")
    assert (article.headline, article.text, str(article.date)) == ("Last ferry", FERRY, "2024-05-03")
    assert site.requests["/robots.txt"]


def test_each_hop_is_guarded_and_each_fault_has_a_cause_and_a_remedy(site: Site, settings: Any) -> None:
    def fault(path: str) -> str:
        with pytest.raises(ValueError, match="paste its text instead") as raised:
            fetch_article(site.url + path)
        return str(raised.value)

    assert "leads to this machine or a private network" in fault("/2024/05/ferry")  # no network is allowed
    assert not site.requests
    settings.CRAWL_PRIVATE_ADDRESSES = [ipaddress.ip_network("127.0.0.1/32")]
    site.add("/robots.txt", "User-agent: *\nDisallow: /private/", "text/plain")
    port = site.url.rpartition(":")[2]
    site.pages["/hop"] = Page(b"", status=302, location=f"http://127.0.0.2:{port}/about")
    assert "private address: 127.0.0.2" in fault("/hop")
    assert "does not exist" in fault("/gone")
    assert "robots.txt" in fault("/private/story")


def test_a_page_that_does_not_end_does_not_hold_up_the_site(
    site: Site, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.CRAWL_PRIVATE_ADDRESSES = LOOPBACK
    site.held.add("/slow")
    monkeypatch.setattr(one_page, "LONGEST", 3)
    with pytest.raises(ValueError, match="not complete"):
        fetch_article(f"{site.url}/slow")
