"""Two editors in two browsers: they collide, one contests, and a batch answers the rest."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from dedup.models import Batch, Pair, SecondReading
from tests.browser.conftest import Opener, Stored, settled
from tests.browser.test_review import shows
from tests.factories import make_user

pytestmark = pytest.mark.browser


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
