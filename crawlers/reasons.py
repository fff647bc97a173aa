"""Why a visit fails: a table of all reasons, with their meanings and remedies.

The summary of a crawl and the page /crawls/ use it; docs/crawling.md lists the names. A counted reason is a name from
the table, or such a name, a colon and a detail.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Reason:
    """A reason for failure. If it is `passing`, the link waits for the next crawl; otherwise it is refused."""

    name: str
    meaning: str
    remedy: str
    passing: bool

    @property
    def untried(self) -> bool:
        """Whether the link itself was not asked for: then it is not refused after MAX_TRIES either."""
        return self.name in {"robots.txt unreachable", SITE_WAITS}

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

# Each with its meaning and its remedy.
_PASSING = {
    "HTTP 429": ("The site asks for fewer requests.", "Crawl less often, or with a larger DOWNLOAD_DELAY."),
    "HTTP 408": ("The site waited too long for the request.", _WAIT),
    "HTTP 425": ("The site asks to try again later.", _WAIT),
    "HTTP 5xx": ("The site reports an error of its own.", _WAIT),
    "private address": (
        "The URL leads to this machine or a private network, which a crawl must not reach.",
        "If the newspaper really is there, allow its network with CRAWL_PRIVATE_ADDRESSES (docs/settings.md).",
    ),
    "unknown host": ("The host name does not resolve.", "Correct the URL, or wait until the name resolves."),
    "connection refused": ("No server listens there.", "Correct the URL, or wait until the server is up."),
    "connection failed": ("The server could not be reached.", _WAIT),
    "connection lost": ("The server closed the connection before its response was complete.", _WAIT),
    "no answer in time": ("The response was not complete after DOWNLOAD_TIMEOUT seconds.", _WAIT),
    "cut off": ("The response is shorter than announced.", _WAIT),
    "robots.txt unreachable": (
        "The site's robots.txt could not be read, so nothing may be fetched for now (RFC 9309).",
        _WAIT,
    ),
    SITE_WAITS: (
        "The site said when it may be asked again (Retry-After).",
        "The first crawl after that time visits the links.",
    ),
    "broken feed": ("The feed breaks off; the readable part was read.", _ASK),
    "broken sitemap": ("The sitemap breaks off; the readable part was read.", _ASK),
    DATABASE_LOST: (
        "The database did not respond, or its disk is full.",
        "See that its server runs and that there is room, then run the crawl again.",
    ),
    "fault in the crawler": ("An error in this program.", "Report it, with the example."),
}
_LASTING = {
    "HTTP 401": ("The page requires a login.", "Subscriptions are not supported; remove the URL."),
    "HTTP 403": ("The site refuses this crawler.", _ASK),
    "HTTP 404": ("The page does not exist, or no longer exists.", "If it is one of your sources, correct its URL."),
    "HTTP 410": ("The page was removed for good.", "If it is one of your sources, remove its URL."),
    "HTTP 451": ("The page is blocked for legal reasons.", ""),
    "HTTP 4xx": ("The site refuses the request.", _ASK),
    "HTTP": ("The response has a status that no page should have.", _ASK),
    "redirect to nowhere": ("The page redirects to something that is not a web address.", _ASK),
    "too many redirects": (
        "Too many redirects, or a loop. The detail says if the site asks for cookies, as consent pages do.",
        _ASK,
    ),
    "redirected to a page that is no article": ("The article is gone; the site redirects to another page.", ""),
    "bad address": (
        "The URL is not valid or is too long; a source of a newspaper contains a user name.",
        "Correct the URL.",
    ),
    "too large": (
        "The response has more bytes than DOWNLOAD_MAXSIZE, or SITEMAP_MAXSIZE if it is a sitemap.",
        "Allow more with --set if you want it.",
    ),
    "headers too large": ("The headers have more bytes than DOWNLOAD_MAXHEADERS.", _ASK),
    "not HTTP": ("The response is not valid HTTP.", _ASK),
    "unreadable compression": ("The response is not compressed as it declares.", _ASK),
    "Forbidden by robots.txt": ("The site's robots.txt does not allow crawlers on this page. Crawls obey it.", ""),
    NOINDEX: (
        "The page asks not to be indexed (noindex). Crawls obey it.",
        "To store such pages, set NOINDEX_OBEY=False.",
    ),
    TDM_RESERVED: (
        "The site reserves text and data mining (TDM Reservation Protocol). Crawls obey it.",
        "Ask the newspaper for permission; if you have it, or the law gives it to you, set TDM_OBEY=False.",
    ),
    "unreadable feed": ("The response is not a feed.", "Correct the URL; open it in a browser to see what is there."),
    "too many entries": ("The feed has more entries than FEED_MAX_ENTRIES; the first ones were read.", ""),
    "entry without a link": ("The feed has an entry without a link.", _ASK),
    "unreadable sitemap": (
        "The response is not a sitemap.",
        "Correct the URL; open it in a browser to see what is there.",
    ),
    "too many sitemaps": (
        "Sitemap indexes list more sitemaps than SITEMAP_MAX_NUMBER, or more levels than SITEMAP_MAX_LEVELS.",
        "Enter fewer sitemaps, or allow more with --set.",
    ),
    "section is no HTML page": ("The section's URL leads to a file.", "Correct the URL."),
    "no HTML page": ("The link leads to a file, not to a page.", "If there are many, narrow the URL pattern."),
    "empty page": ("The page is empty.", ""),
    "page for missing articles": (
        "The page says that it is missing, has moved or needs a login, but has status 200 like an article.",
        "Open the example. If it is an article, declare its day with an extraction rule.",
    ),
    "one page under many URLs": (
        "Another URL of the newspaper has this headline and text, and the page has no day of its own.",
        "Open the example: it may be a notice, a login, or a second address of a stored article.",
    ),
    "no article text": ("The page has no text that could be an article.", _LOOK),
    "no publication date": ("Neither the page nor its feed gives a day of publication.", _LOOK),
    "date out of range": ("The page's day is impossible, and no feed gives another.", _LOOK),
    "cannot be stored": ("The database does not accept the article; the detail says why.", _LOOK),
    "no article": ("The page has no article; the detail says why.", _LOOK),
    "article URL pattern is no regular expression": ("The pattern is not valid.", "Correct it in the admin."),
    SLOW_PATTERN: ("The pattern takes more than a second for one URL.", "Write a simpler one in the admin."),
}
REASONS = {
    name: Reason(name, *words, passing=reasons is _PASSING)
    for reasons in (_PASSING, _LASTING)
    for name, words in reasons.items()
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
