"""The day of an article of which its page and its feed each say something: when it is crawled, and extracted again."""

import datetime
from dataclasses import replace

from articles.extraction.extract import ExtractedArticle, ExtractionError
from articles.models import Article
from articles.storage.incoming import MAX_DAYS_AHEAD, Details, extracted_details

# A feed may carry an article some days after its page did; more than that is worth a look.
MAX_DAYS_APART = 3
# The first page of the Web. An earlier day is an archive's, or the zero of a clock: 1970-01-01, 1901-12-13.
FIRST_WEB_DAY = datetime.date(1991, 8, 6)
MAX_DOUBT_CHARACTERS = Article._meta.get_field("date_doubt").max_length  # noqa: SLF001 - Django's public API


def dated_details(
    article: ExtractedArticle, link: datetime.date | None, fetched: datetime.date
) -> tuple[datetime.date, Details]:
    """Return the day of publication and the details, by the page and by the day that its link was given.

    `fetched` is the day of the fetch: one that lies far after it cannot be. Raises ExtractionError where there is no
    day that can be.
    """
    if article.date is None and article.date_doubt and link is None:
        raise ExtractionError("date out of range")  # the page named a day, which cannot be
    day, doubt = judge_day(article.date, link, fetched)
    details = extracted_details(article)
    doubts = "; ".join(filter(None, [details.date_doubt, doubt]))
    source = details.date_source if day == article.date else Article.DateSource.LINK
    return day, replace(details, date_source=source, date_doubt=doubts[:MAX_DOUBT_CHARACTERS])


def judge_day(
    page: datetime.date | None, link: datetime.date | None, today: datetime.date
) -> tuple[datetime.date, str]:
    """Return the day of publication, and in words why it may be wrong; '' if nothing speaks against it.

    The page is believed, but for a day that cannot be. Raises ExtractionError if there is no day that can be.
    """
    last = today + datetime.timedelta(days=MAX_DAYS_AHEAD)
    possible = [day for day in (page, link) if day is not None and day <= last]
    likely = [day for day in possible if day >= FIRST_WEB_DAY]
    if not possible:
        raise ExtractionError("date out of range" if page or link else "no publication date")
    day = (likely or possible)[0]
    if page is None:
        return day, "" if likely else f"{day} is before the Web"
    if day != page:
        return day, f"the page says {page}, which cannot be; the feed says {day}"
    if link is not None and abs((page - link).days) > MAX_DAYS_APART:
        return day, f"the page says {page}, the feed {link}"
    return day, "" if likely else f"{day} is before the Web"
