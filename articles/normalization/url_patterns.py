"""The patterns by which people say which URLs are articles: regular expressions that are run within a bound. Pure.

Python's own `re` cannot be stopped, and (a+)+$ keeps it busy for ever with a long name that ends otherwise.
"""

import re
from functools import lru_cache

import regex

# CPU seconds of the process for one URL, which takes a good pattern some millionths.
LONGEST = 1.0
_NAMES = "-".join(f"word{number}" for number in range(30))
# Long URLs that end otherwise than a pattern of their parts expects, which is what makes one slow.
_PATHS = (_NAMES, f"{_NAMES}.html?page=2", "a" * 300, "1" * 300, "a1-" * 100 + "!", "a/" * 150, "2026/03/02/" * 20)
_TRIED = tuple(f"https://www.news.example/{path}{end}" for path in _PATHS for end in ("", "/"))


class SlowPatternError(ValueError):
    """A pattern that takes too long."""

    def __init__(self) -> None:
        super().__init__(
            f"It takes more than {LONGEST:.0f} second for a URL: do not repeat what repeats itself, as in (a+)+."
        )


def pattern_fault(pattern: str) -> str:
    """Return why a pattern cannot be used, as a sentence for people; empty if it can. Takes seconds at most."""
    try:
        check_pattern(pattern)
    except re.error as error:
        return f"This is not a regular expression: {error}."
    except SlowPatternError as error:
        return str(error)
    return ""


def check_pattern(pattern: str) -> None:
    """Try a pattern on long URLs. Raises re.error and SlowPatternError."""
    re.compile(pattern)
    try:
        for url in _TRIED:
            finds(pattern, url)
    except regex.error as error:  # what `re` accepts and it does not
        raise re.error(str(error)) from error


def finds(pattern: str, url: str) -> bool:
    """Return whether a pattern finds something in a URL. Raises SlowPatternError, for a slow one again at once."""
    if pattern in _SLOW:
        raise SlowPatternError
    try:
        return bool(_compiled(pattern).search(url, timeout=LONGEST))
    except TimeoutError as error:
        _SLOW.add(pattern)
        raise SlowPatternError from error


_SLOW: set[str] = set()


@lru_cache(maxsize=500)
def _compiled(pattern: str) -> regex.Pattern[str]:
    return regex.compile(pattern, regex.V0)
