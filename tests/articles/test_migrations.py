"""Migrations of articles: what an installation has stored is there after an upgrade, as the program reads it now."""

import pytest
from django.core.management import call_command
from django.db import connection

from articles.models import Article
from tests.conftest import StoreArticle


@pytest.mark.django_db
def test_an_article_of_before_has_its_day_and_no_time(store: StoreArticle) -> None:
    kept = [store(date="2026-03-02", date_source=source) for source in ("feed", "json-ld", "import", "")]
    before = list(Article.objects.values("pk", "date", "content", "revision"))

    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")  # a table with rows to check cannot be altered
    call_command("migrate", "articles", "0008", verbosity=0)
    with connection.cursor() as cursor:
        cursor.execute("SELECT date_source FROM articles_article ORDER BY id")
        assert cursor.fetchall() == [("link",), ("json-ld",), ("import",), ("",)]

    call_command("migrate", "articles", verbosity=0)
    after = Article.objects.filter(pk__in=[each.pk for each in kept]).order_by("pk")
    assert [each.date_source for each in after] == ["feed", "json-ld", "import", ""]
    assert {(each.publication_time, each.published_precision) for each in after} == {(None, "day")}
    assert list(Article.objects.values("pk", "date", "content", "revision")) == before


@pytest.mark.django_db
def test_an_article_of_before_has_no_extra_columns_and_no_other_headlines(store: StoreArticle) -> None:
    kept = store(language="en")
    before = list(Article.objects.values("pk", "headline", "content", "language", "revision"))

    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
    call_command("migrate", "articles", "0009", verbosity=0)
    call_command("migrate", "articles", verbosity=0)
    kept.refresh_from_db()
    assert (kept.extra_columns, kept.headline_variants.count()) == ("", 0)
    assert list(Article.objects.values("pk", "headline", "content", "language", "revision")) == before
