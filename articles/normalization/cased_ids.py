"""Where the case of a URL's letters distinguishes stories: short links, and ids of random letters."""

import re
from urllib.parse import quote, unquote

# Sites whose whole path is an id in base 62 or 64: link shorteners, and sites that share single posts.
# Each makes its ids of the capital and small letters and the digits, as its short links show.
_HOSTS = (
    "amzn.to apne.ws bbc.in bit.ly bitly.com bl.ink bloom.bg buff.ly cnb.cx cnn.it cutt.ly db.tt dlvr.it "
    "econ.st fb.me fb.watch flic.kr flip.it ft.trib.al goo.gl gu.com hubs.la hubs.ly ift.tt imgur.com "
    "instagram.com instagr.am interc.pt is.gd j.mp lat.ms lnkd.in mol.im n.pr nyp.st nyti.ms on.ft.com "
    "on.wsj.com ow.ly pastebin.com pin.it politi.co qr.ae rb.gy rebrand.ly reut.rs sco.lt shar.es shorturl.at "
    "slate.me spoti.fi spr.ly streamable.com t.co t.ly telegra.ph theatln.tc threads.net vm.tiktok.com "
    "vt.tiktok.com tmblr.co trib.al usat.ly v.gd vk.cc wapo.st wp.me youtu.be zpr.io"
)
_OF_IDS = frozenset(_HOSTS.split())
_ID = re.compile("[A-Za-z0-9]{5,64}")
_BETWEEN_WORDS = re.compile("[^A-Za-z0-9]+")
_CHUNK = re.compile("[A-Z]?[a-z]+|[A-Z]+|[0-9]+")
# Words in camel case are longer. Among random letters and digits, every second one or more begins a chunk.
_LEAST_CHUNKS, _LONGEST_CHUNK = 3, 2.5
# Letters of other scripts, and single escapes.
_ESCAPED_TEXT = re.compile("(?:%[89a-f][0-9a-f])+|%[0-7][0-9a-f]")


def lower_part(part: str) -> str:
    """Return a part of a URL in lower case, except ids of random letters: /p/CxYz12AbQ stays as it is.

    Escaped letters become lower-case too, and the digits of escapes upper-case.
    """
    lower = part.lower()
    if lower != part:
        lower = "".join(_lower_piece(piece) for piece in re.split("([/?&=;.,+])", part))
    return _ESCAPED_TEXT.sub(_lower_escaped, lower) if "%" in lower else lower


def has_cased_ids(host: str, site: str) -> bool:
    """Return whether the case distinguishes all paths of a site."""
    return site in _OF_IDS or host in _OF_IDS


def _lower_piece(piece: str) -> str:
    return piece if any(map(_is_random, _BETWEEN_WORDS.split(piece))) else piece.lower()


def _is_random(word: str) -> bool:
    """Return whether a word without separators has letters of both cases in no order."""
    if word.islower() or word.isupper() or not _ID.fullmatch(word):
        return False
    chunks = _CHUNK.findall(word)
    return len(chunks) >= _LEAST_CHUNKS and len(word) / len(chunks) < _LONGEST_CHUNK


def _lower_escaped(escaped: re.Match[str]) -> str:
    try:
        return quote(unquote(escaped[0], errors="strict").lower(), safe="")
    except UnicodeDecodeError:
        return escaped[0].upper()
