"""Decides which query parameters identify a story, and which only track who linked to it."""

import re
from collections.abc import Collection, Iterator
from functools import lru_cache
from typing import NamedTuple

import courlan

# Tracking parameters on any page: those of mediacloud/metadata-lib (mcmetadata/urls.py), and newer ones of networks.
_TRACKER = re.compile(
    r"(?:utm|ga|itm|mtm|pk|mkt)_.*|_ga|_gl|_hsenc|_hsmi|_openstat|fb_action_ids|fb_action_types|fb_source|fb_ref"
    r"|action_object_map|action_type_map|action_ref_map|fsrc_fb_noscript|(?:dc|fbc|gc|twc|yc|ysc)lid|msclkid|igshid"
    r"|gbraid|wbraid|mc_cid|mc_eid|phpsessid|phpsessionid|ns_mchannel|ns_campaign|ito|wprss|custom_click|feedname"
    r"|feedtype|skipmobile|skip_mobile|altcast_code"
)
# Decoration on most sites, the story's number on some; this includes any name that begins with an underscore.
_AMBIGUOUS = re.compile("sort|cid|s_cid|sid|ncid|ir|ref|oref|eref|source|_.*")
_OF_SITE = {
    "facebook.com": re.compile("ref|fref|hc_location"),
    "nytimes.com": re.compile(r"emc|partner|_r|hp|inline|smid|wt\.z_sma|bicmp|bicmlukp|bicmst|bicmet|abt|abg"),
    "livejournal.com": re.compile("thread|nojs"),
    "google": re.compile("gws_rd|ei"),
}
_OF_NO_SITE = re.compile(r"(?!)")
# Parameters that select a form of the page: AMP, and the hash that Australian newspapers append.
_OF_NO_STORY = re.compile("amp(?:=1|=true|=yes)?|outputtype=amp|nk=[0-9a-f]+")

_WORD_BREAK = re.compile("[-_+.,~]|%20")
_NUMBER = re.compile(r"\d{4,}")
_YEAR_OR_DATE = re.compile(r"(?:19|20)\d\d(?:\d\d){0,2}")
_MIXED_NUMBER = re.compile(r"(?<![a-z])(?:[a-z]++\d++){3}|(?<!\d)(?:\d++[a-z]++){3}")
# Words in the names of scripts and sections, not of stories.
_GENERIC_WORD = re.compile(
    "articles?|aspx?|blogs?|breaking|category|cfm|cgi|center|content|default|details?|display|do|document|full|get"
    "|home|html?|index|item|jsp|latest|list|media|more|news|newsroom|of|page|php|popup|posts?|press|print|read"
    "|releases?|room|section|show|shtml|single|story|stories|the|top|video|view|xhtml"
)


class Parameter(NamedTuple):
    """A part of a query, name=value, and whether it is dropped."""

    text: str
    name: str  # in lower case
    dropped: bool


def is_tracker(name: str) -> bool:
    """Return whether a parameter of this lower-case name only tracks who linked to the page, on every site."""
    return _TRACKER.fullmatch(name) is not None


def read_parameters(site: str, path: str, query: str, kept: Collection[str] = ()) -> Iterator[Parameter]:
    """Yield the parameters of a query; those in `kept`, in lower case, are not dropped.

    Parameters without a name are left out, and an empty value counts as no value.
    """
    dropped_here = _OF_SITE.get(site, _OF_NO_SITE)
    path_is_enough = names_a_story(path)
    for part in query.split("&"):
        text = part.rstrip("=")
        lower = text.lower()
        name = lower.partition("=")[0]
        if name:
            dropped = name not in kept and (
                is_tracker(name)
                or dropped_here.fullmatch(name) is not None
                or _OF_NO_STORY.fullmatch(lower) is not None
                or (path_is_enough and _is_ambiguous(name))
            )
            yield Parameter(text, name, dropped)


def names_a_story(path: str) -> bool:
    """Return whether the path alone identifies a story: its last part has three words, or a number other than a date.

    Only then may a parameter that could be the story's number be dropped: only sid identifies story?sid=123.
    """
    last = path.rstrip("/").rpartition("/")[2].lower()
    if any(not _YEAR_OR_DATE.fullmatch(number) for number in _NUMBER.findall(last)) or _MIXED_NUMBER.search(last):
        return True
    words = [word for word in _WORD_BREAK.split(last) if len(word) > 1 and not word.isdecimal()]
    return sum(not _GENERIC_WORD.fullmatch(word) for word in words) >= 3


@lru_cache(maxsize=4096)
def _is_ambiguous(name: str) -> bool:
    # courlan's list also matches names that only begin like a tracker's (gallery, reference), so these are ambiguous.
    return _AMBIGUOUS.fullmatch(name) is not None or courlan.normalize_url(f"http://a/?{name}=1").endswith("/")
