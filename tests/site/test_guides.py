"""The documentation on the site: every page is whole, and the guides name what the product has."""

from __future__ import annotations

import re
import struct

import pytest
from django.contrib.staticfiles import finders
from django.test import Client
from django.urls import resolve

from newsdedup_site import guides
from newsdedup_site.guides import GUIDES, Document, html_of
from newsdedup_site.keys import ACTIONS
from tests.databases import CHECKOUT
from tests.factories import make_user

FOLDER = CHECKOUT / "docs"
LARGEST = 150_000  # bytes of a picture


def words(text: str) -> str:
    return " ".join(re.sub(r"<[^>]*>|{[%{].*?[%}]}", " ", text).split()).lower()


@pytest.mark.django_db
def test_every_page_is_shown_with_links_and_pictures_that_lead_somewhere(client: Client) -> None:
    client.force_login(make_user("vera", "viewer"))
    names = {path.stem for path in FOLDER.glob("*.md")}
    pages = {name: client.get(f"/help/{name}/").content.decode() for name in names}
    anchors = {name: set(re.findall(r' id="([^"]+)"', page)) for name, page in pages.items()}
    for name, page in pages.items():
        article = re.search(r'<article class="guide">.*</article>', page, re.DOTALL)[0]
        assert not re.search(r" style=|<!--|\]\(", article), name
        for target, anchor in re.findall(r'<a href="(?:/help/([\w-]+)/)?(?:#([^"]*))?"', article):
            assert not anchor or anchor in anchors[target or name], (name, anchor)
        for linked, source in re.findall(r'(?:<a href="/static/([^"]+)">)?<img src="/static/([^"]+)"', article):
            assert linked == source
            assert finders.find(source), source
    assert html_of("editors") in client.get("/help/").content.decode()
    assert client.get("/help/nothing/").status_code == 404


def test_a_link_out_of_the_folder_becomes_plain_text(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "# A\n\n[safe](../SECURITY.md), [here](#a), [there](https://news.example/)<b>\n\n<!-- note -->\n"
    monkeypatch.setattr(guides, "documents", lambda: {"a": Document("a", "A", text)})
    assert html_of.__wrapped__("a") == (
        '<h1 id="a">A</h1>\n<p><span>safe</span>, <a href="#a">here</a>, '
        '<a href="https://news.example/" rel="noopener noreferrer external">there</a></p>\n'
    )


@pytest.mark.parametrize("name", GUIDES)
def test_a_guide_names_buttons_keys_and_addresses_that_exist(name: str) -> None:
    guide = (FOLDER / f"{name}.md").read_text(encoding="utf-8")
    sources = [*CHECKOUT.glob("templates/**/*.html"), *CHECKOUT.glob("dedup/**/*.py")]
    sources += CHECKOUT.glob("newsdedup_site/**/*.py")
    product = words(" ".join(path.read_text(encoding="utf-8") for path in sources))
    named = [words(text) for text in re.findall(r"\*\*(.+?)\*\*", guide, re.DOTALL)]
    assert [label for label in named if label not in product] == []
    for key, label in re.findall(r"^\| `(\w)` \| ([^|]+) \|", guide, re.MULTILINE):
        assert any((action.key, action.label) == (key, label) for action in ACTIONS.values()), key
    keys = {action.key for action in ACTIONS.values()}
    assert set(re.findall(r"`([a-zA-Z?])`", guide)) <= keys
    for address in re.findall(r"`(/[\w/]+/)`", guide):
        assert resolve(address)


def test_every_picture_is_used_has_the_same_size_and_is_small() -> None:
    used = "".join(path.read_text(encoding="utf-8") for path in [CHECKOUT / "README.md", *FOLDER.glob("*.md")])
    for picture in (FOLDER / "pictures").iterdir():
        data = picture.read_bytes()
        assert f"pictures/{picture.name})" in used, picture.name
        assert struct.unpack(">II", data[16:24]) == (1280, 800), picture.name
        assert len(data) < LARGEST, picture.name
