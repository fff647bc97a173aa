"""Which IP addresses a crawl may connect to: those of the public Internet, and networks that the settings allow.

The check is in the resolver, and the connection goes to the very address that was checked. So a host name that
resolves differently the second time, a redirect, a robots.txt or an odd spelling (2130706433, 0x7f.1) cannot
bypass it.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence
from typing import Any, Self

from scrapy.crawler import Crawler
from scrapy.resolver import CachingHostnameResolver
from scrapy.settings import BaseSettings
from scrapy.utils.datatypes import LocalCache
from twisted.internet.base import ReactorBase
from twisted.internet.interfaces import IAddress, IHostResolution, IResolutionReceiver
from zope.interface import implementer

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network

# IPv6 networks whose addresses contain an IPv4 address in their last 32 bits: RFC 4291, 6052.
_HOLDING_IPV4 = [ipaddress.IPv6Network(text) for text in ("::/96", "::ffff:0:0/96", "64:ff9b::/96")]
# Hosts all of whose addresses were refused, with one of these addresses.
_refused: LocalCache[str, str] = LocalCache(10_000)


def allowed_networks(settings: BaseSettings) -> list[Network]:
    """Return the networks that CRAWL_PRIVATE_ADDRESSES allows. Raises ValueError for one that is not valid."""
    return [ipaddress.ip_network(text.strip()) for text in settings.getlist("CRAWL_PRIVATE_ADDRESSES")]


def may_connect(text: str, allowed: Sequence[Network] = ()) -> bool:
    """Return whether a crawl may connect to the IP address; private and multicast ones must be allowed."""
    address = _inner(ipaddress.ip_address(text.partition("%")[0]))
    if any(address in network for network in allowed):
        return True
    return address.is_global and not address.is_multicast


def _inner(address: Address) -> Address:
    """Return the IPv4 address that an IPv6 address leads to; else the address itself."""
    if isinstance(address, ipaddress.IPv4Address):
        return address
    if any(address in network for network in _HOLDING_IPV4) and int(address) > 1:  # ::1 is IPv6's own loopback address
        return ipaddress.IPv4Address(int(address) & 0xFFFF_FFFF)
    return address.sixtofour or (address.teredo[1] if address.teredo else address)


def refused_address(host: str) -> str:
    """Return an address for which this host was refused; empty if it was not refused."""
    name = host.strip("[]").lower()
    try:
        decoded = name.encode().decode("idna")
    except UnicodeError:
        decoded = name
    return _refused.get(name) or _refused.get(decoded) or ""


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
