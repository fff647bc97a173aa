"""After a merge, the next run ends as if all articles had come under one name; after undoing it, as if never merged."""

import dataclasses
import json
import random
from collections.abc import Callable
from typing import Any

import pytest
from django.utils import timezone

from articles.models import Article, ArticleURL, Newspaper, RepeatedSentence
from articles.storage.incoming import IncomingArticle
from articles.storage.ingest import store_articles
from articles.storage.newspaper_merges import last_merge, merge_newspapers, undo_merge
from articles.storage.title_affixes import update_affixes_and_forms
from dedup.models import ArticleShingles, Cluster, Evidence, HeadlineForm, Pair, Profile, Series
from tests.conftest import StoreArticle
from tests.databases import undone
from tests.dedup.runs.made_up_news import made_up_news
from tests.dedup.runs.running import find_duplicates
from tests.factories import make_user

pytestmark = pytest.mark.django_db

MAIN, OLD = "Harbour Post", "harbour-prod-2"


def corpus(seed: int) -> list[tuple[str, IncomingArticle]]:
    """Return made-up news of one newspaper, each article with the name that it comes under first."""
    dice = random.Random(seed)
    made = []
    for article in [article for article in made_up_news(seed) if article.newspaper == MAIN][:130]:
        paper = dice.choice([MAIN, OLD])
        suffix = " | World Desk" if paper == OLD or dice.random() < 0.2 else ""
        made.append((paper, dataclasses.replace(article, headline=article.headline + suffix)))
    return made


def store_under(articles: list[tuple[str, IncomingArticle]], *, name: Callable[[str], str]) -> None:
    """Store the articles, as an import does, each under the name that this function gives its newspaper's."""
    store_articles([dataclasses.replace(article, newspaper=name(paper)) for paper, article in articles])
    update_affixes_and_forms(Newspaper.objects.all())


def state() -> dict[str, Any]:
    """Return all that rests on the articles, by their URLs."""
    url = dict(Article.objects.values_list("pk", "url"))
    columns = ("verdict", "probability", "duplicate_probability", "reasons", "left_matched", "right_matched", "joins")
    more = ("best_score", "same_newspaper", "days_apart")
    pairs = {
        (url[pair.left_id], url[pair.right_id]): {name: getattr(pair, name) for name in (*columns, *more)}
        for pair in Pair.objects.proposed()
    }
    columns = ("pair__left", "pair__right", "pass_name", "score", "details")
    evidence = sorted(
        (url[left], url[right], name, score, json.dumps(details))
        for left, right, name, score, details in Evidence.objects.filter(stale=False).values_list(*columns)
    )
    clusters = sorted(
        (url[cluster.kept_id], cluster.size, cluster.lowest_score, sorted(url[pk] for pk in members(cluster)))
        for cluster in Cluster.objects.all()
    )
    forms = ("newspaper__name", "normalized_title", "normalized_text", "story_text", "topic_text", "boilerplate")
    return {
        "pairs": pairs,
        "evidence": evidence,
        "clusters": clusters,
        "articles": {row[0]: row[1:] for row in Article.objects.values_list("url", *forms)},
        "urls": dict(ArticleURL.objects.values_list("url", "normalized_url")),
        "series": sorted(Series.objects.values_list("newspaper__name", "form", "headline", "articles", "first_day")),
        "forms": {url[pk]: rest for pk, *rest in HeadlineForm.objects.values_list("pk", "newspaper__name", "form")},
        "shingles": {url[pk]: paper for pk, paper in ArticleShingles.objects.values_list("pk", "newspaper__name")},
        "sentences": sorted(RepeatedSentence.objects.values_list("newspaper__name", "sentence", "week", "articles")),
        "learnt": sorted(
            (paper.name, tuple(paper.learnt_affixes), tuple(paper.kept_url_parameters))
            for paper in Newspaper.objects.filter(articles__isnull=False).distinct()
        ),
    }


def members(cluster: Cluster) -> list[int]:
    return list(cluster.memberships.values_list("article", flat=True))


def papers() -> tuple[Newspaper, Newspaper]:
    return Newspaper.objects.get(name=OLD), Newspaper.objects.get(name=MAIN)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("seed", "options", "boilerplate"), [(1, (), "story"), (2, ("--new",), "story"), (3, ("--new",), "keep")]
)
def test_a_merge_and_a_run_end_as_an_import_under_one_name(
    seed: int, options: tuple[str, ...], boilerplate: str
) -> None:
    Profile.objects.update(boilerplate=boilerplate)
    articles = corpus(seed)
    with undone():
        store_under(articles, name=lambda _: MAIN)
        find_duplicates()
        expected = state()

    store_under(articles, name=lambda paper: paper)
    find_duplicates()
    apart = state()
    merge_newspapers(*papers())
    find_duplicates(*options)
    found = state()
    for part, rows in expected.items():
        assert found[part] == rows, part
    # The corpus shows the difference in every part that a merge concerns.
    same = {"urls", *(("sentences",) if boilerplate == "keep" else ())}
    assert {part for part in expected if expected[part] == apart[part]} <= same

    undo_merge(last_merge(papers()[0]))
    find_duplicates(*options)
    back = state()
    for part, rows in apart.items():
        assert back[part] == rows, part


def test_a_rule_follows_its_series_and_goes_back(store: StoreArticle) -> None:
    for day in range(1, 13):
        store(newspaper=[MAIN, OLD][day % 2], date=f"2026-03-{day:02}", headline=f"Tides of {day} March")
    find_duplicates()
    old, main = papers()
    rule = Series.objects.get(newspaper=old)
    ada = make_user("ada", "editor")
    Series.objects.filter(pk=rule.pk).update(ruled_by=ada, ruled_at=timezone.now())

    merge_newspapers(old, main)
    find_duplicates()
    moved = Series.objects.get(form=rule.form)
    assert (moved.newspaper, moved.ruled_by, moved.made_for, moved.articles) == (main, ada, old, 12)

    undo_merge(last_merge(old))
    find_duplicates()
    rows = Series.objects.values_list("newspaper__name", "ruled_by", "made_for", "articles")
    assert sorted(rows) == [(MAIN, None, None, 6), (OLD, ada.pk, None, 6)]


@pytest.mark.slow
def test_a_chain_of_merges_is_undone_step_by_step() -> None:
    store_under(corpus(2), name=lambda paper: paper)
    old, main = papers()
    third = Newspaper.objects.create(name="Selby Gazette")
    count = {paper: Article.objects.filter(newspaper=paper).count() for paper in (old, main)}
    merge_newspapers(old, main)
    merge_newspapers(main, third)
    assert Article.objects.filter(newspaper=third).count() == sum(count.values())

    undo_merge(last_merge(main))
    undo_merge(last_merge(old))
    assert {paper: Article.objects.filter(newspaper=paper).count() for paper in (old, main)} == count
