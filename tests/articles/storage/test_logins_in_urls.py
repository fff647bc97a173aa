"""A URL with a user name and a password is stored without them, and is the URL without them."""

import datetime
import importlib
import json
from pathlib import Path

import pytest
from django.apps import apps
from django.utils import timezone

from articles import models
from articles.normalization.urls import url_key
from articles.storage.incoming import IncomingArticle, PageCopy, SeenHeadline, SeenURL
from crawlers.models import PendingLink, SourceValidator, Trial, Visit
from tests.commands import called
from tests.conftest import StoreArticle
from tests.factories import store_article
from tests.stored_rows import columns_with

pytestmark = pytest.mark.django_db
MARK = "pw7kq"
LOGIN = f"http://mara:{MARK}@paper.example"
TEXT = "The ferry to Little Skerry sails again after forty days, with a new engine and the old captain on the bridge."


def test_no_door_of_the_store_lets_a_password_in() -> None:
    stored = store_article(
        IncomingArticle(
            date=datetime.date(2026, 3, 1),
            headline="Ferry",
            url=f"{LOGIN}/ferry",
            content=TEXT,
            other_urls=[SeenURL(f"{LOGIN}/amp/ferry", models.ArticleURL.Kind.AMP)],
            headlines=[SeenHeadline("The ferry", datetime.date(2026, 3, 1), f"{LOGIN}/the-ferry")],
            page=PageCopy(f"{LOGIN}/ferry", "text/html", TEXT.encode(), 1),
        )
    )
    assert models.Article.objects.get(pk=stored.article_id).url == "http://paper.example/ferry"
    assert models.ArticlePage.objects.get().url == "http://paper.example/ferry"
    assert columns_with(MARK) == set()
    assert "articles_article.url" in columns_with("paper.example")


def test_an_import_takes_both_urls_for_one_and_tells_nobody_the_password(tmp_path: Path) -> None:
    rows = [f"{LOGIN}/a", "http://paper.example/a", f"ftp://mara:{MARK}@paper.example/a"]
    article = {"date": "2026-03-01", "headline": "Ferry", "content": TEXT}
    path, rejects = tmp_path / "rows.jsonl", tmp_path / "rejects.jsonl"
    path.write_text("".join(json.dumps({**article, "url": url}) + "\n" for url in rows))
    said = "".join(called("import_articles", str(path), rejects=rejects))

    assert models.Article.objects.get().url == "http://paper.example/a"
    assert models.ArticleURL.objects.get().key == url_key("http://paper.example/a")
    assert "ftp://paper.example/a" in rejects.read_text()
    assert MARK not in rejects.read_text() + said
    assert columns_with(MARK) == set()


def test_the_migrations_take_passwords_out_of_what_is_stored_and_renormalize_joins_the_keys(
    store: StoreArticle,
) -> None:
    article, other = store(url="https://paper.example/ferry"), store(url="https://paper.example/@mara")
    models.Article.objects.update(url=f"{LOGIN}/ferry")
    models.ArticleURL.objects.filter(article=article).update(url=f"{LOGIN}/ferry", key=url_key("http://old.example"))
    models.DeclaredURL.objects.create(article=article, url=f"{LOGIN}/d", key=url_key("http://d.example"), kind="amp")
    models.HeadlineVariant.objects.create(article=article, headline="x", day=article.date, url=f"{LOGIN}/h")
    page = models.ArticlePage.objects.create(article=article, url=f"{LOGIN}/p", body=b"")
    models.FollowingPage.objects.create(article_page=page, number=2, url=f"{LOGIN}/p2", body=b"")
    seen = {"number": 1, "seen_at": timezone.now(), "updated_at": timezone.now()}
    models.ArticleRevision.objects.create(article=article, url=f"{LOGIN}/r", kind="gone", **seen)
    newspaper = models.Newspaper.objects.get()
    models.LearntParameter.objects.create(
        newspaper=newspaper, name="id", first_url=f"{LOGIN}/1", second_url=f"{LOGIN}/2"
    )
    PendingLink.objects.create(newspaper=newspaper, key=url_key("http://w.example"), url=f"{LOGIN}/w", kind="page")
    SourceValidator.objects.create(newspaper=newspaper, url=f"{LOGIN}/feed")
    Trial.objects.create(url=f"{LOGIN}/")
    examples = [{"reason": "bad address", "number": 1, "url": f"{LOGIN}/bad"}]
    Visit.objects.create(newspaper=newspaper, spider="feed", failures=examples)
    models.Article.objects.filter(pk=other.pk).update(url="https://paper.example/@mara")
    before = {column.partition(".")[0] for column in columns_with(MARK)}

    for app, number in (("articles", "0026"), ("crawlers", "0011")):
        importlib.import_module(f"{app}.migrations.{number}_urls_without_logins").clean_all(apps, None)

    assert len(before) == 12
    assert columns_with(MARK) == set()
    assert models.Article.objects.get(pk=article.pk).normalizer_version == 0
    assert models.Article.objects.get(pk=other.pk).normalizer_version > 0
    assert Visit.objects.get().failures == [{**examples[0], "url": "http://paper.example/bad"}]
    called("renormalize")
    assert models.ArticleURL.objects.get(article=article).key == url_key("https://paper.example/ferry")
