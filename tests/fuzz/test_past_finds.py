"""What was once found, smallest form: each with the name of what it broke."""

from __future__ import annotations

import gzip
import io

import pytest

from articles.extraction.names import _ADDRESS
from articles.files.records import UnreadableFileError
from articles.normalization.urls import canonicalize_url
from articles.numbers import read_number
from crawlers.listings.lists import read_list
from tests.fuzz.effort import timed
from tests.site.test_rights import client_of

PACKED = gzip.compress(b"http://paper.example/a\n" * 90, mtime=0)


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("broke", "address", "status"),
    [
        ("the page that compares two articles, with 500", f"/compare/?left={'9' * 4301}&right=1", 200),
        ("the form for a new profile, with 500", f"/profiles/new/?copy={'9' * 4301}", 200),
        ("the page of an article, with 500", f"/articles/{2**63}/", 404),
    ],
)
def test_requests(broke: str, address: str, status: int) -> None:
    assert client_of("superuser").get(address).status_code == status, broke


@pytest.mark.parametrize(
    ("broke", "body"),
    [
        ("crawl --urls, by a wrong checksum, with a traceback", PACKED[:-8] + b"\0\0\0\0" + PACKED[-4:]),
        ("crawl --urls, by a file that is cut off, with a traceback", PACKED[:-9]),
        ("crawl --urls, by damaged data, with a traceback", PACKED[:12] + b"\xff\xff" + PACKED[14:]),
    ],
)
def test_lists_of_links(broke: str, body: bytes) -> None:
    with pytest.raises(UnreadableFileError, match="get a complete copy"):
        list(read_list(io.BytesIO(body)))
    assert broke


def test_a_password_in_a_list_of_links_was_shown_with_the_fault() -> None:
    (listed,) = read_list(io.BytesIO(b"http://mara:pw7kq@[x]/a\n"))
    assert "pw7kq" not in listed.fault
    assert listed.fault
    (listed,) = read_list(io.BytesIO(b"http://mara:pw7kq@paper.example/a\n"))
    assert listed.url == "http://paper.example/a"


def test_a_user_name_made_another_article_of_a_url() -> None:
    assert canonicalize_url("http://mara@paper.example/a") == canonicalize_url("http://paper.example/a")


def test_a_byline_of_many_at_signs_took_cubic_time() -> None:
    row = "@" * 20_000
    assert (
        timed(0.5, lambda: _ADDRESS.sub("", f"{row} Liv Dahl <a.b@c.example>, l@d@e.f.g! x@y. .@"))
        == f"{row} Liv Dahl   x@y. .@"
    )


def test_a_number_of_digits_of_other_scripts_was_read() -> None:
    assert read_number("²") is None
