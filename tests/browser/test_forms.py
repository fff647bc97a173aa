"""Every page in a real browser, in light and dark and on a phone: accessible, legible, and no wider than the screen.

And every form of every page: changed by one field, sent by its own button, and read back.
"""

import re
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple
from urllib.parse import parse_qsl, urlsplit

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.test import Client
from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    ElementHandle,
    Error,
    Page,
    Request,
    Response,
    ViewportSize,
    expect,
)

from dedup.detection.passes import PASSES
from newsdedup_site.access.addresses import ADDRESSES
from tests.addresses import name_of, pages
from tests.browser.every_form import (
    PLAIN,
    Button,
    Field,
    buttons_of,
    fields_of,
    find,
    invalid_fields,
    other_value,
    refused_bounds,
    unfold,
)
from tests.browser.whole_site import ROW, Site, fill, password_address, served
from tests.conftest import storing
from tests.factories import PASSWORD
from tests.pages import ONE_OF_MANY

pytestmark = [pytest.mark.browser, pytest.mark.django_db, pytest.mark.xdist_group("forms")]

SCREENS: dict[str, ViewportSize] = {
    "desktop": {"width": 1280, "height": 800},
    "phone": {"width": 390, "height": 844},
}
FILE = {"name": "kestrel.jsonl", "mimeType": "application/x-ndjson", "buffer": ROW}
# What no field says of itself, by the name of the field and, if that is not enough, of the address.
HINTS = {
    "old_password": PASSWORD,
    "new_password1": "another-long-passphrase",
    "new_password2": "another-long-passphrase",
    "username": "mara",
    "password": PASSWORD,
    "keys agree": "w",
    "trial feed_urls": "https://tried.example/more",
    "collection q": "Mail",
    "check url": "http://127.0.0.1/kestrel",  # refused at once, without a network
}
# Fields that are needed as well though none says so: a rule without the one would change nothing.
NEEDED = {"profile_rule_new left_out", "compare right", "newspaper_add name"}
# Addresses that take forms, and that no button of any page sends one to: why.
UNPRESSED = {
    "pair_lease": "the page sends it by itself while somebody reads",
    "cluster_lease": "the page sends it by itself while somebody reads",
    "collision_answer": "needs an editor who answers meanwhile: test_pages.py",
    "admin:logout": "only superusers open Django’s admin",
}
# Addresses whose buttons are in a dialog, which a key opens: without JavaScript, other pages have the same.
IN_DIALOGS = {"keys_switch"}
# So many forms one after the other lead to every form.
MOST_STEPS = 3
# Buttons after which the changed field is neither stored nor shown: why.
DROPPED = {
    "keys reset=1": "puts all keys back",
    "collection_put": "a tick says what to put in: test_collections.py",
    "collection_take": "a tick says what to take out: test_collections.py",
    "profile_rule_new": "the number of a collection is below zero in the form alone: test_profiles.py",
    "newspaper_add plain=1": "of the address, it stores the host",
    "pair_later": "answers nothing, so it has no note",
    "cluster_later": "answers nothing, so it has no note",
}

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
PHONE_WIDTH = 375

# What fields show: of a checkbox whether it is ticked, of a radio button its value if it is, of a list what is chosen.
VALUES = """fields => fields.map(field => {
    if (field.type === "checkbox") return [String(field.checked)];
    if (field.type === "radio") return field.checked ? [field.value] : [];
    return field.options ? [...field.selectedOptions].map(option => option.value) : [field.value];
})"""


@dataclass(frozen=True)
class Way:
    """How to come to a button: a page, as a user, then buttons of the pages that follow; the last one is tried."""

    user: str
    url: str
    buttons: tuple[Button, ...]

    @property
    def kind(self) -> tuple[Any, ...]:
        """What two ways have in common that need not both be tried."""
        last = self.buttons[-1]
        return last.method, last.target, last.fields, re.sub(r"\d+$", "", last.sends)

    def __str__(self) -> str:
        return f"{self.url}: {' → '.join(map(str, self.buttons))}"


@pytest.fixture(scope="module")
def site(module_db: Any, chromium: Browser) -> Iterator[Site]:
    with module_db.unblock():
        numbers = fill(storing())
        with served(numbers) as site:
            yield site


class Shown(NamedTuple):
    """A page that links lead to: for whom, the link, the path that it ends at, and its text."""

    user: str
    url: str
    path: str
    text: str


@pytest.fixture(scope="module")
def walked(site: Site) -> list[Shown]:
    """Return the pages that links lead to, some of each kind, for an admin and for nobody."""
    found = []
    # The one-time link is only shown once, to the admin who makes it.
    for user, start in (("mara", "/"), ("", "/login/"), ("", password_address("ines"))):
        client = Client()
        if user:
            client.cookies[site.session["name"]] = site.session["value"]
        found += [Shown(user, *page) for page in pages(client, start)]
    return found


@pytest.fixture(scope="module")
def ways(walked: list[Shown]) -> list[Way]:
    """Return a way to each kind of button on the pages that links lead to."""
    found: dict[Any, Way] = {}
    for page in walked:
        for button in buttons_of(page.text, page.path):
            way = Way(page.user, page.url, (button,))
            other = found.setdefault(way.kind, way)
            if "?" in other.url and "?" not in page.url:
                found[way.kind] = way
    return list(found.values())


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
        f"{page.url} ({scheme}): {violation['id']}: {node['html']}"
        for scheme, violation in found
        if violation["impact"] in {"serious", "critical"}
        for node in violation["nodes"]
    ]


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_no_page_shuts_anybody_out_or_is_wider_than_a_phone(site: Site, walked: list[Shown], chromium: Browser) -> None:
    # Without motion, colours are those of the scheme at once.
    window = chromium.new_context(color_scheme="light", reduced_motion="reduce", viewport=SCREENS["desktop"])
    page = window.new_page()
    # One page of each address; of what can be filtered, with a filter.
    chosen = {(shown.user, name_of(shown.path)): shown for shown in walked}
    pair = next(shown.url for shown in walked if name_of(shown.path) == "pair").partition("?")[0]
    more = [Shown("mara", f"{pair}?{query}", pair, "") for query in ("view=merged&unfolded=1", "view=plain")]
    found: list[str] = []
    widths: dict[str, int] = {}
    for shown in (*chosen.values(), *more):
        window.clear_cookies()
        if shown.user:
            window.add_cookies([{**site.session, "url": site.url}])
        page.goto(site.url + shown.url)
        found += faults(page)
        found += page.evaluate(SAID_TWICE)
        found += [f"{shown.url}: {text}" for text in ONE_OF_MANY.findall(page.locator("body").inner_text())]
        page.set_viewport_size({"width": PHONE_WIDTH, "height": 667})
        widths[shown.url] = page.evaluate("document.documentElement.scrollWidth")
        page.set_viewport_size(SCREENS["desktop"])
    window.close()
    assert found == []
    assert {url: width for url, width in widths.items() if width > PHONE_WIDTH} == {}
    assert len(chosen) > 60


class Trial:
    """One window, in which one way after the other is tried."""

    def __init__(self, site: Site, window: BrowserContext, screen: str) -> None:
        self.site, self.window, self.screen = site, window, screen
        self.other = next(name for name in SCREENS if name != screen)
        self.page = window.new_page()
        self.page.set_default_timeout(20_000)
        self.stored = site.rows()
        self.seen: list[str] = []
        self.page.on("response", self._on_response)
        self.page.on("console", self._on_said)
        self.page.on("pageerror", lambda error: self.seen.append(str(error)))

    def _on_said(self, said: ConsoleMessage) -> None:
        # An answer is reported once.
        if said.type == "error" and not said.text.startswith("Failed to load resource"):
            self.seen.append(said.text)

    def _on_response(self, answer: Response) -> None:
        if answer.status >= 400:
            self.seen.append(f"{answer.status} from {answer.url}")

    def go(self, way: Way) -> tuple[list[str], list[Button]]:
        """Go this way; return what is wrong with its last form, and the buttons of the page that follows."""
        self.seen.clear()
        self.window.clear_cookies()
        if way.user:
            self.window.add_cookies([{**self.site.session, "url": self.site.url}])
        self.page.goto(self.site.url + way.url)
        self.page.evaluate("sessionStorage.clear()")
        wrong: list[str] = []
        for button in way.buttons:
            self.seen.clear()
            wrong = self.press(button, first=button is way.buttons[0])
        following = list(buttons_of(self.page.content(), self.page.url)) if not wrong else []
        self.page.goto("about:blank")
        return wrong, following

    def press(self, button: Button, *, first: bool) -> list[str]:
        """Change one field of a form, send it with this button, and return what is wrong."""
        page = self.page
        found = find(page, button)
        unfold(found)
        wrong = [f"its own bound is refused: {bound}" for bound in refused_bounds(found)]
        changed = self.fill(found, button.target)
        if invalid := invalid_fields(found):
            return [*wrong, f"the browser refuses {', '.join(invalid)}"]
        unfold(found)
        before, url = self.stored if first else self.site.rows(), page.url
        page.set_viewport_size(SCREENS[self.other])
        found.click(trial=True)
        page.set_viewport_size(SCREENS[self.screen])
        answer = self.send(found, button)
        wrong += self.seen
        if wrong:
            wrong += [f"it says: {text}" for text in page.locator(".notice-error, .field-error").all_inner_texts()]
            return wrong
        return self.read_back(button, url, changed, before, answer)

    def fill(self, button: ElementHandle, target: str) -> Field | None:
        """Change the first field that can be changed, and fill in those that are required; return the changed one."""
        changed: Field | None = None
        taken: set[str] = set()
        for shown in fields_of(button):
            needed = (shown.required and not shown.value) or f"{target} {shown.name}" in NEEDED
            needed = needed or (shown.type == "checkbox" and shown.value != "on" and not shown.alike)
            if not shown.usable or shown.type in PLAIN or (changed and not needed):
                continue
            part = button.evaluate_handle("(button, place) => button.form.elements[place]", shown.place).as_element()
            assert part is not None
            unfold(part)
            if change(part, shown, target, taken, HINTS | self.site.numbers):
                taken.add(shown.value)
                changed = changed or shown
        return changed

    def send(self, found: ElementHandle, button: Button) -> Response:
        """Press the button, and return the answer to what it sent."""
        page = self.page
        page.evaluate("document.documentElement.dataset.before = 'yes'")
        if page.locator("html[data-state]").count():
            page.locator("html[data-state=ready]").wait_for(state="attached")
        with page.expect_response(lambda answer: sent_by(answer.request, button)) as answered:
            found.click()
        answer = answered.value
        if answer.request.is_navigation_request() and "attachment" not in answer.headers.get("content-disposition", ""):
            page.locator("html:not([data-before])").wait_for(state="attached")
            page.wait_for_load_state("load")
        return answer

    def read_back(
        self, button: Button, url: str, changed: Field | None, before: set[str], answer: Response
    ) -> list[str]:
        """Return what is wrong with what was stored and is shown."""
        if button.method == "get":
            asked = parse_qsl(urlsplit(answer.url).query)
            kept = changed is None or (changed.name, changed.value) in asked or changed.type == "checkbox"
            return [] if kept and self.shows(changed) else [f"{changed} is not shown: {self.page.url}"]
        if {button.target, f"{button.target} {button.sends}", button.words} & DROPPED.keys():
            return []
        stored = self.site.rows()
        if changed is None or changed.type in ("password", "file"):
            said = (
                self.page.locator(".notice, .strip-said, .messagelist").count()
                or urlsplit(self.page.url)[2] != urlsplit(url)[2]
            )
            return [] if said or stored != before else ["nothing was stored, and the page says nothing"]
        if any(changed.value in row for row in stored - before) or self.shows(changed):
            return []
        self.page.goto(url)
        return [] if self.shows(changed) else [f"{changed} is neither stored nor shown"]

    def shows(self, changed: Field | None) -> bool:
        """Return whether the page shows a field with the value that it was changed to, or the value as a text."""
        if changed is None:
            return True
        of_name = self.page.locator(f"[name='{changed.name}']")
        values = [value for shown in of_name.evaluate_all(VALUES) for value in shown]
        return changed.value in values or changed.value in self.page.locator("body").inner_text()


def sent_by(request: Request, button: Button) -> bool:
    return request.method.lower() == button.method and name_of(request.url) == button.target


def change(part: ElementHandle, shown: Field, target: str, taken: set[str], hints: dict[str, str]) -> bool:
    """Give a field another value, as a person does with the keyboard; return False if it can have no other."""
    if shown.type == "checkbox":
        if shown.checked and shown.value != "on" and shown.alike == 1:
            return False  # the last one of several
        part.press("Space")
        shown.value = str(part.is_checked()).lower()
        return True
    if shown.type == "radio":
        if shown.checked:
            return False
        part.press("Space")
        return True
    hint = None if shown.type.startswith("select") else hints.get(f"{target} {shown.name}") or hints.get(shown.name)
    value = hint or other_value(shown, taken)
    if value is None:
        return False
    if shown.type == "file":
        part.set_input_files(FILE)
    elif shown.type.startswith("select"):
        part.select_option(value)
    else:
        part.fill(value)
    shown.value = value
    return True


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.parametrize(
    ("screen", "scripts"),
    [
        ("desktop", True),
        ("phone", False),
        pytest.param("phone", True, marks=pytest.mark.soak),
        pytest.param("desktop", False, marks=pytest.mark.soak),
    ],
)
def test_every_form_is_sent_by_its_own_button_and_read_back(
    screen: str, scripts: bool, site: Site, ways: list[Way], chromium: Browser
) -> None:
    window = chromium.new_context(viewport=SCREENS[screen], java_script_enabled=scripts, reduced_motion="reduce")
    trial = Trial(site, window, screen)
    waiting, known, faults = deque(ways), {way.kind for way in ways}, []
    while waiting:
        way = waiting.popleft()
        if not scripts and way.buttons[-1].target in IN_DIALOGS:
            continue
        with site.undone():
            try:
                wrong, following = trial.go(way)
            except (Error, LookupError) as error:
                wrong, following = [str(error).partition("\n")[0], *trial.seen], []
        faults += [f"{way}: {fault}" for fault in wrong]
        for button in following:
            further = Way(way.user, way.url, (*way.buttons, button))
            if further.kind not in known and len(further.buttons) <= MOST_STEPS:
                known.add(further.kind)
                waiting.append(further)
    window.close()
    pressed = {target for _, target, *_ in known}
    taking = {name for name, rule in ADDRESSES.items() if rule.is_form}
    assert faults == []
    assert taking - pressed == UNPRESSED.keys()


def opened(chromium: Browser, site: Site, **options: Any) -> Page:
    """Return a window of mara."""
    window = chromium.new_context(base_url=site.url, **options)
    window.add_cookies([{**site.session, "url": site.url}])
    return window.new_page()


@pytest.mark.parametrize("scripts", [True, False])
@pytest.mark.parametrize("name", ["minhash__recall", "asked_from"])
def test_a_field_that_is_refused_is_shown(name: str, scripts: bool, site: Site, chromium: Browser) -> None:
    """By the browser at once; without scripts by the server, because the browser would refuse without a word."""
    page = opened(chromium, site, java_script_enabled=scripts)
    page.goto("/profiles/new/")
    refused = page.locator(f"[name={name}]")
    expect(refused).to_be_hidden()
    refused.evaluate("field => { field.value = '2'; field.max = '1'; }")
    page.get_by_role("button", name="Save").click()
    expect(refused).to_be_visible()
    if scripts:
        expect(refused).to_be_focused()
    else:
        expect(page.locator(".notice-error")).to_be_visible()
    page.context.close()


def test_a_profile_is_saved_with_all_its_passes_folded(site: Site, chromium: Browser) -> None:
    page = opened(chromium, site, viewport=SCREENS["desktop"])
    page.goto("/profiles/")
    page.get_by_role("link", name="default", exact=True).click()
    assert page.locator("details[open]").count() == 0
    assert page.locator(".pass-row").count() == len(PASSES)
    assert page.locator(".passes").bounding_box()["height"] < 40 * len(PASSES)  # type: ignore[index]
    page.get_by_label("Nightly at").fill("02:30")
    with site.undone():
        page.get_by_role("button", name="Save").click()
        expect(page.locator(".notice-success")).to_contain_text("is saved")
        expect(page.get_by_label("Nightly at")).to_have_value("02:30")
        page.locator("summary", has_text="Similar text at").click()
        page.locator("[name=trigram__threshold]").fill("0.7")
        page.get_by_role("button", name="Save").click()
        expect(page.locator(".pass-row", has_text="Similar text").first).to_contain_text("score from 0.7")
    page.context.close()


@pytest.mark.parametrize("scripts", [True, False])
def test_a_newspaper_gets_other_settings_and_a_window_of_its_own_in_four_clicks_each(
    scripts: bool, site: Site, chromium: Browser
) -> None:
    page = opened(chromium, site, viewport=SCREENS["phone"], java_script_enabled=scripts)
    with site.undone():
        page.goto("/crawls/")
        page.get_by_role("link", name="Settings of").last.click()
        page.get_by_label("Other names").fill("The Lamp\n the  LAMP ")
        page.get_by_label("Crawl it with all others").uncheck()
        page.get_by_label("Sitemaps").fill("lamp")
        page.get_by_role("button", name="Save").click()
        expect(page.locator(".notice-error")).to_contain_text("“lamp”: Enter a valid URL.")
        page.get_by_label("Sitemaps").fill("https://lamp.example/map")
        page.get_by_role("button", name="Save").click()
        expect(page.locator(".notice-success")).to_contain_text("are saved")
        expect(page.get_by_label("Other names")).to_have_value("The Lamp\nthe LAMP")
        expect(page.get_by_label("Crawl it with all others")).not_to_be_checked()
        page.get_by_role("link", name="Give it a window and thresholds of its own").click()
        page.locator("[name=trigram__day_window]").fill("9")
        page.get_by_role("button", name="Save the rule").click()
        expect(page.locator(".rule-list")).to_contain_text("at most 9 days apart")
    page.context.close()
