"""The one way from the crawl's event loop to the database."""

from collections.abc import Callable
from typing import ParamSpec, TypeVar

from asgiref.sync import sync_to_async
from django.db import InterfaceError, OperationalError, connections

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")

# What Django raises when the server ends a connection, or cannot be reached.
LOST = (OperationalError, InterfaceError)


async def in_database(
    function: Callable[Arguments, Result], *args: Arguments.args, **kwargs: Arguments.kwargs
) -> Result:
    """Call the function, which may be called twice, in the thread for the ORM.

    A crawl outlives connections: the second time is with a new one, after the first was lost. Raises what is in
    LOST if that fails too.
    """
    return await sync_to_async(_again_if_lost)(lambda: function(*args, **kwargs))


def _again_if_lost(call: Callable[[], Result]) -> Result:
    try:
        return call()
    except LOST:
        connections.close_all()  # this thread's; each is opened again when it is used
        return call()
