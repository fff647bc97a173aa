"""Editors and readers, each a thread with a browser's cookies. What editors were told is kept.

Every answer carries a note of its own, so that the row it must have become can be found.
"""

import re
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Literal
from urllib.parse import urljoin, urlsplit

import httpx
import lxml.html
from django.urls import Resolver404, resolve, reverse

# "nothing": no answer came, or one of the 5xx: both outcomes are allowed.
Told = Literal["stored", "refused", "nothing"]
TIMEOUT_SECONDS = 60
# What a reader does not follow: files, which have no links, and what ends the session.
_LEFT_OUT = re.compile(r"\.(csv|jsonl|json|parquet|graphml|gz|zip|svg|atom|html|warc)\b|/logout|/static/|/admin/|/api/")
# The share of answers for one of a few pairs that all editors have in view, so that they meet.
_MEET = 0.2
_UNDO = 0.15
# The share of answers sent as a form and not by the page's script.
_FORM = 0.25
_ANSWERS = ("confirm", "confirm", "version", "template", "reject", "reject", "unsure")


@dataclass(frozen=True, slots=True)
class Request:
    """One request: the name of its address, its status (0: no answer), and its seconds."""

    name: str
    status: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer of an editor: its note, which no other answer has, what it decided, and what the page then said."""

    editor: str
    note: str
    kind: str
    told: Told
    pair: int | None = None
    undoes: int | None = None  # the decision that it takes back


@dataclass
class Diary:
    """What all people together did. `stop` ends them after the request they are in."""

    requests: list[Request] = field(default_factory=list)
    answers: list[Answer] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    stop: threading.Event = field(default_factory=threading.Event)
    enough: int | None = None  # after so many answers it is over

    def note_answer(self, answer: Answer) -> None:
        self.answers.append(answer)
        if self.enough is not None and len(self.answers) >= self.enough:
            self.stop.set()


class Person(threading.Thread):
    """Somebody who does one thing, `act`, after the other, with pauses of `pause` seconds in the mean.

    `session`: of their login.
    """

    def __init__(self, name: str, session: str, base_url: str, diary: Diary, *, seed: int, pause: float) -> None:
        super().__init__(name=name, daemon=True)
        self.diary, self.dice, self.pause = diary, Random(f"{seed} {name}"), pause
        cookies = {"sessionid": session}
        self.browser = httpx.Client(base_url=base_url, cookies=cookies, timeout=TIMEOUT_SECONDS, trust_env=False)

    def run(self) -> None:
        try:
            # It sets the cookie that forms need.
            self.get("/")
            while not self.diary.stop.is_set():
                self.act()
                self.diary.stop.wait(self.dice.expovariate(1 / self.pause) if self.pause else 0)
        except Exception as error:  # noqa: BLE001 - a thread that ended early is a finding, not a traceback
            self.diary.faults.append(f"{self.name} stopped: {type(error).__name__}: {error}")
        finally:
            self.browser.close()

    def get(self, address: str) -> httpx.Response | None:
        """Return the page at the end of the redirects, each of which is noted, or None if no answer came."""
        for _ in range(5):
            response = self._send("GET", address)
            if response is None or not response.is_redirect:
                break
            address = urljoin(address, response.headers["Location"])
        return response

    def post(self, address: str, values: Mapping[str, str], headers: Mapping[str, str]) -> httpx.Response | None:
        """Send a form with the token that the cookie has. None if no answer came."""
        token = self.browser.cookies.get("csrftoken", "")
        return self._send("POST", address, data={**values, "csrfmiddlewaretoken": token}, headers=dict(headers))

    def _send(self, method: str, address: str, **content: object) -> httpx.Response | None:
        began = time.perf_counter()
        try:
            response = self.browser.request(method, address, **content)  # type: ignore[arg-type]
        except httpx.HTTPError as error:
            response = None
            self.diary.faults.append(f"{method} {address}: {type(error).__name__}")
        status = response.status_code if response is not None else 0
        self.diary.requests.append(Request(_name(method, address), status, time.perf_counter() - began))
        if status >= 500:
            self.diary.faults.append(f"{method} {address}: {status}")
        return response


class Reader(Person):
    def __init__(self, *arguments: object, starts: tuple[str, ...], **options: object) -> None:
        super().__init__(*arguments, **options)  # type: ignore[arg-type]
        self.starts, self.links = starts, list(starts)

    def act(self) -> None:
        """Open a page: one that the last page links to, or where everybody begins."""
        page = self.get(self.dice.choice(self.links if self.dice.random() < 0.8 else self.starts))
        self.links = (list(_links(page)) if page is not None else []) or list(self.starts)


class Editor(Person):
    """Somebody who answers the questions of the queue, undoes some answers, and meets others at the same pairs."""

    def __init__(self, *arguments: object, meet_at: tuple[int, ...], **options: object) -> None:
        super().__init__(*arguments, **options)  # type: ignore[arg-type]
        self.meet_at, self.answered = meet_at, 0
        self.mine: list[tuple[int, int | None]] = []  # decisions, each with its pair

    def act(self) -> None:
        """Answer a question or, now and then, undo an answer."""
        if self.mine and self.dice.random() < _UNDO:
            self._undo(*self.mine.pop(self.dice.randrange(len(self.mine))))
            return
        meet = self.meet_at and self.dice.random() < _MEET
        page = self.get(f"/pairs/{self.dice.choice(self.meet_at)}/" if meet else "/queue/next/")
        if page is None or page.status_code != 200:
            return
        forms = lxml.html.fromstring(page.content).xpath("//form[@class='decide']")
        if forms:
            self._answer(forms[0])
        elif self.meet_at:
            self.get(f"/pairs/{self.dice.choice(self.meet_at)}/")

    def _answer(self, form: lxml.html.FormElement) -> None:
        action = form.get("action")
        values = {name: value for name, value in form.form_values() if name != "csrfmiddlewaretoken"}
        of_pair = re.search(r"/pairs/(\d+)/", action)
        kind = self.dice.choice(_ANSWERS) if of_pair else "confirm_cluster"
        note = self._note()
        values |= {"note": note} | ({"kind": kind} if of_pair else {})
        told, decision = self._told(action, values)
        pair = int(of_pair[1]) if of_pair else None
        self.diary.note_answer(Answer(self.name, note, kind, told, pair))
        if decision:
            self.mine.append((decision, pair))

    def _undo(self, decision: int, pair: int | None) -> None:
        note = self._note()
        told, _ = self._told(reverse("undo", args=[decision]), {"note": note})
        self.diary.note_answer(Answer(self.name, note, "undo", told, pair, decision))

    def _told(self, action: str, values: Mapping[str, str]) -> tuple[Told, int | None]:
        """Send an answer, and return what the page says of it, with the decision that can be undone."""
        script = self.dice.random() >= _FORM
        response = self.post(action, values, {"X-Answer": "background"} if script else {})
        if response is None or response.status_code >= 500:
            return "nothing", None
        if script and "X-Answer" in response.headers:
            stored = response.headers["X-Answer"] == "stored"
            return ("stored" if stored else "refused"), _undoable(response) if stored else None
        if not response.is_redirect:
            return "refused", None
        shown = self.get(urljoin(action, response.headers["Location"]))
        if shown is None or shown.status_code >= 500:
            # The redirect alone does not say whether the answer was stored.
            return "nothing", None
        refused = "notice-error" in shown.text
        return ("refused" if refused else "stored"), None if refused else _undoable(shown)

    def _note(self) -> str:
        self.answered += 1
        return f"{self.name} {self.answered}"


def _undoable(page: httpx.Response) -> int | None:
    """Return the decision that the first message of a page offers to undo."""
    found = re.search(r'class="notice notice-success".*?action="/decisions/(\d+)/undo/', page.text, re.DOTALL)
    return int(found[1]) if found else None


def _links(page: httpx.Response) -> Iterator[str]:
    """Yield the addresses on this site that a page links to."""
    if "html" not in page.headers.get("Content-Type", "") or not page.content.strip():
        return
    for link in lxml.html.fromstring(page.content).xpath("//a/@href"):
        target = urlsplit(urljoin(str(page.url), link))
        if target.netloc == page.url.netloc.decode() and not _LEFT_OUT.search(target.path):
            yield target._replace(scheme="", netloc="", fragment="").geturl()


def _name(method: str, address: str) -> str:
    """Return the name that the site has for an address, such as `pair` or `POST pair_decide`."""
    try:
        name = resolve(urlsplit(address).path).url_name or "?"
    except Resolver404:
        name = "?"
    return name if method == "GET" else f"{method} {name}"
