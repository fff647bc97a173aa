"""Reads the names of people and news agencies in bylines, and leaves out desks, roles and sites. Pure."""

import re
from collections.abc import Iterator, Sequence

from articles.loading import words_for

# Each spelling in bylines with the name that is stored.
CANONICAL = {
    spelling: name for name, spellings in words_for(__file__, "agencies").items() for spelling in spellings.split("|")
}
_SPELLINGS = "|".join(sorted((re.escape(alias) for alias in CANONICAL), key=len, reverse=True))
AGENCY_PATTERN = rf"(?P<agency>{_SPELLINGS})(?![\w-])"

_AGENCY_BY = re.compile(r"^\W*(?:by|from|von|par|por|di|door|source)[\s:]+", re.IGNORECASE)
_WRITER = re.compile(rf"{AGENCY_PATTERN}\s(?:[A-Z]\w+\s){{0,4}}(?:Writer|Reporter|Correspondent|Editor|Staff)s?")


def agency_named(name: str) -> str:
    """Return the agency of this name, or of this agency writer; empty for any other name."""
    name = _AGENCY_BY.sub("", name).strip(" .-–—/")
    if name in CANONICAL:
        return CANONICAL[name]
    writer = _WRITER.fullmatch(name)
    return CANONICAL[writer["agency"]] if writer else ""


MAX_AUTHORS = 10
MAX_AUTHOR_CHARACTERS = 80
MAX_BYLINE_CHARACTERS = 10 * MAX_AUTHOR_CHARACTERS
MAX_NAME_WORDS = 6

_WORDS = words_for(__file__)
_BY = re.compile(_WORDS["by"], re.IGNORECASE)
_BETWEEN = re.compile(_WORDS["between"])
# Organisations may have such a sign in their names.
_BETWEEN_ORGANISATIONS = re.compile(r"\s*[,;|]\s*")
# From the first @ of a word to the first full stop after it: going back for others takes seconds in a long row of @.
_ADDRESS = re.compile(r"(?<!\S)[^\s@]*@[^\s.]*\.\S+")
_REMARK = re.compile(r"\s*[(\[（【][^()\[\]（）【】]*[)\]）】]\s*$")
_PLACE = re.compile(r"(?<=\w\s\w)(\w*)\s(?:in|aus|à|a|em|from)\s[^\W\d_a-z][\w\s.,'’-]*$")
_REPORTER_AFTER = re.compile(r"\s*(?:기자|특파원|선임기자|記者|记者|報道|报道|통신원)$")
_PARTICLES = _WORDS["particles"]
PERSON_WORD = re.compile(rf"(?:[^\W\d_a-zß-öø-ÿ][\w'’.-]*|{_PARTICLES}|(?:d|l|al|el|o)['’-]\w+)")
# Scripts that write a name without blanks.
_JOINED_NAME = re.compile(r"[\u3400-\u9fff\u3041-\u30ff]{2,6}|[\uac00-\ud7a3]{2,4}")
_NOT_A_NAME = re.compile(r"\b(?:https?|www)\b|[@<>{}=|\d]|[.!?]\s\S+\s\S+\s|^\W*$", re.IGNORECASE)
_NOBODY = re.compile(_WORDS["nobody"], re.IGNORECASE)
_DESK = re.compile(_WORDS["desk"], re.IGNORECASE)
_ROLE = re.compile(_WORDS["role"], re.IGNORECASE)
_TITLE = re.compile(r"[A-Z][A-Za-z]{0,3}[A-Z]|[JS]r\.?|(?:[A-Z][a-z]?\.){2,4}|Dr\.?|Esq\.?")
_LABEL = re.compile(_WORDS["label"], re.IGNORECASE)


def person_names(values: Sequence[str], sites: Sequence[str] = (), *, certain: bool = False) -> list[str]:
    """Return the people whom the bylines name, in their order, each once.

    `sites` are names of the site, which nobody is called. With `certain`, a name must look like one: at least two
    words in capitals, or few characters of a script that writes names without blanks. Without it, a byline is trusted.
    """
    people = (name for name in _parts(values) if _is_person(name, sites) and (not certain or looks_like_person(name)))
    return list(dict.fromkeys(people))[:MAX_AUTHORS]


def organisation_names(values: Sequence[str]) -> list[str]:
    """Return the organisations, desks and initials that the bylines name, as they are written."""
    parts = (part for value in values for part in _BETWEEN_ORGANISATIONS.split(_BY.sub("", _cut(value))))
    names = (name for part in parts if 1 < len(name := part.strip(" -–—•·*")) <= MAX_AUTHOR_CHARACTERS)
    named = (name for name in names if not _NOBODY.fullmatch(name) and not _NOT_A_NAME.search(name))
    return list(dict.fromkeys(named))[:MAX_AUTHORS]


def byline_parts(value: str) -> list[str]:
    """Return the pieces of a byline between its commas, slashes and conjunctions."""
    return [part for part in _BETWEEN.split(_cut(value)) if part]


def looks_like_person(name: str) -> bool:
    """Return whether a text that nothing marks as a name is one, by its words."""
    if _JOINED_NAME.fullmatch(name):
        return True
    words = name.split()
    if not 1 < len(words) < MAX_NAME_WORDS or words[-1].islower() or _LABEL.search(name) or _ROLE.search(name):
        return False
    return sum(not word.islower() for word in words) > 1 and all(map(PERSON_WORD.fullmatch, words))


def squash(name: str) -> str:
    """Return the letters and digits of a name, without case."""
    return "".join(filter(str.isalnum, name.casefold()))


def _parts(values: Sequence[str]) -> Iterator[str]:
    """Yield what may be a name. A role, a title such as PhD or a place counts only if it is all that a byline has."""
    for value in values:
        known = [part for piece in _BETWEEN.split(_BY.sub("", _cut(value))) if (part := _bare(piece))]
        people = [part for part in known if not _ROLE.search(part) and not _TITLE.fullmatch(part)]
        full = [part for part in people if " " in part or _JOINED_NAME.fullmatch(part)]
        yield from full or people or known


def _bare(part: str) -> str:
    """Return the name without an address, a remark in brackets, a place and what reporters are called."""
    part = _REMARK.sub("", _ADDRESS.sub("", part)).strip(" -–—|•·*.【】[]()")
    return _REPORTER_AFTER.sub("", _PLACE.sub(r"\1", _BY.sub("", part))).strip(" -–—|•·*.")


def _cut(value: str) -> str:
    return value if len(value) <= MAX_BYLINE_CHARACTERS else ""


def _is_person(name: str, sites: Sequence[str]) -> bool:
    if not 1 < len(name) <= MAX_AUTHOR_CHARACTERS or name[0].islower() or len(name.split()) > MAX_NAME_WORDS:
        return False
    if _NOT_A_NAME.search(name) or _NOBODY.fullmatch(name) or _DESK.fullmatch(name) or agency_named(name):
        return False
    own = squash(name)
    return not any(own == squash(site) for site in sites)
