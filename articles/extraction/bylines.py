"""Finds the byline, the news agency and the dateline of an article. Pure.

An agency counts only if it is the source: in the dateline, in brackets or after a dash at the end, or as author. A
sentence that quotes an agency ("Reuters reported on Tuesday that") does not count.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

MAX_AUTHORS = 10
MAX_AUTHOR_CHARACTERS = 80
# A dateline is at the very beginning.
_BEGINNING = 200
_END = 300

# The name that is stored, and its spellings in bylines. Case matters: "ap" is not an agency.
AGENCIES = {
    "AAP": "AAP|Australian Associated Press",
    "AFP": "AFP|Agence France[- ]Presse|AGENCE FRANCE[- ]PRESSE",
    "Agência Brasil": "Agência Brasil",
    "Agência Lusa": "Lusa|LUSA",
    "Agerpres": "Agerpres|AGERPRES",
    "Anadolu": "AA|Anadolu|Anadolu Agency|ANADOLU",
    "ANI": "ANI|Asian News International",
    "ANP": "ANP",
    "ANSA": "ANSA|Ansa",
    "Antara": "Antara|ANTARA",
    "AP": "AP|The Associated Press|Associated Press|ASSOCIATED PRESS",
    "APA": "APA",
    "APP": "APP|Associated Press of Pakistan",
    "Belga": "Belga|BELGA",
    "Bernama": "Bernama|BERNAMA",
    "Bloomberg": "Bloomberg|Bloomberg News|BLOOMBERG",
    "BSS": "BSS",
    "BTA": "BTA",
    "CNA": "CNA|Central News Agency",
    "CTK": "CTK|ČTK",
    "dpa": "dpa|DPA|dpa-AFX",
    "EFE": "EFE|Efe",
    "Europa Press": "Europa Press|EUROPA PRESS",
    "GNA": "GNA",
    "IANS": "IANS",
    "Interfax": "Interfax|INTERFAX|Интерфакс",
    "IRNA": "IRNA",
    "Jiji": "Jiji|Jiji Press|JIJI",
    "Keystone-SDA": "ATS|SDA|sda|Keystone-SDA|Keystone-ATS",
    "KUNA": "KUNA",
    "Kyodo": "Kyodo|Kyodo News|KYODO",
    "MENA": "MENA",
    "MTI": "MTI",
    "NAN": "NAN|News Agency of Nigeria",
    "NTB": "NTB",
    "PA": "PA|PA Media|Press Association",
    "PAP": "PAP",
    "PTI": "PTI|Press Trust of India",
    "QNA": "QNA",
    "Reuters": "Reuters|REUTERS|Thomson Reuters|Reuters Staff",
    "RIA Novosti": "RIA Novosti|РИА Новости",
    "Ritzau": "Ritzau|RITZAU|/ritzau/",
    "SANA": "SANA",
    "SPA": "SPA",
    "TASS": "TASS|ITAR-TASS|ТАСС",
    "The Canadian Press": "CP|The Canadian Press|Canadian Press|THE CANADIAN PRESS",
    "TT": "TT",
    "Ukrinform": "Ukrinform|Укрінформ",
    "UNB": "UNB",
    "UPI": "UPI",
    "WAM": "WAM",
    "Xinhua": "Xinhua|XINHUA|Xinhua News Agency|新华社|新華社",
    "Yonhap": "Yonhap|YONHAP|연합뉴스",
}
_CANONICAL = {alias: name for name, aliases in AGENCIES.items() for alias in aliases.split("|") if "[" not in alias}
_CANONICAL |= dict.fromkeys(
    ("Agence France-Presse", "Agence France Presse", "AGENCE FRANCE-PRESSE", "AGENCE FRANCE PRESSE"), "AFP"
)
_ALIASES = "|".join(sorted((re.escape(alias) for alias in _CANONICAL), key=len, reverse=True))
_AGENCY = rf"(?P<agency>{_ALIASES})(?![\w-])"
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
        rf"(?P<place>{_NAME}(?:,?\s{_DAY})?),?\s?[(\[/]{_AGENCY}{_MORE}[)\]/]\s*(?:{_DASH}|[:;.])",
        # New Delhi, Nov 4 (PTI) The ; WASHINGTON (AP) The: a day or capitals, because names of things have brackets too
        rf"(?P<place>{_NAME},?\s{_DAY}|{_NAME}(?=,\s?\()|{_CAPITALS}),?\s?[(\[]{_AGENCY}{_MORE}[)\]]\s*(?=[\w“\"‘'])",
        # (Reuters) - ; [AFP] —
        rf"(?P<place>)[(\[]{_AGENCY}[)\]]\s*(?:{_DASH}|[:;])",
        # Reuters - ; AFP: ; /PAP/
        rf"(?P<place>)/?{_AGENCY}/?\s?(?:\s{_DASH}\s|:\s)",
        # COLOMBO, March 3, AFP — ; Geneva, 3 March (ATS)
        rf"(?P<place>{_NAME}(?:,?\s{_DAY})?),\s{_AGENCY}\s?(?:{_DASH}|:)",
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
        rf"(?:^|[\s.!?”\"'’])[(\[]\s?(?:Source\s?:\s?)?{_AGENCY}\s?[)\]]\.?$",
        rf"[.!?”\"'’)]\s?(?:{_DASH}|/)\s?{_AGENCY}/?\.?$",
        rf"(?:^|\n)(?:{_DASH}\s?|/|Source\s?:\s?|Sources?\s?[-–]\s?|Credit\s?:\s?|Courtesy\s?:\s?|By\s)?{_AGENCY}/?\.?$",
        rf"(?:^|\n)(?:©|\(c\)|Copyright\b).{{0,12}}?(?:\d{{4}}\s)?{_AGENCY}(?:\.\s|,|$)",
    )
)
# What may follow the agency in the first three, and how the last one begins.
_AFTER_AGENCY = "./)]" + "".join(chr(code) for code in range(0x3001) if chr(code).isspace())
_LAST_WORDS = tuple(alias.rstrip(_AFTER_AGENCY) for alias in _CANONICAL)
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

_BY = re.compile(
    r"^\W*(?:(?:written |reported |posted |published )?by|from|von|par|por|di|door|autore?r?|author|автор)[\s:]+",
    re.IGNORECASE,
)
_BYLINE = re.compile(r"(?:By|BY)\s(?P<names>[^\W\d_][^!?:;\d()]{2,120})")
_PERSON = re.compile(r"(?:[^\W\d_a-zß-öø-ÿ][\w'’.-]*|de|del|der|den|van|von|al|bin|da|di|du|la|le|e)")
_NOT_A_NAME = re.compile(
    r"\b(?:https?|www)\b|[@<>{}=|\d]|[.!?]\s\S+\s\S+\s|^\W*$|^(?:admin\w*|editors?|webmaster|user|root|author|authors|staff|null|none|undefined|unknown"
    r"|anonymous|news\s?(?:desk|room)|web\s?desk|online\s?desk|(?:our|staff|special)\s(?:reporters?|correspondents?)|guest|writer|editorial|гость|редакция)$",
    re.IGNORECASE,
)
_AGENCY_WRITER = re.compile(rf"{_AGENCY}\s(?:[A-Z]\w+\s){{0,4}}(?:Writer|Reporter|Correspondent|Editor|Staff)s?")
_BETWEEN = re.compile(r"\s*(?:[,;|&/]|\b(?:and|und|et|y)\b)\s*")


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
    if dateline in _NO_PLACES or any(_squash(dateline) in _squash(site) for site in sites):
        dateline = ""
    return Bylines(byline, agency or _ending(body), dateline)


def page_bylines(text: str, authors: Sequence[str], sites: Sequence[str]) -> Bylines:
    """Return the bylines of a page, from its text and from the authors that it declares, the first choice first.

    `sites` are names of the site, which are not authors. An empty author separates one choice from the next.
    """
    found = text_bylines(text, sites)
    parts = [part for author in authors for part in _BETWEEN.split(author[: 10 * MAX_AUTHOR_CHARACTERS])]
    agency = found.agency or next(filter(None, map(agency_named, parts)), "")
    byline = clean_byline(authors, sites) or found.byline
    return Bylines(byline, agency or next(filter(None, map(agency_named, sites)), ""), found.dateline)


def split_byline(text: str) -> tuple[str, str]:
    """Return the authors named in a separate first line, and the text after it."""
    first, _, rest = text.partition("\n")
    if (match := _BYLINE.fullmatch(first.strip())) and rest.strip():
        names = [name for name in _BETWEEN.split(match["names"]) if name]
        if all(1 < len(name.split()) < 6 and all(map(_PERSON.fullmatch, name.split())) for name in names):
            return clean_byline([", ".join(names)]), rest.strip()
    return "", text


def clean_byline(authors: Sequence[str], sites: Sequence[str] = ()) -> str:
    """Return the names of the authors of the first choice that has any, separated by commas."""
    no_authors = {site.strip().lstrip("@").casefold() for site in sites}
    names: dict[str, None] = {}
    for author in authors:
        if not author and names:
            break
        for part in _BETWEEN.split(_BY.sub("", author)) if len(author) <= 10 * MAX_AUTHOR_CHARACTERS else ():
            name = part.strip(" -–—|•·*.")
            if _is_name(name) and name.casefold() not in no_authors and not agency_named(name):
                names[name.title() if name.isupper() and " " in name else name] = None
    return ", ".join(list(names)[:MAX_AUTHORS])


def agency_named(name: str) -> str:
    """Return the agency of this name, or of this agency writer; empty for any other name."""
    name = _BY.sub("", name).strip(" .-–—/")
    if name in _CANONICAL:
        return _CANONICAL[name]
    writer = _AGENCY_WRITER.fullmatch(name)
    return _CANONICAL[writer["agency"]] if writer else ""


def _is_name(name: str) -> bool:
    if not name or name[0].islower():
        return False
    return 2 < len(name) <= MAX_AUTHOR_CHARACTERS and len(name.split()) <= 6 and not _NOT_A_NAME.search(name)


def _opening(text: str) -> tuple[str, str]:
    """Return the dateline and the agency at the beginning; empty if it begins with an ordinary sentence."""
    beginning = text[:_BEGINNING]
    for pattern in _OPENINGS:
        if match := pattern.match(beginning):
            found = match.groupdict()
            place = f"{found['place'].strip(' ,')}{found.get('more') or ''}"
            return " ".join(place.split()), _CANONICAL.get(found.get("agency") or "", "")
    return "", ""


def _squash(name: str) -> str:
    return "".join(filter(str.isalnum, name.casefold()))


def _ending(text: str) -> str:
    """Return the agency that is credited at the end."""
    end = text[-_END:].rstrip()
    # Few texts end with an agency, and to see that takes a tenth of the time of the searches.
    if end.rstrip(_AFTER_AGENCY).endswith(_LAST_WORDS) or _COPYRIGHT.search(end):
        for pattern in _ENDINGS:
            if match := pattern.search(end):
                return _CANONICAL[match["agency"]]
    sign_off = text[-2 * _END :]
    return "Reuters" if "diting by" in sign_off and _SIGN_OFF.search(sign_off) else ""
