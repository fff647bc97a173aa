"""Two editors on one pair: the second reading shows nothing of the first, and collisions are answered."""

import pytest
from django.contrib.auth.models import User
from django.test import Client, override_settings
from django.urls import reverse

from dedup.models import Pair, SecondReading
from dedup.review.answers import decisions
from tests.conftest import StoreArticle
from tests.factories import client_of, make_cluster, make_pair
from tests.pages import opened

pytestmark = pytest.mark.django_db


@pytest.fixture
def other_client(other: User) -> Client:
    return client_of(other)


@override_settings(SECOND_READINGS=1.0)
def test_a_second_reading_shows_nothing_of_the_first_answer_and_changes_nothing(
    store: StoreArticle, editor: User, editor_client: Client, other_client: Client
) -> None:
    left, right = store(), store(newspaper="Coast Telegraph")
    cluster = make_cluster(left, right)
    pair = Pair.objects.get(left=left, right=right)
    decisions.decide_pair(pair.pk, "confirm", user=editor, note="cropped by the agency")

    listed = opened(other_client, "queue", tab="second")
    assert f"/pairs/{pair.pk}/?tab=second" in listed
    assert f"/pairs/{pair.pk}/" not in opened(editor_client, "queue", tab="second")
    following = other_client.get(reverse("queue_next"), {"tab": "second"})
    assert following["Location"] == f"/pairs/{pair.pk}/?tab=second"
    page = other_client.get(following["Location"]).content.decode()
    assert "second reading" in page.lower()
    for shown in (listed, page):
        for hidden in (
            "mara",
            "cropped by",
            "confirmed",
            "state-",
            "Decided",
            f"/clusters/{cluster.pk}/",
            "decision-what",
        ):
            assert hidden not in shown
    # Who decided it sees it as ever, and so does everybody outside of the tab.
    assert "cropped by" in editor_client.get(following["Location"]).content.decode()

    decide = reverse("pair_decide", args=[pair.pk]) + "?tab=second"
    answer = other_client.post(decide, {"kind": "reject", "seen": "0", "note": "own facts"}, follow=True)
    said = answer.content.decode()
    assert "Stored as a second reading" in said
    assert "mara" not in said
    reading = SecondReading.objects.get()
    assert (reading.kind, reading.first_kind, reading.blind, reading.note) == ("reject", "confirm", True, "own facts")
    assert Pair.objects.get(pk=pair.pk).state == "confirmed"
    # Sent again it is stored once, and another answer is refused; neither is a decision.
    other_client.post(decide, {"kind": "reject", "seen": "0"})
    refused = other_client.post(decide, {"kind": "confirm", "seen": "0"}, follow=True).content.decode()
    assert "does not wait for a second" in refused
    assert SecondReading.objects.count() == 1
    assert pair.decisions.count() == 1
    both = opened(editor_client, "queue", tab="disagreements")
    assert f"/pairs/{pair.pk}/?tab=disagreements" in both
    page = editor_client.get(f"/pairs/{pair.pk}/?tab=disagreements").content.decode()
    for shown in ("own facts", "otto", "cropped by the agency"):
        assert shown in page


def test_an_editor_who_comes_too_late_agrees_or_contests_with_one_click(
    store: StoreArticle, editor: User, other: User, editor_client: Client, other_client: Client
) -> None:
    pair = make_pair(store(), store(newspaper="Coast Telegraph"), trigram=0.9)
    address = reverse("pair", args=[pair.pk])
    first = decisions.decide_pair(pair.pk, "confirm", user=editor, note="a wire copy")
    too_late = {"kind": "reject", "seen": "0", "note": "other facts"}
    page = other_client.post(reverse("pair_decide", args=[pair.pk]), too_late, follow=True).content.decode()
    for shown in ("mara confirmed the pair while you were reading", "a wire copy", "Contest: not a duplicate", "Agree"):
        assert shown in page
    assert "collision-title" not in other_client.get(address).content.decode()

    contest = {"decision": first.pk, "kind": "reject", "note": "other facts"}
    said = other_client.post(reverse("collision_answer", args=[pair.pk]), contest, follow=True).content.decode()
    assert "Contested. The decision of mara stays in force" in said
    reading = SecondReading.objects.get()
    assert (reading.user, reading.kind, reading.blind, reading.note) == (other, "reject", False, "other facts")
    # A second click stores nothing more, and nobody contests a decision of their own.
    other_client.post(reverse("collision_answer", args=[pair.pk]), contest)
    refused = editor_client.post(reverse("collision_answer", args=[pair.pk]), contest, follow=True)
    assert "your own decision" in refused.content.decode()
    assert SecondReading.objects.count() == 1
    assert "1 disagreement" in opened(editor_client, "disagreements")
    assert "Open" in opened(editor_client, "changed_answers")

    second = make_pair(store(), store(newspaper="Coast Telegraph"), trigram=0.9)
    made = decisions.decide_pair(second.pk, "reject", user=editor)
    other_client.post(reverse("pair_decide", args=[second.pk]), too_late)
    page = opened(other_client, "pair", second.pk)
    assert "Agree" in page
    assert "Contest:" not in page
    other_client.post(reverse("collision_answer", args=[second.pk]), {"decision": made.pk, "kind": "reject"})
    assert SecondReading.objects.latest("pk").agrees
