"""Stories: each cluster once, its sources, the feed, and who may read them."""

import re
from typing import Any

import feedparser
import pytest
from django.contrib.auth.models import User
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from articles.models import Article, Newspaper
from dedup.models import Cluster, Token
from tests.conftest import StoreArticle
from tests.factories import client_of, make_cluster, make_user

pytestmark = pytest.mark.django_db

FERRY = "Port Elden. The ferry to the islands stays in the harbour until Friday. A second sentence nobody may see here."


@pytest.fixture
def ferry(store: StoreArticle) -> list[Article]:
    """Store a story of three newspapers, one of which has it twice, and a story of one newspaper."""
    copies = [
        store(FERRY, newspaper="Harbour Post", date="2026-03-02", headline="Ferry stays in port", url="https://harbour.example/ferry"),
        store(FERRY, newspaper="Inland Courier", date="2026-03-02", headline="No ferry until Friday"),
        store(FERRY, newspaper="Inland Courier", date="2026-03-03", headline="No ferry until Friday, again"),
        store(FERRY, newspaper="Dock <Daily>", date="2026-03-04", headline="Islands cut off\x08"),
    ]  # fmt: skip
    make_cluster(*copies)
    store("The bakery in Mill Lane has won a prize for its rye bread.", newspaper="Harbour Post", date="2026-03-05",
          headline="Prize for rye bread")  # fmt: skip
    return copies


def test_a_cluster_is_one_story_with_its_newspapers_found_by_any_of_its_articles(
    ferry: list[Article], visitor: Client
) -> None:
    page = visitor.get("/stories/").content.decode()
    headlines = re.findall(r'<span lang="[^"]*" dir="auto">([^<]*)</span></a>', page)
    assert headlines == ["Prize for rye bread", "Ferry stays in port"]
    assert '<span aria-hidden="true">(4)</span>' in page
    assert re.findall(r'class="source"[^>]*>([^<]*)', page) == [
        "Harbour Post", "Harbour Post", "Inland Courier ", "Dock &lt;Daily&gt;",
    ]  # fmt: skip
    assert "The ferry to the islands stays in the harbour until Friday." in page
    assert "second sentence" not in page

    papers = dict(Newspaper.objects.values_list("name", "pk"))

    def found(query: str) -> list[str]:
        page = visitor.get(f"/stories/?{query}").content.decode()
        return re.findall(r'<span lang="[^"]*" dir="auto">([^<]*)</span></a>', page)

    assert found("q=islands+cut") == found("q=until+friday") == ["Ferry stays in port"]
    assert found("q=rye") == ["Prize for rye bread"]
    assert found(f"newspaper={papers['Inland Courier']}") == found("papers=3") == ["Ferry stays in port"]
    assert found("papers=5") == found("q=nothing+like+it") == []
    assert found("date_from=2026-03-05") == ["Prize for rye bread"]


def test_a_story_keeps_its_address(ferry: list[Article], visitor: Client) -> None:
    first, *others = ferry
    Cluster.objects.update(kept=others[0])
    for other in others:
        answer = visitor.get(f"/stories/{other.pk}/")
        assert (answer.status_code, answer["Location"]) == (302, f"/stories/{first.pk}/")
    page = visitor.get(f"/stories/{first.pk}/").content.decode()
    assert "<h1" in page
    assert "4 articles, the first one first" in page
    assert page.index("harbour.example/ferry") < page.index("Islands cut off")
    assert "second sentence" not in page
    assert visitor.get("/stories/999999999/").status_code == 404


def test_the_feed_has_each_story_once_and_is_not_sent_twice(ferry: list[Article], visitor: Client) -> None:
    answer = visitor.get("/stories/feed.atom")
    assert answer["Content-Type"] == "application/atom+xml; charset=utf-8"
    feed = feedparser.parse(answer.content)
    assert not feed.bozo
    assert [entry.title for entry in feed.entries] == ["Prize for rye bread", "Ferry stays in port (4)"]
    ferry_story = feed.entries[1]
    assert ferry_story.id == f"http://testserver/stories/{ferry[0].pk}/"
    assert ferry_story.link == "https://harbour.example/ferry"
    assert [tag.term for tag in ferry_story.tags] == ["Harbour Post", "Inland Courier", "Dock <Daily>"]
    assert "Dock &lt;Daily&gt;</a>" in ferry_story.summary
    assert "second sentence" not in answer.content.decode()
    assert visitor.get("/stories/feed.atom", headers={"if-none-match": answer["ETag"]}).status_code == 304
    assert len(feedparser.parse(visitor.get("/stories/feed.atom?q=rye").content).entries) == 1
    assert visitor.get("/stories/feed.atom?newspaper=0").status_code == 400


def test_a_feed_address_works_without_a_login_until_it_is_revoked(ferry: list[Article], visitor: Client) -> None:
    page = visitor.post("/stories/feed-address/?q=rye").content.decode()
    address = re.findall(r'id="address">http://testserver([^<]*)<', page)[0].replace("&amp;", "&")
    token = Token.objects.get()
    assert token.scopes == ["feed"]
    assert token.start in address
    answer = Client().get(address)
    assert (answer.status_code, answer["Cache-Control"]) == (200, "private")
    assert "Prize for rye bread" in answer.content.decode()
    secret = address.split("/")[3].removesuffix(".atom?q=rye")
    assert secret not in answer.content.decode()

    Token.objects.update(scopes=["read"])
    assert Client().get(address).status_code == 404
    Token.objects.update(scopes=["feed"])
    User.objects.filter(pk=token.owner_id).update(is_active=False)
    assert Client().get(address).status_code == 404
    assert Client().get("/stories/feed/nothing.atom").status_code == 404


def test_a_setting_opens_stories_to_everybody(ferry: list[Article], visitor: Client, settings: Any) -> None:
    no_role = client_of(make_user("no-role"))
    addresses = ("/stories/", f"/stories/{ferry[0].pk}/", "/stories/feed.atom")
    for address in addresses:
        assert Client().get(address).status_code == 302
        assert no_role.get(address).status_code == 403
        assert visitor.get(address).status_code == 200
    settings.STORIES_PUBLIC = True
    for address in addresses:
        answer = Client().get(address)
        assert answer.status_code == no_role.get(address).status_code == 200
        assert not re.findall(r'href="/(?:articles|clusters|pairs|queue)', answer.content.decode())
    assert Client().post("/stories/feed-address/").status_code == 302
    assert not Token.objects.exists()


def test_the_list_costs_the_same_for_many_clusters(
    store: StoreArticle, visitor: Client, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    for number in range(12):
        text = f"Story number {number} has a first sentence, and then it ends."
        make_cluster(store(text, newspaper="Harbour Post"), store(text, newspaper="Inland Courier"))
    visitor.get("/stories/")
    with django_assert_num_queries(8):
        page = visitor.get("/stories/").content.decode()
    assert page.count("(2)</span>") == 12
