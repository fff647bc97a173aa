"""Which IP addresses a crawl may connect to: those of the public Internet, and networks that the settings allow.

The check is in the resolver, and the connection goes to the very address that was checked. So a host name that
resolves differently the second time, a redirect, a robots.txt or an odd spelling (2130706433, 0x7f.1) cannot
bypass it. A proxy resolves names itself: there, addresses are checked as they are written.
"""

import ipaddress
import socket
import unicodedata
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Self

from scrapy.crawler import Crawler
from scrapy.resolver import CachingHostnameResolver
from scrapy.settings import BaseSettings
from scrapy.utils.datatypes import LocalCache
from twisted.internet.base import ReactorBase
from twisted.internet.interfaces import IAddress, IHostResolution, IResolutionReceiver
from zope.interface import implementer

Network = ipaddress.IPv4Network | ipaddress.IPv6Network

# IANA's registries of special-purpose addresses (RFC 6890 and its successors), with multicast and reserved space.
# A list of our own, because that of the ipaddress module differs from one release of Python to the next. Its few blocks
# that are globally reachable (AS112, AMT, Teredo, ORCHID, 6to4 relays) are refused as well: no newspaper is there.
_SPECIAL = [
    ipaddress.ip_network(text)
    for text in (
        "0.0.0.0/8",  # this network: RFC 791
        "10.0.0.0/8",  # private use: RFC 1918
        "100.64.0.0/10",  # shared by carriers: RFC 6598
        "127.0.0.0/8",  # loopback: RFC 1122
        "169.254.0.0/16",  # link-local, and the metadata of clouds: RFC 3927
        "172.16.0.0/12",  # private use
        "192.0.0.0/24",  # protocol assignments, with its single addresses: RFC 6890, 7335, 7723, 8155
        "192.0.2.0/24",  # documentation: RFC 5737
        "192.31.196.0/24",  # AS112: RFC 7535
        "192.52.193.0/24",  # AMT: RFC 7450
        "192.88.99.0/24",  # anycast to 6to4 relays: RFC 7526
        "192.168.0.0/16",  # private use
        "192.175.48.0/24",  # AS112: RFC 7534
        "198.18.0.0/15",  # benchmarks: RFC 2544
        "198.51.100.0/24",  # documentation
        "203.0.113.0/24",  # documentation
        "224.0.0.0/4",  # multicast: RFC 5771
        "240.0.0.0/4",  # reserved, and broadcast: RFC 1112, 919
        "2001::/23",  # protocol assignments, with Teredo, benchmarks, AMT, AS112 and ORCHID: RFC 2928
        "2001:db8::/32",  # documentation: RFC 3849
        "2620:4f:8000::/48",  # AS112: RFC 7534
        "3fff::/20",  # documentation: RFC 9637
    )
]
# All of IPv6 that is given out for the Internet (RFC 4291, 2.4). So ::1, fc00::/7, fe80::/10, fec0::/10, ff00::/8,
# 64:ff9b:1::/48, 100::/64, 100:0:0:1::/64, 5f00::/16 and ::ffff:0:0:0/96 need no line above.
_GLOBAL_UNICAST = ipaddress.IPv6Network("2000::/3")
# IPv6 networks whose packets go to an IPv4 address, which decides: how far that address is from the end, in bits.
_LEADING_TO_IPV4 = {
    ipaddress.IPv6Network("::ffff:0:0/96"): 0,  # mapped: RFC 4291
    ipaddress.IPv6Network("64:ff9b::/96"): 0,  # NAT64: RFC 6052
    ipaddress.IPv6Network("2002::/16"): 80,  # 6to4: RFC 3056
}
# Hosts all of whose addresses were refused, with one of these addresses.
_refused: LocalCache[str, str] = LocalCache(10_000)


def allowed_networks(settings: BaseSettings) -> list[Network]:
    """Return the networks that CRAWL_PRIVATE_ADDRESSES allows. Raises ValueError for one that is not valid."""
    return [ipaddress.ip_network(text.strip()) for text in settings.getlist("CRAWL_PRIVATE_ADDRESSES")]


def may_connect(text: str, allowed: Sequence[Network] = ()) -> bool:
    """Return whether a crawl may connect to an IP address: one of the public Internet, or of an allowed network.

    An address with a zone (`fe80::1%eth0`) means an interface of this machine: it is public in no case.
    """
    bare, zone, _ = text.partition("%")
    address = ipaddress.ip_address(bare)
    for leading, bits in _LEADING_TO_IPV4.items():
        if address in leading:
            address = ipaddress.IPv4Address(int(address) >> bits & 0xFFFF_FFFF)
    if any(address in network for network in allowed):
        return True
    if zone or any(address in network for network in _SPECIAL):
        return False
    return isinstance(address, ipaddress.IPv4Address) or address in _GLOBAL_UNICAST


def refused_address(host: str) -> str:
    """Return an address for which this host was refused; empty if it was not refused."""
    name = host.strip("[]").lower()
    try:
        decoded = name.encode().decode("idna")
    except UnicodeError:
        decoded = name
    return _refused.get(name) or _refused.get(decoded) or ""


def written_address(host: str) -> str:
    """Return the IP address that a host is, in any spelling that a resolver reads as one; empty for a name.

    Resolvers read 127.1, 0x7f.1, 017700000001 and 2130706433 (inet_aton(3)) and, by IDNA, digits of other scripts.
    """
    name = unicodedata.normalize("NFKC", host).strip("[]").rstrip(".")
    with suppress(ValueError):
        return str(ipaddress.ip_address(name))
    try:
        return socket.inet_ntoa(socket.inet_aton(name))
    except (OSError, UnicodeError):
        return ""


def refused_through_proxy(host: str, allowed: Sequence[Network]) -> str:
    """Return the address for which a host must not be asked of a proxy; empty if nothing is known against it.

    A proxy resolves names itself: only addresses, and the names of the proxy's own machine, can be refused here.
    """
    name = host.rstrip(".").lower()
    address = "127.0.0.1" if name.rpartition(".")[2] == "localhost" else written_address(host)
    return address if address and not may_connect(address, allowed) else ""


class GuardedResolver(CachingHostnameResolver):
    """Resolves host names, literal addresses included, to the addresses that a crawl may connect to."""

    def __init__(self, reactor: ReactorBase, cache_size: int, allowed: Sequence[Network]) -> None:
        super().__init__(reactor, cache_size)
        self.allowed = allowed

    @classmethod
    def from_crawler(cls, crawler: Crawler, reactor: ReactorBase) -> Self:
        return cls(reactor, crawler.settings.getint("DNSCACHE_SIZE"), allowed_networks(crawler.settings))

    def resolveHostName(self, resolutionReceiver: Any, hostName: str, *args: Any, **kwargs: Any) -> IHostResolution:
        guard: Any = _Guard(resolutionReceiver, hostName, self.allowed)
        return super().resolveHostName(guard, hostName, *args, **kwargs)


@implementer(IResolutionReceiver)
class _Guard:
    """Receives a resolver's addresses and passes on those that a crawl may connect to."""

    def __init__(self, receiver: Any, host: str, allowed: Sequence[Network]) -> None:
        self.receiver = receiver
        self.host = host
        self.allowed = allowed
        self.refused = ""
        self.passed = False

    def resolutionBegan(self, resolution: IHostResolution) -> None:
        self.receiver.resolutionBegan(resolution)

    def addressResolved(self, address: IAddress) -> None:
        if may_connect(address.host, self.allowed):
            self.passed = True
            self.receiver.addressResolved(address)
        else:
            self.refused = address.host

    def resolutionComplete(self) -> None:
        if self.refused and not self.passed:
            _refused[self.host.lower()] = self.refused
        else:
            _refused.pop(self.host.lower(), None)
        self.receiver.resolutionComplete()
