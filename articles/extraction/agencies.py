"""Names of news agencies: their spellings in bylines, and the name that is stored. Pure."""

from __future__ import annotations

import re

# The name that is stored, and its spellings in bylines. Case matters: "ap" is not an agency.
AGENCIES = {
    "AAP": "AAP|Australian Associated Press",
    "AFP": "AFP|Agence France[- ]Presse|AGENCE FRANCE[- ]PRESSE",
    "Agência Brasil": "Agência Brasil",
    "Agência Lusa": "Lusa|LUSA",
    "Agerpres": "Agerpres|AGERPRES",
    "Anadolu": "AA|Anadolu|Anadolu Agency|Anadolu Ajansı|ANADOLU",
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
CANONICAL = {alias: name for name, aliases in AGENCIES.items() for alias in aliases.split("|") if "[" not in alias}
CANONICAL |= dict.fromkeys(
    ("Agence France-Presse", "Agence France Presse", "AGENCE FRANCE-PRESSE", "AGENCE FRANCE PRESSE"), "AFP"
)
_SPELLINGS = "|".join(sorted((re.escape(alias) for alias in CANONICAL), key=len, reverse=True))
AGENCY_PATTERN = rf"(?P<agency>{_SPELLINGS})(?![\w-])"

_BY = re.compile(r"^\W*(?:by|from|von|par|por|di|door|source)[\s:]+", re.IGNORECASE)
_WRITER = re.compile(rf"{AGENCY_PATTERN}\s(?:[A-Z]\w+\s){{0,4}}(?:Writer|Reporter|Correspondent|Editor|Staff)s?")


def agency_named(name: str) -> str:
    """Return the agency of this name, or of this agency writer; empty for any other name."""
    name = _BY.sub("", name).strip(" .-–—/")
    if name in CANONICAL:
        return CANONICAL[name]
    writer = _WRITER.fullmatch(name)
    return CANONICAL[writer["agency"]] if writer else ""
