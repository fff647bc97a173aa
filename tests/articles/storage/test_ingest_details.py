"""The details of an article, from its page or else from its text. Against the real database."""

import datetime

import pytest

from articles.models import Article
from articles.storage.incoming import Details, IncomingArticle, PageCopy
from articles.storage.ingest import store_article

TEXT = (
    "VESTBY, March 3 (Reuters) - The old ferry made its last crossing on Friday, and half the island stood on the quay."
)
URL = "https://fjordbladet.example/ferry"


def stored(content: str = TEXT, details: Details | None = None, page: PageCopy | None = None) -> Article:
    day = datetime.date(2026, 3, 3)
    article = IncomingArticle(day, "Last ferry", URL, content, "Fjordbladet", details=details or Details(), page=page)
    return Article.objects.get(pk=store_article(article).article_id)


@pytest.mark.django_db
def test_a_text_without_its_page_gives_language_agency_and_dateline() -> None:
    article = stored(f"By Liv Dahl\n\n{TEXT}")
    assert (article.language, article.agency, article.dateline) == ("en", "Reuters", "VESTBY, March 3")
    assert (article.byline, article.content) == ("Liv Dahl", f"By Liv Dahl\n\n{TEXT}")


@pytest.mark.django_db
def test_details_that_came_with_a_text_are_kept() -> None:
    article = stored(details=Details(language="no", byline="Tom Berg", agency="NTB", dateline="BERGEN"))
    assert (article.language, article.byline, article.agency, article.dateline) == ("no", "Tom Berg", "NTB", "BERGEN")


@pytest.mark.django_db
def test_the_newspaper_is_not_a_dateline() -> None:
    assert stored("FJORDBLADET – The old ferry made its last crossing on Friday.").dateline == ""


@pytest.mark.django_db
def test_details_that_the_extraction_left_empty_stay_empty() -> None:
    article = stored(page=PageCopy(URL, "text/html", b"<p>x</p>", 2))
    assert (article.language, article.agency, article.dateline) == ("", "", "")
