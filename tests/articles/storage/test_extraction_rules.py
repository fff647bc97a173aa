"""Newspapers' own extraction rules: saved with a history, found for a page, and applied by `reextract`."""

import datetime

import pytest
from pytest_django import DjangoAssertNumQueries

from articles.extraction.extract import EXTRACTOR_VERSION, extract_article
from articles.extraction.rules import NO_RULE, ExtractionRule
from articles.models import Article, ArticlePage, Newspaper
from articles.models import ExtractionRule as SavedRule
from articles.storage.extraction_rules import RuleError, pages_to_try, rule_for, rule_of, save_rule
from articles.storage.incoming import IncomingArticle, PageCopy
from articles.storage.ingest import store_articles
from tests.commands import called
from tests.factories import make_user

pytestmark = pytest.mark.django_db
TEXT = "The ferry to Little Skerry sails again after forty days, with a new engine and the old captain on the bridge."
OFFER = "Read the whole paper for one crown a week, on every screen that you own, wherever the wind blows. " * 8
PAGE = (
    "<html lang=en><head><title>Ferry sails</title><meta property='article:published_time' content='2026-03-02'></head>"
    f"<body><article><p>{OFFER}</p></article><div class=story><p>{TEXT}</p></div></body></html>"
)
STORY = ExtractionRule(body=("div.story",))


def crawl(*numbers: int, host: str = "paper.example") -> None:
    """Store pages as a crawl does, one a day."""
    batch = []
    for number in numbers:
        url = f"https://{host}/{number}"
        rule = rule_for(url)
        text = extract_article(PAGE.encode(), url, rule=rule).text
        page = PageCopy(url, "text/html", PAGE.encode(), EXTRACTOR_VERSION, None, rule.number)
        day = datetime.date(2026, 3, 2) + datetime.timedelta(days=number)
        batch.append(IncomingArticle(date=day, headline="Ferry sails", url=url, content=text, page=page))
    store_articles(batch)


def reextract() -> str:
    return called("reextract", workers=1)[0].strip()


def test_a_rule_makes_the_pages_of_its_newspaper_outdated_and_an_older_one_can_be_saved_again() -> None:
    admin = make_user("ada", "admin")
    crawl(1, 2)
    crawl(1, host="other.example")
    paper = Newspaper.objects.get(name="paper.example")

    first = save_rule(paper, STORY, user=admin, note="The advertisement was taken for the text.")
    crawl(3)  # by the new rule, so it is not extracted again
    assert reextract() == "Articles: 2 checked, 2 changed."
    assert set(paper.articles.values_list("content", "page__rule")) == {(TEXT, first.pk)}
    assert ArticlePage.objects.get(article__newspaper__name="other.example").rule is None
    assert reextract() == "Articles: 0 checked, 0 changed."

    second = save_rule(paper, ExtractionRule(body=("main",)), user=admin)
    assert reextract() == "Articles: 3 checked, 3 changed."
    article = Article.objects.filter(newspaper=paper).first()
    assert article is not None
    assert article.content.startswith(OFFER.strip())
    assert article.text_doubt.startswith("the newspaper's own rule finds no text on the page")

    paper.refresh_from_db()
    again = save_rule(paper, ExtractionRule(body=tuple(first.body)), user=admin, restores=first)
    saved = list(paper.extraction_rules.values_list("pk", "restores"))
    assert saved == [(again.pk, first.pk), (second.pk, None), (first.pk, None)]
    assert reextract() == "Articles: 3 checked, 3 changed."
    save_rule(paper, NO_RULE, user=admin)
    paper.refresh_from_db()
    assert rule_of(paper) == NO_RULE
    assert reextract() == "Articles: 3 checked, 3 changed."
    assert reextract() == "Articles: 0 checked, 0 changed."
    assert not ArticlePage.objects.exclude(rule=None)
    assert SavedRule.objects.count() == 4


def test_a_rule_that_is_not_valid_or_not_new_is_not_saved() -> None:
    paper, admin = Newspaper.objects.create(name="Paper", host="paper.example"), make_user("ada", "admin")
    with pytest.raises(RuleError, match="is not a CSS selector"):
        save_rule(paper, ExtractionRule(headline=("h1[",)), user=admin)
    with pytest.raises(RuleError, match="the newspaper has this rule already"):
        save_rule(paper, NO_RULE, user=admin)
    saved = save_rule(paper, STORY, user=admin)
    assert rule_for("https://www.paper.example/1").number == saved.pk
    assert rule_for("https://nowhere.example/1") == NO_RULE
    assert Newspaper.objects.count() == 1
    paper.refresh_from_db()
    paper.delete()
    assert not SavedRule.objects.exists()


def test_a_rule_is_tried_on_new_and_old_pages(django_assert_num_queries: DjangoAssertNumQueries) -> None:
    crawl(*range(40))
    paper = Newspaper.objects.get()
    with django_assert_num_queries(9):
        days = [page.article.date.toordinal() - datetime.date(2026, 3, 2).toordinal() for page in pages_to_try(paper)]
    assert days == [39, 38, 37, 36, 35, 27, 20, 13, 6, 0]
    Article.objects.filter(date__gt=datetime.date(2026, 3, 6)).update(newspaper=Newspaper.objects.create(name="New"))
    assert len(pages_to_try(paper)) == 5
