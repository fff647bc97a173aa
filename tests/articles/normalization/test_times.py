"""Days and times of publication as their sources write them, and headlines with markup."""

import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from articles.normalization import times
from articles.normalization.text import plain_text


@pytest.mark.parametrize(
    ("text", "iso", "in_utc"),
    [
        ("2024-04-03T18:30:00+02:00", "2024-04-03T18:30:00+02:00", "2024-04-03T16:30:00"),
        ("2024-04-03T18:30+0200", "2024-04-03T18:30+02:00", "2024-04-03T16:30:00"),
        ("2024-04-03 18:30:05.123 -05", "2024-04-03T18:30:05-05:00", "2024-04-03T23:30:05"),
        ("2024-04-03T23:30:00-05:30", "2024-04-03T23:30:00-05:30", "2024-04-04T05:00:00"),
        ("20240403T183000Z", "2024-04-03T18:30:00+00:00", "2024-04-03T18:30:00"),
        ("2024/4/3 8:30 UTC", "2024-04-03T08:30+00:00", "2024-04-03T08:30:00"),
        ("2024-04-03T18:30", "2024-04-03T18:30", "2024-04-03T18:30:00"),
        ("2024-04-03T00:00:00", "2024-04-03T00:00:00", "2024-04-03T00:00:00"),
        ("2024-04-03T18:30:00-00:00", "2024-04-03T18:30:00", "2024-04-03T18:30:00"),
        ("2024-04-03T18:30:00+02:00[Europe/Berlin]", "2024-04-03T18:30:00+02:00", "2024-04-03T16:30:00"),
        ("1712161800", "2024-04-03T16:30:00+00:00", "2024-04-03T16:30:00"),
        ("1712161800999.5", "2024-04-03T16:30:00+00:00", "2024-04-03T16:30:00"),
        ("Wed, 03 Apr 2024 18:30:00 +0200", "2024-04-03T18:30:00+02:00", "2024-04-03T16:30:00"),
        ("Wednesday, 3 April 2024 18:30 EST", "2024-04-03T18:30-05:00", "2024-04-03T23:30:00"),
        ("3 Apr 2024 18:30:00 GMT (Greenwich)", "2024-04-03T18:30:00+00:00", "2024-04-03T18:30:00"),
        ("Wed Apr 03 2024 18:30:05 GMT+0530 (India)", "2024-04-03T18:30:05+05:30", "2024-04-03T13:00:05"),
        ("Wed, 03 Apr 24 18:30 PDT", "2024-04-03T18:30-07:00", "2024-04-04T01:30:00"),
        ("Wed, 03 Apr 2024 18:30:00 CET", "2024-04-03T18:30:00", "2024-04-03T18:30:00"),
        ("Wed, 03 Apr 2024 18:30:00 -0000", "2024-04-03T18:30:00", "2024-04-03T18:30:00"),
        ("Wed, 03 Apr 2024 18:30:00", "2024-04-03T18:30:00", "2024-04-03T18:30:00"),
        # Of a leap second the minute is kept.
        ("2016-12-31T23:59:60Z", "2016-12-31T23:59+00:00", "2016-12-31T23:59:00"),
        ("Sat, 31 Dec 2016 23:59:60 GMT", "2016-12-31T23:59+00:00", "2016-12-31T23:59:00"),
    ],
)
def test_a_time_keeps_its_zone_and_its_precision(text: str, iso: str, in_utc: str) -> None:
    time = times.written_time(text)
    assert time is not None
    assert str(time) == iso
    assert time.at == datetime.datetime.fromisoformat(f"{in_utc}+00:00")
    assert times.written_time(iso) == time
    # It is the time of its own day alone.
    day = time.local.date()
    assert [times.possible_time(text, day), times.possible_time(text, day + datetime.timedelta(days=1))] == [time, None]


def test_what_names_no_time_has_none() -> None:
    texts = ["", "18:30", "yesterday", "2024-04-03", "20240403", "2024-04-03T", "2024-04-03T18", "2024-04-03 06:30 PM"]
    texts += ["2024-04-03T18:30+02:00 or so", "Wed, 03 Apr 2024", "2024-04-03T18:30" + " " * 90]
    assert [text for text in texts if times.written_time(text) is not None] == []


@pytest.mark.parametrize(
    "text",
    [
        "2024-02-30T10:00:00Z",
        "2024-04-03T25:00:00Z",
        "2024-04-03T18:61Z",
        "2024-04-03T18:30:61Z",
        "0000-01-01T00:00:00Z",
        "0001-01-01T00:00:00+01:00",
        "9999-12-31T23:59:59-01:00",
        "2024-04-03T18:30:00+26:00",
        "2024-04-03T18:30:00-16:00",
        "2024-04-03T18:30:00+02:60",
        "Fri, 30 Feb 2024 10:00:00 GMT",
        "Wed, 03 Foo 2024 18:30:00 GMT",
        "Wed, 03 Apr 2024 18:30:00 +2600",
        "Wed, 03 Apr 2024 18:30:00 +9999",
    ],
)
def test_a_time_that_does_not_exist_is_an_error(text: str) -> None:
    with pytest.raises(times.ImpossibleTimeError):
        times.written_time(text)
    assert times.possible_time(text, datetime.date(2024, 4, 3)) is None


def test_people_read_the_clock_and_the_zone() -> None:
    shown = [times.written_time(f"2024-04-03T18:30{rest}") for rest in ("", ":05Z", "-05:30", ":00+02:00")]
    assert [(time.clock, time.zone) for time in shown if time] == [
        ("18:30", "(time zone unknown)"),
        ("18:30:05", "UTC"),
        ("18:30", "UTC-05:30"),
        ("18:30:00", "UTC+02:00"),
    ]


@given(
    local=st.datetimes().filter(lambda moment: 2 <= moment.year <= 9998),
    offset=st.none() | st.integers(-times.MAX_OFFSET_MINUTES, times.MAX_OFFSET_MINUTES),
    precision=st.sampled_from([times.Precision.MINUTE, times.Precision.SECOND]),
)
def test_every_time_is_read_as_it_was_written(local, offset, precision) -> None:
    time = times.PublicationTime.of(local, offset, precision)
    assert times.written_time(str(time)) == time
    assert time.local.date() == local.date()


# ---- order ----------------------------------------------------------------------------------------

DAYS = st.dates(datetime.date(2026, 3, 2), datetime.date(2026, 3, 4))
CLOCKS = st.none() | st.integers(0, 5).map(lambda hour: datetime.datetime(2026, 3, 2, hour, tzinfo=datetime.UTC))


@given(st.dictionaries(st.integers(1, 50), st.tuples(DAYS, CLOCKS), max_size=12))
def test_the_order_is_by_day_then_by_time_where_both_have_one_else_by_id(articles) -> None:
    order = times.publication_order((number, *dated) for number, dated in articles.items())
    assert sorted(order) == sorted(articles)
    assert [articles[number][0] for number in order] == sorted(day for day, _ in articles.values())
    for day in {day for day, _ in articles.values()}:
        of_day = [number for number in order if articles[number][0] == day]
        untimed = [number for number in of_day if articles[number][1] is None]
        timed = [number for number in of_day if articles[number][1] is not None]
        assert untimed == sorted(untimed)
        assert timed == sorted(timed, key=lambda number: (articles[number][1], number))
        # The articles without a time are where their ids put them.
        untimed, by_number = ([articles[n][1] is None for n in order] for order in (of_day, sorted(of_day)))
        assert untimed == by_number


@pytest.mark.parametrize(
    ("time", "than", "later"),
    [
        ("2026-03-02T18:31Z", "2026-03-02T18:30Z", True),
        ("2026-03-02T18:30Z", "2026-03-02T18:31Z", False),
        ("2026-03-02T18:30Z", "2026-03-02T18:30Z", False),
        ("2026-03-02T18:30:01Z", "2026-03-02T18:30:00Z", True),
        ("2026-03-02T18:30:59Z", "2026-03-02T18:30Z", False),
        ("2026-03-02T18:30-05:00", "2026-03-02T18:31Z", True),
        ("2026-03-02T18:31", "2026-03-02T18:30", True),
        ("2026-03-02T18:31", "2026-03-02T18:30Z", False),
        ("2026-03-02T18:31Z", "", False),
        ("", "2026-03-02T18:31Z", False),
    ],
)
def test_a_time_is_later_only_if_that_is_certain(time: str, than: str, later: bool) -> None:
    assert times.is_later(times.written_time(time), times.written_time(than)) == later


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
    assert times.parse_day(value) == datetime.date.fromisoformat(day)


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
    with pytest.raises(times.UnreadableDayError) as refusal:
        times.parse_day(value)
    assert str(refusal.value) == f"{fault}; {times.DATE_FORMS}"


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
