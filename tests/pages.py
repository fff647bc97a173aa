"""What tests read from a page: values, because its words may be bettered."""

import html
import re
from typing import Any

from django.test import Client
from django.urls import reverse


def opened(client: Client, page: str, /, *numbers: object, **query: Any) -> str:
    """Return the page of this name, which is there, as HTML."""
    return text_of(client, reverse(page, args=numbers), **query)


def listed(client: Client, page: str, /, **query: Any) -> list[int]:
    """Return the numbers of the rows of a list, in order."""
    return [int(number) for number in re.findall(r'row-link" href="/\w+/(\d+)/', opened(client, page, **query))]


def text_of(client: Client, address: str, status: int = 200, /, **query: Any) -> str:
    """Return the page at an address, which is answered with this status, as HTML."""
    answer = client.get(address, query)
    assert answer.status_code == status
    return answer.content.decode()


def notices(page: str) -> list[tuple[str, list[str]]]:
    """Return the kind of each message above a page, with the numbers and the quoted words that it names."""
    found = re.findall(r'class="notice notice-(\w+)" role="\w+">\s*<span>(.*?)</span>', page, re.DOTALL)
    return [(kind, re.findall(r"“[^”]*”|\d+(?:,\d{3})*", html.unescape(text))) for kind, text in found]


# A number of one before a noun of many: "1 days".
ONE_OF_MANY = re.compile(
    r"(?<![\d.,:/-])1 (?:answers|articles|characters|clusters|copies|days|decisions|editors|hours|links|minutes|months"
    r"|newspapers|pages|pairs|questions|rows|runs|seconds|sentences|shingles|weeks|words)\b"
)
