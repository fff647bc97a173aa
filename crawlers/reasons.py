"""Why a visit fails: a table of all reasons, with their meanings and remedies.

The summary of a crawl and the page /crawls/ use it; docs/crawling.md lists the names. A counted reason is a name from
the table, or such a name, a colon and a detail.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Reason:
    """A reason for failure. If it is `passing`, the link waits for the next crawl; otherwise it is refused.

    If the link itself was not asked for, it is `untried`: then it is not refused after MAX_TRIES either.
    """

    name: str
    meaning: str
    remedy: str = ""
    passing: bool = False
    untried: bool = False

    @property
    def needs_rule(self) -> bool:
        """Whether an extraction rule of the newspaper may help."""
        return self.remedy == _LOOK


SITE_WAITS = "site asked to wait"
NOINDEX = "noindex"
TDM_RESERVED = "mining reserved"
COOKIE_WALL = "too many redirects: the site asks for a cookie each time"
_WAIT = "The next crawl tries again."
_ASK = "Ask the newspaper, or remove the URL."
_LOOK = "Open the example. If it is an article, its page needs its own extraction rule; if not, narrow the URL pattern."
DATABASE_LOST = "database lost"
SLOW_PATTERN = "article URL pattern takes too long"
UNCHANGED = 304

REASONS = {
    reason.name: reason
    for reason in (
        Reason("HTTP 401", "The page requires a login.", "Subscriptions are not supported; remove the URL."),
        Reason("HTTP 403", "The site refuses this crawler.", _ASK),
        Reason(
            "HTTP 404",
            "The page does not exist, or no longer exists.",
            "If it is one of your sources, correct its URL.",
        ),
        Reason("HTTP 410", "The page was removed for good.", "If it is one of your sources, remove its URL."),
        Reason(
            "HTTP 429", "The site asks for fewer requests.", "Crawl less often, or with a larger DOWNLOAD_DELAY.", True
        ),
        Reason("HTTP 451", "The page is blocked for legal reasons."),
        Reason("HTTP 4xx", "The site refuses the request.", _ASK),
        Reason("HTTP 408", "The site waited too long for the request.", _WAIT, True),
        Reason("HTTP 425", "The site asks to try again later.", _WAIT, True),
        Reason("HTTP 5xx", "The site reports an error of its own.", _WAIT, True),
        Reason("HTTP", "The response has a status that no page should have.", _ASK),
        Reason("redirect to nowhere", "The page redirects to something that is not a web address.", _ASK),
        Reason(
            "too many redirects",
            "Too many redirects, or a loop. The detail says if the site asks for cookies, as consent pages do.",
            _ASK,
        ),
        Reason("redirected to a page that is no article", "The article is gone; the site redirects to another page."),
        Reason(
            "bad address",
            "The URL is not valid or is too long; a source of a newspaper contains a user name.",
            "Correct the URL.",
        ),
        Reason(
            "private address",
            "The URL leads to this machine or a private network, which a crawl must not reach.",
            "If the newspaper really is there, allow its network with CRAWL_PRIVATE_ADDRESSES (docs/settings.md).",
            True,
        ),
        Reason(
            "unknown host", "The host name does not resolve.", "Correct the URL, or wait until the name resolves.", True
        ),
        Reason(
            "connection refused", "No server listens there.", "Correct the URL, or wait until the server is up.", True
        ),
        Reason("connection failed", "The server could not be reached.", _WAIT, True),
        Reason("connection lost", "The server closed the connection before its response was complete.", _WAIT, True),
        Reason("no answer in time", "The response was not complete after DOWNLOAD_TIMEOUT seconds.", _WAIT, True),
        Reason("cut off", "The response is shorter than announced.", _WAIT, True),
        Reason(
            "too large",
            "The response has more bytes than DOWNLOAD_MAXSIZE, or SITEMAP_MAXSIZE if it is a sitemap.",
            "Allow more with --set if you want it.",
        ),
        Reason("headers too large", "The headers have more bytes than DOWNLOAD_MAXHEADERS.", _ASK),
        Reason("not HTTP", "The response is not valid HTTP.", _ASK),
        Reason("unreadable compression", "The response is not compressed as it declares.", _ASK),
        Reason(
            "Forbidden by robots.txt", "The site's robots.txt does not allow crawlers on this page. Crawls obey it."
        ),
        Reason(
            "robots.txt unreachable",
            "The site's robots.txt could not be read, so nothing may be fetched for now (RFC 9309).",
            _WAIT,
            True,
            untried=True,
        ),
        Reason(
            SITE_WAITS,
            "The site said when it may be asked again (Retry-After).",
            "The first crawl after that time visits the links.",
            True,
            untried=True,
        ),
        Reason(
            NOINDEX,
            "The page asks not to be indexed (noindex). Crawls obey it.",
            "To store such pages, set NOINDEX_OBEY=False.",
        ),
        Reason(
            TDM_RESERVED,
            "The site reserves text and data mining (TDM Reservation Protocol). Crawls obey it.",
            "Ask the newspaper for permission; if you have it, or the law gives it to you, set TDM_OBEY=False.",
        ),
        Reason(
            "unreadable feed",
            "The response is not a feed.",
            "Correct the URL; open it in a browser to see what is there.",
        ),
        Reason("broken feed", "The feed breaks off; the readable part was read.", _ASK, True),
        Reason("too many entries", "The feed has more entries than FEED_MAX_ENTRIES; the first ones were read."),
        Reason("entry without a link", "The feed has an entry without a link.", _ASK),
        Reason(
            "unreadable sitemap",
            "The response is not a sitemap.",
            "Correct the URL; open it in a browser to see what is there.",
        ),
        Reason("broken sitemap", "The sitemap breaks off; the readable part was read.", _ASK, True),
        Reason(
            "too many sitemaps",
            "Sitemap indexes list more sitemaps than SITEMAP_MAX_NUMBER, or more levels than SITEMAP_MAX_LEVELS.",
            "Enter fewer sitemaps, or allow more with --set.",
        ),
        Reason("section is no HTML page", "The section's URL leads to a file.", "Correct the URL."),
        Reason(
            "no HTML page", "The link leads to a file, not to a page.", "If there are many, narrow the URL pattern."
        ),
        Reason("empty page", "The page is empty."),
        Reason(
            "page for missing articles",
            "The page says that it is missing, has moved or needs a login, but has status 200 like an article.",
            "Open the example. If it is an article, declare its day with an extraction rule.",
        ),
        Reason(
            "one page under many URLs",
            "Another URL of the newspaper has this headline and text, and the page has no day of its own.",
            "Open the example: it may be a notice, a login, or a second address of a stored article.",
        ),
        Reason("no article text", "The page has no text that could be an article.", _LOOK),
        Reason("no publication date", "Neither the page nor its feed gives a day of publication.", _LOOK),
        Reason("date out of range", "The page's day is impossible, and no feed gives another.", _LOOK),
        Reason("cannot be stored", "The database does not accept the article; the detail says why.", _LOOK),
        Reason("no article", "The page has no article; the detail says why.", _LOOK),
        Reason("article URL pattern is no regular expression", "The pattern is not valid.", "Correct it in the admin."),
        Reason(SLOW_PATTERN, "The pattern takes more than a second for one URL.", "Write a simpler one in the admin."),
        Reason(
            DATABASE_LOST,
            "The database did not respond, or its disk is full.",
            "See that its server runs and that there is room, then run the crawl again.",
            True,
        ),
        Reason("fault in the crawler", "An error in this program.", "Report it, with the example.", True),
    )
}

# The site keeps the page from this crawler, perhaps by a redirect to a login, or it has no text: the text that the feed
# carries is stored in its place. Not if robots.txt or a notice on the page forbids it, nor if the page is gone.
_FEED_SERVES = frozenset({
    "HTTP 401", "HTTP 403", "HTTP 4xx", "HTTP", "redirect to nowhere", "too many redirects", "empty page",
    "redirected to a page that is no article",
    "no HTML page", "no article text", "too large", "headers too large", "not HTTP", "unreadable compression",
})  # fmt: skip


def feed_serves(counted: str) -> bool:
    """Return whether a page that failed for a counted reason is replaced by the text of its feed, if there is one."""
    return find_reason(counted).name in _FEED_SERVES


# The reasons for which links are visited again once their newspaper has a new extraction rule.
BY_RULE = [reason.name for reason in REASONS.values() if reason.needs_rule]


def find_reason(counted: str) -> Reason:
    """Return the table's entry for a counted reason."""
    name = counted.partition(": ")[0]
    if name in REASONS:
        return REASONS[name]
    if name.startswith("HTTP "):
        return REASONS.get(f"{name[:6]}xx", REASONS["HTTP"])
    return REASONS["no article"]
