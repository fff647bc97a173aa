"""Reviewing as an editor does it: with keys, with the mouse, on a phone, and without JavaScript."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from dedup.models import Decision, Pair
from tests.browser.conftest import Opener, Stored, settled

pytestmark = pytest.mark.browser


def state_of(pair: Pair) -> str:
    return Pair.objects.get(pk=pair.pk).state


def press(page: Page, key: str) -> None:
    """Press a key on a page that takes decisions."""
    settled(page)
    page.keyboard.press(key)


def notice(page: Page) -> str:
    return page.locator(".notice span").first.inner_text()


def test_pairs_are_reviewed_with_keys(stored: Stored, open_site: Opener) -> None:
    page = open_site()
    page.get_by_role("link", name="Queue", exact=True).click()
    expect(page.locator(".row-item")).to_have_count(6)
    page.locator("summary", has_text="Filter").click()
    page.select_option("#id_pass_name", "trigram")
    page.fill("#id_score_from", "0.8")
    page.press("#id_score_from", "Enter")
    expect(page.locator(".row-item")).to_have_count(2)
    page.get_by_role("link", name="Review these").click()
    expect(page).to_have_url(re.compile(rf"/pairs/{stored.first.pk}/\?.*pass_name=trigram"))
    expect(page.locator("del", has_text="Monday")).to_be_visible()

    press(page, "y")
    expect(page).to_have_url(re.compile(rf"/pairs/{stored.second.pk}/\?.*pass_name=trigram"))
    assert notice(page) == "Confirmed: duplicates."
    assert state_of(stored.first) == "confirmed"

    press(page, "z")
    expect(page).to_have_url(re.compile(rf"/pairs/{stored.first.pk}/\?.*pass_name=trigram"))
    assert notice(page) == "Undone: confirmed the pair."
    assert state_of(stored.first) == "undecided"

    page.keyboard.press("j")
    expect(page).to_have_url(re.compile(rf"/pairs/{stored.second.pk}/"))
    page.keyboard.press("k")
    expect(page).to_have_url(re.compile(rf"/pairs/{stored.first.pk}/"))
    press(page, "u")
    expect(page).to_have_url(re.compile(rf"/pairs/{stored.second.pk}/"))
    press(page, "n")
    expect(page).to_have_url(re.compile(r"/queue/\?"))
    assert (state_of(stored.first), state_of(stored.second)) == ("unsure", "rejected")
    page.get_by_role("link", name="History").click()
    kinds = ["rejected the pair", "was unsure of the pair", "undid a decision", "confirmed the pair"]
    for position, kind in enumerate(kinds):
        expect(page.locator(".decision").nth(position)).to_contain_text(f"mara {kind}")


def test_typing_a_note_decides_nothing_and_keys_can_be_switched_off(stored: Stored, open_site: Opener) -> None:
    page = open_site()
    page.goto(f"/pairs/{stored.first.pk}/")
    page.keyboard.press("m")
    page.keyboard.type("yes, my own note")
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    settled(page)
    page.get_by_role("button", name="Switch all keys off").click()
    press(page, "y")
    page.goto(f"/pairs/{stored.first.pk}/")
    press(page, "y")
    expect(page).to_have_url(re.compile(rf"/pairs/{stored.first.pk}/$"))
    page.get_by_role("link", name="Keys").click()
    settled(page)
    page.get_by_role("button", name="Switch all keys on").click()
    page.keyboard.press("Control+y")
    assert not Decision.objects.exists()

    page.fill("#note", "Same wire.")
    page.press("#note", "Enter")
    expect(page).to_have_url(re.compile(rf"/pairs/{stored.first.pk}/$"))
    settled(page)
    page.get_by_role("button", name="Duplicate y", exact=True).click()
    expect(page.locator(".notice").first).to_contain_text("Confirmed")
    assert Decision.objects.get().note == "Same wire."


def test_a_cluster_is_put_right_and_confirmed(stored: Stored, open_site: Opener) -> None:
    cluster = stored.cluster
    out, kept = cluster.memberships.exclude(article=cluster.kept_id).order_by("article")[:2]
    page = open_site()
    page.goto("/clusters/")
    page.get_by_role("link", name="Go through these").click()
    expect(page.locator(".member")).to_have_count(4)

    page.fill("#note", "Same wire.")
    settled(page)
    page.press("#note", "Enter")
    page.get_by_role("button", name=f"Take out… article {out.article_id}").click()
    expect(page.locator(".outcome")).to_have_count(2)
    press(page, "y")
    expect(page.locator(".member")).to_have_count(3)
    assert notice(page) == "The article was taken out."
    settled(page)
    page.get_by_role("button", name=f"Keep this one article {kept.article_id}").click()
    expect(page.locator(".member-kept")).to_contain_text(kept.article.headline)
    press(page, "y")
    expect(page.locator(".notice").first).to_contain_text(f"Cluster {cluster.pk} confirmed.")
    cluster.refresh_from_db()
    assert (cluster.state, cluster.size, cluster.kept_id) == ("confirmed", 3, kept.article_id)

    page.get_by_role("link", name="History").click()
    expect(page.locator(".decision").nth(0)).to_contain_text(
        f"mara confirmed the cluster (cluster {cluster.pk}, 3 articles)"
    )
    expect(page.locator(".decision").nth(1)).to_contain_text("mara chose the article to keep")
    expect(page.locator(".decision").nth(2)).to_contain_text("mara took an article out")


def test_everything_works_without_javascript(stored: Stored, open_site: Opener) -> None:
    page = open_site(java_script_enabled=False)
    page.goto("/queue/")
    page.locator("summary", has_text="Filter").click()
    page.select_option("#id_pass_name", "title")
    page.get_by_role("button", name="Apply").click()
    expect(page.locator(".row-item")).to_have_count(1)
    page.get_by_role("link", name="Review these").click()
    page.fill("#note", "Same wire.")
    page.press("#note", "Enter")
    assert not Decision.objects.exists()
    page.get_by_role("button", name="Not a duplicate").click()
    assert state_of(stored.other) == "rejected"
    expect(page).to_have_url(re.compile(r"/queue/\?pass_name=title"))
    page.locator(".notice").first.get_by_role("button", name="Undo").click()
    assert state_of(stored.other) == "undecided"

    page.goto(f"/pairs/{stored.first.pk}/")
    folded = page.get_by_text("Sentence 7 of the report")
    expect(folded).not_to_be_visible()
    page.locator(".fold summary").click()
    expect(folded).to_be_visible()
    page.get_by_role("link", name="Merged").click()
    expect(page.locator("ins", has_text="Tuesday")).to_be_visible()

    page.goto(f"/clusters/{stored.cluster.pk}/")
    page.get_by_role("button", name="Confirm: all 4 are the same").click()
    stored.cluster.refresh_from_db()
    assert stored.cluster.state == "confirmed"
    page.get_by_role("checkbox", name="Tick row 2").check()
    page.get_by_role("checkbox", name="Tick row 4").check()
    page.get_by_role("button", name="Split off the ticked articles…").click()
    expect(page.locator(".outcome h3")).to_have_text(
        [re.compile(rf"Cluster {stored.cluster.pk} 2 articles"), re.compile("A new cluster 2 articles")]
    )
    expect(page.get_by_text("mara confirmed the cluster")).to_be_visible()
    page.get_by_role("button", name="Split it").click()
    expect(page.locator(".member")).to_have_count(2)
    page.locator(".notice").first.get_by_role("button", name="Undo").click()
    expect(page.locator(".member")).to_have_count(4)
    page.get_by_role("button", name="Dissolve: none belong together…").click()
    page.get_by_role("link", name="Back, change nothing").click()
    page.get_by_role("button", name="Dissolve: none belong together…").click()
    page.get_by_role("button", name="Dissolve it").click()
    expect(page.locator(".notice").first).to_contain_text(f"Cluster {stored.cluster.pk} dissolved.")
    page.get_by_role("button", name="Log out").click()
    expect(page.get_by_role("heading", name="Log in")).to_be_visible()


def test_a_series_is_made_a_rule_with_keyboard_alone_and_without_javascript(stored: Stored, open_site: Opener) -> None:
    page = open_site(java_script_enabled=False)
    page.goto(f"/pairs/{stored.second.pk}/")
    page.get_by_role("navigation", name="Main").get_by_role("link", name="Series").press("Enter")
    page.locator(".row-link").press("Enter")
    page.get_by_role("button", name="Make it a rule: never duplicates").press("Enter")
    assert "0 pairs" in notice(page)
    expect(page.locator(".rule-history li")).to_have_count(1)
    page.get_by_role("button", name="End the rule").press("Enter")
    expect(page.get_by_role("heading", name="No rule yet")).to_be_visible()
    expect(page.locator(".rule-history li")).to_have_count(2)


def test_the_list_follows_the_filter_and_the_browsers_way_back(stored: Stored, open_site: Opener) -> None:
    page = open_site()
    page.goto("/queue/")
    page.locator("summary", has_text="Filter").click()
    page.select_option("#id_pass_name", "title")
    expect(page.locator(".row-item")).to_have_count(1)
    expect(page).to_have_url(re.compile("pass_name=title"))
    page.go_back()
    expect(page.locator(".row-item")).to_have_count(6)


def test_the_second_of_two_clicks_decides_nothing(stored: Stored, open_site: Opener) -> None:
    page = open_site()
    page.clock.install(time=0)
    page.clock.pause_at(1_000)
    page.goto(f"/pairs/{stored.first.pk}/")
    page.clock.run_for(500)
    duplicate = page.get_by_role("button", name="Duplicate y", exact=True)
    duplicate.click()
    # It stands where the button of the next pair stands; the time of the page has not moved on.
    expect(page).to_have_url(re.compile(rf"/pairs/{stored.other.pk}/"))
    expect(page.locator("html")).to_have_attribute("data-state", "settling")
    page.clock.run_for(499)
    duplicate.click()
    page.clock.run_for(1)
    page.get_by_role("button", name="Not a duplicate").click()
    expect(page).to_have_url(re.compile(rf"/pairs/{stored.second.pk}/"))

    assert [state_of(pair) for pair in (stored.first, stored.other, stored.second)] == [
        "confirmed",
        "rejected",
        "undecided",
    ]
    assert Decision.objects.count() == 2


def test_a_form_that_is_on_its_way_is_not_sent_again(stored: Stored, open_site: Opener) -> None:
    page = open_site()
    page.goto(f"/pairs/{stored.first.pk}/")
    settled(page)
    # Both in one go, before the browser has left the page.
    page.evaluate("for (const name of ['confirm', 'reject']) document.querySelector(`[value=${name}]`).click()")
    expect(page).to_have_url(re.compile(rf"/pairs/{stored.other.pk}/"))

    assert Decision.objects.get().kind == "confirm"
