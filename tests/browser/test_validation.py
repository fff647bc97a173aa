"""Reading a validation sample with the keys, while labels are stored in the background."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from dedup.models import Decision, SampleLabel
from dedup.research.sampling import Plan, draw
from tests.browser.conftest import Opener, Stored

pytestmark = pytest.mark.browser


def test_a_sample_is_read_with_the_keys(stored: Stored, open_site: Opener) -> None:
    sample = draw(Plan(size=4, by=()), seed=1)
    page = open_site()
    page.goto(f"/validation/{sample.pk}/")
    page.get_by_role("link", name="Start labelling").click()

    def shown(position: int) -> None:
        expect(page.locator("html")).to_have_attribute("data-question", f"v{position}")

    shown(1)
    page.keyboard.press("d")
    shown(2)
    page.keyboard.press("v")
    shown(3)
    page.keyboard.press("z")
    shown(2)
    page.keyboard.press("m")
    page.keyboard.type("The second one is longer.")
    page.keyboard.press("Escape")
    page.keyboard.press("e")
    shown(3)
    page.keyboard.press("t")
    shown(4)
    page.keyboard.press("n")
    page.wait_for_url(f"**/validation/{sample.pk}/")
    expect(page.get_by_text("You have labelled every pair of this sample.")).to_be_visible()
    expect(page.get_by_role("heading", name="Results")).to_be_visible()
    labels = SampleLabel.objects.order_by("pair__position").values_list("label", "note", "reader")
    assert list(labels) == [
        ("D", "", "mara"), ("E", "The second one is longer.", "mara"), ("T", "", "mara"), ("N", "", "mara"),
    ]  # fmt: skip
    assert not Decision.objects.exists()
