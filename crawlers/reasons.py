"""Why a visit fails: a table of all reasons, with their meanings and remedies.

The summary of a crawl, the page /crawls/ and docs/crawling.md use it. A counted reason is a name from the table, or
such a name, a colon and a detail.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass

from scrapy import exceptions
from scrapy.spidermiddlewares.httperror import HttpError
from twisted.internet import error as network
from twisted.web import _newclient as http

from articles.extraction.extract import ExtractionError
from articles.storage.incoming import RejectedArticleError
from crawlers.database import LOST


@dataclass(frozen=True, slots=True)
class Reason:
    """A reason for failure. If it is `passing`, the link waits for the next crawl; otherwise it is refused."""

    name: str
    meaning: str
    remedy: str = ""
    passing: bool = False


class RefusedError(exceptions.IgnoreRequest):
    """A request or response that this crawler refuses. The message is a reason from the table."""


_WAIT = "The next crawl asks again."
_ASK = "Ask the newspaper, or take the address out."
_LOOK = "Open the example: if it is an article, its page needs a rule of its own; if not, narrow the URL pattern."
DATABASE_LOST = "database lost"
UNCHANGED = 304

REASONS = {
    reason.name: reason
    for reason in (
        Reason("HTTP 401", "The page wants a login.", "Subscriptions are not supported; take the address out."),
        Reason("HTTP 403", "The site refuses this crawler.", _ASK),
        Reason("HTTP 404", "There is no such page, or no longer.", "Correct the address if it is a source of yours."),
        Reason("HTTP 410", "The page was taken down for good.", "Take the address out if it is a source of yours."),
        Reason(
            "HTTP 429", "The site asks for fewer visits.", "Crawl less often, or with a larger DOWNLOAD_DELAY.", True
        ),
        Reason("HTTP 451", "The page may not be shown for legal reasons."),
        Reason("HTTP 4xx", "The site refuses the request.", _ASK),
        Reason("HTTP 408", "The site waited too long for the request.", _WAIT, True),
        Reason("HTTP 425", "The site asks to come again later.", _WAIT, True),
        Reason("HTTP 5xx", "The site has a fault of its own.", _WAIT, True),
        Reason("HTTP", "The answer has a status that no page has.", _ASK),
        Reason("redirect to nowhere", "The page sends on to no address of the web.", _ASK),
        Reason("too many redirects", "The page sends on and on, or in a circle.", _ASK),
        Reason("redirected to a page that is no article", "The article is gone; the site sends to another page."),
        Reason(
            "bad address", "It is no address of the web, is too long, or holds a user name.", "Correct the address."
        ),
        Reason(
            "private address",
            "The address is of this machine or its network, which a crawl must not reach.",
            "If the newspaper is really there, allow its network with CRAWL_PRIVATE_ADDRESSES (docs/settings.md).",
            True,
        ),
        Reason(
            "unknown host", "The name has no address.", "Correct the address, or wait until the name answers.", True
        ),
        Reason("connection refused", "No server listens there.", "Correct the address, or wait until it is up.", True),
        Reason("connection failed", "The server could not be reached.", _WAIT, True),
        Reason("connection lost", "The server hung up before its answer was complete.", _WAIT, True),
        Reason("no answer in time", "The answer was not complete after DOWNLOAD_TIMEOUT seconds.", _WAIT, True),
        Reason("cut off", "The answer ended before its announced end.", _WAIT, True),
        Reason(
            "too large", "The answer has more bytes than DOWNLOAD_MAXSIZE.", "Allow more with --set if it is meant."
        ),
        Reason("headers too large", "The headers have more bytes than DOWNLOAD_MAXHEADERS.", _ASK),
        Reason("not HTTP", "What came is no answer by the rules of HTTP.", _ASK),
        Reason("unreadable compression", "The answer is not packed as it says.", _ASK),
        Reason("Forbidden by robots.txt", "The site's robots.txt closes the page to crawlers; it is obeyed."),
        Reason("unreadable feed", "The answer is no feed.", "Correct the address; browsers show what is there."),
        Reason("broken feed", "The feed ends in the middle or breaks off; what was readable was read.", _ASK, True),
        Reason("too many entries", "The feed names more articles than FEED_MAX_ENTRIES; the first ones were taken."),
        Reason("entry without a link", "The feed has an entry that leads nowhere.", _ASK),
        Reason("unreadable sitemap", "The answer is no sitemap.", "Correct the address; browsers show what is there."),
        Reason("broken sitemap", "The sitemap breaks off; what was readable was read.", _ASK, True),
        Reason("too many sitemaps", "Indexes name more sitemaps, or deeper ones, than are followed.", "Name fewer."),
        Reason("section is no HTML page", "The section's address leads to a file.", "Correct the address."),
        Reason("no HTML page", "The link leads to a file, not to a page.", "Narrow the URL pattern if there are many."),
        Reason("empty page", "The page has nothing on it."),
        Reason("no article text", "The page holds no text that could be an article.", _LOOK),
        Reason("no publication date", "Neither the page nor its feed tells the day.", _LOOK),
        Reason("date out of range", "The page's day cannot be, and no feed gives another.", _LOOK),
        Reason("cannot be stored", "The article breaks a bound of the store, which the detail names.", _LOOK),
        Reason("no article", "The page holds no article, as the detail says.", _LOOK),
        Reason(
            "article URL pattern is no regular expression", "The pattern cannot be read.", "Correct it in the admin."
        ),
        Reason(DATABASE_LOST, "The database did not answer.", "Run the crawl again once it does.", True),
        Reason("fault in the crawler", "A fault in this program.", "Report it with the example.", True),
    )
}


def find_reason(counted: str) -> Reason:
    """Return the table's entry for a counted reason."""
    name = counted.partition(": ")[0]
    if name in REASONS:
        return REASONS[name]
    if name.startswith("HTTP "):
        return REASONS.get(f"{name[:6]}xx", REASONS["HTTP"])
    return REASONS["no article"]


def reason_of(error: BaseException) -> str:
    """Return the reason for an error in a download, or in the processing of its response."""
    if isinstance(error, HttpError):
        return _of_status(error.response.status)
    if isinstance(error, ExtractionError):
        return error.reason
    if isinstance(error, RejectedArticleError):
        return f"cannot be stored: {error}"
    if isinstance(error, exceptions.IgnoreRequest):
        return _of_refusal(error)
    for kinds, name in (_BROKEN if isinstance(error, exceptions.DownloadFailedError) else ()) + _KINDS:
        if any(isinstance(each, kinds) for each in _chain(error)):
            return name
    return f"fault in the crawler: {type(error).__name__}"


def _of_status(status: int) -> str:
    return "redirect to nowhere" if 300 <= status < 400 and status != UNCHANGED else f"HTTP {status}"


def _of_refusal(error: exceptions.IgnoreRequest) -> str:
    """Return the reason why Scrapy or this crawler refused a request or response."""
    message = str(error)
    if "DOWNLOAD_MAXSIZE" in message:  # uncompressed, from HttpCompressionMiddleware
        return "too large"
    return "too many redirects" if message == "max redirections reached" else message


def _chain(error: BaseException) -> Iterator[BaseException]:
    """Yield the causes of an error, as Twisted and Scrapy wrap them, innermost first and the error itself last."""
    for failure in getattr(error, "reasons", ()):
        yield from _chain(failure.value)
    if error.__cause__ is not None:
        yield from _chain(error.__cause__)
    yield error


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
