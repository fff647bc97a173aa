"""The only way from a crawl's event loop to the database."""

from collections.abc import Callable
from typing import ParamSpec, TypeVar

from asgiref.sync import sync_to_async
from django.db import InterfaceError, OperationalError, connections

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")

# Django raises these if the server ends a connection or cannot be reached.
LOST = (OperationalError, InterfaceError)


async def in_database(
    function: Callable[Arguments, Result], *args: Arguments.args, **kwargs: Arguments.kwargs
) -> Result:
    """Call the function in the thread for the ORM, and once more on a new connection if the first one was lost.

    Raises one of LOST if the second call fails too.
    """
    return await sync_to_async(_again_if_lost)(lambda: function(*args, **kwargs))


def _again_if_lost(call: Callable[[], Result]) -> Result:
    try:
        return call()
    except LOST:
        connections.close_all()  # those of this thread; each opens again when used
        return call()
