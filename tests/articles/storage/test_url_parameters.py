"""Parameters that distinguish a newspaper's stories are learnt and kept. Against the real database."""

import logging
import re

import pytest

from articles.models import ArticleURL, LearntParameter, Newspaper
from articles.storage import url_parameters
from articles.storage.incoming import Details, IncomingArticle, SeenURL
from articles.storage.ingest import attach_urls, store_articles
from articles.storage.renormalization import mark_outdated, renormalize
from tests.articles.storage.test_ingest import incoming
from tests.factories import store_article

pytestmark = pytest.mark.django_db
PAGE = "https://harbourpost.example/town/little-skerry-council"
FERRY = """The ferry to Little Skerry sails again from Monday, the harbour master said after the last tide of the
week. Her new engine was hauled over the slipway by eleven men and a tractor, and it ran for six hours
without a cough. Mrs Oddny Vane, who has sold tickets on the quay since she was nineteen, wept when the
horn sounded. The crossing takes forty minutes and costs four crowns, one less than before the winter,
because the council pays for the diesel until September."""
SCHOOL = """Pupils of the Brackwater school found a clay oven under the sports field while they dug holes for
goalposts. The museum believes that bread was baked there for a garrison of which nobody had heard.
Teacher Ivo Lund has moved his history lessons outdoors and lets every class wash shards on Thursdays.
Football goes on beside the trench, with a rope between, and the team has not lost a match since, which
some put down to the garrison and others to the new goalkeeper."""
HARVEST = """Rain has spoilt a third of the barley on the northern farms, growers told the chamber yesterday. Dryers
run day and night in Oxmoor, where the queue of trailers reached the chapel. Prices at the mill rose
twice within a week. Farmer Tove Aske plans to sow beans next spring instead, as her grandmother did, and
has ordered seed from a neighbour. The chamber asks the ministry to postpone the tax on grain stores, and
expects an answer before the first frost."""
NOTICE = "Please turn on scripts in your browser to go on reading this page of our paper, or write to the desk. " * 6
TEXTS = list(enumerate([FERRY, SCHOOL, HARVEST]))
HEADLINES = {FERRY: "Ferry sails again", SCHOOL: "Pupils dig up an oven", HARVEST: "Rain spoils the barley"}


def story(query: str, content: str, **changes: object) -> IncomingArticle:
    url, headline = f"{PAGE}?{query}", HEADLINES.get(content, content[:20])
    return incoming(**{"url": url, "content": content, "headline": headline, **changes})  # type: ignore[arg-type]


def kept() -> list[str]:
    return Newspaper.objects.get(name="Harbour Post").kept_url_parameters


def forms() -> list[str]:
    return list(ArticleURL.objects.order_by("id").values_list("normalized_url", flat=True))


def _variant(text: str, mark: object) -> str:
    """Return a text of the same length without any word of another variant."""
    return " ".join(f"{word}{mark}" for word in text.split())


FORM = "http://harbourpost.example/town/little-skerry-council"


@pytest.mark.parametrize("in_one_batch", [True, False])
def test_a_parameter_that_distinguishes_two_stories_is_kept_from_then_on(
    in_one_batch: bool, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, logger="articles.storage.url_parameters")
    batch = [story("sid=101&utm_source=feed", FERRY), story("utm_source=mail&sid=102", SCHOOL)]
    store_articles(batch) if in_one_batch else [store_article(article) for article in batch]

    assert kept() == ["sid"]
    assert forms() == [f"{FORM}?sid=101", f"{FORM}?sid=102"]
    learnt = LearntParameter.objects.get()
    assert (learnt.name, str(learnt)) == ("sid", "sid")
    assert {learnt.first_url, learnt.second_url} == {article.url for article in batch}
    assert re.search("Harbour Post: .* sid .*https://", caplog.text)

    store_article(story("sid=103", HARVEST))
    store_article(story("SID=101&ref=top", FERRY))
    assert forms()[2:] == [f"{FORM}?sid=103", f"{FORM}?sid=101"]
    assert LearntParameter.objects.count() == 1


def test_stored_urls_with_the_parameter_get_new_forms_and_others_keep_theirs() -> None:
    batch = [
        story("", HARVEST, url="https://harbourpost.example/farms/barley-rots-in-oxmoor?sid=7"),
        story("", HARVEST, url="https://harbourpost.example/farms/barley-rots-in-oxmoor?ref=7"),
        story("", HARVEST, url="https://skerrytimes.example/barley-rots-in-oxmoor?sid=7", newspaper="Skerry Times"),
    ]
    store_articles(batch)
    store_articles([story("sid=101", FERRY), story("sid=102", SCHOOL)])

    assert forms()[:3] == [
        "http://harbourpost.example/farms/barley-rots-in-oxmoor?sid=7",
        "http://harbourpost.example/farms/barley-rots-in-oxmoor",
        "http://skerrytimes.example/barley-rots-in-oxmoor",
    ]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        pytest.param(story("sid=1", FERRY), story("sid=2", SCHOOL, headline="Ferry sails again"), id="one title"),
        pytest.param(story("sid=1", FERRY), story("sid=2", SCHOOL, headline="Ferry sails"), id="nearly one title"),
        pytest.param(story("sid=1", FERRY, headline=""), story("sid=2", SCHOOL), id="no title"),
        pytest.param(story("sid=1", FERRY), story("sid=2", FERRY, headline="She floats"), id="one text"),
        pytest.param(
            story("sid=1", FERRY), story("sid=2", f"{FERRY[200:]} {SCHOOL[:300]}", headline="New"), id="two versions"
        ),
        pytest.param(story("sid=1", FERRY), story("sid=2", SCHOOL, headline="LIVE: Oven dug up"), id="live"),
        pytest.param(story("sid=1", FERRY), story("sid=2", SCHOOL, headline="404 Not Found"), id="failure"),
        pytest.param(story("sid=1", FERRY), story("sid=2", SCHOOL[:100]), id="beginning"),
        pytest.param(story("sid=1", FERRY), story("sid=2", SCHOOL, details=Details(paywalled=True)), id="paywall"),
        pytest.param(story("sid=1", FERRY), story("sid=2", SCHOOL, newspaper="Skerry Times"), id="two newspapers"),
        pytest.param(story("sid=1", FERRY), story("sid=1&ref=2", SCHOOL), id="one value"),
        pytest.param(story("sid=A1", FERRY), story("sid=a1&ref=2", SCHOOL), id="one value in another case"),
        pytest.param(story("sid=1", FERRY), story("ref=2", SCHOOL), id="nothing in both"),
        pytest.param(story("utm_id=1", FERRY), story("utm_id=2", SCHOOL), id="a tracker"),
        pytest.param(story(f"_{'x' * 40}=1", FERRY), story(f"_{'x' * 40}=2", SCHOOL), id="a long name"),
        pytest.param(story("_%C3=1", FERRY), story("_%C3=2", SCHOOL), id="a name of other characters"),
    ],
)
def test_nothing_is_learnt_from_pages_that_may_be_one_story_or_none(
    first: IncomingArticle, second: IncomingArticle
) -> None:
    assert [article.outcome for article in store_articles([first, second])] == ["created", "created"]
    assert kept() == []
    assert not LearntParameter.objects.exists()


def test_a_notice_in_place_of_several_articles_is_not_a_story() -> None:
    store_articles([story("", NOTICE, url="https://harbourpost.example/1"), story("sid=1", FERRY)])
    store_article(story("sid=2", NOTICE))
    assert kept() == []


def test_a_tracker_is_kept_only_if_it_distinguishes_three_stories() -> None:
    store_articles([story("utm_id=1", FERRY), story("utm_id=2", SCHOOL)])
    assert kept() == []
    store_article(story("utm_id=1&ref=4", HARVEST))
    assert kept() == []
    store_article(story("utm_id=3&ref=4", _variant(HARVEST, "x")))
    assert kept() == ["utm_id"]


def test_a_parameter_that_differs_as_often_between_copies_of_a_story_is_not_kept() -> None:
    store_articles([story("sid=x1", FERRY), story("sid=x2", FERRY)])
    store_article(story("sid=x1&ref=1", SCHOOL))
    assert kept() == []
    store_article(story("sid=x3", HARVEST))
    assert kept() == ["sid"]


@pytest.mark.parametrize(
    ("queries", "names"),
    [
        (["utm_id=1&ref=a", "utm_id=2&ref=b", "utm_id=3&ref=c"], ["ref"]),
        (["ref=top&sid=1", "ref=end&sid=2", "ref=mid&sid=3"], ["sid"]),
        (["cid=1&sid=1", "cid=2&sid=2", "cid=2&sid=3"], ["sid"]),
        (["cid=1&sid=1", "cid=2&sid=1", "cid=1&sid=2"], ["cid", "sid"]),
    ],
)
def test_the_fewest_that_distinguish_all_stories_are_kept(queries: list[str], names: list[str]) -> None:
    store_articles([story(query, text) for query, text in zip(queries, HEADLINES, strict=True)])
    assert kept() == names
    assert len(set(forms())) == 3


def test_one_parameter_is_learnt_from_hundreds_of_parameters_and_articles() -> None:
    names = [f"_{number}" for number in range(200)]
    batch = [
        story("&".join(f"{name}={number}" for name in names), text, headline=f"{HEADLINES[text]} {number * 'x'}")
        for number, text in enumerate(HEADLINES)
    ]
    store_articles(batch)
    assert kept() == ["_0"]

    many = [
        story("", _variant(FERRY, number), url=f"{PAGE}-minutes?sid={number}", headline=f"Item {number} {number * 7}")
        for number in range(40)
    ]
    store_articles(many)
    assert kept() == ["_0", "sid"]
    assert len({form for form in forms() if "minutes" in form}) == 40


def test_a_newspaper_learns_a_limited_number_of_parameters(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(url_parameters, "MAX_LEARNT", 2)
    for name in ("_a", "_b", "_c"):
        url = f"https://harbourpost.example/town/little-skerry-council{name}?{name}="
        store_articles([story("", _variant(text, name), url=f"{url}{number}") for number, text in TEXTS])
    assert kept() == ["_a", "_b"]


def test_a_parameter_that_an_admin_removed_is_not_learnt_again() -> None:
    store_articles([story("sid=101", FERRY), story("sid=102", SCHOOL)])
    Newspaper.objects.update(kept_url_parameters=[])
    store_article(story("sid=103", HARVEST))
    mark_outdated(Newspaper.objects.get())
    list(renormalize())

    assert kept() == []
    assert set(forms()) == {FORM}


def test_renormalize_learns_from_stored_articles_once() -> None:
    batch = [story("sid=101", FERRY), story("sid=102", SCHOOL), story("", HARVEST, url="https://harbourpost.example/h")]
    store_articles(batch)
    LearntParameter.objects.all().delete()
    Newspaper.objects.update(kept_url_parameters=[])
    ArticleURL.objects.filter(url__contains="sid").update(normalized_url="harbourpost.example/town/little-skerry")
    mark_outdated(Newspaper.objects.get())

    batches = list(renormalize(batch_size=1))
    assert [(row.articles, row.changed) for row in batches] == [(1, 1), (1, 2), (1, 0)]
    assert kept() == ["sid"]
    assert forms() == [f"{FORM}?sid=101", f"{FORM}?sid=102", "http://harbourpost.example/h"]
    mark_outdated(Newspaper.objects.get())
    assert [(row.articles, row.changed) for row in renormalize()] == [(3, 0)]


def test_an_attached_url_teaches_too() -> None:
    store_article(story("sid=101", FERRY))
    other = "https://harbourpost.example/oven"
    store_article(story("", SCHOOL, url=other))
    attach_urls([SeenURL(f"{PAGE}?sid=102", ArticleURL.Kind.FEED)], known_as=other)
    assert kept() == ["sid"]


def test_a_url_that_came_under_another_newspaper_keeps_what_its_own_one_has_learnt() -> None:
    elsewhere = story("", HARVEST, url="https://coasttelegraph.example/barley", newspaper="Coast Telegraph")
    store_articles([story("sid=101", FERRY), story("sid=102", SCHOOL), elsewhere])
    seen = SeenURL("https://harbourpost.example/m/little-skerry-council?sid=101", ArticleURL.Kind.REDIRECT)
    assert store_article(story("sid=101", FERRY, newspaper="Coast Telegraph", other_urls=[seen])).outcome == "known"
    form = "http://harbourpost.example/little-skerry-council?sid=101"
    assert ArticleURL.objects.get(url=seen.url).normalized_url == form


def test_learning_costs_one_query_and_none_without_dropped_parameters(django_assert_num_queries) -> None:  # type: ignore[no-untyped-def]
    store_articles([story("sid=101", FERRY)])
    with django_assert_num_queries(12):
        store_articles([story(f"page={number}", FERRY) for number in range(50)])
    decorated = [story("", FERRY, url=f"https://harbourpost.example/{number}/story?utm_id=1") for number in range(50)]
    with django_assert_num_queries(13):
        store_articles(decorated)
