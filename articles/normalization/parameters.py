"""Decides which query parameters identify a story, and which only track who linked to it.

TRACKERS are parameters that programs append to a URL when it is shared, sent or advertised; none of them names a story.
Each group in words.toml names its source: who sets the parameters, and where that is documented. A name belongs there
only if it is documented, or is too odd to be chosen for a story's number; for short and common words, the whole URL is
looked at.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from articles.loading import when_used, words_for

courlan = when_used("courlan")  # it loads urllib3

# Patterns of lower-case names, by source.
TRACKERS: dict[str, str] = words_for(__file__, "trackers")
_WORDS = words_for(__file__)
_TRACKER = re.compile("|".join((*TRACKERS.values(), _WORDS["sessions"])))
_SESSION_IN_PATH = re.compile(
    r";(?:jsessionid|phpsess(?:ion)?id|sess(?:ion)?_?id|sid)[=:!][^/;]*"
    # ASP.NET without cookies: /(S(lit3py55t21z5v55vlm25s55))/story.aspx
    r"|/(?:\(|%28)(?:[asf](?:\(|%28)[a-z0-9_-]+(?:\)|%29))+(?:\)|%29)(?=/)",
    re.IGNORECASE,
)
# As long as the ids that PHP, Java and .NET make, which have 22 characters or more.
_RANDOM = re.compile(r"(?=[^0-9]*[0-9][^0-9]*[0-9])(?=.*[a-z])[0-9a-z_-]{20,}", re.IGNORECASE)


def is_tracker(name: str) -> bool:
    """Return whether a parameter of this lower-case name only tracks who linked to the page, on every site."""
    return _TRACKER.fullmatch(name) is not None


def without_session(path: str) -> str:
    """Return a path without the session that servers write into it for browsers without cookies."""
    return _SESSION_IN_PATH.sub("", path) if ";" in path or "(" in path or "%28" in path else path


def is_random(value: str) -> bool:
    """Return whether a value looks like a session's: long, of letters and digits, without words."""
    return _RANDOM.fullmatch(value) is not None


# Decoration on most sites, the story's number on some; this includes any name that begins with an underscore.
_AMBIGUOUS = re.compile("sort|cid|s_cid|sid|ncid|ir|session|sess|_.*|(?:pk|mkt|mtm|itm|ga|at|hsa)_.*")
_REFERRER = re.compile(_WORDS["referrer"])
_OF_STORY = re.compile(_WORDS["of_story"])
_SESSION = re.compile("sid|s|sess|session|cfid|token|auth")
# A word or two, such as rss or home-top: neither a number nor the title of a story.
_LABEL = re.compile(r"[a-z]{0,20}(?:[-_.][a-z]{1,20})?", re.IGNORECASE)
_OF_SITE = {site: re.compile(names) for site, names in words_for(__file__, "of_site").items()}
_OF_NO_SITE = re.compile(r"(?!)")
# Parameters that select a form of the page: AMP, for printing, and the hash that Australian newspapers append.
_OF_NO_STORY = re.compile(
    "(?:amp|print|printable)(?:=1|=true|=yes)?|(?:output|outputtype|format)=amp|(?:m|mobile)=(?:1|true|yes)"
    "|(?:view|page)=print|tmpl=component|nk=[0-9a-f]+"
)

_WORD_BREAK = re.compile("[-_+.,~]|%20")
_NUMBER = re.compile(r"\d{4,}")
_YEAR_OR_DATE = re.compile(r"(?:19|20)\d\d(?:\d\d){0,2}")
_MIXED_NUMBER = re.compile(r"(?<![a-z])(?:[a-z]++\d++){3}|(?<!\d)(?:\d++[a-z]++){3}")
# A script shows the story that a parameter names, whatever words its own name has.
_SCRIPT = re.compile(r"\.(?:aspx?|ashx|php\d?|phtml|jspx?|jsf|cfml?|cgi|pl|do|dll|action|nsf|exe)\Z")
_GENERIC_WORD = re.compile(_WORDS["generic"])


class Parameter(NamedTuple):
    """A part of a query, name=value, and whether it is dropped."""

    text: str
    name: str  # in lower case
    dropped: bool


def read_parameters(site: str, path: str, query: str, kept: Collection[str] = ()) -> Iterator[Parameter]:
    """Yield the parameters of a query; those in `kept`, in lower case, are not dropped.

    Parameters without a name are left out, and an empty value counts as no value.
    """
    dropped_here = _OF_SITE.get(site, _OF_NO_SITE)
    found: list[Parameter] = []
    for part in query.split("&"):
        text = part.rstrip("=")
        lower = text.lower()
        name = lower.partition("=")[0]
        if name:
            is_known = is_tracker(name) or dropped_here.fullmatch(name) or _OF_NO_STORY.fullmatch(lower)
            found.append(Parameter(text, name, bool(is_known) and name not in kept))
    yield from _without_doubtful(path, found, kept)


def untracked_query(path: str, query: str, kept: Collection[str] = ()) -> str:
    """Return the query, sorted, without parameters that name no story on any site, and without sessions."""
    parts = []
    for parameter in read_parameters("", path, query, kept) if query else ():
        is_session = _SESSION.fullmatch(parameter.name) is not None and is_random(parameter.text.partition("=")[2])
        if not (parameter.dropped and (is_tracker(parameter.name) or is_session)):
            parts.append(parameter.text)
    return "&".join(sorted(set(parts)))


def names_a_story(path: str) -> bool:
    """Return whether the path alone identifies a story: its last part has three words, or a number other than a date.

    Only then may a parameter that could be the story's number be dropped: only sid identifies story?sid=123. The words
    of a script's name do not count.
    """
    last = path.rstrip("/").rpartition("/")[2].lower()
    if any(not _YEAR_OR_DATE.fullmatch(number) for number in _NUMBER.findall(last)) or _MIXED_NUMBER.search(last):
        return True
    return _has_words(last) and not _SCRIPT.search(last)


def _has_words(last: str) -> bool:
    words = [word for word in _WORD_BREAK.split(last) if len(word) > 1 and not word.isdecimal()]
    return sum(not _GENERIC_WORD.fullmatch(word) for word in words) >= 3


def _without_doubtful(path: str, found: Sequence[Parameter], kept: Collection[str]) -> Iterator[Parameter]:
    """Yield the parameters; those that may name a story are dropped only if something else names it."""
    left = (parameter.name for parameter in found if not parameter.dropped and parameter.name not in kept)
    doubtful = {name for name in left if _is_ambiguous(name) or _SESSION.fullmatch(name)}
    if not doubtful:
        yield from found
        return
    last = path.rstrip("/").rpartition("/")[2].lower()
    by_path, by_words = names_a_story(path), _has_words(last)
    by_number = any(not parameter.dropped and _OF_STORY.fullmatch(parameter.name) for parameter in found)
    for parameter in found:
        if parameter.name in doubtful:
            dropped = _is_decoration(parameter, by_path=by_path, by_words=by_words, by_number=by_number)
            yield parameter._replace(dropped=dropped)
        else:
            yield parameter


def _is_decoration(parameter: Parameter, *, by_path: bool, by_words: bool, by_number: bool) -> bool:
    """Return whether a doubtful parameter names no story, which something else may name.

    That is the path, at least the words of a script's name, or a parameter for a story's number.
    """
    value = parameter.text.partition("=")[2]
    if _SESSION.fullmatch(parameter.name) and is_random(value):
        return by_path or by_words or by_number
    if not _is_ambiguous(parameter.name):
        return False
    is_label, is_referrer = _LABEL.fullmatch(value), _REFERRER.fullmatch(parameter.name)
    return by_path or bool((by_words and is_label) or (by_number and is_referrer))


@lru_cache(maxsize=4096)
def _is_ambiguous(name: str) -> bool:
    # courlan's list also matches names that only begin like a tracker's (gallery, reference), so these are ambiguous.
    return (
        _AMBIGUOUS.fullmatch(name) is not None
        or _REFERRER.fullmatch(name) is not None
        or courlan.normalize_url(f"http://a/?{name}=1").endswith("/")
    )
