"""What tests read from a page: values, because its words may be bettered."""

from __future__ import annotations

import html
import re


def notices(page: str) -> list[tuple[str, list[str]]]:
    """Return the kind of each message above a page, with the numbers and the quoted words that it names."""
    found = re.findall(r'class="notice notice-(\w+)" role="\w+">\s*<span>(.*?)</span>', page, re.DOTALL)
    return [(kind, re.findall(r"“[^”]*”|\d+(?:,\d{3})*", html.unescape(text))) for kind, text in found]


# A number of one before a noun of many: "1 days".
ONE_OF_MANY = re.compile(
    r"(?<![\d.,:/-])1 (?:answers|articles|characters|clusters|copies|days|decisions|editors|hours|links|minutes|months"
    r"|newspapers|pages|pairs|questions|rows|runs|seconds|sentences|shingles|weeks|words)\b"
)
