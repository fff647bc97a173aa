"""The keys that users choose: what is refused, what is stored, and what the pages then say."""

import html
import re
from itertools import combinations

import pytest
from django.contrib.auth.models import User
from django.test import Client

from newsdedup_site.keys import ACTIONS, key_faults, keys_of
from newsdedup_site.models import KeyMap
from tests.site.test_rights import TEMPLATES

USED = re.compile(r"{% (?:key|kbd) \"(\w+)\" %}")


def test_every_key_of_a_template_is_an_action_and_every_default_can_be_used() -> None:
    texts = {template: template.read_text() for template in TEMPLATES.rglob("*.html")}

    assert {name for text in texts.values() for name in USED.findall(text)} <= set(ACTIONS)
    assert [template.name for template, text in texts.items() if 'data-key="' in text] == []
    assert key_faults({}) == {}
    for one, other in combinations(ACTIONS.values(), 2):
        assert one.key != other.key or not one.meets(other)


@pytest.mark.parametrize(
    ("chosen", "named"),
    [
        ({"jump": "a"}, {"jump": "jump"}),
        ({"confirm": "n"}, {"confirm": "Not a duplicate", "reject": "Duplicate"}),
        ({"confirm": "æ", "confirm_cluster": "æ", "unsure": "Æ", "start": "y"}, {}),
        ({"undo": "j"}, {"undo": "the next one, without an answer", "next": "undo your last answer"}),
        ({"note": "Enter"}, {"note": "Enter"}),
        ({"note": "tab"}, {"note": "tab"}),
        ({"note": " "}, {"note": "reserved"}),
        ({"note": "nn"}, {"note": "nn"}),
        ({"note": "\u0301"}, {"note": "typed"}),
        ({"note": "", "confirm": "", "reject": "ы"}, {}),
    ],
)
def test_what_is_refused(chosen: dict[str, str], named: dict[str, str]) -> None:
    faults = key_faults(chosen)

    assert set(faults) == set(named)
    assert all(word in faults[name] for name, word in named.items())


@pytest.mark.django_db
def test_keys_are_stored_for_their_user_and_shown_on_the_pages(client: Client, mara: User) -> None:
    client.force_login(mara)
    assert keys_of(mara).of(ACTIONS["next"]) == ["j", "ArrowRight"]
    form = {name: action.key for name, action in ACTIONS.items()} | {"on": "on", "help": "h", "start": ""}
    refused = client.post("/keys/", {**form, "help": "z", "note": "Esc"})
    assert refused.status_code == 400
    assert "reserved" in html.unescape(refused.content.decode())
    assert not KeyMap.objects.exists()

    assert client.post("/keys/", form)["Location"] == "/keys/"
    assert KeyMap.objects.get(pk=mara.pk).keys == {"help": "h", "start": ""}
    page = client.get("/queue/").content.decode()
    assert 'data-action="help" data-key="h"' in page
    assert "<dt><kbd>h</kbd> </dt>" in page
    assert "Not a duplicate</dd>" not in page

    answer = client.post("/keys/switch/", {"on": "0", "next": "/queue/?sort=date"})
    assert answer["Location"] == "/queue/?sort=date"
    assert "data-key" not in client.get("/queue/").content.decode()
    assert client.post("/keys/switch/", {"on": "1", "next": "https://elsewhere.example/"})["Location"] == "/keys/"
    assert keys_of(mara).by_action["help"] == "h"
    client.post("/keys/", {"reset": "1"})
    assert keys_of(mara).by_action["help"] == "?"


@pytest.mark.django_db
def test_an_action_that_came_later_gives_way_to_what_was_chosen(mara: User) -> None:
    KeyMap.objects.create(user=mara, keys={"gone": "x", "confirm": "v"})

    keys = keys_of(mara)
    assert (keys.of(ACTIONS["confirm"]), keys.of(ACTIONS["version"])) == (["v"], [])
    assert keys.of(ACTIONS["template"]) == ["t"]
