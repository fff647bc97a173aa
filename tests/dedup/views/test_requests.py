"""What the views share: where they send the browser on, what they say, and what a script is told."""

from typing import Any

import pytest
from django.http import HttpRequest
from django.test import Client, RequestFactory
from django.urls import reverse

from dedup.forms.base import SettleForm
from dedup.models import Pair
from dedup.review.answers.decisions import ReviewError
from dedup.views.requests import back_address, neighbours, next_of, note_of, query_of, refuse, safe_next, values_of
from tests.conftest import StoreArticle
from tests.factories import make_pair
from tests.pages import notices

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("page", "actions"),
    [
        ("/pairs/7/?x=1", ["pair_decide", "collision_answer"]),
        ("/clusters/7/?x=1", ["cluster_confirm", "cluster_reject", "cluster_split", "cluster_merge"]),
        ("/clusters/7/?x=1", ["cluster_keep", "cluster_take_out"]),
        ("/series/7/?x=1", ["series_rule", "series_end_rule"]),
        ("/groups/7/?x=1", ["group_confirm", "group_rule", "group_end_rule"]),
        ("/history/", ["undo"]),
        ("/batches/7/", ["batch_decide"]),
    ],
)
def test_a_form_that_comes_as_a_link_leads_to_its_page_with_the_filter(
    editor_client: Client, page: str, actions: list[str]
) -> None:
    for action in actions:
        address = reverse(action, args=[7])
        assert editor_client.get(f"{address}?x=1")["Location"] == page
        assert editor_client.put(address).status_code == 405


@pytest.mark.parametrize(
    ("wanted", "sent"),
    [
        ("/queue/?tab=later", "/queue/?tab=later"),
        ("http://testserver/queue/", "http://testserver/queue/"),
        ("https://elsewhere.example/", "/otherwise/"),
        ("//elsewhere.example/", "/otherwise/"),
        ("javascript:alert(1)", "/otherwise/"),
        ("", "/otherwise/"),
    ],
)
def test_the_browser_is_sent_on_only_to_pages_of_this_site(rf: RequestFactory, wanted: str, sent: str) -> None:
    assert safe_next(rf.post("/", {"next": wanted}), "/otherwise/") == sent


def test_the_way_on_is_as_safe_as_the_page_and_the_way_back_is_in_the_query(rf: RequestFactory) -> None:
    secure = rf.post("/", {"next": "http://testserver/queue/"}, secure=True)
    assert safe_next(secure, "/otherwise/") == "/otherwise/"
    assert safe_next(rf.post("/"), "/otherwise/") == "/otherwise/"

    assert query_of(rf.get("/queue/?tab=later&sort=date")) == "?tab=later&sort=date"
    assert query_of(rf.get("/queue/")) == ""
    assert back_address(rf.get("/pairs/1/?back=7")) == "/clusters/7/#ties-title"
    assert [back_address(rf.get(f"/pairs/1/{query}")) for query in ("", "?back=", "?back=x")] == [None] * 3


def test_a_refusal_keeps_the_note_for_its_own_page_once(rf: RequestFactory) -> None:
    class Said(list[Any]):
        def add(self, level: int, message: str, _extra_tags: str) -> None:
            self.append((level, message))

    def request(path: str, note: str = "") -> HttpRequest:
        made: Any = rf.post(path, {"note": note})
        made.session, made._messages = session, said
        return made  # type: ignore[no-any-return]

    session: dict[str, Any] = {}
    said = Said()
    refuse(request("/decide/"), "Look again.", page="/pairs/1/")
    assert (said, session) == ([(40, "Look again.")], {})
    refuse(request("/decide/", "n" * 2_001), "Look again.", page="/pairs/1/")
    notes = [note_of(request(f"/pairs/{number}/"), "mine")["note"] for number in (2, 1, 1)]
    assert notes == ["mine", "n" * 2_000, "mine"]
    assert note_of(request("/pairs/1/")) == {"note": "", "note_length": 2_000}


def test_the_values_of_a_form_or_what_is_wrong_with_them() -> None:
    assert values_of(SettleForm({"kind": "reject", "note": "x"})) == {"kind": "reject", "note": "x"}
    with pytest.raises(ReviewError) as raised:
        values_of(SettleForm({"kind": "keep", "note": "x" * 2_001}))
    assert str(raised.value) == (
        "note: Ensure this value has at most 2000 characters (it has 2001). "
        "kind: Select a valid choice. keep is not one of the available choices."
    )


def test_the_neighbours_of_a_row_are_those_before_and_after_it_in_the_order(store: StoreArticle) -> None:
    pairs = [make_pair(store(), store(), trigram=score) for score in (0.9, 0.7, 0.8)]
    ordering = ("-best_score", "pk")
    rows = Pair.objects.order_by(*ordering)
    high, low, middle = pairs
    assert neighbours(rows, ordering, middle) == {"next": low.pk, "previous": high.pk}
    assert neighbours(rows, ordering, high) == {"next": middle.pk, "previous": None}
    assert next_of(rows, ordering, low) is None


@pytest.mark.parametrize(
    ("listed", "actions"),
    [("/series/", ["series_rule", "series_end_rule"]), ("/groups/", ["group_confirm", "group_rule", "group_end_rule"])],
)
def test_what_is_gone_leads_to_its_list(editor_client: Client, listed: str, actions: list[str]) -> None:
    for action in actions:
        answer = editor_client.post(reverse(action, args=[4711]), {"seen": "x"})
        assert answer["Location"] == listed
        assert notices(editor_client.get(listed).content.decode()) == [("error", ["4711"])]
    assert editor_client.get(f"{listed}4711/").status_code == 404
