"""The finder: what a box leads to, by number and by words."""

import re

import pytest
from django.test import Client

from tests.conftest import StoreArticle
from tests.factories import client_of, make_pair, make_user

pytestmark = pytest.mark.django_db


def hits(client: Client, typed: str) -> dict[str, list[str]]:
    answer = client.get("/find/", {"q": typed}, headers={"hx-request": "true"}).content.decode()
    kinds = re.split(r'<h2 class="finder-kind">(.*?)</h2>', answer)[1:]
    return {kind: re.findall(r'href="(.*?)"', text) for kind, text in zip(kinds[::2], kinds[1::2], strict=True)}


def test_numbers_pages_newspapers_articles_and_help(store: StoreArticle) -> None:
    one = store(headline="Ferry stays in port", newspaper="Harbour Post")
    pair = make_pair(one, store(headline="No ferry <today>", newspaper="Inland Courier"))
    mara = client_of(make_user("mara", "editor"))
    assert f"/articles/{one.pk}/" in hits(mara, str(one.pk))["Numbers"]
    assert f"/pairs/{pair.pk}/" in hits(mara, str(pair.pk))["Numbers"]
    assert hits(mara, "ferry port")["Articles"] == [f"/articles/{one.pk}/"]
    assert hits(mara, "harbour")["Newspapers"] == [
        f"/articles/?newspaper={one.newspaper_id}", f"/crawls/{one.newspaper_id}/"
    ]  # fmt: skip
    assert hits(mara, "dense")["Pages"] == ["/groups/"]
    assert "/help/verdicts/#learn-from-decisions" in hits(mara, "learn from decisions")["Help"]
    assert hits(mara, "\0(((") == {}
    assert "/queue/" in hits(mara, "")["Pages"]
    assert "No ferry &lt;today&gt;" in mara.get("/find/?q=today").content.decode()


def test_a_page_is_found_by_those_who_may_open_it() -> None:
    assert "Pages" not in hits(client_of(make_user("vera", "viewer")), "start a run")
    assert hits(client_of(make_user("ada", "admin")), "start a run")["Pages"] == ["/runs/new/"]
    assert Client().get("/find/").status_code == 302
