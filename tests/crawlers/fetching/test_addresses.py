"""Which addresses a crawl may connect to. Host names: test_rebinding.py."""

import ipaddress
import random
import re

import pytest
from scrapy.settings import Settings

from crawlers.fetching.addresses import may_connect, refused_through_proxy, written_address
from crawlers.fetching.bare_spiders import bare_settings
from tests.crawlers.conftest import REPOSITORY

# The blocks of IANA's two registries of special-purpose addresses, of multicast, and of IPv6 that is not given out.
SPECIAL = [
    "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
    "192.0.0.0/29", "192.0.0.8/32", "192.0.0.9/32", "192.0.0.10/32", "192.0.0.170/32", "192.0.0.171/32",
    "192.0.2.0/24", "192.31.196.0/24", "192.52.193.0/24", "192.88.99.0/24", "192.168.0.0/16", "192.175.48.0/24",
    "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4", "255.255.255.255/32",
    "::/128", "::1/128", "::/96", "::ffff:0:0:0/96", "64:ff9b:1::/48", "100::/64", "100:0:0:1::/64", "2001::/23",
    "2001::/32", "2001:1::1/128", "2001:1::2/128", "2001:1::3/128", "2001:2::/48", "2001:3::/32", "2001:4:112::/48",
    "2001:10::/28", "2001:20::/28", "2001:30::/28", "2001:db8::/32", "2620:4f:8000::/48", "3fff::/20", "5f00::/16",
    "4000::/3", "fc00::/7", "fe80::/10", "fec0::/10", "ff00::/8",
]  # fmt: skip
# The addresses next to these blocks, where they belong to the Internet, and some that lead to one that does.
PUBLIC = [
    "1.0.0.0", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255", "128.0.0.0",
    "169.253.255.255", "169.255.0.0", "172.15.255.255", "172.32.0.0", "191.255.255.255", "192.0.1.0", "192.0.3.0",
    "192.31.195.255", "192.31.197.0", "192.52.192.255", "192.52.194.0", "192.88.98.255", "192.88.100.0",
    "192.167.255.255", "192.169.0.0", "192.175.47.255", "192.175.49.0", "198.17.255.255", "198.20.0.0",
    "198.51.99.255", "198.51.101.0", "203.0.112.255", "203.0.114.0", "223.255.255.255", "2000::", "2001:200::",
    "2001:db7:ffff::", "2001:db9::", "2620:4f:7fff::", "2620:4f:8001::", "3ffe::1", "3fff:1000::", "3fff:ffff::",
    "93.184.216.34", "2606:2800:220:1::1", "::ffff:93.184.216.34", "64:ff9b::5db8:d822", "2002:5db8:d822::1",
]  # fmt: skip
# An IPv6 address leads to the IPv4 address in it: mapped, NAT64, 6to4. And an address with a zone is of this machine's.
PRIVATE = [
    "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:a9fe:a9fe", "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe",
    "2002:7f00:1::", "2002:a9fe:a9fe::1", "2002:c0a8:101::1", "fe80::1%eth0", "2606:2800:220:1::1%eth0",
    "::127.0.0.1", "::7f00:1",
]  # fmt: skip


@pytest.mark.parametrize("address", [*PUBLIC, *PRIVATE])
def test_public_addresses_are_allowed_and_all_others_refused(address: str) -> None:
    assert may_connect(address) is (address in PUBLIC)


@pytest.mark.parametrize("block", SPECIAL)
def test_every_special_block_is_refused_to_its_last_address(block: str) -> None:
    network = ipaddress.ip_network(block)
    middle = network[network.num_addresses // 2]
    assert [str(address) for address in (network[0], middle, network[-1]) if may_connect(str(address))] == []


def test_what_python_calls_private_is_refused_and_only_known_blocks_more() -> None:
    """On random addresses, by the oldest list of the ipaddress module: ours refuses what it does, and `SPECIAL`."""
    seed = 20261123
    numbers = random.Random(seed)
    refused = [ipaddress.ip_network(block) for block in SPECIAL]
    for bits, read in ((32, ipaddress.IPv4Address), (128, ipaddress.IPv6Address)):
        for _ in range(3_000):
            number = numbers.getrandbits(bits)
            # Most of IPv6 is not given out: half of the addresses are from the part that is.
            address = read(number >> 3 | 1 << 125 if bits == 128 and number & 1 else number)
            is_given_out = bits == 32 or int(address) >> 125 == 1
            known = any(address in network for network in refused) or not is_given_out
            assert may_connect(str(address)) is not known, f"{address}, seed {seed}"
            assert known or address.is_global, f"{address}, seed {seed}"


@pytest.mark.parametrize(
    ("host", "address"),
    [
        ("127.0.0.1", "127.0.0.1"), ("127.1", "127.0.0.1"), ("0x7f.1", "127.0.0.1"), ("0177.0.0.1", "127.0.0.1"),
        ("2130706433", "127.0.0.1"), ("127.0.0.1.", "127.0.0.1"), ("①②⑦.0.0.①", "127.0.0.1"), ("0", "0.0.0.0"),  # noqa: S104
        ("[::1]", "::1"), ("[::ffff:7f00:1]", "::ffff:127.0.0.1"), ("paper.example", ""), ("1.2.3.4.example", ""),
        ("", ""), ("999.1.1.1", ""), ("1.2.3.4.5", ""),
    ],
)  # fmt: skip
def test_an_address_is_found_in_every_spelling(host: str, address: str) -> None:
    assert ipaddress.ip_address(written_address(host) or "1.1.1.1") == ipaddress.ip_address(address or "1.1.1.1")


def test_a_proxy_is_not_asked_for_addresses_of_this_machine() -> None:
    allowed = [ipaddress.ip_network("10.1.0.0/16")]
    refused = {
        "127.1": "127.0.0.1",
        "localhost": "127.0.0.1",
        "a.LOCALHOST.": "127.0.0.1",
        "10.1.0.1": "",
        "10.2.0.1": "10.2.0.1",
        "93.184.216.34": "",
        "paper.example": "",
        "localhost.example": "",
    }
    assert {host: refused_through_proxy(host, allowed) for host in refused} == refused


def test_addresses_of_an_allowed_network_are_allowed_in_any_spelling() -> None:
    allowed = [ipaddress.ip_network("10.1.0.0/16"), ipaddress.ip_network("fd00::/8")]
    expected = {"10.1.2.3": True, "::ffff:10.1.2.3": True, "10.2.0.1": False, "fd12::1": True, "fc00::1": False}
    assert {address: may_connect(address, allowed) for address in expected} == expected


def test_every_process_that_fetches_has_the_guard() -> None:
    """The crawl, one page, discovery and trials: all take their settings from crawlers/settings.py."""
    for path in (REPOSITORY / "crawlers").rglob("*.py"):
        for first in re.findall(r"CrawlerProcess\((?!Async)(\w+)\(", path.read_text()):
            assert first == "bare_settings", path
    whole = Settings()
    whole.setmodule("crawlers.settings", priority="project")
    for settings in (whole, bare_settings([])):
        assert settings["TWISTED_DNS_RESOLVER"] == "crawlers.fetching.addresses.GuardedResolver"
        handlers = {scheme: name for scheme, name in settings.getdict("DOWNLOAD_HANDLERS").items() if name}
        assert set(handlers) == {"http", "https"}
        assert set(handlers.values()) == {"crawlers.fetching.downloads.BoundedDownloadHandler"}
