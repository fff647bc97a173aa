"""Saved views: lists with a filter and an order, under a name; and lists without rows."""

import html

import pytest
from django.test import Client

from dedup.models import SavedView
from dedup.review import saved_views
from tests.conftest import StoreArticle
from tests.factories import client_of, make_run, make_user
from tests.pages import text_of

pytestmark = pytest.mark.django_db


def shown(client: Client, address: str) -> str:
    return html.unescape(text_of(client, address))


def test_a_view_is_saved_listed_renamed_and_deleted(client: Client, store: StoreArticle) -> None:
    store()
    make_run()
    vera = make_user("vera", "viewer")
    client.force_login(vera)
    assert 'name="query"' not in shown(client, "/clusters/")
    page = shown(client, "/clusters/?state=proposed&size_from=&page=3")
    assert '<input type="hidden" name="query" value="state=proposed">' in page

    asked = {"name": "  To  look at ", "query": "state=proposed&size_from=&page=3"}
    assert client.post("/views/clusters/save/", asked)["Location"] == "/clusters/?state=proposed"
    view = SavedView.objects.get()
    assert (view.user, view.page, view.name, view.query) == (vera, "clusters", "To look at", "state=proposed")
    page = shown(client, "/clusters/?state=proposed")
    assert '<a href="/clusters/?state=proposed" aria-current="true">To look at</a>' in page
    # It is saved already.
    assert 'name="query"' not in page
    assert "To look at" not in shown(client, "/history/")

    again = client.post("/views/clusters/save/", asked | {"query": "state=confirmed"}, follow=True)
    assert "You already have a view “To look at” of Clusters." in again.content.decode()
    # The same name is free on another page.
    client.post("/views/queue/save/", {"name": "To look at", "query": "sort=doubt&tab=pairs"})
    page = shown(client, "/queue/?sort=doubt&tab=pairs")
    assert '<span class="badge-count">most doubtful first</span>' in page
    assert '<details class="filter" open>' in page

    client.post(f"/views/{view.pk}/rename/", {"name": "Open"})
    assert [view.name for view in SavedView.objects.order_by("page")] == ["Open", "To look at"]
    # Nobody else sees or touches it.
    other = client_of(make_user("eve", "viewer"))
    assert "You have saved no view." in shown(other, "/views/")
    assert other.post(f"/views/{view.pk}/delete/").status_code == 404
    assert client.post(f"/views/{view.pk}/delete/")["Location"] == "/views/"
    assert [view.page for view in SavedView.objects.all()] == ["queue"]


@pytest.mark.parametrize(
    ("name", "query", "said"),
    [
        ("", "state=proposed", "The name has 0 characters; it must have from 1 to 60."),
        ("x" * 61, "state=proposed", "The name has 61 characters"),
        ("all", "state=&page=2", "neither filtered nor sorted"),
        ("long", "headline=" + "x" * 1000, "The filter has 1,009 characters; a view keeps up to 1,000."),
        ("third", "state=proposed", "You have 2 saved views, which is the most. Delete one first."),
    ],
)
def test_what_cannot_be_saved(client: Client, monkeypatch, name: str, query: str, said: str) -> None:
    monkeypatch.setattr(saved_views, "MOST_VIEWS", 2)
    user = make_user("vera", "viewer")
    client.force_login(user)
    for title in ("one", "two"):
        saved_views.save_view(user, "clusters", title, "state=confirmed")
    answer = client.post("/views/clusters/save/", {"name": name, "query": query}, follow=True)
    assert said in html.unescape(answer.content.decode())
    assert SavedView.objects.count() == 2
    assert client.post("/views/people/save/", {"name": "x", "query": "a=b"}).status_code == 404
