"""The only way from a crawl's event loop to the database."""

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Sequence
from typing import Generic, ParamSpec, TypeVar

from asgiref.sync import sync_to_async
from django.db import InterfaceError, OperationalError, connections

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")
Item = TypeVar("Item")
logger = logging.getLogger(__name__)

# Django raises these if the server ends a connection or cannot be reached.
LOST = (OperationalError, InterfaceError)


async def in_database(
    function: Callable[Arguments, Result], *args: Arguments.args, **kwargs: Arguments.kwargs
) -> Result:
    """Call the function in the thread for the ORM, and once more on a new connection if the first one was lost.

    Raises one of LOST if the second call fails too.
    """
    return await sync_to_async(_again_if_lost)(lambda: function(*args, **kwargs))


async def unless_lost(
    unwritten: str, write: Callable[Arguments, None], *args: Arguments.args, **kwargs: Arguments.kwargs
) -> None:
    """Write as in_database does. If the database is lost, log that, and what is not written: a crawl continues."""
    try:
        await in_database(write, *args, **kwargs)
    except LOST:
        logger.warning("database lost: %s", unwritten)


class Batched(Generic[Item, Result]):
    """A function of many items, called for one item at a time: calls that come while it runs are made together.

    `function` gets up to `most` items and returns a result for each, in their order. It runs as in_database runs it;
    what it raises, each of its callers gets.
    """

    def __init__(self, function: Callable[[Sequence[Item]], Sequence[Result]], most: int) -> None:
        self._function = function
        self._most = most
        self._waiting: deque[tuple[Item, asyncio.Future[Result]]] = deque()
        self._running: asyncio.Task[None] | None = None

    async def __call__(self, item: Item) -> Result:
        future: asyncio.Future[Result] = asyncio.get_running_loop().create_future()
        self._waiting.append((item, future))
        if self._running is None:
            self._running = asyncio.create_task(self._run())
        return await future

    async def _run(self) -> None:
        try:
            while self._waiting:
                batch = [self._waiting.popleft() for _ in range(min(self._most, len(self._waiting)))]
                await self._answer([item for item, _ in batch], [future for _, future in batch])
        finally:
            self._running = None

    async def _answer(self, items: Sequence[Item], futures: Sequence[asyncio.Future[Result]]) -> None:
        try:
            results = await in_database(self._function, items)
        except Exception as error:  # noqa: BLE001 - each of the callers gets it
            for future in futures:
                if not future.done():
                    future.set_exception(error)
        else:
            for future, result in zip(futures, results, strict=True):
                if not future.done():
                    future.set_result(result)


def _again_if_lost(call: Callable[[], Result]) -> Result:
    try:
        return call()
    except LOST:
        connections.close_all()  # those of this thread; each opens again when used
        return call()
