"""Requests of webhooks over the network of this machine: what arrives. fetching/test_rebinding.py: what is refused."""

import ipaddress
import socket

import pytest

from crawlers import posting
from crawlers.posting import post
from tests.crawlers.conftest import Site


@pytest.fixture(autouse=True)
def _allowed(settings) -> None:
    settings.CRAWL_PRIVATE_ADDRESSES = [ipaddress.ip_network("127.0.0.0/8")]


def test_a_request_arrives_as_it_is_and_no_redirect_is_followed(site: Site, monkeypatch) -> None:
    base = f"http://localhost:{site.port}"
    site.add("/hook?a=b", "", status=204)
    site.redirect("/moved", "/elsewhere")
    assert post(f"{base}/hook?a=b", b'{"x": 1}', {"webhook-id": "7"}) == 204
    [(path, headers, body)] = site.received
    assert (path, body, headers["webhook-id"]) == ("/hook?a=b", b'{"x": 1}', "7")
    assert headers["Host"] == f"localhost:{site.port}"
    assert post(f"{base}/moved", b"", {}) == 302
    assert list(site.requests) == ["/hook?a=b", "/moved"]
    # One that keeps the connection open for ever is cut off.
    monkeypatch.setattr(posting, "LONGEST", 0.05)
    site.held.add("/slow")
    with pytest.raises(ValueError, match="The connection to localhost failed"):
        post(f"{base}/slow", b"", {})


def test_why_nothing_came_back_is_said() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
        with pytest.raises(ValueError, match=r"The connection to 127\.0\.0\.1 failed: .*refused"):
            post(f"http://127.0.0.1:{port}/", b"", {})
    with pytest.raises(ValueError, match=r"The host name nowhere\.invalid does not resolve"):
        post("http://nowhere.invalid/", b"", {})


def test_tls_is_checked(site: Site) -> None:
    with pytest.raises(ValueError, match="The connection to localhost failed"):
        post(f"https://localhost:{site.port}/hook", b"", {})
    assert not site.requests
