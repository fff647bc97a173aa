"""A small DNS server on loopback, whose answers a test writes, and a resolver for Twisted that asks it.

As a program, `python -m tests.crawlers.fetching.name_server` fetches URLs as crawls do, with names under .test resolved
by such a server.
"""

import json
import socket
import socketserver
import sys
from collections import Counter
from collections.abc import Iterator
from typing import Any

from twisted.names import dns

# What a name answers, one entry for each time it is asked; the last one is repeated. What ends in .test is an alias.
Answers = dict[str, list[list[str]]]


class NameServer(socketserver.UDPServer):
    """Answers with a TTL of 0; `asked` counts the queries of IPv4 addresses for each name."""

    def __init__(self, answers: Answers) -> None:
        super().__init__(("127.0.0.1", 0), _Query)
        self.answers = answers
        self.asked: Counter[str] = Counter()
        self.port: int = self.server_address[1]

    def records(self, name: str, kind: int) -> Iterator[dns.RRHeader]:
        """Yield the answers to a query."""
        for value in self._next(name) if kind == dns.A else []:
            if value.endswith(".test"):
                yield dns.RRHeader(name, dns.CNAME, ttl=0, payload=dns.Record_CNAME(value, ttl=0))
                yield from self.records(value, kind)
            else:
                yield dns.RRHeader(name, dns.A, ttl=0, payload=dns.Record_A(value, ttl=0))

    def _next(self, name: str) -> list[str]:
        answers = self.answers[name]
        self.asked[name] += 1
        return answers[min(self.asked[name], len(answers)) - 1]


class _Query(socketserver.BaseRequestHandler):
    server: NameServer

    def handle(self) -> None:
        data, answering = self.request
        message = dns.Message()
        message.fromStr(data)
        [query] = message.queries
        message.answer = 1
        message.answers = list(self.server.records(str(query.name), query.type))
        answering.sendto(message.toStr(), self.client_address)


def addresses_of(name: str, port: int) -> list[str]:
    """Ask the server at this port of loopback for the IPv4 addresses of a name."""
    message = dns.Message(id=1)
    message.addQuery(name, dns.A)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asking:
        asking.settimeout(10)
        asking.sendto(message.toStr(), ("127.0.0.1", port))
        answer = dns.Message()
        answer.fromStr(asking.recv(4096))
    return [record.payload.dottedQuad() for record in answer.answers if record.type == dns.A]


def main() -> None:
    """Fetch the URLs on standard input as crawls do; write for each the body, or why there is none."""
    import django  # noqa: PLC0415 - the rest needs its settings

    django.setup()
    from scrapy.crawler import AsyncCrawlerProcess  # noqa: PLC0415

    from crawlers.fetching.bare_spiders import BareSpider, bare_settings  # noqa: PLC0415

    asked = json.load(sys.stdin)
    found: dict[str, str] = {}

    class Pages(BareSpider):
        name = "pages"

        async def look(self) -> None:
            for url in asked["urls"]:
                answer = await self.ask(url)
                found[url] = answer if isinstance(answer, str) else answer.text

    settings = bare_settings(asked["networks"])
    settings.setdict({"ROBOTSTXT_OBEY": False, "DNSCACHE_SIZE": asked["cache"]}, priority="cmdline")
    process = AsyncCrawlerProcess(settings, install_root_handler=False)
    process.crawl(Pages)
    if asked["name_server"]:
        _ask(asked["name_server"])
    process.start()
    json.dump(found, sys.stdout)


def _ask(port: int) -> None:
    """Have the reactor ask our server for names under .test, and resolve everything else as it would."""
    from twisted.internet import interfaces, reactor  # noqa: PLC0415 - installs a reactor, if there is none
    from twisted.internet.address import IPv4Address  # noqa: PLC0415
    from twisted.names.client import Resolver  # noqa: PLC0415
    from zope.interface import implementer  # noqa: PLC0415

    usual = reactor.nameResolver  # type: ignore[attr-defined]
    resolver = Resolver(servers=[("127.0.0.1", port)], timeout=(10,))

    @implementer(interfaces.IHostnameResolver)
    class Names:
        def resolveHostName(self, receiver: Any, name: str, port: int = 0, *rest: Any, **named: Any) -> Any:  # noqa: N802
            if not name.endswith(".test"):
                return usual.resolveHostName(receiver, name, port, *rest, **named)

            def answered(records: Any) -> None:
                for record in records[0]:
                    if record.type == dns.A:
                        receiver.addressResolved(IPv4Address("TCP", record.payload.dottedQuad(), port))
                receiver.resolutionComplete()

            receiver.resolutionBegan(receiver)
            resolver.lookupAddress(name).addCallback(answered)
            return receiver

    reactor.installNameResolver(Names())  # type: ignore[attr-defined]


if __name__ == "__main__":
    main()
