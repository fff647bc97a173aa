"""What pages are without JavaScript, without a mouse, and on a phone; test_forms.py looks at every page."""

from __future__ import annotations

import pytest
from playwright.sync_api import ViewportSize, expect

from tests.browser.conftest import Opener, Stored

pytestmark = pytest.mark.browser

PHONE: ViewportSize = {"width": 375, "height": 667}


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
