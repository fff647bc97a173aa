"""Names that lie, live: a DNS server of our own, two servers that must be told apart, and real connections.

127.0.0.2 is allowed and stands for the public Internet; 127.0.0.1 is this machine, which nobody must reach.
"""

import ipaddress
import json
import os
import socket
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from crawlers.posting import post
from tests.crawlers.conftest import Page, Site, served
from tests.crawlers.fetching.name_server import NameServer, addresses_of
from tests.databases import run_python
from tests.serving import running

PUBLIC, INNER = "127.0.0.2", "127.0.0.1"
UNKNOWN = "unknown host"
REFUSED = f"private address: {INNER}"
# All of them mean 127.0.0.1 to a resolver.
SPELLINGS = [
    "127.0.0.1", "127.0.0.1.", "127.1", "127.0.1", "2130706433", "0x7f000001", "0x7f.1", "0177.0.0.1", "017700000001",
    "①②⑦.⓪.⓪.①", "127。0。0。1", "１２７.0.0.1", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "localhost", "LOCALHOST.",
]  # fmt: skip
# And these mean it to the kernel (connect(2) to INADDR_ANY), or by IPv6.
OTHERS = ["0", "0.0.0.0", "[::]", "[::1]", "[::127.0.0.1]"]  # noqa: S104 - refused


@pytest.fixture
def servers() -> Iterator[tuple[Site, Site]]:
    """Serve the public address and this machine's, on the same port; under every path, each has its address."""
    with ExitStack() as stack:
        inner = stack.enter_context(served(INNER))
        try:
            public = stack.enter_context(served(PUBLIC, inner.port))
        except OSError as error:
            pytest.skip(f"{PUBLIC} cannot be used here: {error}")
        for site, address in ((inner, INNER), (public, PUBLIC)):
            site.missing = Page(address.encode())
        for path in ("/away", "http://proxied.test/away"):
            public.pages[path] = Page(b"", status=302, location=f"{inner.url}/secret")
        yield public, inner


def fetched(*urls: str, name_server: int = 0, cache: int = 0, proxy: str = "") -> list[str]:
    """Fetch the URLs one after another, in a process of its own; return the body of each, or why there is none."""
    asked = {"urls": urls, "networks": [f"{PUBLIC}/32"], "name_server": name_server, "cache": cache}
    environment = os.environ | {"DJANGO_SETTINGS_MODULE": "newsdedup_site.settings"}
    environment |= {"http_proxy": proxy, "no_proxy": ""}
    done = run_python("-m", "tests.crawlers.fetching.name_server", given=json.dumps(asked), **environment)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    return [found[url] for url in urls]


def not_refused(urls: list[str], found: list[str]) -> dict[str, str]:
    """Return what became of the URLs that were not refused for their address; no name is known that ends in a dot."""
    pairs = zip(urls, found, strict=False)
    return {
        url: why for url, why in pairs if not why.startswith("private address") and (".:" not in url or why != UNKNOWN)
    }


def test_the_connection_goes_to_the_address_that_was_checked(servers: tuple[Site, Site]) -> None:
    public, inner = servers
    port = inner.port
    answers = {
        "rebinding.test": [[PUBLIC], [INNER], []],
        "several.test": [[INNER, PUBLIC]],
        "xn--fjren-wua.test": [[INNER]],
        "alias.test": [["inner.test"]],
        "inner.test": [[INNER]],
        "away.test": [[PUBLIC]],
    }
    with running(NameServer(answers)) as names:
        named = ("rebinding", "REBINDING", "Rebinding", "several", "fjøren", "alias", "away")
        urls = [f"http://{name}.test:{port}/{name}" for name in named]
        found = fetched(*urls, name_server=names.port)
        # One question for each request: nothing is resolved again between the check and the connection.
        assert names.asked == Counter(dict.fromkeys(answers, 1)) + Counter({"rebinding.test": 2})
    # A name without an address is not refused because it had one of this machine before.
    assert found == [PUBLIC, REFUSED, UNKNOWN, PUBLIC, REFUSED, REFUSED, REFUSED]
    assert public.requests == {"/rebinding": 1, "/several": 1, "/away": 1}
    assert not inner.requests


def test_no_spelling_and_no_proxy_gets_around_the_check(servers: tuple[Site, Site]) -> None:
    public, inner = servers
    port = inner.port
    urls = [f"http://{host}:{port}/" for host in [*SPELLINGS, *OTHERS]]
    assert not_refused(urls, fetched(*urls)) == {}
    found = fetched(*urls, "http://proxied.test/page", "http://proxied.test/away", proxy=f"http://{PUBLIC}:{port}")
    assert not_refused(urls, found) == {}
    assert found[len(urls) :] == [PUBLIC, REFUSED]
    assert public.requests == {"http://proxied.test/page": 1, "http://proxied.test/away": 1}
    assert not inner.requests


def test_webhooks_go_to_the_address_that_was_checked(
    servers: tuple[Site, Site], settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    public, inner = servers
    port = inner.port
    settings.CRAWL_PRIVATE_ADDRESSES = [ipaddress.ip_network(f"{PUBLIC}/32")]
    monkeypatch.setenv("http_proxy", f"http://{INNER}:{port}")
    usual = socket.getaddrinfo

    def asking(host: str, *arguments: Any, **named: Any) -> Any:
        if not host.endswith(".test"):
            return usual(host, *arguments, **named)
        return [address for found in addresses_of(host, names.port) for address in usual(found, *arguments, **named)]

    monkeypatch.setattr(socket, "getaddrinfo", asking)
    with running(NameServer({"rebinding.test": [[PUBLIC], [INNER]], "several.test": [[INNER, PUBLIC]]})) as names:
        assert post(f"http://rebinding.test:{port}/hook", b"{}", {}) == 200
        assert names.asked["rebinding.test"] == 1
        with pytest.raises(ValueError, match=f"The address {INNER} belongs to this machine"):
            post(f"http://rebinding.test:{port}/hook", b"{}", {})
        assert post(f"http://several.test:{port}/several", b"{}", {}) == 200
    for host in [*SPELLINGS, *OTHERS]:
        with pytest.raises(ValueError, match=r"belongs to this machine|does not resolve"):
            post(f"http://{host}:{port}/", b"{}", {})
    assert public.requests == {"/hook": 1, "/several": 1}
    assert not inner.requests
