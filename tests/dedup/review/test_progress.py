"""Progress: sittings and their pace, and what the model still needs."""

from __future__ import annotations

import datetime

import pytest
from django.utils import timezone

from dedup.research.lessons import answers_missing
from dedup.review.answers import decisions
from dedup.review.answers.history import pace, progress_of, sitting
from tests.conftest import StoreArticle
from tests.factories import make_pair, make_user

NOW = datetime.datetime(2026, 3, 2, 15, 0, tzinfo=datetime.UTC)


def minutes_ago(*numbers: float) -> list[datetime.datetime]:
    return [NOW - datetime.timedelta(minutes=number) for number in numbers]


def test_a_sitting_ends_with_a_pause_and_its_pace_needs_five_answers_in_a_minute_or_more() -> None:
    times = minutes_ago(1, 2, 31, 32, 63, 64)
    assert list(sitting(times, NOW)) == minutes_ago(1, 2, 31, 32)
    assert sitting(minutes_ago(31), NOW) == []
    assert sitting([], NOW) == []

    assert pace(minutes_ago(1, 2, 3, 4, 5)) == 60
    assert pace(minutes_ago(0, 1.5, 3)) is None
    assert pace(minutes_ago(0, 0.1, 0.2, 0.3, 0.4)) is None


@pytest.mark.django_db
def test_undone_answers_do_not_count_and_the_model_needs_five_of_each(
    store: StoreArticle, django_assert_num_queries
) -> None:
    editor = make_user("mara", "editor")
    pairs = [make_pair(store(), store(newspaper="Coast Telegraph"), trigram=0.9) for _ in range(9)]
    assert answers_missing() == 10
    for number, pair in enumerate(pairs):
        decisions.decide_pair(pair.pk, "confirm" if number < 6 else "template", user=editor)
    last = decisions.decide_pair(pairs[0].pk, "reject", user=editor)
    decisions.undo(last.pk, user=editor)
    with django_assert_num_queries(2):
        found = progress_of(editor, 40)
    # Just after midnight, some of them are of yesterday.
    assert found.today == 9 or timezone.localtime().hour == 0
    assert (found.sitting, found.missing, found.an_hour) == (9, 2, None)
    assert progress_of(make_user("otto", "editor"), 40).sitting == 0
