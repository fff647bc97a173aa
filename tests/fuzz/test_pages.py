"""Every address, with every parameter that it reads, for every role: no fault, no open statement, nothing unescaped."""

import contextlib
import json
import os
from collections import Counter
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import pytest
from django.db import connection
from django.test import Client
from hypothesis import strategies as st

from dedup.integrations.tokens import make_token, scopes_of
from tests.addresses import Address
from tests.conftest import StoreArticle
from tests.databases import undone
from tests.dedup.api.test_schemathesis import one_connection
from tests.fuzz import effort, values, world
from tests.fuzz.effort import Found, try_all
from tests.fuzz.site import PageReader, Target, learn_from_pages, stored_numbers, targets

pytestmark = pytest.mark.django_db
EXAMPLES = 2
# CPU seconds of this process for one answer, and seconds of the database for one statement. In the suite, the first
# answers also load their libraries.
LONGEST, LONGEST_STATEMENT = (2.0 if effort.long_form() else 5.0), 30
METHODS = ("GET", "GET", "POST", "POST", "HEAD", "PUT", "PATCH", "DELETE", "OPTIONS")
# Where a value of a route stands; a page of an article wants digits, and what else comes is worth a try.
_PLACES = {
    "int": ("1", "0", "00", "9223372036854775807", "9223372036854775808", "9" * 4301),
    "uuid": ("6f1c0f4e-3a52-4d43-9b6e-0d7f5e2a9c11", "00000000-0000-0000-0000-000000000000"),
    "slug": ("exact", "-", "_", "a" * 300),
    "str": ("1", "x", "%00", "%FF", "%ED%A0%80", "..", "a" * 300, quote(values.MARKER), "9" * 4301),
    "path": ("1", "x/y", "%00", "%FF", "../../etc", "9" * 4301),
}


@dataclass(frozen=True)
class Sent:
    role: str
    method: str
    url: str
    query: str
    body: bytes
    content_type: str
    headers: dict[str, str]


def no_page(_url: str, _rule: Any) -> None:
    raise ValueError("nothing is fetched here")


class Site:
    """The addresses with what pages say of them, and a client for each role."""

    def __init__(self, store: StoreArticle) -> None:
        users = world.people()
        world.make_rows(store, users)
        self.clients = {"nobody": Client(raise_request_exception=False)}
        for role, user in users.items():
            self.clients[role] = Client(raise_request_exception=False)
            self.clients[role].force_login(user)
        self.token = make_token(users["superuser"], "fuzz", scopes_of(users["superuser"]))[1]
        self.targets = targets()
        # In the suite the code alone says what to send: reading all pages first takes a minute.
        self.pages = learn_from_pages(self.targets, self.clients["superuser"]) if effort.long_form() else 0
        self.statuses: Counter[tuple[str, int]] = Counter()

    def request(self, target: Target) -> st.SearchStrategy[Sent]:
        """Return requests to an address: its own parameters, with offered and hostile values, in any number."""
        names = sorted(target.parameters)
        offered = {name: sorted(found) for name, found in target.offered.items()}

        def pairs(name: str) -> st.SearchStrategy[tuple[bytes, bytes]]:
            good = [value.encode("utf-8", "surrogatepass") for value in offered.get(name, [])]
            value = st.one_of(values.any_bytes, st.sampled_from(good)) if good else values.any_bytes
            return st.tuples(st.just(name.encode()), value)

        drawn = st.lists(st.sampled_from(names).flatmap(pairs), max_size=6)
        filled = st.fixed_dictionaries({name: pairs(name).map(lambda pair: pair[1]) for name in sorted(offered)})
        whole = filled.map(lambda found: [(name.encode(), value) for name, value in found.items()])
        body = st.one_of(drawn, st.tuples(whole, drawn).map(lambda both: both[0] + both[1]))
        return st.builds(
            self._sent,
            st.just(target.address),
            st.tuples(st.sampled_from(("superuser", "superuser", *self.clients)), st.sampled_from(METHODS)),
            self._place(target),
            st.tuples(drawn, body),
            st.one_of(st.just(values.CONTENT_TYPES[0]), st.sampled_from(values.CONTENT_TYPES)),
            values.headers,
        )

    def _place(self, target: Target) -> st.SearchStrategy[dict[str, str]]:
        places = target.address.places()
        known = [{name: quote(str(value), safe="/") for name, value in parts.items()} for parts in target.known]
        known = [parts for parts in known if parts.keys() == {name for _, name in places}]
        any_place = st.fixed_dictionaries({
            name: st.one_of(
                st.sampled_from(stored_numbers(name) or ["1"]), st.sampled_from(_PLACES.get(kind, _PLACES["str"]))
            )
            for kind, name in places
        })  # fmt: skip
        return st.one_of(st.sampled_from(known), st.sampled_from(known), any_place) if known else any_place

    def _sent(
        self,
        address: Address,
        who: tuple[str, str],
        place: dict[str, str],
        pairs: tuple[list[tuple[bytes, bytes]], list[tuple[bytes, bytes]]],
        content_type: str,
        headers: dict[str, str],
    ) -> Sent:
        (role, method), (query, body) = who, pairs
        if "json" in content_type:
            sent = _json_of(body)
        elif content_type.startswith("multipart"):
            sent = values.multipart_of(body)
        else:
            sent = values.query_of(body).encode()
        if address.route.startswith("api/") and "Authorization" not in headers:
            headers = {**headers, "Authorization": f"Bearer {self.token}"}
        return Sent(role, method, address.url(**place), values.query_of(query), sent, content_type, headers)

    def check(self, name: str, sent: Sent) -> None:
        """Send a request, undo what it stored, and raise AssertionError if the answer has a fault."""
        with undone():
            answer = effort.timed(LONGEST, lambda: self._answer(sent))
            assert not connection.needs_rollback, "a statement failed, and its transaction was left open"
        self.statuses[name, answer.status_code] += 1
        if error := getattr(answer, "exc_info", None):
            raise error[1]
        assert answer.status_code < 500, f"{answer.status_code}"
        _check_content(answer, sent)

    def _answer(self, sent: Sent) -> Any:
        client = self.clients[sent.role]
        session = dict(client.cookies)
        body = sent.body if sent.method in ("POST", "PUT", "PATCH") else b""
        headers = {name: value for name, value in sent.headers.items() if name != "Cookie"}
        extra = {"QUERY_STRING": sent.query}
        if cookie := sent.headers.get("Cookie"):
            extra["HTTP_COOKIE"] = cookie
        with contextlib.suppress(UnicodeEncodeError):  # which no server hands on
            answer = client.generic(sent.method, sent.url, body, sent.content_type, headers=headers, **extra)
            answer.whole = b"".join(answer.streaming_content) if answer.streaming else answer.content
            client.cookies.clear()
            client.cookies.update(session)
            return answer
        raise AssertionError("the request could not be sent")


def _json_of(pairs: list[tuple[bytes, bytes]]) -> bytes:
    """Return an object with these members; what reads as a number or list is one."""
    members = {}
    for name, value in pairs:
        text = value.decode("utf-8", "surrogateescape")
        try:
            members[name.decode()] = json.loads(text)
        except (ValueError, RecursionError):
            members[name.decode()] = text
    try:
        return json.dumps(members).encode()
    except ValueError:
        return b"{"


def _check_content(answer: Any, sent: Sent) -> None:
    kind = answer.get("Content-Type", "")
    if sent.method == "HEAD" or answer.status_code in (204, 301, 302, 304):
        return
    text = answer.whole.decode("utf-8")
    assert "Traceback (most recent call last)" not in text
    if "html" in kind:
        assert "<zq7" not in text, "the page shows a text unescaped"
        page = PageReader()
        page.feed(text)
        page.close()
        assert page.faults == []
    elif kind.partition(";")[0] in ("application/json", "application/problem+json"):
        json.loads(text)


@pytest.fixture
def site(store: StoreArticle, settings: Any) -> Site:
    settings.PAGE_FETCHER = f"{__name__}.no_page"
    settings.API_REQUESTS_A_MINUTE = 1_000_000_000
    settings.AXES_ENABLED = True
    with connection.cursor() as cursor:
        cursor.execute(f"SET LOCAL statement_timeout = '{LONGEST_STATEMENT}s'")
    return Site(store)


@pytest.mark.slow
def test_no_address_fails_at_any_request(site: Site) -> None:
    found = Found()
    only = os.environ.get(effort.ADDRESS, "")
    # Those of packages have tests of their own in the suite: schemathesis sends what the API does not describe.
    left_out = ("logout",) if effort.long_form() else ("logout", "admin:", "api:")
    chosen = [
        target for name, target in site.targets.items() if only in name and not any(map(name.__contains__, left_out))
    ]
    targets = [
        (target.name, site.request(target), lambda sent, name=target.name: site.check(name, sent)) for target in chosen
    ]
    with one_connection():
        try_all(targets, examples=EXAMPLES, found=found)
    reached = {name for name, _ in site.statuses}
    print(f"{site.statuses.total():,} requests to {len(reached)} addresses; {site.pages} pages read first")
    if effort.long_form():
        for (name, status), count in sorted(site.statuses.items()):
            print(f"  {name} {status}: {count}")
    found.check()
    assert only or len(reached) > 100
