"""The load test itself, for a few seconds, and that it notices what it looks for."""

from itertools import pairwise

import pytest

from dedup.models import Decision
from dedup.review.answers import decisions
from tests.conftest import StoreArticle
from tests.factories import make_pair, make_user
from tests.load.installation import installation
from tests.load.loading import Load, Outcome, let_in, lost_or_doubled, missing_articles, summary, table, tracebacks
from tests.load.people import Answer, Request
from tests.site.test_doctor_finds import found


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_no_answer_is_lost_when_editors_meet(store: StoreArticle) -> None:
    for first, second in pairwise([store() for _ in range(9)]):
        make_pair(first, second, trigram=0.7)
    # Pairs that no run has found.
    before = found()
    outcome = Outcome()
    with installation() as site:
        let_in(site, Load(seconds=90, idle=1, editors=3, readers=1, pause=0.01, workers=2, answers=20), outcome)
    print(table(outcome), summary(outcome), sep="\n")
    assert outcome.faults == []
    assert found() == before
    told = {answer.told for answer in outcome.load.answers}
    assert "stored" in told
    assert Decision.objects.count() >= sum(answer.told == "stored" for answer in outcome.load.answers) > 5


@pytest.mark.django_db
def test_lost_doubled_changed_and_foreign_answers_are_noticed(store: StoreArticle) -> None:
    pair = make_pair(store(), store(), trigram=0.7)
    mara = make_user("mara", "editor")

    def decide(note: str) -> Decision:
        seen = Decision.objects.filter(pair=pair).order_by("-pk").values_list("pk", flat=True).first() or 0
        return decisions.decide_pair(pair.pk, "confirm", user=mara, note=note, seen=seen)

    for note in ("mara 1", "mara 2", "mara 2", "mara 3", "mara 5"):
        decide(note)
    answers = [
        Answer("mara", "mara 1", "reject", "stored", pair.pk),
        Answer("mara", "mara 2", "confirm", "stored", pair.pk),
        Answer("mara", "mara 3", "confirm", "refused", pair.pk),
        Answer("mara", "mara 4", "confirm", "stored", pair.pk),
        Answer("mara", "mara 6", "confirm", "nothing", pair.pk),
    ]
    assert list(lost_or_doubled(answers)) == [
        f"“mara 1” was stored as ('confirm', 'mara', {pair.pk}, None) instead of ('reject', 'mara', {pair.pk}, None)",
        "“mara 2” (confirm) was stored, and there are 2 rows of it",
        "“mara 3” (confirm) was refused, and there are 1 rows of it",
        "“mara 4” (confirm) was stored, and there are 0 rows of it",
        "“mara 5” is stored, and nobody sent it",
    ]


@pytest.mark.django_db
def test_an_article_that_was_not_stored_is_noticed(store: StoreArticle) -> None:
    stored = store(url="https://paper.example/2026/03/02/ferry").url
    assert list(missing_articles([stored])) == []
    missing = "https://paper.example/2026/03/02/bridge"
    assert list(missing_articles([stored, missing])) == [f"{missing} was imported and is not stored"]


def test_tracebacks_are_found_in_a_log() -> None:
    trace = "Traceback (most recent call last):\n  File one\n    a()\n  File two\n    b()\nValueError: no\n"
    assert tracebacks(f"starting\n{trace}ended\n") == [
        "starting\n  File one\n    a()\n  File two\n    b()\nValueError: no"
    ]
    assert tracebacks("starting\nended\n") == []


def test_the_table_has_the_common_requests_first() -> None:
    outcome = Outcome(idle=[Request("pair", 200, 0.1)])
    outcome.load.requests += [Request("pair", 200, 0.2), Request("pair", 200, 0.4), Request("queue", 200, 1)]
    assert table(outcome, rows=1).splitlines()[2:] == [
        "| pair | 2 | 300 | 390 | 1 | 100 | 100 |",
        "| 1 others | 1 | 1000 | 1000 | 0 | – | – |",
        "| all | 3 | 400 | 940 | 1 | 100 | 100 |",
    ]
