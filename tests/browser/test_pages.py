"""Every page, in light and dark and on a phone: accessible, legible, and no wider than the screen."""

from __future__ import annotations

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.contrib.auth.models import User
from playwright.sync_api import Page, expect

from dedup.models import DetectionRun
from dedup.review import decisions
from tests.browser.conftest import Desk, Opener, settled

pytestmark = pytest.mark.browser

PHONE = {"width": 375, "height": 667}


def addresses(desk: Desk) -> list[str]:
    pair, cluster = desk.first, desk.cluster
    return [
        "/",
        "/queue/?sort=date",
        f"/pairs/{pair.pk}/",
        f"/pairs/{pair.pk}/?view=merged&unfolded=1",
        f"/pairs/{desk.other.pk}/?view=plain",
        f"/compare/?left={pair.left_id}&right={desk.other.left_id}",
        "/clusters/",
        f"/clusters/{cluster.pk}/",
        "/series/",
        f"/series/{desk.series.pk}/",
        f"/queue/?series={desk.series.pk}&verdict=any&state=any",
        "/boilerplate/",
        f"/boilerplate/{desk.sentence.newspaper_id}/{desk.sentence.digest}/",
        f"/articles/{desk.furnished.pk}/",
        f"/compare/?left={desk.furnished.pk}&right={desk.furnished.pk - 1}",
        "/articles/",
        f"/articles/{pair.left_id}/",
        "/runs/",
        f"/runs/{DetectionRun.objects.get().pk}/",
        "/runs/new/",
        "/crawls/",
        f"/crawls/{pair.left.newspaper_id}/",
        "/reports/",
        "/reports/exact/?since=2026-03-01",
        "/history/?kind=confirm",
        "/password/",
    ]


def faults(page: Page) -> list[str]:
    """Return the violations of axe's rules that hinder somebody seriously."""
    found = Axe().run(page).response["violations"]
    return [
        f"{page.url}: {each['id']}: {node['html']}"
        for each in found
        if each["impact"] in {"serious", "critical"}
        for node in each["nodes"]
    ]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_page_shuts_anybody_out(desk: Desk, open_desk: Opener, scheme: str) -> None:
    decisions.decide_pair(desk.second.pk, "confirm", user=User.objects.get(username="mara"), note="Same wire.")
    page = open_desk(color_scheme=scheme)
    found: list[str] = []
    for address in addresses(desk):
        page.goto(address)
        found += faults(page)
    settled(page)
    page.get_by_role("button", name="Log out").click()
    found += faults(page)

    assert found == []


def test_no_page_is_wider_than_a_phone(desk: Desk, open_desk: Opener) -> None:
    page = open_desk(viewport=PHONE, is_mobile=True, has_touch=True)
    widths = {}
    for address in addresses(desk):
        page.goto(address)
        widths[address] = page.evaluate("document.documentElement.scrollWidth")

    assert {address: width for address, width in widths.items() if width > PHONE["width"]} == {}


def test_a_phone_is_told_of_no_keys(desk: Desk, open_desk: Opener) -> None:
    page = open_desk(viewport=PHONE, is_mobile=True, has_touch=True)

    expect(page.get_by_text("Every decision can be undone.")).to_be_visible()
    expect(page.locator("kbd").filter(visible=True)).to_have_count(0)


def test_dark_is_dark_without_javascript(desk: Desk, open_desk: Opener) -> None:
    page = open_desk(color_scheme="dark", java_script_enabled=False)
    page.goto("/queue/")

    assert page.locator("body").evaluate("body => getComputedStyle(body).backgroundColor") == "rgb(21, 24, 27)"


def test_the_first_tab_skips_to_the_content(desk: Desk, open_desk: Opener) -> None:
    page = open_desk()
    page.goto("/queue/")
    page.keyboard.press("Tab")

    expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#main")).to_be_focused()
