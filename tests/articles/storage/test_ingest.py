"""The one writer of articles, against the real database."""

import datetime

import pytest

from articles.models import Article, ArticleURL, DeclaredURL, HeadlineVariant, Newspaper
from articles.normalization import NORMALIZER_VERSION
from articles.normalization.text import text_digest
from articles.normalization.times import written_time
from articles.normalization.urls import url_key
from articles.storage.incoming import Details, IncomingArticle, PageCopy, SeenURL
from articles.storage.ingest import Stored, attach_urls, store_articles
from articles.storage.known_articles import known_urls
from articles.storage.newspapers import newspaper_host
from tests.factories import store_article

pytestmark = pytest.mark.django_db
Kind = ArticleURL.Kind
FERRY = "https://www.harbourpost.example/2026/ferry"


def incoming(url: str = FERRY, **changes: object) -> IncomingArticle:
    values: dict[str, object] = {
        "date": datetime.date(2026, 3, 2),
        "headline": "Ferry sails again",
        "url": url,
        "content": "The ferry to Little Skerry sails again.",
        "newspaper": "Harbour Post",
    }
    return IncomingArticle(**(values | changes))  # type: ignore[arg-type]


def urls_of(article_id: int | None) -> list[tuple[str, str]]:
    return list(ArticleURL.objects.filter(article_id=article_id).values_list("url", "kind"))


def test_stores_an_article_with_its_normalised_forms() -> None:
    stored = store_article(
        incoming(
            f" {FERRY}?utm_source=feed#top\n",
            headline="  Ferry Sails Again: Skerry Cheers | Harbour Post ",
            content="The FERRY — to “Little Skerry” — sails\n\nagain!",
            newspaper=" Harbour Post ",
            external_id="hp-17",
            kind=Kind.FEED,
        )
    )

    article = Article.objects.get()
    assert stored == Stored("created", article.pk)
    assert (article.newspaper.name, article.newspaper.host) == ("Harbour Post", "harbourpost.example")
    assert article.headline == "Ferry Sails Again: Skerry Cheers | Harbour Post"
    assert article.normalized_title == "ferry sails again skerry cheers"
    assert article.content == "The FERRY — to “Little Skerry” — sails\n\nagain!"
    assert article.normalized_text == "the ferry to little skerry sails again"
    assert article.text_digest == text_digest("the ferry to little skerry sails again")
    assert (article.url, article.external_id) == (f"{FERRY}?utm_source=feed#top", "hp-17")
    assert article.normalizer_version == NORMALIZER_VERSION
    url = article.urls.get()
    assert (url.url, url.kind, url.key) == (f"{FERRY}?utm_source=feed#top", "feed", url_key(f"{FERRY}?utm_source=feed"))
    assert url.normalized_url == "http://harbourpost.example/2026/ferry"


def test_a_known_url_attaches_and_never_overwrites() -> None:
    first = store_article(incoming())
    again = store_article(
        incoming(
            headline="Another headline",
            content="Another text.",
            date=datetime.date(2026, 3, 9),
            newspaper="Skerry Times",
            other_urls=[SeenURL("https://harbourpost.example/f/9", Kind.REDIRECT)],
        )
    )

    assert again == Stored("known", first.article_id, headline="kept")
    article = Article.objects.get()
    assert (article.headline, str(article.date)) == ("Ferry sails again", "2026-03-02")
    assert article.newspaper.name == "Harbour Post"
    assert article.content == "The ferry to Little Skerry sails again."
    assert urls_of(first.article_id) == [(FERRY, "page"), ("https://harbourpost.example/f/9", "redirect")]


def variants() -> list[tuple[str, str, str]]:
    found = HeadlineVariant.objects.values_list("headline", "day", "url")
    return [(headline, str(day), url) for headline, day, url in found]


def test_another_headline_of_a_known_article_is_kept_once_with_its_day() -> None:
    alert = f"https://www.google.com/url?rct=j&url={FERRY}"
    later = datetime.date(2026, 3, 4)
    results = store_articles(
        [
            incoming(),
            incoming(f"{FERRY}#top", headline=" Ferry Sails Again "),
            incoming(alert, headline="Skerry cheers", date=later),
            incoming(headline=""),
            incoming(headline="Ferry sails again"),
        ]
    )
    assert [result.outcome for result in results] == ["created", *["known"] * 4]
    assert [result.headline for result in results] == ["", "kept", "kept", "", ""]
    assert variants() == [("Ferry Sails Again", "2026-03-02", f"{FERRY}#top"), ("Skerry cheers", "2026-03-04", FERRY)]
    revision = Article.objects.get().revision

    assert store_article(incoming(alert, headline="Skerry cheers")).headline == ""
    page = PageCopy(FERRY, "text/html", b"<p>", 1)
    assert store_article(incoming(headline="Crawled later", page=page)).headline == "kept"
    assert [variant[0] for variant in variants()] == ["Ferry Sails Again", "Skerry cheers", "Crawled later"]
    assert Article.objects.get().revision == revision  # nothing that is compared has changed


@pytest.mark.parametrize(
    ("url", "outcome"),
    [
        ("http://www.harbourpost.example/2026/ferry", "known"),
        ("https://www.harbourpost.example/2026/ferry#comments", "known"),
        ("HTTPS://WWW.HarbourPost.example:443/2026/ferry", "known"),
        ("  https://www.harbourpost.example/2026/ferry ", "known"),
        # Another URL is another article, even with the same text.
        ("https://www.harbourpost.example/2026/Ferry", "created"),
        ("https://www.harbourpost.example/2026/ferry?page=2", "created"),
        ("https://m.harbourpost.example/2026/ferry", "created"),
    ],
)
def test_another_spelling_of_a_url_is_the_same_article(url: str, outcome: str) -> None:
    first = store_article(incoming())
    again = store_article(incoming(url))
    assert (again.outcome, again.article_id == first.article_id) == (outcome, outcome == "known")


def test_a_canonical_link_joins_two_urls_of_one_story_in_one_newspaper() -> None:
    first = store_article(incoming())
    print_version = "https://www.harbourpost.example/print/771"
    again = store_article(incoming(print_version, content="Other ads.", other_urls=[SeenURL(FERRY, Kind.CANONICAL)]))

    assert again == Stored("known", first.article_id)
    assert urls_of(first.article_id) == [(FERRY, "page"), (print_version, "page")]
    assert known_urls([print_version, "https://nowhere.example/1"]) == {print_version}


@pytest.mark.parametrize("in_one_batch", [True, False])
@pytest.mark.parametrize("canonical", [f"{FERRY}/2", "https://www.harbourpost.example/"])
def test_one_page_as_canonical_of_every_article_loses_none_and_takes_no_url(canonical: str, in_one_batch: bool) -> None:
    declared = [SeenURL(canonical, Kind.CANONICAL)]
    batch = [
        incoming(f"{FERRY}/{number}", headline=f"The ferry {word} again", content=f"It {word}.", other_urls=declared)
        for number, word in enumerate(["sails", "sinks", "returns", "burns"])
    ]
    results = store_articles(batch) if in_one_batch else [store_article(article) for article in batch]
    again = store_articles(batch)

    assert [result.outcome for result in results] == ["created"] * 4
    assert again == [Stored("known", result.article_id) for result in results]
    assert [urls_of(result.article_id) for result in results] == [[(article.url, "page")] for article in batch]


def test_an_empty_batch_and_one_of_bad_articles_store_nothing() -> None:
    assert store_articles([]) == []
    [rejected] = store_articles([incoming(content=" \n")])
    assert (rejected.outcome, rejected.reason.partition(";")[0]) == ("rejected", "content is empty")
    assert not Newspaper.objects.exists()


@pytest.mark.parametrize(
    ("text", "normalised"),
    [
        ("Паром СНОВА ходит — ура!", "паром снова ходит ура"),
        ("කුඩා දූපතට තොටුපළ", "කුඩා දූපතට තොටුපළ"),
        ("சிறிய தீவு, படகு", "சிறிய தீவு படகு"),
        ("العبّارة تبحر «مجدداً»", "العباره تبحر مجددا"),
        ("渡轮,再次起航。", "渡轮 再次起航"),
        ("Fährverkehr ﬂau", "fährverkehr flau"),
        ("🚢🚢 …", ""),
    ],
)
def test_every_script_is_stored_as_it_is_and_normalised(text: str, normalised: str) -> None:
    store_article(incoming("https://example.org/паром", content=text, headline=text, newspaper="Газета"))

    article = Article.objects.get()
    assert (article.content, article.headline, article.newspaper.name) == (text, text, "Газета")
    assert article.normalized_text == normalised
    assert (article.text_digest is None) == (normalised == "")


def test_the_greatest_lengths_are_stored() -> None:
    longest = incoming(
        "https://a.example/" + "x" * 1_982,
        content="x" * 1_000_000,
        headline="h" * 2_000,
        external_id="i" * 200,
        newspaper="n" * 200,
        date=datetime.date(1605, 1, 1),
    )
    assert store_article(longest).outcome == "created"
    assert store_article(incoming(f"https://{'a.' * 96}example/", newspaper="")).outcome == "created"


def test_a_bad_other_url_is_left_out_and_the_article_kept() -> None:
    bad = [SeenURL("javascript:void(0)", Kind.CANONICAL), SeenURL("https://a.example/\0", Kind.FEED)]
    stored = store_article(incoming(other_urls=bad))
    assert urls_of(stored.article_id) == [(FERRY, "page")]


def test_attach_urls_needs_a_known_article_and_moves_no_url() -> None:
    other = store_article(incoming(f"{FERRY}/2"))
    article = store_article(incoming())
    others = [SeenURL(url, Kind.FEED) for url in (f"{FERRY}/2", "no url")]
    seen = [SeenURL("https://t.example/1", Kind.REDIRECT), *others]

    assert attach_urls(seen, known_as=f"{FERRY}#x")
    assert attach_urls(seen, known_as=FERRY)
    assert not attach_urls(seen, known_as="https://unknown.example/")
    assert urls_of(article.article_id) == [(FERRY, "page"), ("https://t.example/1", "redirect")]
    assert urls_of(other.article_id) == [(f"{FERRY}/2", "page")]


def test_an_article_found_by_a_google_redirect_gets_the_url_of_its_target() -> None:
    wrapper = f"https://www.google.com/url?rct=j&sa=t&url={FERRY}&ct=ga&usg=A"
    other = f"https://www.google.com/url?rct=j&url={FERRY}&ct=ga&usg=B"
    [first, again, direct] = store_articles(
        [
            incoming(wrapper, newspaper="", kind=Kind.IMPORT),
            incoming(other, newspaper="", kind=Kind.IMPORT),
            incoming(newspaper="", headline="Another headline"),
        ]
    )

    assert (first.outcome, again.outcome, direct.outcome) == ("created", "known", "known")
    article = Article.objects.get()
    assert (article.url, article.newspaper.name) == (FERRY, "harbourpost.example")
    assert urls_of(article.pk) == [(FERRY, "redirect"), (wrapper, "import"), (other, "import")]
    assert set(ArticleURL.objects.values_list("normalized_url", flat=True)) == {"http://harbourpost.example/2026/ferry"}
    assert known_urls([wrapper, f"{wrapper}&x=1", wrapper.replace("ferry", "quay")]) == {wrapper, f"{wrapper}&x=1"}
    assert attach_urls([SeenURL("https://t.example/1", Kind.FEED)], known_as=f"{wrapper}&x=1")


def test_an_article_known_only_by_the_redirect_is_known() -> None:
    wrapper = f"https://www.google.com/url?url={FERRY}"
    first = store_article(incoming())
    ArticleURL.objects.update(url=wrapper, key=url_key(wrapper))

    assert store_article(incoming(wrapper)) == Stored("known", first.article_id)
    assert urls_of(first.article_id) == [(wrapper, "page"), (FERRY, "redirect")]


def test_a_dozen_urls_of_one_story_belong_to_one_article() -> None:
    story = "https://www.harbourpost.example/article/us-ferry-skerry/ferry-sails-again-after-winter-idHP5K12"
    seen = [
        SeenURL("https://feeds.harbourpost.example/~r/top/~3/AbC/ferry-sails-again-after-winter-idHP5K12", Kind.FEED),
        SeenURL("https://hp.example/2kXyZ", Kind.REDIRECT),
        SeenURL("https://harbourpost.example/article/idHP5K12", Kind.REDIRECT),
        SeenURL("https://uk.harbourpost.example/article/uk-ferry-skerry/ferry-sails-idHP5K12", Kind.CANONICAL),
        SeenURL(f"https://m.{story.removeprefix('https://www.')}", Kind.AMP),
        SeenURL(f"{story}/amp", Kind.AMP),
        SeenURL(f"{story}?feedType=RSS&feedName=topNews", Kind.FEED),
        SeenURL(f"{story}?utm_source=feed&utm_medium=rss", Kind.FEED),
        SeenURL(f"{story}?il=0", Kind.PAGE),
    ]
    first = store_article(incoming(f"{story}?feedType=RSS", kind=Kind.FEED, other_urls=seen))
    assert attach_urls([SeenURL(f"https://www.google.com/url?url={story}", Kind.PAGE)], known_as=story + "?il=0")
    redirect = SeenURL("https://hp.example/2kXyZ", Kind.REDIRECT)
    again = store_article(incoming(story, content="Read again.", other_urls=[redirect]))

    assert again == Stored("known", first.article_id)
    assert ArticleURL.objects.filter(article=first.article_id).count() == ArticleURL.objects.count() == 11
    # It has another form, so it is only declared.
    declared = DeclaredURL.objects.get(article=first.article_id)
    assert declared.url == "https://uk.harbourpost.example/article/uk-ferry-skerry/ferry-sails-idHP5K12"
    for url in ArticleURL.objects.values_list("url", flat=True):
        assert store_article(incoming(url, headline="Anything", content="Anything.")).article_id == first.article_id
    assert {kind for _, kind in urls_of(first.article_id)} == {Kind.PAGE, Kind.FEED, Kind.REDIRECT, Kind.AMP}


@pytest.mark.parametrize(
    ("url", "host"),
    [
        (FERRY, "harbourpost.example"),
        ("https://m.harbourpost.example/ferry", "m.harbourpost.example"),
        ("https://news.google.com/", "news.google.com"),
        ("https://www.google.com/url?rct=j&url=https://tide.example.org/a/b.html&ct=ga", "tide.example.org"),
        ("https://www.google.com/url?q=nothing", "google.com"),
        ("https://www.google.com/amp/s/m.tide.example.org/a", "m.tide.example.org"),
        (f"https://www.google.com/url?url=https://{'a.' * 120}example/", "google.com"),
        ("https://archive.ph/2026/https://skerrytimes.example/ferry", "skerrytimes.example"),
        ("http://127.0.0.1:8000/ferry", "127.0.0.1"),
    ],
)
def test_the_newspaper_of_a_redirect_is_its_targets(url: str, host: str) -> None:
    assert newspaper_host(url) == host


def test_a_batch_costs_the_same_number_of_queries_whatever_its_size(django_assert_num_queries) -> None:  # type: ignore[no-untyped-def]
    store_articles([incoming(), incoming("https://elsewhere.example/1", newspaper="")])
    batch = [incoming(f"{FERRY}/{number}", newspaper="Harbour Post" if number % 2 else "") for number in range(100)]
    # Three for the newspapers and their aliases; the transaction, its lock, the newspapers as they are now, the known
    # URLs, the articles, the kept parameters and the URLs.
    with django_assert_num_queries(14):
        store_articles(batch)


def test_the_length_of_a_content_is_kept_by_the_database_whoever_writes_it() -> None:
    store_article(incoming())
    article = Article.objects.get()
    assert article.characters == len(article.content) > 0
    Article.objects.update(headline="Two headlines", content="Twö words")
    assert Article.objects.get().characters == 9


def test_an_article_without_a_time_gets_the_first_one_that_comes_for_its_day() -> None:
    def at(time: str, source: str = "import") -> Details:
        return Details(date_source=source).with_time(written_time(time))

    def time() -> tuple[str, str]:
        article = Article.objects.get()
        return str(article.publication_time), article.date_source

    known = incoming(details=Details(date_source="url"))
    assert store_article(known).outcome == "created"
    store_articles([incoming(details=at("2026-03-03T09:00Z")), incoming(details=at("2026-03-01T23:30Z")), known])
    assert time() == ("None", "url")  # of other days
    page = PageCopy(FERRY, "text/html", b"<p>", 1)
    store_articles([incoming(details=at("2026-03-02T07:00Z"), page=page)])
    assert time() == ("None", "url")
    Article.objects.update(extractor_version=1)  # it has its page
    store_articles([incoming(details=at("2026-03-02T07:00Z"))])
    assert time() == ("None", "url")
    Article.objects.update(extractor_version=0)
    revision = Article.objects.get().revision
    store_articles(
        [incoming(details=at(f"2026-03-02T{hour}:15+02:00", source)) for hour, source in ((18, "import"), (19, "feed"))]
    )
    assert time() == ("2026-03-02T18:15+02:00", "import")
    assert Article.objects.get().revision > revision
    store_article(incoming(details=at("2026-03-02T20:00Z", "feed")))
    assert time() == ("2026-03-02T18:15+02:00", "import")
