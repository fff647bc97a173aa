"""Finds the byline, the news agency and the dateline of an article. Pure.

An agency counts only if it is the source: in the dateline, in brackets or after a dash at the end, or as author. A
sentence that quotes an agency ("Reuters reported on Tuesday that") does not count.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from articles.extraction.authors import host_names, name_letters, name_line
from articles.extraction.html import joined_to_fit
from articles.extraction.names import (
    AGENCY_PATTERN,
    CANONICAL,
    PERSON_WORD,
    agency_named,
    byline_parts,
    looks_like_person,
    organisation_names,
    person_names,
    squash,
)
from articles.fields import LIMITS

# A line of names is among the first lines, after a standfirst, or the last.
_FIRST_LINES = 3
# A dateline is at the very beginning.
_BEGINNING = 200
_END = 300

_DASH = r"[-–—―]{1,2}"

_MONTH = (
    r"(?:jan(?:uary|vier|uar|eiro)?|feb(?:ruary|ruar|rero)?|f[ée]v(?:rier|ereiro)?|mar(?:ch|s|zo|ço)?|märz|apr(?:il|ile)?"
    r"|avr(?:il)?|abr(?:il)?|ma[iy]o?|maggio|june?|juin|juni|junio|jun|giugno|july?|juillet|juli|julio|jul|luglio"
    r"|aug(?:ust)?|ao[uû]t|ago(?:sto)?|sep(?:t|tember|tembre|tiembre)?|set(?:tembre|embro)?|o[ck]t(?:ober|obre|ubre)?"
    r"|ottobre|out(?:ubro)?|nov(?:ember|embre|iembre|embro)?|de[cz](?:ember|embre|embro)?|d[ée]c(?:embre)?|dic(?:iembre|embre)?)"
)
_DAY = (
    rf"(?:(?i:{_MONTH})\.?\s\d{{1,2}}(?:st|nd|rd|th)?|\d{{1,2}}(?:er|st|nd|rd|th|º|\.)?\s(?:de\s)?(?i:{_MONTH})\.?"
    r"|\d{1,2}[./]\d{1,2}[./]?)(?:,?\s(?:de\s)?\d{4}|\d{4})?"
)
_CAPITALS = r"[A-ZÀ-ÖØ-Þ][A-ZÀ-ÖØ-Þ'’.-]+(?:[ ,/]{1,2}(?:[A-ZÀ-ÖØ-Þ][A-ZÀ-ÖØ-Þ'’.-]*|D\.?C\.?|[A-Z][a-z]{1,4}\.)){0,4}"
_NAME = r"[A-ZÀ-ÖØ-Þ][\w'’.-]*(?:[ ,/]{1,2}(?:[A-ZÀ-ÖØ-Þ][\w'’.-]*|de|del|la|le|les|of|the|am|an|der|i|sur)){0,4}"
_MORE = rf"(?:/\w+)?(?P<more>[\s,]{{1,2}}{_DAY})?"
_OPENINGS = tuple(
    re.compile(pattern)
    for pattern in (
        # COLOMBO, March 3 (Reuters) - ; Paris (AFP) — ; BUENOS AIRES, 5 mar (EFE).-
        rf"(?P<place>{_NAME}(?:,?\s{_DAY})?),?\s?[(\[/]{AGENCY_PATTERN}{_MORE}[)\]/]\s*(?:{_DASH}|[:;.])",
        # New Delhi, Nov 4 (PTI) The ; WASHINGTON (AP) The: a day or capitals, because names of things have brackets too
        rf"(?P<place>{_NAME},?\s{_DAY}|{_NAME}(?=,\s?\()|{_CAPITALS}),?\s?[(\[]{AGENCY_PATTERN}{_MORE}[)\]]\s*(?=[\w“\"‘'])",
        # (Reuters) - ; [AFP] —
        rf"(?P<place>)[(\[]{AGENCY_PATTERN}[)\]]\s*(?:{_DASH}|[:;])",
        # Reuters - ; AFP: ; /PAP/
        rf"(?P<place>)/?{AGENCY_PATTERN}/?\s?(?:\s{_DASH}\s|:\s)",
        # COLOMBO, March 3, AFP — ; Geneva, 3 March (ATS)
        rf"(?P<place>{_NAME}(?:,?\s{_DAY})?),\s{AGENCY_PATTERN}\s?(?:{_DASH}|:)",
        # 新华社北京3月5日电 ; (서울=연합뉴스) ; ロンドン 5日 ロイター
        r"(?P<agency>新华社|新華社)(?P<place>[^\s，。,.：:]{2,16}?)电",
        r"[(（](?P<place>[^\s()（）=]{1,12})=(?P<agency>연합뉴스)[)）]",
        r"(?P<place>[А-ЯЁ][А-ЯЁ-]+(?:,\s\d{1,2}\s[а-яё]+)?)[.,]?\s?/(?P<agency>ТАСС|Интерфакс)/",
        # COLOMBO, March 3 - ; Berne, 12.03.2024 - ; COLOMBO (News 1st) ;
        rf"(?P<place>{_NAME},\s{_DAY})(?:\s\([^()]{{2,30}}\))?\s?(?:{_DASH}\s|[:;])",
        rf"(?P<place>{_CAPITALS})(?:\s?\([^()]{{2,30}}\)\s?[:;–—-]|\s?[–—]\s?|\s-{{1,2}}\s)",
    )
)
_ENDINGS = tuple(
    re.compile(pattern)
    for pattern in (
        rf"(?:^|[\s.!?”\"'’])[(\[]\s?(?:Source\s?:\s?)?{AGENCY_PATTERN}\s?[)\]]\.?$",
        rf"[.!?”\"'’)]\s?(?:{_DASH}|/)\s?{AGENCY_PATTERN}/?\.?$",
        rf"(?:^|\n)(?:{_DASH}\s?|/|Source\s?:\s?|Sources?\s?[-–]\s?|Credit\s?:\s?|Courtesy\s?:\s?|By\s)?{AGENCY_PATTERN}/?\.?$",
        rf"(?:^|\n)(?:©|\(c\)|Copyright\b).{{0,12}}?(?:\d{{4}}\s)?{AGENCY_PATTERN}(?:\.\s|,|$)",
    )
)
# What may follow the agency in the first three, and how the last one begins.
_AFTER_AGENCY = "./)]" + "".join(chr(code) for code in range(0x3001) if chr(code).isspace())
_LAST_WORDS = tuple(alias.rstrip(_AFTER_AGENCY) for alias in CANONICAL)
_COPYRIGHT = re.compile(r"©|\(c\)|Copyright")
# Reuters names the authors and editors at the end of its texts.
_SIGN_OFF = re.compile(
    r"\(?(?:Reporting|Writing|Additional reporting) by [^()\n]{3,400}?;?\s?[Ee]diting by [^()\n]{3,200}\)?"
)

# Words in capitals before a first sentence that are not places.
_NO_PLACES = frozenset({
    "ANALYSIS", "BBC", "BREAKING", "CNN", "EDITORIAL", "EXCLUSIVE", "EXPLAINER", "FACTBOX", "ICC", "INTERVIEW",
    "LATEST", "LIVE", "NBC", "NOTE", "NPR", "OPINION", "Q&A", "REVIEW", "TIMELINE", "UPDATE", "UPDATED", "VIDEO",
    "VOA", "WATCH",
})  # fmt: skip

_BYLINE = re.compile(r"(?:By|BY)\s(?P<names>[^\W\d_][^!?:;\d()]{2,120})")


@dataclass(frozen=True, slots=True)
class Bylines:
    """Authors, the agency by its usual name, and the dateline ("COLOMBO, March 3"); empty if there is none."""

    byline: str = ""
    agency: str = ""
    dateline: str = ""


def text_bylines(text: str, sites: Sequence[str] = ()) -> Bylines:
    """Return the bylines in a plain text.

    `sites` are names of its newspaper: before the first sentence, they are not a place.
    """
    body = text.strip()
    byline, rest = split_byline(body)
    dateline, agency = _opening(rest)
    if dateline in _NO_PLACES or any(squash(dateline) in squash(site) for site in sites):
        dateline = ""
    return Bylines(byline, agency or _ending(body), dateline)


def page_bylines(
    text: str, authors: Sequence[str], sites: Sequence[str], *, url: str = "", headline: str = ""
) -> Bylines:
    """Return the bylines of a page, from its text and from the authors that it names, the first choice first.

    `sites` are names of the site, which are not people. An empty author separates one choice from the next. The site, a
    desk or an agency is the author only if nobody is named.
    """
    names = _people(authors, [*sites, *host_names(url)])
    first = split_byline(text.strip())[0]
    if not names and not first:
        lines = [line for line in text.split("\n") if line.strip()]
        names = name_line([*lines[:_FIRST_LINES], *lines[-1:]], headline, text)
    byline = _joined(names) or first or _joined(_organisations(authors))
    found = text_bylines(without_byline(text, byline), sites)
    parts = [part for author in authors for part in byline_parts(author)]
    agency = found.agency or next(filter(None, map(agency_named, [*parts, *sites])), "")
    return Bylines(byline, agency, found.dateline)


def without_byline(text: str, byline: str) -> str:
    """Return the text without a line among its first paragraphs that only repeats the names of its authors."""
    own = squash(byline)
    if not own or not all(map(looks_like_person, byline.split(", "))):
        return text
    first = text.split("\n\n", _FIRST_LINES)
    kept = [part for place, part in enumerate(first) if place == _FIRST_LINES or name_letters(part) != own]
    return "\n\n".join(kept) if "".join(kept).strip() else text


def split_byline(text: str) -> tuple[str, str]:
    """Return the authors named in a separate first line, and the text after it."""
    first, _, rest = text.partition("\n")
    if (match := _BYLINE.fullmatch(first.strip())) and rest.strip():
        names = byline_parts(match["names"])
        if all(1 < len(name.split()) < 6 and all(map(PERSON_WORD.fullmatch, name.split())) for name in names):
            named = [", ".join(names)]
            return _joined(_people(named, ()) or _organisations(named)), rest.strip()
    return "", text


def _joined(names: Sequence[str]) -> str:
    return joined_to_fit(names, ", ", LIMITS["byline"])


def _people(authors: Sequence[str], sites: Sequence[str]) -> list[str]:
    """Return those of the first choice that names any."""
    return next(filter(None, (person_names(choice, sites) for choice in _choices(authors))), [])


def _organisations(authors: Sequence[str]) -> list[str]:
    """Return those of the first choice that names an agency, or else of the first that names any."""
    named = [names for choice in _choices(authors) if (names := organisation_names(choice))]
    return next((names for names in named if any(map(agency_named, names))), next(iter(named), []))


def _choices(authors: Sequence[str]) -> Iterator[list[str]]:
    """Yield the choices, which empty authors separate."""
    yield from (list(choice) for named, choice in groupby(authors, key=bool) if named)


def _opening(text: str) -> tuple[str, str]:
    """Return the dateline and the agency at the beginning; empty if it begins with an ordinary sentence."""
    beginning = text[:_BEGINNING]
    for pattern in _OPENINGS:
        if match := pattern.match(beginning):
            found = match.groupdict()
            place = f"{found['place'].strip(' ,')}{found.get('more') or ''}"
            return " ".join(place.split()), CANONICAL.get(found.get("agency") or "", "")
    return "", ""


def _ending(text: str) -> str:
    """Return the agency that is credited at the end."""
    end = text[-_END:].rstrip()
    # Few texts end with an agency, and to see that takes a tenth of the time of the searches.
    if end.rstrip(_AFTER_AGENCY).endswith(_LAST_WORDS) or _COPYRIGHT.search(end):
        for pattern in _ENDINGS:
            if match := pattern.search(end):
                return CANONICAL[match["agency"]]
    sign_off = text[-2 * _END :]
    return "Reuters" if "diting by" in sign_off and _SIGN_OFF.search(sign_off) else ""
