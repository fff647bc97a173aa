"""A rule on a series: which pairs it reaches, and which it leaves alone."""

from __future__ import annotations

import pytest

from dedup.answers import Answer
from dedup.models import Pair
from dedup.review.answers.decisions import decide_pair
from dedup.review.rules.rules import make_rule
from tests.conftest import StoreArticle
from tests.factories import make_pair, make_series, make_user

pytestmark = pytest.mark.django_db


def test_a_rule_parts_the_undecided_pairs_within_its_series_and_no_other(store: StoreArticle) -> None:
    post = [store(newspaper="Post") for _ in range(6)]
    gazette = [store(newspaper="Gazette") for _ in range(2)]
    ruled = make_series(post[0].newspaper, "exchange rates of #", *post[:3])
    make_series(post[0].newspaper, "weather for #", *post[3:5])
    make_series(gazette[0].newspaper, "exchange rates of #", *gazette)
    reached = make_pair(post[0], post[1], title=0.9)
    similar = make_pair(post[1], post[2], verdict="similar", title=0.9)
    decided = make_pair(post[0], post[2], title=0.9)
    editor = make_user("mara", "editor")
    decide_pair(decided.pk, Answer.CONFIRM, user=editor)
    others = [
        make_pair(post[3], post[4], title=0.9),  # another series
        make_pair(post[0], post[5], title=0.9),  # one end in no series
        make_pair(*gazette, title=0.9),  # the same form in another newspaper
        decided,
    ]
    assert make_rule(ruled.pk, user=editor) == 1
    verdicts = dict(Pair.objects.values_list("pk", "verdict"))
    assert (verdicts[reached.pk], verdicts[similar.pk]) == ("template", "template")
    assert {verdicts[other.pk] for other in others} == {"duplicate"}
