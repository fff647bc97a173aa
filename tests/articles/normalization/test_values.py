"""Days in their accepted formats, and headlines without markup."""

from __future__ import annotations

import datetime

import pytest

from articles.normalization.values import DATE_FORMS, UnreadableDayError, parse_day, plain_text


@pytest.mark.parametrize(
    ("value", "day"),
    [
        ("2024-04-03", "2024-04-03"),
        (" 2024-04-03 \n", "2024-04-03"),
        ("20240403", "2024-04-03"),
        ("2024-04-03T23:30:00Z", "2024-04-03"),
        ("2024-04-03T23:30:00-08:00", "2024-04-03"),
        ("2024-04-03T00:10+0530", "2024-04-03"),
        ("20240403T101112Z", "2024-04-03"),
        ("2024-04-03 23:30:00", "2024-04-03"),
        ("2024-04-03 23:30:00.123456789 UTC", "2024-04-03"),
        ("2024-04-03 23:30:00 +0200", "2024-04-03"),
        ("2024-02-29T10:00:00,5Z", "2024-02-29"),
        ("Wed, 03 Apr 2024 18:30:00 +0200", "2024-04-03"),
        ("Wed, 3 Apr 2024 23:59:59 GMT", "2024-04-03"),
        ("3 Apr 2024 18:30", "2024-04-03"),
        ("1394470370", "2014-03-10"),
        ("1394470370.75", "2014-03-10"),
        ("1394470370698", "2014-03-10"),
        ("1712188799", "2024-04-03"),
        ("1712188800", "2024-04-04"),
        ("100000000", "1973-03-03"),
    ],
)
def test_a_day_is_read_in_its_own_time_zone(value: str, day: str) -> None:
    assert parse_day(value) == datetime.date.fromisoformat(day)


@pytest.mark.parametrize(
    ("value", "fault"),
    [
        ("", "date is missing"),
        (" \t", "date is missing"),
        ("03/04/2024", "date '03/04/2024' is ambiguous, because the order of day and month differs between countries"),
        ("3.4.24", "date '3.4.24' is ambiguous, because the order of day and month differs between countries"),
        (
            "03-04-2024 10:00",
            "date '03-04-2024 10:00' is ambiguous, because the order of day and month differs between countries",
        ),
        ("2024-02-30", "date '2024-02-30' does not exist (day is out of range for month)"),
        ("2024-13-01", "date '2024-13-01' does not exist (month must be in 1..12)"),
        ("2024-04-03T25:00", "date '2024-04-03T25:00' does not exist (hour must be in 0..23)"),
        ("0000-01-01", "date '0000-01-01' does not exist (year 0 is out of range)"),
        (
            "Wed, 31 Apr 2024 18:30:00 +0200",
            "date 'Wed, 31 Apr 2024 18:30:00 +0200' does not exist (day is out of range for month)",
        ),
        ("2024", "date '2024' cannot be read"),
        ("2024-04", "date '2024-04' cannot be read"),
        ("2024-W14-3", "date '2024-W14-3' cannot be read"),
        ("April 3, 2024", "date 'April 3, 2024' cannot be read"),
        ("yesterday", "date 'yesterday' cannot be read"),
        ("3 Apr 24 18:30", "date '3 Apr 24 18:30' cannot be read"),
        ("12345678901", "date '12345678901' cannot be read"),
        ("1394470370698000", "date '1394470370698000' cannot be read"),
        ("-1394470370", "date '-1394470370' cannot be read"),
        ("2024-04-03Tnoon", "date '2024-04-03Tnoon' cannot be read"),
        ("٢٠٢٤-٠٤-٠٣", "date '٢٠٢٤-٠٤-٠٣' cannot be read"),
        ("x" * 200, f"date '{'x' * 100}' cannot be read"),
    ],
)
def test_an_ambiguous_day_is_refused_with_the_accepted_formats(value: str, fault: str) -> None:
    with pytest.raises(UnreadableDayError) as refusal:
        parse_day(value)
    assert str(refusal.value) == f"{fault}; {DATE_FORMS}"


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("Plain  words\n here ", "Plain words here"),
        ("Aid in <b>March</b>: R&amp;D &#39;cut&#39;&nbsp;...", "Aid in March: R&D 'cut' ..."),
        ("H<sub>2</sub>O<br>and<BR/>ice <a href='x'>here</a>", "H2O and ice here"),
        ("One &lt;b&gt; stays", "One <b> stays"),
        ("for x<y and y>z, mail <desk@paper.example>", "for x<y and y>z, mail <desk@paper.example>"),
        ("AT&T, Fish&copycat &unknown; & more", "AT&T, Fish&copycat &unknown; & more"),
        ("&#0;&#xD800;", "\ufffd\ufffd"),
        ("<b " * 5, ("<b " * 5).strip()),
    ],
)
def test_a_headline_is_read_without_markup(markup: str, text: str) -> None:
    assert plain_text(markup) == text
