"""Second readings: who gets which pair again, what differs, and what settles it."""

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.db.utils import DatabaseError
from django.test import Client, override_settings
from django.urls import reverse

from dedup.models import Decision, Pair, SecondReading
from dedup.review.answers import decisions
from dedup.review.readings import second_readings
from dedup.review.readings.second_readings import agreements, changes_of, in_dispute
from tests.conftest import StoreArticle
from tests.dedup.review.test_batches import pairs_of
from tests.factories import make_cluster, make_user
from tests.pages import opened

pytestmark = pytest.mark.django_db


def waiting(user: User) -> set[int | None]:
    return set(second_readings.waiting_for(user).values_list("pair", flat=True))


@override_settings(SECOND_READINGS=1.0)
def test_a_pair_waits_for_another_editor_if_one_editor_alone_decided_it(
    store: StoreArticle, editor: User, other: User
) -> None:
    decided, twice, undone, open_again, undecided = pairs_of(store, 5)
    for pair in (decided, twice, undone, open_again):
        decisions.decide_pair(pair.pk, "confirm", user=editor)
    decisions.decide_pair(twice.pk, "confirm", user=other)
    decisions.undo(undone.decisions.get().pk, user=editor)
    changed = decisions.decide_pair(open_again.pk, "reject", user=editor)
    cluster = make_cluster(store(), store(newspaper="Coast Telegraph"))
    decisions.confirm_cluster(
        cluster.pk, decisions.seen_as(cluster.memberships.values_list("article", flat=True)), user=editor
    )

    assert waiting(other) == {decided.pk, open_again.pk}
    assert waiting(editor) == set()
    second_readings.read_again(decided.pk, "confirm", user=other, note="same")
    reading = second_readings.read_again(open_again.pk, "confirm", user=other)
    assert (reading.decision, reading.first_kind, reading.agrees) == (changed, "reject", False)
    assert waiting(other) == waiting(make_user("pia", "editor")) == set()
    # Nothing changed by it, and nothing can change it.
    assert Pair.objects.get(pk=open_again.pk).state == "rejected"
    with pytest.raises(decisions.ReviewError, match="does not wait"):
        second_readings.read_again(undecided.pk, "reject", user=other)
    with pytest.raises(DatabaseError, match="Cannot update or delete"):
        SecondReading.objects.filter(pk=reading.pk).update(kind="reject")


def test_about_the_chosen_share_of_pairs_is_read_again_and_always_the_same(
    store: StoreArticle, editor: User, other: User
) -> None:
    pair = pairs_of(store, 1)[0]
    # The choice depends on the number alone, so decisions on made-up numbers would do; the pairs need none.
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM generate_series(1, 20000) AS id WHERE md5('second reading ' || id) < %s",
            [second_readings.hash_bound(0.05)],
        )
        assert 900 < cursor.fetchone()[0] < 1100
    decisions.decide_pair(pair.pk, "confirm", user=editor)
    for share, chosen in ((0.0, False), (1.0, True)):
        with override_settings(SECOND_READINGS=share):
            assert second_readings.waits_for(pair.pk, other) == chosen


@override_settings(SECOND_READINGS=1.0)
def test_a_disagreement_is_open_until_a_decision_settles_it_and_again_if_that_is_undone(
    store: StoreArticle, editor: User, other: User, editor_client: Client
) -> None:
    pair = pairs_of(store, 1)[0]
    first = decisions.decide_pair(pair.pk, "confirm", user=editor, note="cropped")
    reading = second_readings.read_again(pair.pk, "reject", user=other, note="own facts")
    page = opened(editor_client, "disagreements")
    for said in ("mara", "otto", "cropped", "own facts", "Duplicate", "Not a duplicate", "second reading"):
        assert said in page
    assert [(change.by, change.what, change.is_open) for change in changes_of(editor)] == [
        (other, "not a duplicate", True)
    ]

    settle = reverse("disagreement_settle", args=[reading.pk])
    answer = editor_client.post(settle, {"kind": "reject", "note": "checked"}, follow=True)
    assert "Settled: not a duplicate" in answer.content.decode()
    assert Pair.objects.get(pk=pair.pk).state == "rejected"
    assert not in_dispute(is_open=True).exists()
    assert "Somebody settled" in editor_client.post(settle, {"kind": "confirm"}, follow=True).content.decode()
    decisions.undo(Decision.objects.latest("pk").pk, user=other)
    assert list(in_dispute(is_open=True)) == [reading]
    decisions.undo(first.pk, user=other)
    assert not in_dispute(is_open=True).exists()
    assert "first decision was undone" in opened(editor_client, "disagreements")
    changed = opened(editor_client, "changed_answers")
    assert "Undone" in changed
    assert "Not a duplicate" in changed


@override_settings(SECOND_READINGS=1.0)
def test_agreement_counts_blind_readings_alone_and_lists_need_few_queries(
    store: StoreArticle, editor: User, other: User, editor_client: Client, django_assert_max_num_queries
) -> None:
    pairs = pairs_of(store, 24)
    for number, pair in enumerate(pairs):
        kind = "confirm" if number % 2 else "reject"
        first = decisions.decide_pair(pair.pk, kind, user=editor)
        if number < 20:
            second_readings.read_again(pair.pk, "confirm" if number < 10 else kind, user=other)
        else:
            second_readings.answer_collision(pair.pk, first.pk, "unsure", user=other)
    found = agreements().all
    assert (found.readings, found.agreed) == (20, 15)
    assert found.kappa is not None
    assert found.kappa.value == pytest.approx(0.5)
    with django_assert_max_num_queries(11):
        page = opened(editor_client, "disagreements", editor=other.pk, state="open")
    assert "9 disagreements" in page
    assert "75.0%" in page
    assert "0.50 (" in page
