"""Numbers that no row can have, in every address and in the fields that name a row."""

from __future__ import annotations

from urllib.parse import quote

import pytest

from articles.models import Newspaper
from articles.numbers import MAX_NUMBER, read_number
from tests.addresses import addresses
from tests.site.test_rights import client_of

# Python reads no number with more than 4,300 digits.
LONG = "9" * 4301
TOO_HIGH = (str(MAX_NUMBER + 1), "9" * 4300, LONG)


@pytest.mark.parametrize(
    ("text", "number"),
    [("0", 0), ("007", 7), ("0" * 5000 + "7", 7), (str(MAX_NUMBER), MAX_NUMBER), (str(MAX_NUMBER + 1), None),
     (LONG, None), ("", None), ("-1", None), ("+1", None), ("1_000", None), (" 1", None),
     ("٣", None), ("²", None), ("1.0", None)],
)  # fmt: skip
def test_the_number_that_a_text_is(text: str, number: int | None) -> None:
    assert read_number(text) == number


def test_a_number_has_bounds() -> None:
    assert [read_number(text, least=1, most=3) for text in "01234"] == [None, 1, 2, 3, None]


@pytest.mark.slow
@pytest.mark.django_db
def test_no_address_fails_at_a_number_that_no_row_can_have() -> None:
    client = client_of("superuser")
    asked, wrong = 0, []
    for address in addresses():
        if "int" not in dict(address.places()) or "api" in address.namespaces:
            continue
        for number in TOO_HIGH:
            url = address.url(int=number)
            for method in ("GET", "POST") if address.rule and address.rule.is_form else ("GET",):
                asked += 1
                status = client.generic(method, url).status_code
                if status != 404:
                    wrong.append((method, address.route, len(number), status))
    assert wrong == []
    assert asked > 300


@pytest.mark.django_db
def test_the_row_with_the_highest_number_has_its_page() -> None:
    paper = Newspaper.objects.create(pk=MAX_NUMBER, name="Harbour Post", host="harbourpost.example")
    assert "Harbour Post" in client_of("viewer").get(f"/crawls/{paper.pk}/").content.decode()


@pytest.mark.django_db
@pytest.mark.parametrize("number", TOO_HIGH)
def test_no_field_fails_at_a_number_that_no_row_can_have(number: str) -> None:
    client = client_of("superuser")
    for address in (
        f"/compare/?left={number}&right={number}",
        f"/articles/?q={number}",
        f"/profiles/new/?copy={number}",
        f"/queue/?page={number}",
        f"/stories/?papers={number}",
        f"/pairs/1/?back={number}",
        f"/history/?page={quote('²')}",
        f"/admin/articles/article/{number}/change/",
        f"/admin/articles/article/?p={number}",
    ):
        assert client.get(address).status_code < 500, address
