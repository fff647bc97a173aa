"""Days as people write them. No network, no database."""

import datetime

import pytest
from babel.dates import format_date

from articles.extraction.written_dates import LANGUAGES, Place, place_of, proven_order, usual_order, written_days

MAY_3 = datetime.date(2024, 5, 3)
MARCH_5 = datetime.date(2024, 3, 5)
NOWHERE = Place()


def days(text: str, place: Place = NOWHERE) -> list[datetime.date]:
    return [found.day for found in written_days(text, place)]


@pytest.mark.parametrize("language", LANGUAGES)
def test_months_are_read_in_all_languages_and_never_wrongly_without_the_language(language: str) -> None:
    for month in range(1, 13):
        day = datetime.date(2024, month, 3)
        written = format_date(day, "long", locale=language)
        own = days(written, Place(language.split("_", maxsplit=1)[0]))
        assert own[:1] == ([] if language == "mn" else [day]), written  # Mongolian counts its months in words
        assert days(written)[:1] in ([], [day]), written


@pytest.mark.parametrize(
    "text",
    [
        "3rd of May, 2024", "May 3rd, 2024", "03-May-2024", "Fri 3 MAY 2024, 10:15", "1. Stand: 3. Mai 2024, 06:00 Uhr",
        "3 de mayo del 2024", "3 d’maig 2024", "2024. május 3., péntek", "2024 m. gegužės 3 d.", "2024. gada 3. maijs",
        "2024年5月3日", "2024년 5월 3일", "ngày 3 tháng 5 năm 2024", "3 พ.ค. 2567", "३ मई २०२४", "3.5.2024", "03.05.24",
        "2024/05/03",
    ],
)  # fmt: skip
def test_days_are_read_in_their_usual_forms(text: str) -> None:
    assert days(text) == [MAY_3]


@pytest.mark.parametrize(
    "text", ["31 April 2024", "version 3.5.2024.1", "13/13/2024", "3 boats 2024", "at 10:03 May 2024:"]
)
def test_what_is_not_a_day_is_not_read(text: str) -> None:
    assert days(text) == []


def test_a_month_that_means_two_counts_only_in_its_language() -> None:
    # In Czech it is November, in Croatian October.
    assert days("3. listopad 2024") == []
    assert days("3. listopad 2024", Place("cs")) == [datetime.date(2024, 11, 3)]
    assert days("3. listopad 2024", Place("hr")) == [datetime.date(2024, 10, 3)]


@pytest.mark.parametrize(
    ("locale", "host", "day_first"),
    [
        ("en", "fjordbladet.example", False),
        ("en-US", "fjordbladet.example", False),
        ("en-GB", "fjordbladet.example", True),
        ("en-US", "fjordbladet.co.uk", True),
        ("en-US", "fjordbladet.lk", True),
        ("en-US", "fjordbladet.io", False),
        ("de", "fjordbladet.com", True),
        ("es-MX", "fjordbladet.com", True),
        ("", "fjordbladet.example", True),
    ],
)
def test_the_order_of_numbers_is_that_of_the_place(locale: str, host: str, *, day_first: bool) -> None:
    place = place_of(locale, host)
    assert usual_order(place) is day_first
    found = next(written_days("03/05/2024", place))
    assert (found.day, found.other) == ((MAY_3, MARCH_5) if day_first else (MARCH_5, MAY_3))
    # Where only one order is possible, it is that one everywhere.
    assert days("13/05/2024 05/13/2024 03.05.2024", place) == [datetime.date(2024, 5, 13)] * 2 + [MAY_3]


def test_other_dates_prove_the_order() -> None:
    texts = ("03/05/2024, 25/12/2023", "03/05/2024, 12/25/2023", "25/12/2023, 12/25/2023", "03/05/2024, 45/12/2023")
    assert [proven_order(text) for text in texts] == [True, False, None, None]
