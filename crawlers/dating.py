"""The day of an article of which its page and its feed each say something."""

import datetime

from articles.extraction import ExtractionError
from articles.incoming import MAX_DAYS_AHEAD

# A feed may carry an article some days after its page did; more than that is worth a look.
MAX_DAYS_APART = 3
# The first page of the Web. An earlier day is an archive's, or the zero of a clock: 1970-01-01, 1901-12-13.
FIRST_WEB_DAY = datetime.date(1991, 8, 6)


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
