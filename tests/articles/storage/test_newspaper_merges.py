"""Merges move articles and settings to another newspaper, and move exactly those back; names and hosts find it."""

from typing import Any

import pytest

from articles.models import Article, ArticleURL, LearntParameter, Newspaper, NewspaperMerge, WhitelistedSentence
from articles.storage import ingest
from articles.storage.newspaper_merges import (
    MergeError,
    last_merge,
    merge_newspapers,
    plan_merge,
    stored_since,
    undo_merge,
)
from articles.storage.newspapers import Naming, newspapers_for
from articles.storage.renormalization import newspapers_to_renormalize, outdated_forms, renormalize
from tests.articles.storage.test_url_parameters import FERRY, PAGE, SCHOOL
from tests.conftest import StoreArticle
from tests.factories import make_collection, make_user

MAIN, OLD = "Harbour Post", "harbour-prod-2"
URLS, OTHERS = ["https://a.example/x"], ["https://b.example/x"]


@pytest.fixture
def papers(db: None) -> tuple[Newspaper, Newspaper]:
    """Return the newspaper that is merged and the one that stays, each with settings of its own."""
    old = Newspaper.objects.create(
        name=OLD,
        host="prod.example",
        title_affixes=["Wire"],
        refused_affixes=["Opinion", "Live"],
        kept_url_parameters=["sid", "ref"],
        feed_urls=["https://prod.example/feed", "https://harbourpost.example/feed"],
        sitemap_urls=["https://prod.example/map"],
        article_url_pattern="/a/",
        crawl=True,
    )
    main = Newspaper.objects.create(
        name=MAIN,
        host="harbourpost.example",
        title_affixes=["Live"],
        kept_url_parameters=["sid"],
        feed_urls=["https://harbourpost.example/feed"],
        section_urls=["https://harbourpost.example/news"],
        article_url_pattern="/b/",
    )
    return old, main


def values_of(newspaper: Newspaper) -> dict[str, Any]:
    return Newspaper.objects.filter(pk=newspaper.pk).values().get()


def test_a_merge_moves_the_articles_and_marks_what_rests_on_their_newspaper(
    papers: tuple[Newspaper, Newspaper], store: StoreArticle
) -> None:
    old, main = papers
    moving = [store(newspaper=OLD), store(newspaper=OLD)]
    staying = store(newspaper=MAIN)
    revision = ingest.newest_revision()

    merge = merge_newspapers(old, main)
    assert set(main.articles.values_list("pk", flat=True)) == {article.pk for article in (*moving, staying)}
    moved = NewspaperMerge.objects.get(pk=merge.pk)
    assert (moved.articles, moved.article_ids) == (2, [article.pk for article in moving])
    # The affix and the parameter that it takes over concern the articles that were there, too.
    assert outdated_forms().count() == 3
    assert Article.objects.filter(revision__gt=revision).count() == 3
    assert newspapers_to_renormalize() == [main]
    list(renormalize([main]))
    assert newspapers_to_renormalize() == []


def test_a_merge_that_changes_no_rule_marks_the_moved_articles_alone(db: None, store: StoreArticle) -> None:
    moving, staying = store(newspaper="old"), store(newspaper=MAIN)
    merge_newspapers(moving.newspaper, staying.newspaper)
    assert [form.pk for form in outdated_forms()] == [moving.pk]


def test_the_settings_are_taken_over_and_given_back(papers: tuple[Newspaper, Newspaper], store: StoreArticle) -> None:
    old, main = papers
    store(newspaper=OLD)
    before = [values_of(paper) for paper in papers]
    LearntParameter.objects.create(newspaper=main, name="ref", first_url="x", second_url="y")
    learnt = LearntParameter.objects.create(newspaper=old, name="sid", first_url="x", second_url="y")
    ada = make_user("ada")
    kept = [
        WhitelistedSentence.objects.create(newspaper=paper, digest=digest * 32, sentence="s", whitelisted_by=ada)
        for paper, digest in ((old, "1"), (old, "2"), (main, "2"))
    ]

    owned, of_north, _ = (
        make_collection("owner", "Coast Media", old),
        make_collection("region", "North", main),
        make_collection("region", "South", old),
    )
    merge_newspapers(old, main, user=ada)
    main.refresh_from_db()
    assert list(main.collections.all()) == [owned, of_north]  # not South: of each kind, its own comes first
    assert main.title_affixes == ["Live", "Wire"]
    assert main.refused_affixes == ["Opinion"]  # its own setting makes the other text an affix
    assert main.kept_url_parameters == ["sid"]  # it has refused the other one
    assert main.feed_urls == ["https://harbourpost.example/feed", "https://prod.example/feed"]
    assert main.sitemap_urls == ["https://prod.example/map"]
    assert main.article_url_pattern == "(?:/b/)|(?:/a/)"
    learnt.refresh_from_db()
    assert learnt.newspaper == main
    of = WhitelistedSentence.objects.order_by("pk").values_list("newspaper", flat=True)
    assert list(of) == [main.pk, old.pk, main.pk]
    merge = last_merge(old)
    assert (merge.merged_by, merge.undone_at) == (ada, None)

    main.feed_urls = [*main.feed_urls, "https://harbourpost.example/new"]
    main.article_url_pattern = "/c/"
    main.save()
    assert undo_merge(merge, user=ada) == 1
    changed = {"feed_urls": ["https://harbourpost.example/feed", "https://harbourpost.example/new"]}
    assert [values_of(old), values_of(main)] == [before[0], before[1] | changed | {"article_url_pattern": "/c/"}]
    learnt.refresh_from_db()
    assert learnt.newspaper == old
    assert (old.collections.count(), main.collections.get()) == (2, of_north)
    assert WhitelistedSentence.objects.get(pk=kept[0].pk).newspaper == old
    merge.refresh_from_db()
    assert merge.undone_by == ada


@pytest.mark.parametrize(
    ("old", "main", "pattern", "left"),
    [
        ({"sitemap_urls": URLS}, {"article_url_pattern": "/b/"}, "", []),
        ({"feed_urls": URLS}, {"article_url_pattern": "/b/"}, "/b/", []),
        ({"section_urls": URLS}, {"article_url_pattern": "/b/", "section_urls": OTHERS}, "/b/", ["section_urls"]),
        (
            {"sitemap_urls": URLS, "article_url_pattern": "a" * 300},
            {"sitemap_urls": OTHERS, "article_url_pattern": "b" * 300},
            "b" * 300,
            ["sitemap_urls"],
        ),
        (
            {"feed_urls": URLS, "teasers": True},
            {"sitemap_urls": OTHERS, "article_url_pattern": "/b/"},
            "/b/",
            ["feed_urls"],
        ),
        ({"feed_urls": URLS, "teasers": True}, {}, "", []),
    ],
)
def test_sources_are_taken_over_if_one_pattern_can_serve_them_all(
    db: None, old: dict[str, Any], main: dict[str, Any], pattern: str, left: list[str]
) -> None:
    papers = Newspaper.objects.create(name=OLD, **old), Newspaper.objects.create(name=MAIN, crawl=False, **main)
    plan = plan_merge(*papers)
    merge_newspapers(*papers)
    papers[1].refresh_from_db()
    assert (papers[1].article_url_pattern, plan.carried.left) == (pattern, left)
    assert papers[1].crawl == ("sitemap_urls" not in main and "section_urls" not in main)
    assert papers[1].teasers == (papers[0].teasers and not main)


def test_the_name_is_an_affix_if_headlines_have_it(db: None, store: StoreArticle) -> None:
    store(newspaper="Selby Online", headline="The ferry is back | Selby Online")
    article = store(newspaper=MAIN, headline="Fares rise | Selby Online")
    assert article.normalized_title == "fares rise selby online"
    merge_newspapers(Newspaper.objects.get(name="Selby Online"), article.newspaper)
    list(renormalize())
    assert sorted(Article.objects.values_list("normalized_title", flat=True)) == ["fares rise", "the ferry is back"]


def test_old_names_and_hosts_find_the_newspaper(papers: tuple[Newspaper, Newspaper], store: StoreArticle) -> None:
    old, main = papers
    assert plan_merge(old, main).names == [OLD, "prod.example"]
    merge_newspapers(old, main)
    assert store(newspaper=OLD).newspaper == main
    # A chain of merges leads to its end.
    third = Newspaper.objects.create(name="Selby Gazette")
    merge_newspapers(main, third)
    assert newspapers_for([Naming(OLD, "x.example"), Naming("", "prod.example")]) == [third, third]


def test_undoing_moves_back_exactly_those(papers: tuple[Newspaper, Newspaper], store: StoreArticle) -> None:
    old, main = papers
    moved, own = store(newspaper=OLD), store(newspaper=MAIN)
    merge = merge_newspapers(old, main)
    later = store(newspaper=OLD)
    assert stored_since(merge) == 1
    undo_merge(merge)
    expected = {moved.pk: old.pk, own.pk: main.pk, later.pk: main.pk}
    assert dict(Article.objects.values_list("pk", "newspaper")) == expected
    assert store(newspaper=OLD).newspaper == old
    # It can be merged again.
    assert merge_newspapers(old, main).articles == 2


def test_parameters_learnt_from_moved_articles_are_forgotten(db: None, store: StoreArticle) -> None:
    old = store(FERRY, newspaper=OLD, headline="Ferry sails again", url=f"{PAGE}?sid=1")
    main = store(SCHOOL, newspaper=MAIN, headline="Pupils dig up an oven", url=f"{PAGE}?sid=2")
    before = list(ArticleURL.objects.values_list("pk", "normalized_url"))
    merge = merge_newspapers(old.newspaper, main.newspaper)
    list(renormalize())
    assert Newspaper.objects.get(name=MAIN).kept_url_parameters == ["sid"]
    undo_merge(merge)
    list(renormalize())
    assert Newspaper.objects.get(name=MAIN).kept_url_parameters == []
    assert list(ArticleURL.objects.values_list("pk", "normalized_url")) == before


def test_what_makes_no_sense_is_refused(papers: tuple[Newspaper, Newspaper]) -> None:
    old, main = papers
    third = Newspaper.objects.create(name="Selby Gazette")
    with pytest.raises(MergeError, match="cannot be merged into itself"):
        merge_newspapers(old, old)
    with pytest.raises(MergeError, match="is not merged into another newspaper"):
        last_merge(old)
    first = merge_newspapers(old, main)
    for merged, into in ((old, third), (third, old), (main, old)):
        with pytest.raises(MergeError, match=f"{OLD} is already merged into {MAIN}; undo that merge first"):
            merge_newspapers(merged, into)
    second = merge_newspapers(third, main)
    with pytest.raises(MergeError, match=f"Selby Gazette into {MAIN} was merged later; undo that merge first"):
        undo_merge(first)
    undo_merge(second)
    with pytest.raises(MergeError, match=r"was undone on .*; there is nothing to undo"):
        undo_merge(second)
    fourth = merge_newspapers(main, third)
    with pytest.raises(MergeError, match=f"{MAIN} is itself merged into Selby Gazette; undo that merge first"):
        undo_merge(first)
    undo_merge(fourth)
    undo_merge(first)
    assert Newspaper.objects.in_use().count() == 3
