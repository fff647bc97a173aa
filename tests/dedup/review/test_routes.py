"""Routes: which newspapers and languages an editor is asked about, on the pages and in the next question."""

import re
from functools import partial

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from articles.models import Article, Collection, Newspaper
from dedup.models import Route
from dedup.review.answers.newspaper_merges import merge_newspapers, undo_merge
from dedup.review.questions.routes import left_out
from dedup.review.questions.tabs import TABS, Question, next_question, put_off, tab_counts
from tests.conftest import StoreArticle
from tests.factories import client_of, make_cluster, make_collection, make_pair
from tests.pages import opened

PAIRS = (("Coast Post", "Coast Post"), ("Coast Post", "Harbour Post"), ("Harbour Post",) * 2, ("Selby",) * 2)


def asked(user: User) -> list[int]:
    """Return the questions that a user is asked; the counts of the tabs are those of their rows."""
    found: list[Question] = []
    while question := next_question(user, skip=found, lease=False):
        found.append(question)
    assert tab_counts(user) == {name: tab.rows(user).count() for name, tab in TABS.items()}
    return sorted(question.number for question in found)


@pytest.mark.django_db
def test_editors_are_asked_about_their_own_newspapers_and_languages(
    admin_client: Client, editor: User, other: User, editor_client: Client, store: StoreArticle
) -> None:
    doubtful = partial(make_pair, verdict="version", probability=0.5, duplicate_probability=0.4, trigram=0.6)
    made = [doubtful(store(newspaper=one), store(newspaper=two)).pk for one, two in PAIRS]
    (within, both, harbour, selby), paper = made, {row.name: row for row in Newspaper.objects.all()}

    def send(person: User, *units: int, languages: str = "") -> str:
        form = {"role": "editor", "email": "", "units": units, "languages": languages.split()}
        assert admin_client.post(f"/people/{person.pk}/change/", form).status_code == 302
        return opened(admin_client, "person", person.pk)

    assert asked(editor) == made
    assert "is asked about Coast Post now." in send(editor, paper["Coast Post"].pk)
    send(other, -make_collection("owner", "Harbour Media", paper["Harbour Post"]).pk)
    assert (asked(editor), asked(other)) == ([within, both], [both, harbour])
    page = opened(admin_client, "people")
    assert re.findall(r"<td>(everything|[A-Z].*?)</td>", page) == ["everything", "Coast Post", "Harbour Media (owner)"]
    assert "some open questions on Selby: every editor" in page
    make_cluster(*(store(newspaper=name) for name in ("Selby", "Selby", "Coast Post")), score=0.95)
    assert [tab_counts(user)["clusters"] for user in (editor, other)] == [1, 0]
    # The queue says so, and shows all.
    assert "You are asked about Coast Post. <a" in opened(editor_client, "queue")
    assert "2 questions wait" in opened(editor_client, "dashboard")
    page = opened(editor_client, "queue", all="1")
    assert ("4 questions" in page, 'href="/queue/next/?all=1&amp;tab=informative"' in page) == (True, True)
    send(editor, paper["Harbour Post"].pk)
    with CaptureQueriesContext(connection) as queries:  # one more than without a route
        answer = editor_client.post(f"/pairs/{both}/decide/?tab=informative", {"kind": "reject", "seen": "0"})
        assert answer["Location"] == f"/pairs/{harbour}/?tab=informative"
        assert "1 left" in editor_client.get(answer["Location"]).content.decode()
    assert len(queries) == 19
    put_off(Question("pair", harbour), editor)
    assert (asked(editor), tab_counts(editor)["later"]) == ([], 1)
    # A route follows merges, and goes back.
    send(editor, paper["Selby"].pk)
    merges = [merge_newspapers(paper[one], paper[two]) for one, two in (("Selby", "Harbour Post"), PAIRS[1][::-1])]
    assert asked(editor) == [within, selby]
    assert f'value="{paper["Coast Post"].pk}" selected' in opened(admin_client, "person", editor.pk)
    for merge in reversed(merges):
        undo_merge(merge)
    assert asked(editor) == [selby]
    Article.objects.filter(newspaper=paper["Selby"]).update(language="nl")
    assert "is asked about articles in Dutch now." in send(editor, languages="nl")
    assert asked(editor) == [selby]
    Collection.objects.all().delete()
    assert (asked(other), left_out()) == ([], ["Coast Post", "Harbour Post"])
    assert "You are asked about newspapers that are gone." in opened(client_of(other), "queue")
    send(editor)
    assert (asked(editor), left_out()) == ([within, selby], [])
    other.delete()
    assert not Route.objects.exists()
