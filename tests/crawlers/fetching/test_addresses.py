"""Which addresses a crawl may connect to, also if it has only a host name."""

from __future__ import annotations

import ipaddress
from types import SimpleNamespace
from typing import Any

import pytest
from twisted.internet.address import IPv4Address, IPv6Address

from crawlers.fetching.addresses import GuardedResolver, may_connect, refused_address

PUBLIC = ["93.184.216.34", "2606:2800:220:1::1", "::ffff:93.184.216.34", "64:ff9b::5db8:d822", "2002:5db8:d822::1"]
PRIVATE = [
    "127.0.0.1",
    "127.255.255.254",
    "0.0.0.0",  # noqa: S104 - an address that is refused
    "10.0.0.1",
    "172.16.0.1",
    "192.168.1.1",
    "169.254.169.254",
    "100.64.0.1",
    "198.18.0.1",
    "192.0.2.1",
    "224.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "fe80::1",
    "fe80::1%eth0",
    "fc00::1",
    "fd12:3456::1",
    "ff02::1",
    "2001:db8::1",
    "::127.0.0.1",
    "::ffff:127.0.0.1",
    "::ffff:10.0.0.1",
    "64:ff9b::7f00:1",
    "2002:7f00:1::",
    "2002:a9fe:a9fe::1",
]


@pytest.mark.parametrize("address", PUBLIC)
def test_public_addresses_are_allowed(address: str) -> None:
    assert may_connect(address)


@pytest.mark.parametrize("address", PRIVATE)
def test_all_other_addresses_are_refused(address: str) -> None:
    assert not may_connect(address)


def test_addresses_of_an_allowed_network_are_allowed_in_any_spelling() -> None:
    allowed = [ipaddress.ip_network("10.1.0.0/16"), ipaddress.ip_network("fd00::/8")]
    asked = ("10.1.2.3", "::ffff:10.1.2.3", "10.2.0.1", "fd12::1", "fc00::1")
    answers = {address: may_connect(address, allowed) for address in asked}
    assert answers == {"10.1.2.3": True, "::ffff:10.1.2.3": True, "10.2.0.1": False, "fd12::1": True, "fc00::1": False}


class Receiver:
    """The receiver of a resolution: keeps the addresses it gets."""

    def __init__(self) -> None:
        self.addresses: list[str] = []
        self.complete = False

    def resolutionBegan(self, _resolution: Any) -> None:
        pass

    def addressResolved(self, address: Any) -> None:
        self.addresses.append(address.host)

    def resolutionComplete(self) -> None:
        self.complete = True


class Names:
    """A resolver that takes its answers from a list, one for each query."""

    def __init__(self, *answers: list[Any]) -> None:
        self.answers = list(answers)

    def resolveHostName(self, receiver: Any, *_args: Any, **_options: Any) -> None:
        receiver.resolutionBegan(None)
        for address in self.answers.pop(0):
            receiver.addressResolved(address)
        receiver.resolutionComplete()


def resolve(resolver: GuardedResolver, host: str) -> list[str]:
    receiver = Receiver()
    resolver.resolveHostName(receiver, host, portNumber=80)
    assert receiver.complete
    return receiver.addresses


def test_only_public_addresses_of_a_host_are_passed_on_at_every_query() -> None:
    public, private = IPv4Address("TCP", "93.184.216.34", 80), IPv4Address("TCP", "10.0.0.1", 80)
    loopback = IPv6Address("TCP", "::1", 80)
    names = Names([private, public], [private, loopback], [public])
    resolver = GuardedResolver(SimpleNamespace(nameResolver=names), cache_size=0, allowed=())
    assert resolve(resolver, "mixed.example") == ["93.184.216.34"]
    assert refused_address("mixed.example") == ""
    assert resolve(resolver, "Mixed.example") == []
    assert refused_address("mixed.EXAMPLE") == "::1"
    assert resolve(resolver, "mixed.example") == ["93.184.216.34"]
    assert refused_address("mixed.example") == ""


def test_a_name_in_another_script_is_found_by_its_ascii_form() -> None:
    names = Names([IPv4Address("TCP", "10.0.0.1", 80)])
    resolver = GuardedResolver(SimpleNamespace(nameResolver=names), cache_size=0, allowed=())
    assert resolve(resolver, "fjøren.example") == []
    assert refused_address("xn--fjren-wua.example") == "10.0.0.1"
