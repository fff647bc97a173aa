"""Which reason of the table (crawlers/reasons.py) an error of a crawl is. Pages with reasons load no Scrapy."""

import zlib
from collections.abc import Iterator

from scrapy import exceptions
from scrapy.spidermiddlewares.httperror import HttpError
from twisted.internet import error as network
from twisted.web import _newclient as http

from articles.extraction.extract import ExtractionError
from articles.storage.incoming import RejectedArticleError
from crawlers.database import LOST
from crawlers.reasons import DATABASE_LOST, UNCHANGED


class RefusedError(exceptions.IgnoreRequest):
    """A request or response that this crawler refuses. The message is a reason from the table."""


class HeadersTooLargeError(ValueError):
    """A response whose headers do not end within the limit."""


# The first match gives the reason. First, errors while a response was read:
_BROKEN: tuple[tuple[type[BaseException] | tuple[type[BaseException], ...], str], ...] = (
    (HeadersTooLargeError, "headers too large"),
    ((http.ParseError, ValueError), "not HTTP"),
)
# Then, errors of any request:
_KINDS: tuple[tuple[type[BaseException] | tuple[type[BaseException], ...], str], ...] = (
    (LOST, DATABASE_LOST),
    (exceptions.DownloadTimeoutError, "no answer in time"),
    (exceptions.CannotResolveHostError, "unknown host"),
    (exceptions.DownloadConnectionRefusedError, "connection refused"),
    (exceptions.DownloadCancelledError, "too large"),
    (exceptions.ResponseDataLossError, "cut off"),
    ((network.ConnectionLost, network.ConnectionDone, network.ConnectionAborted), "connection lost"),
    ((network.ConnectError, exceptions.DownloadFailedError), "connection failed"),
    ((OSError, EOFError, zlib.error), "unreadable compression"),
    ((ValueError, UnicodeError), "bad address"),
)


def reason_of(error: BaseException) -> str:
    """Return the reason for an error in a download, or in the processing of its response."""
    if isinstance(error, HttpError):
        status = error.response.status
        return "redirect to nowhere" if 300 <= status < 400 and status != UNCHANGED else f"HTTP {status}"
    if isinstance(error, ExtractionError):
        return error.reason
    if isinstance(error, RejectedArticleError):
        return f"cannot be stored: {error}"
    if isinstance(error, exceptions.IgnoreRequest):  # by Scrapy or this crawler
        message = "too large" if "DOWNLOAD_MAXSIZE" in str(error) else str(error)  # from HttpCompressionMiddleware
        return "too many redirects" if message == "max redirections reached" else message
    for kinds, name in (_BROKEN if isinstance(error, exceptions.DownloadFailedError) else ()) + _KINDS:
        if any(isinstance(cause, kinds) for cause in _chain(error)):
            return name
    return f"fault in the crawler: {type(error).__name__}"


def _chain(error: BaseException) -> Iterator[BaseException]:
    """Yield the causes of an error, as Twisted and Scrapy wrap them, innermost first and the error itself last."""
    for failure in getattr(error, "reasons", ()):
        yield from _chain(failure.value)
    if error.__cause__ is not None:
        yield from _chain(error.__cause__)
    yield error
