"""Reviewing as an editor does it: with keys, with the mouse, on a phone, and without JavaScript."""

import re
from statistics import median

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Page, expect

from dedup.detection.runs.headlines import update_series
from dedup.models import Decision, Pair
from dedup.review.answers import decisions
from dedup.review.questions.tabs import DEFAULT, TABS
from dedup.rows.pairs import PairFilter
from tests.browser.conftest import Opener, Stored, settled
from tests.factories import PASSWORD, make_lesson, make_user

pytestmark = pytest.mark.browser


def state_of(pair: Pair) -> str:
    return Pair.objects.get(pk=pair.pk).state


def press(page: Page, key: str) -> None:
    """Press a key on a page that takes decisions."""
    settled(page)
    page.keyboard.press(key)


def notice(page: Page) -> str:
    return page.locator(".notice span").first.inner_text()


def shows(page: Page, pair: Pair) -> None:
    """Wait until the question about a pair is on the screen, which takes keys from then on."""
    expect(page.locator("html")).to_have_attribute("data-question", f"p{pair.pk}")


def stored_answers(page: Page, number: int) -> None:
    """Wait until the strip shows so many answers, and none that is on its way."""
    expect(page.locator(".strip-answer")).to_have_count(number)
    expect(page.locator(".strip-sending")).to_have_count(0)


def test_a_sitting_by_keys_alone(stored: Stored, open_site: Opener) -> None:
    inside = Pair.objects.exclude(pk__in=[stored.first.pk, stored.second.pk, stored.other.pk]).filter(best_score=0.7)
    page = open_site()
    page.goto("/queue/?sort=id")
    page.keyboard.press("r")
    rows = list(Pair.objects.in_queue().order_by(*PairFilter({"sort": "id"}).ordering)[:6])
    assert {stored.first, stored.second, stored.other, *inside} == set(rows)
    kinds = {"y": "confirmed", "v": "version", "t": "template", "n": "rejected", "u": "unsure"}
    for pair, key in zip(rows, kinds, strict=False):
        shows(page, pair)
        page.keyboard.press(key)
    shows(page, rows[5])
    expect(page).to_have_url(re.compile(rf"/pairs/{rows[5].pk}/\?sort=id$"))
    stored_answers(page, 5)
    assert [state_of(pair) for pair in rows[:5]] == list(kinds.values())
    expect(page.locator(".strip-answer").first).to_contain_text("Unsure")

    for _ in range(5):
        page.keyboard.press("z")
    shows(page, rows[0])
    stored_answers(page, 0)
    assert {state_of(pair) for pair in rows} == {"undecided"}
    page.keyboard.press("z")
    expect(page.locator(".status-line")).to_contain_text("“z” was not counted: No answer of the last eight hours")

    # Back and reload work as with pages of their own.
    page.keyboard.press("j")
    shows(page, rows[1])
    page.go_back()
    shows(page, rows[0])
    page.keyboard.press("y")
    shows(page, rows[1])
    stored_answers(page, 1)
    page.reload()
    shows(page, rows[1])
    page.locator(".strip-answer a").click()
    expect(page.locator(".decided")).to_be_visible()
    page.evaluate("location.assign('/history/')")
    kinds_of = [decision.kind for decision in Decision.objects.order_by("pk")]
    assert kinds_of == ["confirm", "version", "template", "reject", "unsure", *["undo"] * 5, "confirm"]


@pytest.mark.slow
def test_how_many_are_left_counts_the_answers_before(stored: Stored, open_site: Opener) -> None:
    page = open_site()
    page.goto("/queue/next/")
    left = page.locator("[data-left]")
    before = int(left.inner_text().split()[0])
    assert before > 1
    page.wait_for_selector("html[data-question]")
    press(page, "y")
    stored_answers(page, 1)
    now = TABS[DEFAULT].count(User.objects.get(username="mara"))
    assert now < before
    expect(left).to_have_text(re.compile(f"^{now} left · 1 answered today"))


@pytest.mark.slow
def test_keys_are_remapped_and_a_question_comes_back_if_its_answer_is_refused(
    stored: Stored, open_site: Opener
) -> None:
    page = open_site()
    page.goto("/keys/")
    page.fill("#id_confirm", "d")
    page.fill("#id_reject", "")
    settled(page)
    page.get_by_role("button", name="Save").click()
    expect(page.locator(".notice")).to_contain_text("saved")

    page.goto(f"/pairs/{stored.first.pk}/?sort=id")
    page.keyboard.press("?")
    dialog = page.get_by_role("dialog")
    expect(dialog.locator("dt", has_text="d").first).to_be_visible()
    page.keyboard.press("Escape")
    expect(dialog).not_to_be_visible()
    shows(page, stored.first)
    page.keyboard.press("y")
    page.keyboard.press("n")
    page.fill("#note", "Same wire.")
    page.keyboard.press("Escape")
    decisions.decide_pair(stored.first.pk, "reject", user=make_user("otto", "editor"))
    page.keyboard.press("d")
    # The next question was on the screen, and is again after this one.
    expect(page.locator(".came-back")).to_contain_text("otto rejected the pair")
    shows(page, stored.first)
    expect(page.locator("#note")).to_have_value("Same wire.")
    assert state_of(stored.first) == "rejected"
    page.get_by_role("button", name="Duplicate d", exact=True).click()
    stored_answers(page, 1)
    assert Decision.objects.latest("pk").note == "Same wire."

    shown = Pair.objects.get(pk=int(page.evaluate("document.documentElement.dataset.question").removeprefix("p")))
    page.context.clear_cookies(name="sessionid")
    page.keyboard.press("u")
    expect(page.locator(".came-back")).to_contain_text("You are logged out")
    assert state_of(shown) == "undecided"


@pytest.mark.slow
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
    stored_answers(page, 1)
    assert Decision.objects.get().note == "Same wire."


def test_a_cluster_is_put_right_and_confirmed(stored: Stored, open_site: Opener) -> None:
    cluster = stored.cluster
    out, kept = cluster.memberships.exclude(article=cluster.kept_id).order_by("article")[:2]
    page = open_site()
    page.goto("/clusters/")
    page.get_by_role("link", name="Review these").click()
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

    page.evaluate("location.assign('/history/')")
    expect(page.locator(".decision").nth(0)).to_contain_text(
        f"mara confirmed the cluster (cluster {cluster.pk}, 3 articles)"
    )
    expect(page.locator(".decision").nth(1)).to_contain_text("mara chose the article to keep")
    expect(page.locator(".decision").nth(2)).to_contain_text("mara took an article out")


def test_everything_works_without_javascript(stored: Stored, open_site: Opener) -> None:
    page = open_site(java_script_enabled=False)
    page.get_by_role("button", name="Log out").click()
    page.goto("/queue/?tab=pairs")
    page.fill("#id_username", "mara")
    page.fill("#id_password", PASSWORD)
    page.click("main button")
    page.wait_for_url("**/queue/?tab=pairs")
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
    expect(page).to_have_url(re.compile(r"/queue/\?.*pass_name=title"))
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
    page.get_by_role("button", name="Split it").click()
    expect(page.locator(".member")).to_have_count(2)
    page.get_by_role("button", name="Log out").click()
    expect(page.get_by_role("heading", name="Log in")).to_be_visible()


@pytest.mark.slow
def test_the_list_follows_the_filter_and_the_browsers_way_back(stored: Stored, open_site: Opener) -> None:
    page = open_site()
    page.goto("/queue/?tab=pairs")
    page.locator("summary", has_text="Filter").click()
    page.select_option("#id_pass_name", "title")
    expect(page.locator(".row-item")).to_have_count(1)
    expect(page).to_have_url(re.compile("pass_name=title"))
    page.go_back()
    expect(page.locator(".row-item")).to_have_count(6)


@pytest.mark.slow
def test_the_second_of_two_clicks_decides_nothing(stored: Stored, open_site: Opener) -> None:
    page = open_site()
    page.clock.install(time=0)
    page.clock.pause_at(1_000)
    page.goto(f"/pairs/{stored.first.pk}/")
    page.clock.run_for(500)
    duplicate = page.get_by_role("button", name="Duplicate y", exact=True)
    duplicate.click()
    # The next question has its button in the same place; the time of the page does not move on by itself.
    expect(page).to_have_url(re.compile(rf"/pairs/{stored.other.pk}/"))
    page.clock.run_for(499)
    duplicate.click()
    page.clock.run_for(1)
    page.get_by_role("button", name="Not a duplicate").click()
    expect(page).to_have_url(re.compile(rf"/pairs/{stored.second.pk}/"))
    stored_answers(page, 2)

    assert [state_of(pair) for pair in (stored.first, stored.other, stored.second)] == [
        "confirmed",
        "rejected",
        "undecided",
    ]


@pytest.mark.slow
def test_a_form_that_is_on_its_way_is_not_sent_again(stored: Stored, open_site: Opener) -> None:
    page = open_site()
    page.goto(f"/clusters/{stored.cluster.pk}/")
    settled(page)
    # Both in one go, before the browser has left the page.
    page.evaluate(
        "for (let time = 0; time < 2; time++) document.querySelector('[data-action=confirm_cluster]').click()"
    )
    expect(page.locator(".notice").first).to_contain_text("confirmed")

    assert Decision.objects.get().kind == "confirm_cluster"


def swipe(page: Page, *points: tuple[int, int]) -> None:
    """Move a finger over the screen through these points."""
    touch = page.context.new_cdp_session(page)
    for number, (x, y) in enumerate(points):
        kind = "touchMove" if number else "touchStart"
        touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [{"x": x, "y": y}]})
    touch.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})


def test_a_phone_answers_by_a_swipe(stored: Stored, open_site: Opener) -> None:
    page = open_site(viewport={"width": 390, "height": 844}, is_mobile=True, has_touch=True)
    page.goto(f"/pairs/{stored.first.pk}/")
    shows(page, stored.first)
    box = page.locator(".texts").first.bounding_box()
    assert box is not None
    top = int(box["y"]) + 30
    swipe(page, (100, top), (140, top), (170, top))  # too short
    swipe(page, (200, top), (190, top + 40), (60, top + 80))  # a scroll
    assert not Decision.objects.exists()
    page.reload()  # a page that still glides takes no swipe
    shows(page, stored.first)
    swipe(page, (100, top), (140, top), (300, top))
    shows(page, stored.other)
    stored_answers(page, 1)
    swipe(page, (300, top), (260, top), (100, top))
    shows(page, stored.second)
    stored_answers(page, 2)

    assert [decision.kind for decision in Decision.objects.order_by("pk")] == ["confirm", "reject"]


# How much of the height of a screen the texts have above the buttons, at least. The last is a zoom of 200%.
TEXTS = {(1440, 900): 0.6, (1280, 720): 380 / 720, (390, 844): 0.5, (640, 400): 0.15}
# The texts of this test are short; the buttons stay at the lower end of the screen below longer ones.
ROOM = """() => {
    const box = (name) => document.querySelector(name).getBoundingClientRect();
    return (innerHeight - box('.answering').height - box('.texts').top) / innerHeight;
}"""


@pytest.mark.slow
def test_the_texts_come_first_and_can_be_walked_through(stored: Stored, open_site: Opener) -> None:
    page = open_site()
    update_series()
    pairs = Pair.objects.order_by("pk")[:4]
    for (width, height), wanted in TEXTS.items():
        page.set_viewport_size({"width": width, "height": height})
        room = []
        for pair in pairs:
            page.goto(f"/pairs/{pair.pk}/")
            room.append(page.evaluate(ROOM))
        assert median(room) >= wanted, (width, height, room)

    page.set_viewport_size({"width": 1280, "height": 720})
    page.goto(f"/pairs/{stored.first.pk}/?unfolded=1")
    page.mouse.wheel(0, 600)
    expect(page.locator(".versus-heads")).to_be_in_viewport()
    page.keyboard.press("Shift+J")
    expect(page.locator(".current-difference", has_text="Monday")).to_be_in_viewport()
    expect(page.locator(".current-difference")).to_have_count(2)  # both sides of one line
    page.get_by_role("link", name="Previous difference").click()
    expect(page.locator(".current-difference").first).to_be_in_viewport()
    page.keyboard.press("Shift+O")
    expect(page.locator(".in-both.current-difference")).to_be_in_viewport()
    with page.expect_navigation():
        page.keyboard.press("x")
    expect(page.get_by_text("Sentence 7 of the report")).not_to_be_visible()
    with page.expect_navigation():
        page.keyboard.press("x")
    expect(page.get_by_text("Sentence 7 of the report").first).to_be_visible()

    page.locator(".why summary").click()
    expect(page.get_by_role("table").first).to_contain_text("Start: two articles with nothing in common")
    page.locator(".chip", has_text="Similar text").click()
    expect(page.locator(".text mark.found").first).to_be_visible()

    page.goto(f"/pairs/{stored.first.pk}/")
    folded = page.get_by_text("Sentence 7 of the report")
    expect(folded).not_to_be_visible()
    page.emulate_media(media="print")
    expect(folded).to_be_visible()
    expect(page.locator(".judgement-gloss")).to_be_visible()
    expect(page.locator(".decide")).not_to_be_visible()


@pytest.mark.slow
@pytest.mark.parametrize("scripts", [True, False])
def test_the_changes_of_a_model_that_is_held_back_are_answered_one_after_the_other(
    scripts: bool, stored: Stored, open_site: Opener
) -> None:
    make_lesson(stored.first, stored.second, stored.other)
    page = open_site(java_script_enabled=scripts)
    page.goto("/learning/")
    expect(page.get_by_text("Held back.")).to_be_visible()
    expect(page.get_by_text("It finds fewer versions: 3,033 versions would become merely similar.")).to_be_visible()
    page.locator("#to-answer a").first.click()
    for left in (2, 1, 0):
        expect(page.get_by_text("Changes of a new model").first).to_be_visible()
        if scripts:
            settled(page)
        page.locator("button[value=version]").click()
        if left:
            expect(page.locator(".strip-answer")).to_have_count(3 - left)
    expect(page.get_by_text("All of them are answered.")).to_be_visible()
    page.goto("/learning/")
    expect(page.get_by_text("the new verdict is right on 0 and the old one on 3")).to_be_visible()
