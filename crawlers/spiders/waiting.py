"""Links that wait, and no sources."""

from __future__ import annotations

from collections.abc import AsyncIterator

from scrapy import Request
from scrapy.settings import BaseSettings

from articles.models import Newspaper
from crawlers.spiders.base import NewspaperSpider


class WaitingSpider(NewspaperSpider):
    """Visits the links of a newspaper that wait: those of a list of URLs, see crawlers/link_lists.py."""

    name = "list"

    @classmethod
    def addresses(cls, newspaper: Newspaper) -> list[str]:
        return [f"http://{newspaper.host}/"] if newspaper.host else []

    @classmethod
    def has_work(cls, newspaper: Newspaper, settings: BaseSettings) -> bool:  # noqa: ARG003 - for other spiders
        return True

    async def _first_requests(self, newspaper: Newspaper) -> AsyncIterator[Request]:
        async for request in self._waiting_requests(await self._source_of(newspaper)):
            yield request
