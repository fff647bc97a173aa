"""The boilerplate of newspapers, the page of a sentence, and the whitelist, on the review pages and in the admin."""

import re
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from articles.models import Article, RepeatedSentence, WhitelistedSentence
from articles.normalization.text import text_digest
from articles.storage.boilerplate_marks import mark_weeks, outdated_weeks
from tests.articles.boilerplate.test_rules import STORIES, SUBSCRIBE
from tests.conftest import StoreArticle
from tests.factories import make_pair
from tests.pages import notices, opened

pytestmark = pytest.mark.django_db

SAID = "“We shall dredge the whole basin before the winter comes,” said the harbour master."


def find() -> None:
    list(mark_weeks(outdated_weeks()))


@pytest.fixture
def articles(store: StoreArticle) -> list[Article]:
    """Store two weeks of one newspaper with the same line, one of another, and a repeated quotation."""
    first = [store(f"{story}\n\n{SAID}\n\n{SUBSCRIBE}") for story in STORIES[:3]]
    second = [store(f"{story}\n\n{SUBSCRIBE}", date="2026-03-10") for story in STORIES[1:]]
    other = [store(f"{story}\n\nRead more", newspaper="Inland Courier", date="2026-03-12") for story in STORIES[:3]]
    find()
    return [*first, *second, *other]


def address(name: str, sentence: str = SUBSCRIBE) -> str:
    row = RepeatedSentence.objects.filter(sentence=sentence).first()
    assert row is not None
    return reverse(name, args=[row.newspaper_id, row.digest])


def listed(client: Client, **query: Any) -> list[tuple[str, str]]:
    rows = opened(client, "boilerplate_list", **query).split('class="row-item')[1:]
    return [
        (re.search(r"<strong>([\d,]+)</strong>", row)[1], re.search(r'row-headline" dir="auto">(.*?)</span>', row)[1])  # type: ignore[index]
        for row in rows
    ]


def test_lists_each_sentence_once_the_most_frequent_first_and_filters(
    editor_client: Client, articles: list[Article]
) -> None:
    assert listed(editor_client) == [("7", SUBSCRIBE), ("3", "Read more")]
    page = opened(editor_client, "boilerplate_list")
    assert "2 weeks, 2 Mar 2026 to 9 Mar 2026" in page
    assert "week of 9 Mar 2026" in page

    assert listed(editor_client, newspaper=articles[-1].newspaper_id) == [("3", "Read more")]
    assert listed(editor_client, week="2026-03-08") == [("3", SUBSCRIBE)]
    assert listed(editor_client, week="2026-03-09") == [("4", SUBSCRIBE), ("3", "Read more")]
    assert listed(editor_client, sentence="HARBOUR post") == [("7", SUBSCRIBE)]
    assert listed(editor_client, kind="quotation") == [("3", SAID)]
    assert listed(editor_client, kind="x", newspaper="x", week="x", page="zzz") == [
        ("7", SUBSCRIBE),
        ("3", "Read more"),
    ]


def test_a_repeated_sentence_shows_its_weeks_with_examples(editor_client: Client, articles: list[Article]) -> None:
    page = editor_client.get(address("boilerplate")).content.decode()

    assert re.search(r"In 7 articles .* 2 weeks\.", page)
    assert "Not whitelisted" in page
    assert re.findall(r'<th scope="row">(.*?)</th><td class="number">(\d+)</td>', page) == [
        ("9 Mar 2026", "4"),
        ("2 Mar 2026", "3"),
    ]
    shown = re.findall(r'href="/articles/(\d+)/"', page)
    assert shown == [str(article.pk) for article in (*articles[3:6], *articles[:3])]

    nowhere = reverse("boilerplate", args=[articles[0].newspaper_id, text_digest("nowhere")])
    assert editor_client.get(nowhere).status_code == 404
    assert editor_client.get(reverse("boilerplate", args=[0, text_digest("nowhere")])).status_code == 404


def test_an_editor_whitelists_a_sentence_and_takes_that_back(
    editor_client: Client, editor: User, articles: list[Article]
) -> None:
    page = editor_client.post(address("boilerplate_keep"), follow=True).content.decode()
    row = WhitelistedSentence.objects.get()
    assert (row.whitelisted_by, row.sentence, row.newspaper_id) == (editor, SUBSCRIBE, articles[0].newspaper_id)
    assert "<p>mara whitelisted it on " in page
    assert "previous state" in page
    assert '<span class="state state-confirmed">whitelisted</span>' in opened(editor_client, "boilerplate_list")
    find()
    page = editor_client.get(address("boilerplate")).content.decode()
    assert "it is <strong>whitelisted</strong>" in page
    assert "previous state" not in page
    assert listed(editor_client) == [("3", "Read more")]
    assert listed(editor_client, kind="whitelisted") == [("7", SUBSCRIBE)]

    page = editor_client.post(address("boilerplate_end_keeping"), follow=True).content.decode()
    assert not WhitelistedSentence.objects.exists()
    assert re.findall(r"<strong>mara</strong> ([a-z ]+) <", page) == ["took it off the whitelist", "whitelisted it"]
    find()
    assert listed(editor_client) == [("7", SUBSCRIBE), ("3", "Read more")]


def test_whitelisting_twice_says_who_was_first(editor_client: Client, articles: list[Article]) -> None:
    for action in ("boilerplate_keep", "boilerplate_end_keeping"):
        editor_client.post(address(action), follow=True)
        page = editor_client.post(address(action), follow=True).content.decode()
        assert [kind for kind, _ in notices(page)] == ["error"]
        assert ("mara" in page.split("notice-error")[1].split("</span>")[0]) == (action == "boilerplate_keep")


def test_who_may_only_look_whitelists_nothing(visitor: Client, articles: list[Article]) -> None:
    page = visitor.get(address("boilerplate")).content.decode()
    assert "cannot whitelist" in page


def test_an_article_shows_its_boilerplate_muted_and_why(editor_client: Client, articles: list[Article]) -> None:
    page = editor_client.get(reverse("article", args=[articles[3].pk])).content.decode()

    assert (
        f'<span class="boilerplate">{SUBSCRIBE}</span> <a class="boilerplate-note" href="{address("boilerplate")}">'
        "in 4 articles "
    ) in page


def test_neighbouring_sentences_of_as_many_articles_have_one_note(editor_client: Client, store: StoreArticle) -> None:
    articles = [store(f"{story}\n\nRead more\n\nPrint\n\nEmail") for story in STORIES]
    find()
    page = editor_client.get(reverse("article", args=[articles[0].pk])).content.decode()

    assert page.count('<span class="boilerplate">') == 3
    assert re.findall(r"(\w+)</span> <a class=\"boilerplate-note\"[^>]*>(.*?)</a>", page) == [
        ("Email", "in 5 articles that week")
    ]


def test_a_comparison_shows_boilerplate_muted(editor_client: Client, articles: list[Article]) -> None:
    pair = make_pair(articles[0], articles[3], trigram=0.9)
    for view in ("", "plain"):
        page = opened(editor_client, "pair", pair.pk, view=view)
        muted = re.findall(r'<span class="boilerplate">(.*?)</span>', page)
        assert muted == [SUBSCRIBE, SUBSCRIBE, "Greyed out:"], view
    assert "boilerplate" not in opened(editor_client, "pair", pair.pk, view="merged").split("<main")[1].replace(
        "/boilerplate/", ""
    )


def test_text_of_articles_is_escaped(editor_client: Client, store: StoreArticle) -> None:
    line = "<script>alert(1)</script> and a good deal more of it."
    articles = [store(f"{story}\n\n{line}") for story in STORIES]
    find()
    for page in (
        reverse("boilerplate_list"),
        reverse("article", args=[articles[1].pk]),
        address("boilerplate", line),
        f"/compare/?left={articles[0].pk}&right={articles[1].pk}&view=plain",
    ):
        shown = editor_client.get(page).content.decode()
        assert "<script>alert" not in shown
        assert "&lt;script&gt;alert(1)" in shown
