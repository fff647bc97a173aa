"""From question to question: tabs, cards, leases, skipping and "later"; and batches."""

import re
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from dedup.models import Batch, Cluster, Decision, Lease, OpenQuestion, Pair, Postponement, Profile
from tests.conftest import StoreArticle
from tests.factories import client_of, make_cluster, make_pair, make_user
from tests.pages import notices, opened, text_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def other(db: None) -> Client:
    return client_of(make_user("ella", "editor"))


@pytest.fixture
def copies(store: StoreArticle) -> Cluster:
    """Return a cluster of four copies: two with the same text, in three newspapers."""
    texts = ("The ferry pier closes in May.", "The ferry pier closes in May.", "The ferry pier closes in early May.")
    made = [store(content=text, newspaper=name) for text, name in zip(texts, ("A", "A", "B"), strict=True)]
    other = store(content="It is being repaired.", newspaper="C", headline="Closed: pier")
    return make_cluster(*made, other, score=0.95)


def followed(client: Client, address: str) -> str:
    """Return where an address redirects to."""
    return client.get(address)["Location"]


def test_the_queue_lists_questions_in_tabs(
    editor_client: Client, copies: Cluster, doubtful: list[Pair], django_assert_num_queries: Any
) -> None:
    # session, user with permissions and keys, newspapers of the form, counts of the tabs (5),
    # progress, page, count, pairs, evidence, saved views
    with django_assert_num_queries(16):
        page = opened(editor_client, "queue")
    places = [page.index(f'row-link" href="/pairs/{pair.pk}/?tab=informative"') for pair in doubtful]
    assert places == sorted(places)
    assert f"/clusters/{copies.pk}/card/" not in page  # nearly certain, so nobody is asked
    assert "3 questions" in page
    assert 'href="/queue/next/?tab=informative"' in page
    certain = opened(editor_client, "queue", tab="certain")
    assert "1 question" in certain
    assert "4 copies" in certain
    narrowed = editor_client.get(reverse("queue"), {"tab": "clusters", "newspaper": copies.kept.newspaper_id})
    assert f"/clusters/{copies.pk}/card/?tab=clusters&amp;newspaper=" in narrowed.content.decode()
    nothing = opened(editor_client, "queue", tab="clusters", headline="no such word")
    assert "/card/" not in nothing


def test_answers_lead_from_question_to_question_and_skipped_ones_wait(
    editor_client: Client, copies: Cluster, doubtful: list[Pair]
) -> None:
    first, second, third = doubtful
    address = followed(editor_client, "/queue/next/?tab=informative&same=True")
    assert address == f"/pairs/{first.pk}/?tab=informative&same=True"
    decided = editor_client.post(f"/pairs/{first.pk}/decide/?tab=informative", {"kind": "reject", "seen": "0"})
    assert decided["Location"] == f"/pairs/{second.pk}/?tab=informative"
    # Skip the second: it does not come back, but one can go back to it.
    skip = f"/queue/next/?tab=informative&skip=p{second.pk}"
    page = editor_client.get(f"/pairs/{second.pk}/?tab=informative").content.decode()
    assert skip.replace("&", "&amp;") in page
    address = followed(editor_client, skip)
    assert address == f"/pairs/{third.pk}/?tab=informative&skip=p{second.pk}"
    assert f'href="/pairs/{second.pk}/?tab=informative">Previous' in editor_client.get(address).content.decode()
    skip = f"{skip},p{third.pk},c{copies.pk},x,p"
    empty = followed(editor_client, skip)
    assert empty == "/queue/?tab=informative"
    assert "those you skipped" in editor_client.get(empty).content.decode()


def test_a_decision_and_the_next_question_cost_a_fixed_number_of_queries(
    editor_client: Client, doubtful: list[Pair]
) -> None:
    counts = []
    for kind, pair in zip(("reject", "confirm"), doubtful, strict=False):
        with CaptureQueriesContext(connection) as queries:
            address = f"/pairs/{pair.pk}/decide/?tab=informative"
            answer = editor_client.post(address, {"kind": kind, "seen": "0"})
            assert editor_client.get(answer["Location"]).status_code == 200
        counts.append(len(queries))
    # A rejection asks which clusters are left, and a confirmation makes one. Two are savepoints, because a test is a
    # transaction itself, and one copies the link.
    assert counts == [18, 18]


def test_a_card_shows_what_differs_and_one_answer_settles_it(
    editor_client: Client, copies: Cluster, django_assert_max_num_queries: Any
) -> None:
    # The last text has little in common with the kept one.
    last = Pair.objects.filter(left=copies.kept).latest("right")
    Pair.objects.filter(pk=last.pk).update(left_matched=0.2, right_matched=0.3)
    assert followed(editor_client, "/queue/next/?tab=clusters") == f"/clusters/{copies.pk}/card/?tab=clusters"
    with django_assert_max_num_queries(18):
        page = editor_client.get(f"/clusters/{copies.pk}/card/?tab=certain").content.decode()
    assert "4 copies in 3 newspapers: all the same?" in page
    assert "2 copies, word for word" in page
    assert "<ins>early" in page
    assert "1 more word" in page
    assert "<ins>Closed" in page
    assert page.index("Look inside before you confirm") < page.index('class="btn decide-confirm"')
    assert "Look inside" in page[page.index('class="btn decide-confirm"') :].partition("</a>")[0]
    seen = re.findall(r'name="seen" value="(4-\w+)"', page)[0]
    answer = editor_client.post(f"/clusters/{copies.pk}/confirm/?tab=certain", {"seen": seen})
    assert answer["Location"] == "/queue/next/?tab=certain"
    assert set(Pair.objects.values_list("state", flat=True)) == {"confirmed"}
    assert not OpenQuestion.objects.exists()
    assert followed(editor_client, answer["Location"]) == "/queue/?tab=certain"
    # The card of a settled cluster leads to the page of the cluster.
    assert followed(editor_client, f"/clusters/{copies.pk}/card/?tab=certain") == f"/clusters/{copies.pk}/?tab=certain"
    # An undo on the way brings the card back, from which the answers before it can be undone.
    undone = editor_client.post(reverse("undo", args=[Decision.objects.latest("pk").pk]) + "?tab=certain")
    assert undone["Location"] == f"/clusters/{copies.pk}/card/?tab=certain"


@pytest.mark.parametrize("answer", ["version", "template"])
def test_a_card_is_answered_for_every_two_articles_and_brought_back(
    editor_client: Client, other: Client, copies: Cluster, answer: str
) -> None:
    page = opened(editor_client, "cluster_card", copies.pk)
    form = {"seen": re.findall(r'name="seen" value="(\S+)"', page)[0]}
    assert f'formaction="/clusters/{copies.pk}/{answer}/"' in page
    editor_client.post(f"/clusters/{copies.pk}/{answer}/?tab=clusters", form)
    decision = Decision.objects.get()
    assert (decision.kind, decision.links.count()) == (f"all_{answer}s", 6)
    assert set(Pair.objects.values_list("state", flat=True)) == {answer}
    assert not OpenQuestion.objects.exists()
    undone = editor_client.post(reverse("undo", args=[decision.pk]) + "?tab=clusters")
    number = Cluster.objects.get().pk
    assert undone["Location"] == f"/clusters/{number}/card/?tab=clusters"
    # A colleague who confirmed it meanwhile is named; an answer of one's own is not in the way.
    other.post(f"/clusters/{number}/confirm/", form)
    refused = text_of(editor_client, editor_client.post(f"/clusters/{number}/{answer}/", form)["Location"])
    assert "ella confirmed the cluster after you opened it" in refused


def test_a_cluster_that_changes_while_its_card_is_read_is_shown_as_it_is_now(
    editor_client: Client, copies: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = Cluster(pk=copies.pk, kept_id=-1, state=copies.state)  # with an article that was taken out since
    monkeypatch.setattr("dedup.views.questions.find_cluster", lambda _number: before)
    assert followed(editor_client, f"/clusters/{copies.pk}/card/?tab=certain") == f"/clusters/{copies.pk}/?tab=certain"


def test_two_editors_get_different_questions_and_see_each_other(
    editor_client: Client, other: Client, doubtful: list[Pair], visitor: Client
) -> None:
    first, second, _ = doubtful
    assert followed(editor_client, "/queue/next/") == f"/pairs/{first.pk}/?tab=informative"
    assert followed(other, "/queue/next/") == f"/pairs/{second.pk}/?tab=informative"
    # Who may not decide takes nothing from the editors.
    assert followed(visitor, "/queue/next/") == f"/pairs/{first.pk}/?tab=informative"
    seen = other.get(f"/pairs/{first.pk}/?tab=informative").content.decode()
    assert "<strong data-reader-name>mara</strong>" in seen
    assert other.post(f"/pairs/{first.pk}/lease/").json() == {"reader": "mara"}
    assert editor_client.post(f"/pairs/{first.pk}/lease/").json() == {"reader": ""}
    # The lease ends with the answer.
    other.post(f"/pairs/{second.pk}/decide/?tab=informative", {"kind": "unsure", "seen": "0"})
    assert not Lease.objects.filter(pair=second).exists()


def test_a_question_put_off_comes_back_under_later_for_this_editor_alone(
    editor_client: Client, editor: User, other: Client, doubtful: list[Pair], copies: Cluster
) -> None:
    first, second, _ = doubtful
    answer = editor_client.post(f"/pairs/{first.pk}/later/?tab=informative")
    assert followed(editor_client, answer["Location"]) == f"/pairs/{second.pk}/?tab=informative"
    editor_client.post(f"/clusters/{copies.pk}/later/?tab=certain")
    page = opened(editor_client, "queue", tab="later")
    assert f'row-link" href="/pairs/{first.pk}/?tab=later"' in page
    assert f'row-link" href="/clusters/{copies.pk}/card/?tab=later"' in page
    assert "2 questions" in opened(editor_client, "queue")
    assert "3 questions" in opened(other, "queue")
    assert followed(other, "/queue/next/") == f"/pairs/{first.pk}/?tab=informative"
    Lease.objects.all().delete()
    assert followed(editor_client, "/queue/next/?tab=later") == f"/pairs/{first.pk}/?tab=later"
    # Put off again, it waits behind the others.
    again = editor_client.post(f"/pairs/{first.pk}/later/?tab=later")
    assert followed(editor_client, again["Location"]).startswith(f"/clusters/{copies.pk}/card/?tab=later")
    editor_client.post(f"/pairs/{first.pk}/decide/?tab=later", {"kind": "confirm", "seen": "0"})
    assert Decision.objects.get().decided_by == editor
    assert f"/pairs/{first.pk}/" not in opened(editor_client, "queue", tab="later")
    # Answered, it waits no longer, even where versions stay together in a proposed cluster.
    Profile.objects.update(same_as="updates")
    seen = re.findall(r'name="seen" value="(\S+)"', opened(editor_client, "cluster_card", copies.pk))[0]
    editor_client.post(f"/clusters/{copies.pk}/version/?tab=later", {"seen": seen})
    assert Cluster.objects.get(pk=copies.pk).state == "proposed"
    assert f"/clusters/{copies.pk}/" not in opened(editor_client, "queue", tab="later")
    assert Postponement.objects.count() == 2
    assert notices(opened(editor_client, "queue", tab="later")) == []


def test_a_batch_from_a_filter_with_its_sample_preview_decision_and_undo(
    store: StoreArticle, editor_client: Client
) -> None:
    pairs = [make_pair(store(), store(newspaper="Coast Telegraph"), trigram=0.9) for _ in range(23)]
    other = make_pair(store(), store(newspaper="Inland Gazette"), trigram=0.9)
    coast = pairs[0].right.newspaper
    query = f"?tab=informative&newspaper={coast.pk}"
    assert (
        f"{reverse('batch_new')}{query}".replace("&", "&amp;")
        in editor_client.get(reverse("queue") + query).content.decode()
    )
    new = reverse("batch_new") + query
    offered = editor_client.get(new).content.decode()
    assert "<strong>23</strong> pairs" in offered
    assert "at most 13.9% of all are" in offered
    assert "you answer every question yourself" in offered
    assert 'value="149"' not in offered, "A sample is never larger than the list"
    assert editor_client.post(new, {"kind": "unsure", "sample": "20"}).status_code == 400
    begun = editor_client.post(new, {"kind": "confirm", "sample": "20"})
    batch = Batch.objects.get()
    assert begun["Location"] == reverse("batch", args=[batch.pk])
    page = editor_client.get(begun["Location"]).content.decode()
    assert "Answer the sample: question 1 of 20" in page
    assert "What the decision changes" not in page

    asked = editor_client.get(f"{reverse('queue_next')}?tab=sample")["Location"]
    for _ in range(20):
        path, _, asked_query = asked.partition("?")
        answer = editor_client.post(f"{path}decide/?{asked_query}", {"kind": "confirm", "seen": "0"})
        asked = answer["Location"]
    assert editor_client.get(asked)["Location"] == begun["Location"]
    with CaptureQueriesContext(connection) as queries:
        page = editor_client.get(begun["Location"]).content.decode()
    assert len(queries) <= 13
    for shown in (
        "20 are answered, all of them",
        "13.9%",
        "<strong>3</strong> pairs get the answer",
        "Confirm these 3",
    ):
        assert shown in page
    said = editor_client.post(reverse("batch_decide", args=[batch.pk]), {"note": "one agency"}, follow=True)
    assert "one agency" in said.content.decode()
    assert Pair.objects.filter(state="confirmed").count() == 23
    assert Pair.objects.get(pk=other.pk).state == "undecided"
    history = opened(editor_client, "history")
    assert f"batch {batch.pk}" in history
    batch.refresh_from_db()
    editor_client.post(reverse("undo", args=[batch.decision_id]), {"next": begun["Location"]})
    assert "mara took it back" in editor_client.get(begun["Location"]).content.decode()
    assert Pair.objects.filter(state="confirmed").count() == 20
    assert "undone" in opened(editor_client, "batches")
