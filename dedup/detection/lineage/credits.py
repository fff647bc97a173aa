"""What a text says of its own source: another newspaper, an agency, a press release. Pure.

The marks are of the kind that newsrooms and press offices write. They are few on purpose: a text that reports on a
press release ("said in a press release") is not one.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import lru_cache

from articles.extraction.names import agency_named

# Words before or after a newspaper's name that make it the source of what is said.
_BEFORE = (
    r"(?:told|by|from|source|sources|courtesy(?:\sof)?|credit|according\sto|via|published\s(?:in|by|on)|first\sin)"
)
_AFTER = (
    r"(?:(?:has|had)\s)?(?:reported|reports|wrote|writes|revealed|reveals|said|says|learns|learnt|understands"
    r"|first\sreported|was\stold)"
)
# Shorter names, such as "Post", need the marks of a credit line.
_LONG_NAME = 9

_SERVICES = (
    r"PR\s?Newswire|PRNewswire|Business\s?Wire|GlobeNewswire|Globe\sNewswire|EIN\sPresswire|ACN\sNewswire|Newsfile\sCorp"
    r"|Media\sOutReach|APO\sGroup|presseportal|news\saktuell|ots"
)
_RELEASE = (
    r"press\s(?:release|statement|note)|media\s(?:release|statement)|news\srelease|communiqué\sde\spresse"
    r"|Pressemitteilung|comunicado\sde\sprensa|nota\sde\sprensa|comunicato\sstampa|persbericht"
)
# Only as a line of its own, in brackets, after a dash at the end, or with a name before it ("Acme press release:").
_STRONG = (
    re.compile(rf"(?:^|\n)[^\w\n]*(?:\w+\s){{0,3}}(?i:{_RELEASE})[^\w\n]*(?:\n|$)"),
    re.compile(rf"[(\[]\s*(?i:source\s*:\s*)?(?i:{_RELEASE})\s*[)\]]"),
    re.compile(rf"(?:^|\n)\W*(?i:{_RELEASE})\s*[:–—-]"),
    re.compile(rf"[-–—]\s*(?i:{_RELEASE})\W*$"),
    re.compile(rf"(?:[(/\[–—-]|^|\n)\s*(?:{_SERVICES})\s*(?:[)/\]–—-]|\n|$)"),
    re.compile(r"(?i:for\simmediate\s(?:release|distribution))"),
    re.compile(r"(?:^|\n)\W*(?i:notes?\sto\seditors?)\b"),
    re.compile(r"(?:^|\n|\.\s)(?i:(?:media|press)\s(?:contacts?|enquiries|inquiries|office))\s?:"),
)
_WEAK = (
    re.compile(
        r"(?i:for\s(?:more|further)\s(?:information|details)(?:\sor\s\w+)?,?\s(?:please\s)?(?:contact|visit|call|write))"
    ),
    re.compile(r"[\w.+-]+@[\w-]+\.[\w.]{2,}"),
    re.compile(r"(?:\+\d{1,3}[\s()-]{0,3}|\b0)\d(?:[\s()-]?\d){6,10}\b"),
    re.compile(r"(?:^|\n)\W*About\s(?:the\s)?[A-Z][\w&'’.-]*(?:\s[A-Z][\w&'’.-]*){0,5}\s*:?\s*(?:\n|$)"),
    re.compile(r"(?:^|\n)\W*(?:ENDS|End of release|###)\W*(?:\n|$)"),
)
_RELEASE_BYLINE = re.compile(rf"(?i:\b(?:{_RELEASE}|press\soffice|media\soffice|public\srelations)\b)")


# Characters at the beginning and at the end of a text in which press offices leave their marks.
_HEAD = 400
_TAIL = 1_200


def is_release(content: str, byline: str = "") -> bool:
    """Return whether a text says that it is a press release."""
    ends = _ends(content)
    return bool(_RELEASE_BYLINE.search(byline)) or any(mark.search(ends) for mark in _STRONG)


def looks_like_release(content: str) -> bool:
    """Return whether a text has two or more marks that press offices put below theirs, such as whom to contact."""
    end = content[-_TAIL:]
    return sum(1 for mark in _WEAK if mark.search(end)) > 1


def _ends(content: str) -> str:
    return content if len(content) <= _HEAD + _TAIL else f"{content[:_HEAD]}\n{content[-_TAIL:]}"


def is_of_agency(newspaper: str, agency: str) -> bool:
    """Return whether a newspaper is the agency that an article credits."""
    return bool(agency) and (newspaper.casefold() == agency.casefold() or agency_named(newspaper) == agency)


def credits_newspaper(content: str, names: Collection[str]) -> bool:
    """Return whether a text names the newspaper with one of these names as its source."""
    return any(name in content and _credit(name).search(content) for name in names if len(name) > 2)


@lru_cache(maxsize=4096)
def _credit(name: str) -> re.Pattern[str]:
    """Return the pattern of a credit for a newspaper: a credit line or, if the name is long, a verb with it."""
    escaped = re.escape(name)
    line = (
        rf"[(\[]\s*(?:(?i:source|courtesy|credit|via)\s*:?\s*)?(?:[Tt]he\s)?{escaped}\s*[)\]]"
        rf"|(?:^|\n)\W*(?:(?i:source|courtesy(?:\sof)?|credit|via|first\spublished\s(?:in|by|on))\s*:?\s*)?(?:[Tt]he\s)?{escaped}\W*(?:\n|$)"
        rf"|[-–—]\s*(?:[Tt]he\s)?{escaped}\W*$"
    )
    if len(name) < _LONG_NAME:
        return re.compile(line)
    prose = rf"\b(?i:{_BEFORE})\s*:?\s*(?:[Tt]he\s)?{escaped}\b|\b{escaped}(?:,|’s|'s)?\s{_AFTER}\b"
    return re.compile(rf"{line}|{prose}")
