"""What pages are without JavaScript, without a mouse, and on a phone; two editors in two browsers; reading a sample."""

import re

import pytest
from playwright.sync_api import ViewportSize, expect

from dedup.models import Batch, Decision, Pair, SampleLabel, SecondReading
from dedup.research.sampling import Plan, draw
from tests.browser.conftest import Opener, Stored, settled
from tests.browser.test_review import shows
from tests.factories import make_user

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

    page.goto(f"/pairs/{stored.first.pk}/")
    for _ in range(2):
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="Duplicate", exact=False).first).to_be_focused()
    version = "The same article at another stage, with news of its own. For example: the report on a fire at noon, and"
    expect(page.get_by_role("button", name="Version")).to_have_accessible_description(re.compile(version))
    page.locator(".meanings summary").press("Enter")
    expect(page.get_by_role("definition").filter(has_text=version)).to_be_visible()


@pytest.mark.slow
def test_two_editors_collide_contest_and_settle_and_a_batch_answers_the_rest(stored: Stored, open_site: Opener) -> None:
    make_user("otto", "editor")
    first, late = open_site(), open_site("otto")
    for page in (first, late):
        page.goto(f"/pairs/{stored.first.pk}/?tab=pairs")
        shows(page, stored.first)
    first.keyboard.press("y")
    expect(first.locator(".strip-sending")).to_have_count(0)
    expect(first.locator(".strip-answer")).to_have_count(1)
    late.keyboard.press("n")
    expect(late.locator("#collision-title")).to_have_text("mara confirmed the pair while you were reading")
    settled(late)
    late.get_by_role("button", name="Contest: not a duplicate").click()
    expect(late.locator(".strip-said")).to_contain_text("Contested.")
    assert SecondReading.objects.get().kind == "reject"

    first.goto("/disagreements/")
    expect(first.locator(".dispute-answers")).to_contain_text("otto")
    settled(first)
    first.get_by_role("button", name="Version", exact=True).click()
    expect(first.locator(".notice-success")).to_contain_text("Settled: version")
    assert Pair.objects.get(pk=stored.first.pk).state == "version"

    first.goto("/queue/?tab=pairs")
    first.get_by_role("link", name="Answer many at once").click()
    first.get_by_label("Not a duplicate").check()
    first.get_by_label("you answer every question yourself").check()
    settled(first)
    first.get_by_role("button", name="Draw the sample").click()
    first.wait_for_url("**/batches/*/")
    batch = Batch.objects.get()
    first.get_by_role("link", name=f"question 1 of {batch.drawn}").click()
    for number in range(batch.drawn):
        shows(first, Pair.objects.get(pk=int(first.url.split("/pairs/")[1].split("/")[0])))
        before = first.url
        first.keyboard.press("n")
        if number + 1 < batch.drawn:
            expect(first).not_to_have_url(before)
    first.wait_for_url(f"**/batches/{batch.pk}/")
    expect(first.locator(".sample")).to_contain_text(f"{batch.drawn} are answered, all of them")


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
