"""The details of an article, from its page or else from its text. Against the real database."""

import datetime
import gzip

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone

from articles.extraction.kept_pages import RawPage
from articles.models import Article, FollowingPage
from articles.normalization.times import written_time
from articles.storage.incoming import Details, IncomingArticle, PageCopy
from tests.factories import store_article

pytestmark = pytest.mark.django_db
TEXT = (
    "VESTBY, March 3 (Reuters) - The old ferry made its last crossing on Friday, and half the island stood on the quay."
)
# As sources write them.
TIMES = [
    "2026-03-02T18:30+02:00",
    "2026-03-02T18:30:00+02:00",
    "2026-03-02T23:59:59-11:30",
    "2026-03-02T00:00+00:00",
    "2026-03-02T00:00:00",
    "2026-03-02T07:05",
    "2026-03-03T00:10+05:45",
    "1605-01-01T00:00:00+14:00",
]
URL = "https://fjordbladet.example/ferry"


def stored(content: str = TEXT, details: Details | None = None, page: PageCopy | None = None) -> Article:
    day = datetime.date(2026, 3, 3)
    article = IncomingArticle(day, "Last ferry", URL, content, "Fjordbladet", details=details or Details(), page=page)
    return Article.objects.get(pk=store_article(article).article_id)


def test_a_text_without_its_page_gives_language_agency_and_dateline() -> None:
    article = stored(f"By Liv Dahl\n\n{TEXT}")
    assert (article.language, article.agency, article.dateline) == ("en", "Reuters", "VESTBY, March 3")
    assert (article.byline, article.content) == ("Liv Dahl", f"By Liv Dahl\n\n{TEXT}")


def test_details_that_came_with_a_text_are_kept() -> None:
    article = stored(details=Details(language="no", byline="Tom Berg", agency="NTB", dateline="BERGEN"))
    assert (article.language, article.byline, article.agency, article.dateline) == ("no", "Tom Berg", "NTB", "BERGEN")


def test_the_newspaper_is_not_a_dateline() -> None:
    assert stored("FJORDBLADET – The old ferry made its last crossing on Friday.").dateline == ""


def test_details_that_the_extraction_left_empty_stay_empty() -> None:
    article = stored(page=PageCopy(URL, "text/html", b"<p>x</p>", 2))
    assert (article.language, article.agency, article.dateline) == ("", "", "")


def test_the_pages_of_an_article_are_kept_with_their_types() -> None:
    further = [RawPage(f"<p>{number}</p>".encode(), f"{URL}?page={number}", f"text/{number}") for number in (2, 3)]
    page = stored(page=PageCopy(URL, "text/html", b"<p>1</p>", 2, following=further)).page
    assert (page.url, page.content_type, gzip.decompress(page.body)) == (URL, "text/html", b"<p>1</p>")
    pages = FollowingPage.objects.values_list("number", "url", "content_type", "body")
    assert [(number, url, kind, gzip.decompress(body)) for number, url, kind, body in pages] == [
        (2, f"{URL}?page=2", "text/2", b"<p>2</p>"),
        (3, f"{URL}?page=3", "text/3", b"<p>3</p>"),
    ]


@pytest.mark.parametrize("text", TIMES)
def test_the_time_of_publication_is_stored_as_its_source_gave_it(text: str) -> None:
    article = stored(details=Details().with_time(written_time(text)))
    assert str(article.publication_time) == text
    assert article.date == datetime.date(2026, 3, 3)


def test_a_time_without_a_precision_is_not_stored() -> None:
    article = stored()
    with pytest.raises(IntegrityError, match="article_publication_time"), transaction.atomic():
        Article.objects.filter(pk=article.pk).update(published_at=timezone.now())
