"""The publication day and time of an article by its page and its feed; used by crawls and by reextraction."""

import datetime
from dataclasses import replace

from articles.extraction.extract import ExtractedArticle, ExtractionError
from articles.fields import LIMITS, MAX_DAYS_AHEAD
from articles.storage.incoming import Details, ListedDate, extracted_details

# A feed may list an article some days after it appeared; a larger difference is worth a check.
MAX_DAYS_APART = 3
# The first web page. An earlier day belongs to an archive, or is the zero of a clock: 1970-01-01, 1901-12-13.
FIRST_WEB_DAY = datetime.date(1991, 8, 6)


def dated_details(
    article: ExtractedArticle, listed: ListedDate | None, fetched: datetime.date
) -> tuple[datetime.date, Details]:
    """Return the publication day and the details, from the page and from the date that a feed or sitemap gave.

    That date gives the time if the page names the same day without a time; then it is the source of both. A day far
    after `fetched`, the day of the fetch, is impossible. Raises ExtractionError if no day is possible.
    """
    if article.date is None and article.date_doubt and listed is None:
        raise ExtractionError("date out of range")  # the page named a day, but an impossible one
    day, doubt = judge_day(article.date, listed, fetched)
    details = extracted_details(article)
    doubts = "; ".join(filter(None, [details.date_doubt, doubt]))
    details = replace(details, date_doubt=doubts[: LIMITS["date_doubt"]])
    if listed and listed.day == day and (day != article.date or (listed.time and not article.time)):
        details = replace(details, date_source=listed.source).with_time(listed.time)
    return day, details


def judge_day(page: datetime.date | None, listed: ListedDate | None, today: datetime.date) -> tuple[datetime.date, str]:
    """Return the publication day and, for people, why it may be wrong; '' if there is no doubt.

    The page takes precedence unless its day is impossible. Raises ExtractionError if no day is possible.
    """
    link, source = (listed.day, listed.source.value) if listed else (None, "")
    last = today + datetime.timedelta(days=MAX_DAYS_AHEAD)
    possible = [day for day in (page, link) if day is not None and day <= last]
    likely = [day for day in possible if day >= FIRST_WEB_DAY]
    if not possible:
        raise ExtractionError("date out of range" if page or link else "no publication date")
    day = (likely or possible)[0]
    if page is None:
        return day, "" if likely else f"{day} is before the Web"
    if day != page:
        return day, f"the page says {page}, which is impossible; the {source} says {day}"
    if link is not None and abs((page - link).days) > MAX_DAYS_APART:
        return day, f"the page says {page}, the {source} {link}"
    return day, "" if likely else f"{day} is before the Web"
