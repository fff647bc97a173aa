"""Every page, in light and dark and on a phone: accessible, legible, and no wider than the screen."""

from __future__ import annotations

from typing import Any, Literal

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.contrib.auth.models import User
from django.contrib.auth.tokens import default_token_generator
from django.utils.encoding import force_bytes
from django.utils.http import urlsafe_base64_encode
from playwright.sync_api import Page, ViewportSize, expect

from dedup.models import DetectionRun, Profile
from dedup.review.answers import decisions
from tests.browser.conftest import Opener, Stored, read_sample, settled
from tests.factories import make_lesson
from tests.pages import ONE_OF_MANY

pytestmark = pytest.mark.browser

# In the dark, only axe's rules that a colour scheme can break.
SCHEMES: tuple[tuple[Literal["light", "dark"], dict[str, Any]], ...] = (
    ("light", {}),
    ("dark", {"runOnly": ["color-contrast", "link-in-text-block"]}),
)
AXE = Axe().axe_script
# Lists of warnings in which two lines are the same.
SAID_TWICE = """[...document.querySelectorAll(".notice :is(ul, ol)")].filter(
    list => new Set([...list.children].map(line => line.innerText)).size < list.children.length
).map(list => list.innerText)"""
PHONE: ViewportSize = {"width": 375, "height": 667}


def addresses(stored: Stored) -> list[str]:
    pair, cluster, sample = stored.first, stored.cluster, read_sample()
    mara = User.objects.get(username="mara")
    make_lesson(stored.first, stored.other)
    return [
        "/",
        "/queue/?sort=date",
        f"/pairs/{pair.pk}/",
        f"/pairs/{pair.pk}/?view=merged&unfolded=1",
        f"/pairs/{stored.other.pk}/?view=plain",
        f"/pairs/{pair.pk}/?evidence=trigram",
        f"/pairs/{stored.second.pk}/why/",
        f"/compare/?left={pair.left_id}&right={stored.other.left_id}",
        "/clusters/",
        f"/clusters/{cluster.pk}/",
        f"/clusters/{cluster.pk}/lineage/",
        "/series/",
        f"/series/{stored.series.pk}/",
        "/groups/",
        f"/groups/{stored.group.pk}/",
        f"/articles/{stored.group.first_id}/",
        f"/queue/?series={stored.series.pk}&verdict=any&state=any",
        "/boilerplate/",
        f"/boilerplate/{stored.sentence.newspaper_id}/{stored.sentence.digest}/",
        f"/articles/{stored.furnished.pk}/",
        f"/compare/?left={stored.furnished.pk}&right={stored.furnished.pk - 1}",
        "/articles/?q=a",
        f"/articles/{pair.left_id}/",
        "/disagreements/",
        "/disagreements/changed/",
        "/batches/",
        "/batches/new/",
        "/learning/",
        "/validation/new/",
        f"/validation/{sample.pk}/",
        f"/validation/{sample.pk}/1/",
        f"/validation/{sample.pk}/disagreements/",
        f"/check/?url={pair.left.url}",
        "/compare/?left=a&right=0",
        "/runs/",
        f"/runs/{DetectionRun.objects.get().pk}/",
        "/runs/new/",
        "/profiles/",
        f"/profiles/{Profile.objects.get().pk}/",
        f"/profiles/{Profile.objects.get().pk}/rules/new/",
        "/crawls/",
        f"/newspapers/merges/?merged={pair.right.newspaper_id}&into={pair.left.newspaper_id}",
        f"/crawls/{pair.left.newspaper_id}/",
        "/reports/",
        "/reports/exact/?since=2026-03-01",
        "/reports/policies/",
        "/exports/?policy=one-per-cluster",
        "/history/?kind=confirm",
        "/password/",
        "/help/",
        "/keys/",
        "/people/",
        "/people/invite/",
        "/people/changes/",
        f"/people/{mara.pk}/",
        "/alarms/",
        "/removals/",
        f"/newspapers/{pair.left.newspaper_id}/remove/",
        f"/newspapers/{pair.left.newspaper_id}/pages/",
        f"/articles/{pair.left_id}/remove/",
        f"/articles/{pair.left_id}/withhold/",
        f"/set-password/{urlsafe_base64_encode(force_bytes(mara.pk))}/{default_token_generator.make_token(mara)}/",
    ]


def faults(page: Page) -> list[str]:
    """Return the violations of axe's rules that hinder somebody seriously; of those about colours also in the dark."""
    page.evaluate(AXE)
    found = []
    for scheme, rules in SCHEMES:
        page.emulate_media(color_scheme=scheme)
        options = {"resultTypes": ["violations"], "preload": False, **rules}
        violations = page.evaluate("async options => (await axe.run(options)).violations", options)
        found += [(scheme, violation) for violation in violations]
    page.emulate_media(color_scheme="light")
    return [
        f"{page.url} ({scheme}): {each['id']}: {node['html']}"
        for scheme, each in found
        if each["impact"] in {"serious", "critical"}
        for node in each["nodes"]
    ]


@pytest.mark.slow
def test_no_page_shuts_anybody_out_or_is_wider_than_a_phone(stored: Stored, open_site: Opener) -> None:
    decisions.decide_pair(stored.second.pk, "confirm", user=User.objects.get(username="mara"), note="Same wire.")
    # Without motion, colours are those of the scheme at once.
    page = open_site(color_scheme="light", reduced_motion="reduce")
    screen = page.viewport_size
    assert screen is not None
    found: list[str] = []
    widths: dict[str, int] = {}
    for address in addresses(stored):
        page.goto(address)
        found += faults(page)
        found += page.evaluate(SAID_TWICE)
        found += [f"{address}: {each}" for each in ONE_OF_MANY.findall(page.locator("main").inner_text())]
        page.set_viewport_size(PHONE)
        widths[address] = page.evaluate("document.documentElement.scrollWidth")
        page.set_viewport_size(screen)
    settled(page)
    page.get_by_role("button", name="Log out").click()
    found += faults(page)

    assert found == []
    assert {address: width for address, width in widths.items() if width > PHONE["width"]} == {}


def test_a_phone_is_told_of_no_keys(stored: Stored, open_site: Opener) -> None:
    page = open_site(viewport=PHONE, is_mobile=True, has_touch=True)

    expect(page.get_by_text("Every decision can be undone.")).to_be_visible()
    expect(page.locator("kbd").filter(visible=True)).to_have_count(0)


def test_dark_is_dark_without_javascript(stored: Stored, open_site: Opener) -> None:
    page = open_site(color_scheme="dark", java_script_enabled=False)
    page.goto("/queue/")

    assert page.locator("body").evaluate("body => getComputedStyle(body).backgroundColor") == "rgb(21, 24, 27)"


def test_the_first_tab_skips_to_the_content(stored: Stored, open_site: Opener) -> None:
    page = open_site()
    page.goto("/queue/")
    page.keyboard.press("Tab")

    expect(page.locator(".skip-link")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#main")).to_be_focused()
