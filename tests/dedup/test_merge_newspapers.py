"""`manage.py merge_newspapers`: merges, undoes, and refuses in plain words."""

import pytest

from articles.models import Article, Newspaper, NewspaperMerge, WhitelistedSentence
from articles.storage.locks import Lock
from dedup.review.answers.newspaper_merges import done_line, merge_newspapers, merges_made, preview_merge, undo_merge
from tests.commands import called, refused
from tests.conftest import StoreArticle
from tests.databases import somebody_holds
from tests.factories import make_pair, make_user

pytestmark = pytest.mark.django_db


@pytest.fixture
def stored(store: StoreArticle) -> tuple[Article, Article]:
    """Store an article of the newspaper that stays, and one of the newspaper that moves."""
    pair = store(newspaper="Harbour Post"), store(newspaper="harbour-prod-2", date="2026-03-05")
    make_pair(*pair, trigram=0.9)
    make_pair(pair[1], store(newspaper="Selby Gazette"), trigram=0.9)
    return pair


def merge(*arguments: str) -> str:
    return called("merge_newspapers", *arguments)[0]


def test_it_says_what_it_will_do_merges_and_undoes(stored: tuple[Article, Article], store: StoreArticle) -> None:
    before = list(Newspaper.objects.values())
    plan = [
        "articles that move: 1",
        "days: 2026-03-05",
        "pairs with these articles: 2, 1 of them with articles of Harbour Post",
        "names and hosts that will find it: harbour-prod-2",
    ]
    dry = "Dry run, nothing was changed."
    assert merge("harbour-prod-2", "Harbour Post", "--dry-run").splitlines() == [*plan, dry]
    assert list(Newspaper.objects.values()) == before

    make_user("ada")
    done = "1 article moved from harbour-prod-2 to Harbour Post. The next run compares them again."
    assert merge("harbour-prod-2", "Harbour Post", "--user=ada").splitlines() == [*plan, done]
    assert str(NewspaperMerge.objects.get().merged_by) == "ada"
    assert Article.objects.get(pk=stored[1].pk).newspaper == stored[0].newspaper

    store(newspaper="harbour-prod-2")
    assert merge("harbour-prod-2", "--undo", "--dry-run") == f"articles that move back: 1\n{dry}\n"
    assert merge("harbour-prod-2", "--undo") == (
        "1 article moved back to harbour-prod-2; 1 article stored in Harbour Post since the merge stay there.\n"
    )
    assert list(Newspaper.objects.values()) == before


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nobody", "Harbour Post"], "no newspaper is named 'nobody'; known newspapers: Harbour Post, Selby Gazette, "),
        (["Harbour Post", "Harbour Post"], "Harbour Post cannot be merged into itself; choose another newspaper"),
        (["Harbour Post"], "name the newspaper that Harbour Post is to be merged into"),
        (["Harbour Post", "--undo"], "Harbour Post is not merged into another newspaper, so there is nothing to undo"),
        (["harbour-prod-2", "Harbour Post", "--user=nobody"], "there is no user 'nobody'"),
    ],
)
def test_what_makes_no_sense_is_refused(stored: object, arguments: list[str], message: str) -> None:
    assert refused("merge_newspapers", *arguments).startswith(message)
    assert not NewspaperMerge.objects.exists()


def test_a_merge_is_refused_while_a_run_is_active(stored: object) -> None:
    for more in ([], ["--undo"]):
        with somebody_holds(Lock.RUN):
            said = refused("merge_newspapers", "harbour-prod-2", "Harbour Post", *more, status=3)
        assert "another run is active on this database" in said
        if not more:
            merge("harbour-prod-2", "Harbour Post")
    assert NewspaperMerge.objects.get().undone_at is None


def test_a_preview_names_all_that_is_taken_over_and_what_is_not(store: StoreArticle) -> None:
    old = Newspaper.objects.create(
        name="harbour-prod-2",
        host="prod.example",
        title_affixes=["Wire", "Desk"],
        refused_affixes=["Opinion"],
        kept_url_parameters=["sid"],
        feed_urls=["https://prod.example/feed"],
        sitemap_urls=["https://prod.example/map"],
        section_urls=["https://prod.example/news"],
        article_url_pattern="/a/",
        teasers=True,
        crawl=True,
    )
    main = Newspaper.objects.create(name="Harbour Post", host="harbourpost.example", crawl=False)
    for digest in ("1", "2"):
        WhitelistedSentence.objects.create(
            newspaper=old, digest=digest * 32, sentence="s", whitelisted_by=make_user(f"ada{digest}")
        )
    assert preview_merge(old, main).facts == [
        ("articles that move", "0"),
        ("days", "none"),
        ("pairs with these articles", "0, 0 of them with articles of Harbour Post"),
        ("names and hosts that will find it", "harbour-prod-2, prod.example"),
        ("headline affixes added", "Wire, Desk"),
        ("refused affixes added", "Opinion"),
        ("kept URL parameters added", "sid"),
        ("feeds added", "https://prod.example/feed"),
        ("sitemaps added", "https://prod.example/map"),
        ("section pages added", "https://prod.example/news"),
        ("article URL pattern", "/a/"),
        ("teasers", "yes"),
        ("crawl", "yes"),
        ("whitelisted sentences added", "2"),
    ]
    # What is there already is not added; a pattern of its own serves no others.
    main.article_url_pattern, main.section_urls = "/b/", ["https://harbourpost.example/news"]
    main.title_affixes, main.crawl = ["Wire", "Desk"], True
    main.feed_urls = ["https://harbourpost.example/feed"]
    main.save()
    for day in (4, 2, 3):
        make_pair(store(newspaper="harbour-prod-2", date=f"2026-03-0{day}"), store(newspaper="Inland"), trigram=0.9)
    make_pair(store(newspaper="harbour-prod-2", date="2026-03-03"), store(newspaper="Harbour Post"), trigram=0.9)
    make_pair(store(newspaper="Inland"), store(newspaper="Harbour Post"), trigram=0.9)
    facts = preview_merge(old, main).facts
    assert facts[:3] == [
        ("articles that move", "4"),
        ("days", "2026-03-02 to 2026-03-04"),
        ("pairs with these articles", "4, 1 of them with articles of Harbour Post"),
    ]
    labels = dict(facts)
    assert "headline affixes added" not in labels
    assert labels["not taken over"] == (
        "feeds and sitemaps and section pages, because one way of reading feeds cannot serve both newspapers"
    )
    main.teasers, main.article_url_pattern = True, "/b" * 249
    main.save()
    assert dict(preview_merge(old, main).facts)["not taken over"] == (
        "sitemaps and section pages, because one article URL pattern cannot serve both newspapers"
    )


def test_merges_are_listed_the_latest_first_and_told_in_words(store: StoreArticle) -> None:
    main = store(newspaper="Harbour Post").newspaper
    for name, count in (("one", 1), ("two", 2)):
        paper = max((store(newspaper=name) for _ in range(count)), key=str).newspaper
        merge_newspapers(paper, main, user=make_user(f"ada-{name}"))
    latest, first = merges_made()
    assert [done_line(done) for done in (first, latest)] == [
        "1 article moved from one to Harbour Post. The next run compares them again.",
        "2 articles moved from two to Harbour Post. The next run compares them again.",
    ]
    assert [str(done.merged_by) for done in (first, latest)] == ["ada-one", "ada-two"]
    assert "article_ids" in latest.get_deferred_fields()
    assert undo_merge(latest, user=make_user("eve")) == "2 articles moved back to two."
    assert str(NewspaperMerge.objects.get(pk=latest.pk).undone_by) == "eve"
    for _ in range(2):
        store(newspaper="one")
    assert undo_merge(first) == (
        "1 article moved back to one; 2 articles stored in Harbour Post since the merge stay there."
    )
