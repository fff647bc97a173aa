"""From an empty installation to the first question, in the browser alone; only the worker runs elsewhere."""

import csv
import io

import pytest
from playwright.sync_api import Browser, FilePayload, Page, expect

from tests.browser.conftest import Opener, settled
from tests.browser.test_forms import faults
from tests.browser.test_pages import PHONE
from tests.databases import database_url, start
from tests.factories import PASSWORD, make_user

pytestmark = pytest.mark.browser

STORY = " ".join(
    f"Plank {number} of the old pier at Selby was lifted and numbered by the harbour crew." for number in range(9)
)


@pytest.fixture
def stored(chromium: Browser, transactional_db: None) -> None:
    """Store nothing but an admin."""
    make_user("ada", "admin")


def press(page: Page, button: str) -> None:
    settled(page)
    page.get_by_role("button", name=button, exact=True).click()


def a_file() -> FilePayload:
    """Return the same story in two papers, with another end, and a third article."""
    out = io.StringIO()
    rows = csv.writer(out)
    rows.writerow(["url", "date", "headline", "content", "newspaper"])
    for paper, end in (("Selby Post", "It reopens in May."), ("Coast Echo", "It reopens in June, the mayor said.")):
        rows.writerow(
            [f"https://{paper[:5].lower()}.example/pier", "2026-03-02", "Old pier lifted", f"{STORY} {end}", paper]
        )
    rows.writerow(
        ["https://selby.example/rye", "2026-03-02", "Baker wins prize", "A baker won a prize for rye.", "Selby Post"]
    )
    return {"name": "old.csv", "mimeType": "text/csv", "buffer": out.getvalue().encode()}


@pytest.mark.slow
def test_an_empty_installation_leads_to_the_first_question_without_a_shell(stored: None, open_site: Opener) -> None:
    page = open_site("", color_scheme="light", reduced_motion="reduce")
    page.get_by_label("User name").fill("ada")
    page.get_by_label("Password").fill(PASSWORD)
    press(page, "Log in")
    page.goto("/queue/")
    page.get_by_role("link", name="See the first steps").click()
    assert faults(page) == []

    page.get_by_role("link", name="Import a file").click()
    page.get_by_label("File").set_input_files(a_file())
    press(page, "Upload and preview")
    press(page, "Import it")
    expect(page.locator(".state")).to_have_text("waiting for a worker")

    page.locator(".brand").click()
    expect(page.get_by_role("link", name="old.csv: waiting for a worker")).to_be_visible()
    page.set_viewport_size(PHONE)
    assert faults(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    page.get_by_role("link", name="Start a run").click()
    press(page, "Queue the run")
    expect(page.locator(".state")).to_have_text("waiting for a worker")
    # It does what waits in the order in which it was asked for.
    worker = start(database_url(), "manage.py", "db_worker", "--batch", "--no-startup-delay")
    _, errors = worker.communicate(timeout=120)
    assert worker.returncode == 0, errors
    page.wait_for_url("**/runs/*/")
    page.get_by_role("link", name="Open the queue").click()
    page.get_by_role("link", name="All pairs").click()
    expect(page.locator(".row-headline").first).to_have_text("Old pier lifted")
    # It has indexed the words too.
    page.goto(page.url.partition("/queue/")[0] + "/articles/")
    page.get_by_role("searchbox").fill("headline:lift*")
    page.keyboard.press("Enter")
    expect(page.locator(".snippet mark").first).to_be_visible()
