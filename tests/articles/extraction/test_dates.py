"""Which day is believed, and when it is doubtful. No network; today is an argument."""

# ruff: noqa: E501 - a line is a case

import datetime

import pytest

from articles.extraction.dates import url_day
from articles.extraction.extract import ExtractedArticle, extract_article
from tests.articles.extraction.test_authors import linked

TODAY = datetime.date(2024, 6, 1)
URL = "https://fjordbladet.example/ferry"
GUESS = "guessed from the text of the page"
OR_MARCH = "or 2024-03-05, because day and month may be in the other order"
TEXT = "<p>The old ferry across the sound made its last crossing on Friday, and half the island stood on the quay.</p>"


def extracted(head: str = "", url: str = URL, body: str = TEXT) -> ExtractedArticle:
    source = f"<html><head>{head}</head><body><article>{body}</article></body></html>"
    return extract_article(source.encode(), url, today=TODAY)


def meta(day: str, name: str = "article:published_time") -> str:
    return f'<meta property="{name}" content="{day}">'


@pytest.mark.parametrize(
    ("head", "url", "day", "source", "doubt"),
    [
        (linked(datePublished="2024-05-03"), URL, "2024-05-03", "json-ld", ""),
        (linked(datePublished="2024-05-03") + meta("2024-05-04T01:00Z"), URL, "2024-05-03", "json-ld", ""),
        (linked(datePublished="2024-05-03") + meta("2024-05-09"), URL, "2024-05-03", "json-ld", "a meta element says 2024-05-09"),
        (linked(datePublished="2024-05-03"), f"{URL}/2024/05/02/", "2024-05-03", "json-ld", ""),
        (linked(datePublished="2024-05-03"), f"{URL}/2024/04/02/", "2024-05-03", "json-ld", "its URL says 2024-04-02"),
        (linked(datePublished="2024-05-03", dateModified="2024-05-20"), URL, "2024-05-03", "json-ld", ""),
        (linked(datePublished="2024-05-03", dateModified="2024-04-20"), URL, "2024-05-03", "json-ld",
         "it was changed on 2024-04-20, before it was published"),
        (meta("2024-05-03") + meta("2024-04-20", "article:modified_time"), URL, "2024-05-03", "meta",
         "it was changed on 2024-04-20, before it was published"),
        # A possible day wins over impossible ones.
        (linked(datePublished="2062-05-03") + meta("2024-05-03"), URL, "2024-05-03", "meta",
         "its JSON-LD says 2062-05-03, which is impossible"),
        (linked(datePublished="1970-01-01") + meta("2024-05-03"), URL, "2024-05-03", "meta",
         "its JSON-LD says 1970-01-01, which is impossible"),
        (linked(datePublished="1970-01-01"), f"{URL}/2024/05/03/", "2024-05-03", "htmldate",
         "its JSON-LD says 1970-01-01, which is impossible"),
        (linked(datePublished="0001-01-01") + meta("2024-05-03"), URL, "2024-05-03", "meta", ""),
        (linked(datePublished="2024-06-03"), URL, "2024-06-03", "json-ld", ""),
        # An archive: two sources agree.
        (linked(datePublished="1985-05-03") + meta("1985-05-03"), URL, "1985-05-03", "json-ld", "1985-05-03 is before 1990-01-01"),
        (linked(datePublished="1985-05-03"), f"{URL}/1985/05/03/", "1985-05-03", "json-ld", "1985-05-03 is before 1990-01-01"),
        ("", f"{URL}/2024/05/03/", "2024-05-03", "htmldate", ""),
        ("", f"{URL}/2024/may/03/", "2024-05-03", "htmldate", ""),
    ],
)  # fmt: skip
def test_the_likely_day_is_believed_and_the_doubt_names_other_days(
    head: str, url: str, day: str, source: str, doubt: str
) -> None:
    article = extracted(head, url)
    assert (str(article.date), article.date_source, article.date_doubt) == (day, source, doubt)


BEGUN = '<time datetime="{}">Friday</time>' + TEXT


@pytest.mark.parametrize(
    ("head", "body", "time", "source"),
    [
        (linked(datePublished="2024-05-03T18:30:05+02:00"), TEXT, "2024-05-03T18:30:05+02:00", "json-ld"),
        (linked(datePublished="2024-05-03T23:30-05:00"), TEXT, "2024-05-03T23:30-05:00", "json-ld"),
        (linked(datePublished="Fri, 03 May 2024 18:30:00 GMT"), TEXT, "2024-05-03T18:30:00+00:00", "json-ld"),
        (meta("2024-05-03 18:30"), TEXT, "2024-05-03T18:30", "meta"),
        ("", BEGUN.format("2024-05-03T18:30Z"), "2024-05-03T18:30+00:00", "time"),
        # What names the day decides; another source with the same day may add the time.
        (linked(datePublished="2024-05-03T18:30Z") + meta("2024-05-03T18:31Z"), TEXT, "2024-05-03T18:30+00:00", "json-ld"),
        (linked(datePublished="2024-05-03") + meta("2024-05-03T18:30Z"), TEXT, "2024-05-03T18:30+00:00", "meta"),
        (linked(datePublished="2024-05-03"), BEGUN.format("2024-05-03T18:30Z"), "2024-05-03T18:30+00:00", "time"),
        (linked(datePublished="2024-05-03") + meta("2024-05-03T18:30Z"), BEGUN.format("2024-05-03T07:00Z"),
         "2024-05-03T18:30+00:00", "meta"),
        # Not the time of another day, of the writing, or of a later <time>, such as a reader's.
        (linked(datePublished="2024-05-03") + meta("2024-05-04T01:00Z"), TEXT, "None", "json-ld"),
        (linked(datePublished="2024-05-03", dateCreated="2024-05-03T07:00Z"), TEXT, "None", "json-ld"),
        (linked(datePublished="2024-05-03"), BEGUN.format("2024-05-03") + BEGUN.format("2024-05-03T21:00Z"), "None", "json-ld"),
        # An impossible time leaves the day.
        (linked(datePublished="2024-05-03T18:30:00+26:00"), TEXT, "None", "json-ld"),
        (linked(datePublished="2024-05-03T25:30:00Z"), TEXT, "None", "json-ld"),
        (linked(datePublished="2024-05-03T23:59:60Z"), TEXT, "2024-05-03T23:59+00:00", "json-ld"),
    ],
)  # fmt: skip
def test_the_time_is_that_of_the_day(head: str, body: str, time: str, source: str) -> None:
    article = extracted(head, body=body)
    assert (str(article.date), str(article.time), article.date_source) == ("2024-05-03", time, source)


@pytest.mark.parametrize(
    ("head", "doubt"),
    [
        (linked(datePublished="2062-05-03"), "its JSON-LD says 2062-05-03, which is impossible"),
        (linked(datePublished="1970-01-01") + meta("1970-01-01"),
         "its JSON-LD says 1970-01-01, which is impossible; a meta element says 1970-01-01, which is impossible"),
        (linked(datePublished="1985-05-03"), "its JSON-LD says 1985-05-03, which is impossible"),
        ("", ""),
    ],
)  # fmt: skip
def test_an_impossible_day_is_not_believed_and_the_doubt_names_it(head: str, doubt: str) -> None:
    article = extracted(head)
    assert (article.date, article.date_source, article.date_doubt) == (None, None, doubt)


def test_a_day_from_the_text_alone_is_doubted() -> None:
    article = extracted(body=f"<div class='date'>May 3, 2024</div>{TEXT}")
    assert (str(article.date), article.date_source) == ("2024-05-03", "htmldate")
    assert article.date_doubt == GUESS


def test_the_doubt_fits_its_column() -> None:
    head = linked(datePublished="2024-05-03", dateModified="2020-01-01") + meta("2062-05-09")
    assert len(extracted(head + meta("2023-01-01", "date"), f"{URL}/2022/01/01/").date_doubt) <= 200


@pytest.mark.parametrize(
    ("url", "day"),
    [
        ("https://f.example/2024/05/03/ferry", datetime.date(2024, 5, 3)),
        ("https://f.example/news/2024-05-03-ferry", datetime.date(2024, 5, 3)),
        ("https://f.example/news/20240503/ferry", datetime.date(2024, 5, 3)),
        ("https://f.example/2024/13/45/ferry", None),
        ("https://f.example/2024/05/ferry", None),
        ("https://f.example/story-1202405031", None),
        ("https://f.example/?date=2024-05-03", None),
        ("http://[bad", None),
    ],
)
def test_the_day_in_a_url(url: str, day: datetime.date | None) -> None:
    assert url_day(url) == day


@pytest.mark.parametrize(
    ("head", "shown", "url", "day", "doubt"),
    [
        # The page proves the order: by its language, its URL, the future, another date, or another source.
        ('<html lang="de">', "<span>03.05.2024</span>, Lesezeit 5 Min.", URL, "2024-05-03", GUESS),
        ('<html lang="en-GB">', "03/05/2024", URL, "2024-05-03", f"{GUESS}; {OR_MARCH}"),
        ('<html lang="en-US">', "05/03/2024", URL, "2024-05-03", f"{GUESS}; {OR_MARCH}"),
        ('<html lang="en-GB">', "05/03/2024", f"{URL}/2024/05/03/", "2024-05-03", ""),
        ('<html lang="en-GB">', "05/12/2023. Archive: 12/25/2023", URL, "2023-05-12", GUESS),
        ('<html lang="en-GB">', "05/12/2024", URL, "2024-05-12", GUESS),  # the other day is in the future
        ('<html lang="pt">', "Publicado em 3 de maio de 2024", URL, "2024-05-03", GUESS),
        ('<html lang="lt">', "2024 m. gegužės 3 d.", URL, "2024-05-03", GUESS),
        ('<html lang="en">', "Updated 5 May 2024</p><p>3 May 2024", URL, "2024-05-03", GUESS),
        (f'<html lang="en-US">{meta("03/05/2024")}', "<time>3 May 2024</time>", URL, "2024-05-03", ""),
        (f'<html lang="en-GB">{meta("03/05/2024")}', "", URL, "2024-05-03", OR_MARCH),
        (f"<html>{meta('May 3, 2024')}", "", URL, "2024-05-03", ""),
        (f"<html>{meta('03.05.2024 10:15')}", "", URL, "2024-05-03", ""),
    ],
)  # fmt: skip
def test_day_and_month_are_not_exchanged(head: str, shown: str, url: str, day: str, doubt: str) -> None:
    source = f"{head}<body><h1>Last ferry</h1><p>{shown}</p><article>{TEXT}</article></body></html>"
    article = extract_article(source.encode(), url, today=TODAY)
    assert (str(article.date), article.date_doubt) == (day, doubt)
