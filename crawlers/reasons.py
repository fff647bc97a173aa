"""Why a visit fails: the table of all reasons, with their meanings and remedies, is reasons.toml.

The summary of a crawl and the page /crawls/ use it; docs/crawling.md lists the names. A counted reason is a name from
the table, or such a name, a colon and a detail.
"""

from dataclasses import dataclass
from pathlib import Path

from articles.loading import read_table


@dataclass(frozen=True, slots=True)
class Reason:
    """A reason for failure. If it is `passing`, the link waits for the next crawl; otherwise it is refused.

    With `needs_rule`, an extraction rule of the newspaper may help.
    """

    name: str
    meaning: str
    remedy: str
    passing: bool
    needs_rule: bool

    @property
    def untried(self) -> bool:
        """Whether the link itself was not asked for: then it is not refused after MAX_TRIES either."""
        return self.name in {"robots.txt unreachable", SITE_WAITS}


SITE_WAITS = "site asked to wait"
NOINDEX = "noindex"
TDM_RESERVED = "mining reserved"
COOKIE_WALL = "too many redirects: the site asks for a cookie each time"
DATABASE_LOST = "database lost"
SLOW_PATTERN = "article URL pattern takes too long"
UNCHANGED = 304

_TABLE = read_table(Path(__file__).with_suffix(".toml"))
REASONS = {
    name: Reason(name, meaning, _TABLE["remedies"].get(remedy, remedy), kind == "passing", remedy == "look")
    for kind in ("passing", "lasting")
    for name, (meaning, remedy) in _TABLE[kind].items()
}


def feed_serves(counted: str) -> bool:
    """Return whether a page that failed for a counted reason is replaced by the text of its feed, if there is one."""
    return find_reason(counted).name in _TABLE["feed_serves"]


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
