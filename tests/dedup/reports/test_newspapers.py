"""The report on newspapers counts as a count in Python does, by newspaper, owner and edition."""

import datetime
from typing import Any

import pytest

from articles.models import Article
from dedup.detection.runs.scope import Scope
from dedup.models import Cluster, Membership
from dedup.reports.newspapers import NewspapersOptions, NewspapersReport
from tests.conftest import StoreArticle
from tests.factories import make_cluster, make_collection

pytestmark = pytest.mark.django_db

PAPERS = {
    "Coast Africa": ("Coast Media", "Africa"),
    "Coast Asia": ("Coast Media", "Asia"),
    "Inland Africa": ("Inland Group", "Africa"),
    "Selby Gazette": ("", ""),
}


@pytest.fixture
def stored(store: StoreArticle) -> list[Article]:
    articles = []
    for number, (name, (owner, edition)) in enumerate(PAPERS.items(), 1):
        articles += [store(newspaper=name, date=f"2026-03-{number + day:02}") for day in range(number)]
        for kind, group in zip(("owner", "edition"), filter(None, (owner, edition)), strict=False):
            make_collection(kind, group, articles[-1].newspaper)
    make_cluster(articles[0], articles[1], articles[3])
    make_cluster(articles[2], articles[6])
    return articles


@pytest.mark.parametrize("by_owner", [False, True])
@pytest.mark.parametrize("by_edition", [False, True])
def test_the_numbers_are_those_of_a_count_in_python(stored: list[Article], by_owner: bool, by_edition: bool) -> None:
    options = NewspapersOptions(by_owner, by_edition)
    assert NewspapersReport().result(Scope(), NewspapersOptions(together="owner")) == NewspapersReport().result(
        Scope(), NewspapersOptions(by_owner=True)
    )
    kept = set(Cluster.objects.values_list("kept", flat=True))
    clustered = set(Membership.objects.values_list("article", flat=True))
    groups: dict[str, list[Article]] = {}
    for article in stored:
        owner, edition = PAPERS[article.newspaper.name]
        parts = [owner] * options.by_owner + [edition] * options.by_edition
        groups.setdefault(", ".join(filter(None, parts)) or article.newspaper.name, []).append(article)

    def counts(name: str) -> tuple[Any, ...]:
        articles = groups[name]
        ids = {article.pk for article in articles}
        days = [article.date for article in articles]
        papers = {article.newspaper_id for article in articles}
        numbers = len(ids & clustered), len((ids & clustered) - kept)
        return name, len(papers), len(ids), min(days), max(days), *numbers, numbers[1] / len(ids)

    result = NewspapersReport().result(Scope(), options)
    [table] = NewspapersReport().tables(result)
    said = "4 newspapers have 10 articles; 3 of them (30.00%) are duplicates of another one."
    assert NewspapersReport().summary(result) == said
    expected = sorted(groups, key=lambda name: (-len(groups[name]), name))
    assert list(table.rows) == [counts(name) for name in expected]


def test_one_newspaper_and_one_article_are_not_plural_and_none_are_said(store: StoreArticle) -> None:
    def summary(scope: Scope) -> str:
        return NewspapersReport().summary(NewspapersReport().result(scope, NewspapersOptions()))

    store()
    assert summary(Scope()) == "1 newspaper has 1 article; 0 of them (0.00%) are duplicates of another one."
    assert summary(Scope(datetime.date(2030, 1, 1))) == "There are no articles to count."
