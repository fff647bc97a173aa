"""Names and numbers as charts and XML files have them. Pure."""

from __future__ import annotations

import re

# Longer names take more room than the drawing.
MOST_CHARACTERS = 28
# What XML 1.0 does not allow: https://www.w3.org/TR/xml/#charsets.
_NOT_IN_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
# What changes the direction of the text around it.
_DIRECTIONS = re.compile("[\u200e\u200f\u061c\u202a-\u202e\u2066-\u2069]")


def xml_text(text: str) -> str:
    """Return a text without what an XML file must not have; each such character becomes U+FFFD."""
    return _NOT_IN_XML.sub("\ufffd", text)


def drawn_name(name: str) -> str:
    """Return a name for a chart: one line without marks of direction, shortened with an ellipsis."""
    line = " ".join(_DIRECTIONS.sub("", xml_text(name)).split())
    return line if len(line) <= MOST_CHARACTERS else f"{line[: MOST_CHARACTERS - 1].rstrip()}…"
