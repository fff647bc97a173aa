"""Measure the review loop in a real browser, by keys alone; see docs/benchmarks.md.

Chromium answers one question after the other on a real server with a scratch database. Printed are the time from a key
to the next question on the screen, the time of the request that stores the answer, and how many keys were lost.
"""

import argparse
import json
import os
import shutil
import statistics
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from playwright.sync_api import Error, sync_playwright

from benchmarks import archive, database
from benchmarks.measuring import MeasuringError
from dedup.models import Decision
from tests.browser.conftest import ARGUMENTS
from tests.factories import PASSWORD, make_user
from tests.load.installation import installation

WORKERS = 3
PATIENCE = 20  # seconds
# Presses in one go, to see whether keys are lost.
PRESSES = 100
KEYS = "yn"

# Notes each key, and each question as soon as it is on the screen, in milliseconds since 1970; over all pages of a tab.
_NOTES = """
{
  const note = (name, what) => {
    const noted = JSON.parse(sessionStorage.getItem(name) ?? "[]");
    sessionStorage.setItem(name, JSON.stringify([...noted, what]));
  };
  const since = performance.timeOrigin;
  addEventListener("keydown", (event) => note("noted.keys", since + event.timeStamp), true);
  const painted = (then) => requestAnimationFrame(() => setTimeout(then));
  let shown = "";
  const look = () => {
    const name = document.querySelector("form.decide")?.action;
    if (!name || name === shown) return;
    shown = name;
    painted(() => note("noted.shown", since + performance.now()));
  };
  addEventListener("DOMContentLoaded", () => {
    look();
    new MutationObserver(look).observe(document.body, { childList: true, subtree: true });
  });
}
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("--articles", type=int, default=10_000)
    parser.add_argument("--questions", type=int, default=50)
    parser.add_argument("--think", type=int, default=500, help="milliseconds that each question is looked at")
    parser.add_argument("--spacing", type=int, default=40, help="milliseconds between keys when many are pressed")
    parser.add_argument("--start", default="/queue/?sort=date", help="the list whose questions are answered")


def run(options: argparse.Namespace) -> None:
    """Fill a scratch database, let Chromium answer, and print the figures."""
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"
    with database.scratch_database(), installation() as site:
        archive.fill(options.articles, options.articles * archive.NEAREST)
        database.settle()
        make_user("mara", "editor")
        with site.pages(WORKERS) as address, _browser(address) as page:
            for line in _figures(page, options):
                print(line, flush=True)


def _figures(page: Any, options: argparse.Namespace) -> Iterator[str]:
    posts: list[float] = []
    page.on("requestfinished", lambda request: posts.append(_waited(request)) if request.method == "POST" else None)
    page.goto(options.start)
    page.keyboard.press("r")
    _wait_for_question(page, 1)
    shown, ready = zip(*(_answered(page, number, options.think) for number in range(options.questions)), strict=True)
    yield f"{options.questions} questions, each looked at for {options.think} ms"
    yield f"key to the next question on the screen: {_row(shown)}"
    yield f"key to the next key that counts: {_row(ready)}"
    yield f"request that stores the answer, to its first byte: {_row([post for post in posts if post > 0])}"
    yield _lost_keys(page, options.spacing)


def _answered(page: Any, number: int, think: int) -> tuple[float, float]:
    """Press a key; return after how many milliseconds the next question was shown, and the page took the next key."""
    page.wait_for_timeout(think)
    page.keyboard.press(KEYS[number % len(KEYS)])
    _wait_for_question(page, number + 2)
    _wait(page, "document.documentElement.dataset.state === 'ready'")
    ready = page.evaluate("performance.timeOrigin + performance.now()")
    key, shown = _noted(page, "noted.keys")[-1], _noted(page, "noted.shown")[-1]
    return shown - key, max(shown, ready if ready - shown > 100 else shown) - key


def _lost_keys(page: Any, spacing: int) -> str:
    """Press many keys quickly, and say what became of them."""
    _wait(page, "!document.querySelector('.strip-sending')")
    before, refused_before = Decision.objects.count(), _refused(page)
    for number in range(PRESSES):
        page.keyboard.press(KEYS[number % len(KEYS)])
        page.wait_for_timeout(spacing)
    page.wait_for_timeout(1000)
    _wait(page, "!document.querySelector('.strip-sending')")
    stored, refused = Decision.objects.count() - before, _refused(page) - refused_before
    lost = PRESSES - stored - refused
    return f"{PRESSES} keys, one every {spacing} ms: {stored} stored, {refused} refused with a message, {lost} lost"


def _refused(page: Any) -> int:
    return int(page.evaluate("document.documentElement.dataset.refusedKeys ?? 0"))


def _noted(page: Any, name: str) -> list[float]:
    found: list[float] = json.loads(page.evaluate(f"sessionStorage.getItem('{name}') ?? '[]'"))
    return found


def _wait_for_question(page: Any, number: int) -> None:
    _wait(page, f"JSON.parse(sessionStorage.getItem('noted.shown') ?? '[]').length >= {number}")


def _wait(page: Any, condition: str) -> None:
    """Ask again and again: the pages forbid the eval with which Playwright waits for a function."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        with suppress(Error):  # a page that is being left
            if page.evaluate(condition):
                return
        page.wait_for_timeout(5)
    raise MeasuringError(f"Within {PATIENCE} seconds, this was not so: {condition}")


def _waited(request: Any) -> float:
    timing = request.timing
    return float(timing["responseStart"] - timing["requestStart"])


def _row(milliseconds: Sequence[float]) -> str:
    return f"median {statistics.median(milliseconds):,.0f} ms, worst {max(milliseconds):,.0f} ms"


@contextmanager
def _browser(site: str) -> Iterator[Any]:
    """Log in in Chromium, and yield its page."""
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    if program is None:
        raise MeasuringError("There is no Chromium. Install it, for example: apt-get install chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=ARGUMENTS)
        page = browser.new_page(base_url=site, viewport={"width": 1280, "height": 720})
        page.add_init_script(_NOTES)
        page.goto("/login/")
        page.fill("#id_username", "mara")
        page.fill("#id_password", PASSWORD)
        page.press("#id_password", "Enter")
        page.wait_for_url("**/")
        yield page
        browser.close()
