"""Each answer of the table does what its row says, wherever an editor gives it and wherever it is read."""

import csv
from typing import get_args

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from client import newsdedup_client
from dedup.answers import BUTTONS, Answer, Effect
from dedup.detection.clustering.constraints import constraints_in_force
from dedup.detection.types import SameAs
from dedup.models import Decision, Link, Pair, Profile
from dedup.research.decided import decided_pairs
from dedup.review.answers.decisions import decide_pair
from newsdedup_site.doctor.invariant import Sample
from newsdedup_site.doctor.review import INVARIANTS
from newsdedup_site.keys import ACTIONS
from tests.commands import called
from tests.conftest import StoreArticle
from tests.dedup.api.callers import Caller
from tests.factories import make_pair
from tests.pages import notices, opened

pytestmark = pytest.mark.django_db
OF_EACH = pytest.mark.parametrize("answer", Answer)


@pytest.fixture
def pair(store: StoreArticle) -> Pair:
    return make_pair(store(), store(newspaper="Port Courier"), trigram=0.9)


@OF_EACH
def test_the_page_has_its_button_with_its_key_and_the_answer_is_stored(
    editor_client: Client, pair: Pair, answer: Answer
) -> None:
    facts, action = answer.facts, ACTIONS[answer]
    assert (action.label, action.key, action.is_on("pair")) == (facts.button, facts.letter, True)
    page = opened(editor_client, "pair", pair.pk)
    button = f'<button class="btn decide-{answer.look}" name="kind" value="{answer}" '
    assert page.partition(button)[2].partition(">")[2].startswith(f"{facts.button} <kbd>{facts.letter}</kbd>")

    stored = editor_client.post(reverse("pair_decide", args=[pair.pk]), {"kind": answer, "seen": "0"})

    assert stored["Location"] == "/queue/"
    assert notices(editor_client.get("/queue/").content.decode()) == [("success", []), ("info", [])]
    assert facts.did in editor_client.get("/history/", {"kind": answer}).content.decode()


@OF_EACH
def test_it_makes_of_pair_link_clusters_and_lesson_what_its_row_says(pair: Pair, editor: User, answer: Answer) -> None:
    decided = decide_pair(pair.pk, answer, user=editor)

    ends, pair = (pair.left_id, pair.right_id), Pair.objects.get(pk=pair.pk)
    assert (pair.state, pair.get_state_display(), pair.implied) == (answer.state, answer.facts.state_label, False)
    link = Link.objects.get(decision=decided)
    assert (link.kind, link.get_kind_display()) == (answer.link, answer.facts.link_label)
    assert decided.get_kind_display() == answer.facts.did
    for same_as in SameAs:
        Profile.objects.filter(is_default=True).update(same_as=same_as)
        by_profile = "stay" if same_as is SameAs.UPDATES else "cannot"
        effect = by_profile if answer.facts.effect is Effect.BY_PROFILE else answer.facts.effect
        found = {name: pairs for name, pairs in constraints_in_force()._asdict().items() if pairs}
        assert found == ({effect: [ends]} if effect else {})
        Profile.objects.filter(is_default=True).update(same_as="updates")
        asked = constraints_in_force(same_as=same_as)._asdict()
        assert {name: pairs for name, pairs in asked.items() if pairs} == found
    assert decided_pairs().labels == ({ends: answer.facts.teaches} if answer.facts.teaches else {})
    assert [found.faults for found in (invariant.look(Sample(0, 0)) for invariant in INVARIANTS)] == [0] * len(
        INVARIANTS
    )


@OF_EACH
def test_the_api_takes_it_and_the_export_names_it(pair: Pair, editor: User, answer: Answer) -> None:
    program = Caller(editor)
    stored = program.post(f"/pairs/{pair.pk}/decisions", {"kind": answer}, if_match="*")
    assert (stored.status_code, stored.json()["kind"]) == (201, answer)
    assert [row["state"] for row in program.read(f"/pairs?state={answer.state}")["data"]] == [answer.state]

    (row,) = csv.DictReader(called("export", "pairs", "--format=csv")[0].splitlines())
    assert row["state"] == answer.state


@OF_EACH
def test_a_link_that_is_missing_is_found(pair: Pair, editor: User, answer: Answer) -> None:
    made = Decision.objects.create(kind=answer, decided_by=editor, pair=pair, articles=[pair.left_id, pair.right_id])

    linked = next(invariant for invariant in INVARIANTS if invariant.name == "decisions-linked").look(Sample(0, 0))

    assert linked.examples == (f"decision {made.pk} ({answer}) on pair {pair.pk} has no link that says so",)


def test_the_table_is_whole() -> None:
    for name in ("letter", "button", "word", "did"):
        assert len({getattr(answer.facts, name) for answer in Answer}) == len(Answer)
    for name in ("state", "link"):
        assert len({getattr(answer, name) for answer in Answer}) == len(Answer)
    assert get_args(newsdedup_client.Kind) == tuple(Answer)
    assert get_args(newsdedup_client.State) == ("undecided", *(answer.state for answer in Answer))
    assert sorted(BUTTONS) == sorted(Answer)
