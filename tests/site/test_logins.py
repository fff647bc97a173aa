"""Limits for wrong passwords: by name and address together, by address, by name; and how a lock ends."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterator

import pytest
import time_machine
from axes.models import AccessFailureLog
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import AnonymousUser, User
from django.core.management import call_command
from django.http import HttpResponse
from django.test import Client, RequestFactory

from newsdedup_site.logins import (
    LIMITS,
    Limit,
    LimitsHandler,
    Lock,
    Locked,
    counted_address,
    forget,
    lock_for,
    lock_of,
    locked_out,
    locks,
)
from tests.factories import PASSWORD

START = datetime.datetime(2026, 3, 2, 9, 0, tzinfo=datetime.UTC)
HOME, OFFICE, ELSEWHERE = "203.0.113.1", "203.0.113.2", "203.0.113.3"


def at(minutes: float) -> datetime.datetime:
    return START + datetime.timedelta(minutes=minutes)


# ---- the rule ----


def test_the_limits_are_these_and_one_is_full_until_its_oldest_failure_leaves_the_window() -> None:
    minutes = {kind: (limit.failures, limit.window.total_seconds() / 60) for kind, limit in LIMITS.items()}
    assert list(minutes.values()) == [(10, 15), (20, 60), (50, 60), (3, 60)]
    limit = Limit(3, datetime.timedelta(minutes=10))
    assert limit.full_until([at(0), at(1)], at(2)) is None
    assert limit.full_until([at(2), at(0), at(1)], at(2)) == at(10)
    assert limit.full_until([at(0), at(1), at(2), at(3)], at(3)) == at(11)
    assert limit.full_until([at(0), at(1), at(2)], at(10)) is None


def test_which_lock_holds() -> None:
    def lock(pair: int, address: int, name: int, *, is_known: bool) -> Lock | None:
        failures = {"pair": [at(0)] * pair, "address": [at(1)] * address, "name": [at(2)] * name}
        return lock_of(failures, is_known=is_known, now=at(3))

    assert lock(9, 19, 49, is_known=False) is None
    assert lock(10, 19, 49, is_known=True) == Lock("pair", at(15))
    assert lock(1, 20, 1, is_known=False) == Lock("address", at(61))
    assert lock(1, 20, 50, is_known=False) == Lock("name", at(62))
    assert lock(2, 20, 50, is_known=True) is None
    assert lock(3, 20, 50, is_known=True) == Lock("known", at(60))


# ---- through the login page ----


@pytest.fixture
def clock() -> Iterator[time_machine.Coordinates]:
    with time_machine.travel(START, tick=False) as traveller:
        yield traveller


def attempt(name: str, password: str = "wrong", address: str = ELSEWHERE, **headers: str) -> HttpResponse:  # noqa: S107
    return Client().post("/login/", {"username": name, "password": password}, REMOTE_ADDR=address, headers=headers)


def statuses(names: list[str], **options: str) -> list[int]:
    return [attempt(name, **options).status_code for name in names]


def test_one_password_for_thirty_names_from_one_address_is_stopped(mara: User, clock) -> None:
    assert statuses([f"name{number}" for number in range(30)]) == [200] * (LIMITS["address"].failures - 1) + [429] * 11
    assert attempt("mara", PASSWORD).status_code == 429
    assert attempt("mara", PASSWORD, OFFICE).status_code == 302


def test_an_own_account_clears_no_guesses_at_others(mara: User, clock) -> None:
    found = []
    for number in range(30):
        found.append(attempt(f"name{number}").status_code)
        attempt("mara", PASSWORD)
    # mara has logged in from here, so she still may; the others may not.
    assert found.count(200) == LIMITS["address"].failures - 1
    assert attempt("mara", PASSWORD).status_code == 302


def test_a_typing_mistake_before_a_login_counts_for_nothing(mara: User, clock) -> None:
    for _ in range(5):
        assert statuses(["mara"] * 9) == [200] * 9
        assert attempt("mara", PASSWORD).status_code == 302
    assert AccessFailureLog.objects.count() == 0


def test_one_name_from_many_addresses_is_stopped_but_not_for_its_owner_at_home(mara: User, clock) -> None:
    assert attempt("mara", PASSWORD, HOME).status_code == 302
    found = [
        attempt("mara", address=f"198.51.100.{number}").status_code for number in range(LIMITS["name"].failures + 5)
    ]
    assert found == [200] * (LIMITS["name"].failures - 1) + [429] * 6
    assert attempt("mara", PASSWORD, OFFICE).status_code == 429
    assert attempt("mara", PASSWORD, HOME).status_code == 302
    # Even at home, guesses are few while the attack lasts.
    assert statuses(["mara"] * 4, address=HOME) == [200] * (LIMITS["known"].failures - 1) + [429] * 2
    clock.shift(LIMITS["name"].window)
    assert attempt("mara", PASSWORD, OFFICE).status_code == 302


def test_attempts_while_locked_do_not_prolong_the_lock(mara: User, clock) -> None:
    assert statuses(["mara"] * LIMITS["pair"].failures) == [200] * (LIMITS["pair"].failures - 1) + [429]
    answer = attempt("mara", PASSWORD)
    assert (answer["Retry-After"], "no-store" in answer["Cache-Control"]) == ("900", True)
    for _ in range(14):
        clock.shift(60)
        assert attempt("mara").status_code == 429
    clock.shift(61)
    assert attempt("mara", PASSWORD).status_code == 302


def test_a_failure_is_forgotten_after_a_day(mara: User, clock) -> None:
    for minutes, kept in ((0, 1), (1, 2), (24 * 60, 3), (24 * 60 + 1, 3)):
        clock.move_to(at(minutes))
        attempt("mara")
        assert AccessFailureLog.objects.count() == kept


# ---- how a lock is ended ----


def test_an_admin_unlocks_a_person_and_an_address_in_the_browser(staff: Client, mara: User) -> None:
    statuses(["mara"] * LIMITS["pair"].failures)
    assert ">locked<" in staff.get(f"/people/{mara.pk}/").content.decode()
    assert f"<strong>mara</strong> from {ELSEWHERE}" in staff.get("/people/").content.decode()
    answer = staff.post("/people/unlock/", {"name": "mara", "address": ELSEWHERE}, follow=True)
    assert f"Unlocked: mara from {ELSEWHERE}." in answer.content.decode()
    assert attempt("mara", PASSWORD).status_code == 302
    assert LogEntry.objects.get().user.username == "ada"
    statuses([f"name{number}" for number in range(LIMITS["address"].failures)])
    assert f"<strong>{ELSEWHERE}</strong>" in staff.get("/people/").content.decode()
    staff.post("/people/unlock/", {"address": ELSEWHERE})
    assert attempt("anna").status_code == 200
    assert "Nothing was locked" in staff.post("/people/unlock/", {"name": "zoe"}, follow=True).content.decode()


@pytest.mark.parametrize("command", [("axes_reset_username", "mara"), ("axes_reset_ip", ELSEWHERE), ("axes_reset",)])
def test_the_commands_of_axes_unlock(mara: User, command: tuple[str, ...], capsys) -> None:
    statuses(["mara"] * LIMITS["pair"].failures)
    assert attempt("mara", PASSWORD).status_code == 429
    call_command(*command)
    assert attempt("mara", PASSWORD).status_code == 302


def test_a_one_time_link_opens_a_locked_name(staff: Client, mara: User) -> None:
    statuses(["mara"] * LIMITS["pair"].failures)
    page = staff.post(f"/people/{mara.pk}/link/").content.decode()
    browser = Client(REMOTE_ADDR=ELSEWHERE)
    form = browser.get(re.search(r">http://testserver(/set-password/[^<]+)<", page)[1])["Location"]
    new = {"new_password1": "an-even-longer-phrase", "new_password2": "an-even-longer-phrase"}
    assert browser.post(form, new)["Location"] == "/"
    assert browser.get("/queue/").status_code == 200
    assert attempt("mara", "an-even-longer-phrase").status_code == 302


# ---- what is counted and listed ----


def failed(name: str, address: str | None, *, minutes: float = 0) -> None:
    with time_machine.travel(at(minutes), tick=False):
        AccessFailureLog.objects.create(username=name, ip_address=address, user_agent="", path_info="/")


@pytest.mark.django_db
def test_failures_are_forgotten_for_a_name_an_address_or_both_and_never_all(clock) -> None:
    def fill() -> None:
        AccessFailureLog.objects.all().delete()
        for name, address in (("mara", HOME), ("mara", OFFICE), ("ben", HOME)):
            failed(name, address)

    for named, count in (
        ({"name": "mara"}, 2),
        ({"address": HOME}, 2),
        ({"name": "mara", "address": HOME}, 1),
        ({"name": "zoe"}, 0),
        ({}, 0),
    ):
        fill()
        assert (forget(**named), AccessFailureLog.objects.count()) == (count, 3 - count)
    handler = LimitsHandler()
    for reset, count in (
        ({"username": "mara"}, 2),
        ({"ip_address": HOME}, 2),
        ({"username": "mara", "ip_address": OFFICE}, 1),
        ({"username": "mara", "ip_address": HOME, "ip_or_username": True}, 3),
        ({"username": "ben", "ip_or_username": True}, 1),
        ({"ip_address": OFFICE, "ip_or_username": True}, 1),
        ({}, 3),
    ):
        fill()
        assert (handler.reset_attempts(**reset), AccessFailureLog.objects.count()) == (count, 3 - count)


@pytest.mark.django_db
def test_what_is_locked_is_listed_the_longest_first(clock) -> None:
    for number in range(LIMITS["pair"].failures):
        failed("mara", HOME, minutes=number / 10)
    for number in range(LIMITS["address"].failures):
        failed(f"name{number}", OFFICE, minutes=1)
    for number in range(LIMITS["name"].failures):
        failed("ben", f"198.51.100.{number}", minutes=2)
    clock.move_to(at(3))
    assert locks() == [Locked("ben", "", at(62)), Locked("", OFFICE, at(61)), Locked("mara", HOME, at(15))]
    clock.move_to(at(15))
    assert [(lock.name, lock.address) for lock in locks()] == [("ben", ""), ("", OFFICE)]
    clock.move_to(at(62))
    assert locks() == []


@pytest.mark.django_db
def test_a_lock_counts_the_failures_of_its_name_and_its_address_alone(mara: User, clock) -> None:
    for number in range(LIMITS["pair"].failures - 1):
        failed("mara", HOME, minutes=number / 10)
        failed("mara", OFFICE, minutes=number / 10)
        failed("ben", HOME, minutes=number / 10)
    assert [lock_for("mara", address, at(2)) for address in (HOME, OFFICE, None)] == [None] * 3
    failed("mara", HOME, minutes=1)
    assert lock_for("mara", HOME, at(2)) == Lock("pair", at(15))
    assert lock_for("mara", OFFICE, at(2)) is None
    assert lock_for("ben", HOME, at(2)) is None
    # Requests whose address is not known count together.
    for _ in range(LIMITS["pair"].failures):
        failed("ella", None, minutes=1)
    assert lock_for("ella", None, at(2)) == Lock("pair", at(16))
    assert lock_for("ella", HOME, at(2)) is None


@pytest.mark.django_db
def test_a_name_is_known_at_an_address_for_ninety_days(mara: User, clock) -> None:
    assert attempt("mara", PASSWORD, HOME).status_code == 302
    day = 24 * 60
    for name in range(LIMITS["address"].failures):
        failed(f"name{name}", HOME, minutes=90 * day - 2)
        failed(f"name{name}", OFFICE, minutes=90 * day - 2)
    assert lock_for("mara", HOME, at(90 * day - 1)) is None
    assert lock_for("mara", OFFICE, at(90 * day - 1)) == Lock("address", at(90 * day + 58))
    assert lock_for("ben", HOME, at(90 * day - 1)) == Lock("address", at(90 * day + 58))
    assert lock_for("mara", HOME, at(90 * day)) == Lock("address", at(90 * day + 58))


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("pair", "10 wrong passwords for this name from your address."),
        ("address", "20 wrong passwords from your address"),
        ("name", "50 wrong passwords for this name"),
    ],
)
def test_the_page_of_a_lock_names_its_limit_and_rounds_up(rf: RequestFactory, clock, kind: str, said: str) -> None:
    request = rf.post("/login/")
    request.user = AnonymousUser()
    request.login_lock = Lock(kind, at(1) + datetime.timedelta(milliseconds=500))
    answer = locked_out(request, None, None)
    words = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", "", answer.content.decode()))
    assert (answer.status_code, answer["Retry-After"]) == (429, "61")
    assert "no-store" in answer["Cache-Control"]
    assert said in words
    assert "Try again in 2 minutes, at 09:02 UTC." in words
    request.login_lock = Lock(kind, at(-1))
    assert locked_out(request, None, None)["Retry-After"] == "1"


@pytest.mark.parametrize(
    ("seen", "forwarded", "counted"),
    [
        # Behind a proxy, the client is the last that it named.
        ("10.0.0.2", "203.0.113.9", "203.0.113.9"),
        ("10.0.0.2", "198.51.100.1, 203.0.113.9", "203.0.113.9"),
        ("10.0.0.2", "203.0.113.9,2001:db8::7 ", "2001:db8::"),
        ("10.0.0.2", "", "10.0.0.2"),
        ("10.0.0.2", "unknown", "10.0.0.2"),
        ("10.0.0.2", "203.0.113.9, ", "10.0.0.2"),
        ("10.0.0.2", None, "10.0.0.2"),
        # A Unix socket has no address.
        ("", None, None),
        ("203.0.113.9", None, "203.0.113.9"),
        ("::ffff:203.0.113.9", None, "203.0.113.9"),
        ("2001:db8:0:7:1:2:3:4", None, "2001:db8:0:7::"),
        ("2001:db8:0:7::ffff", None, "2001:db8:0:7::"),
        ("fe80::1%eth0", None, "fe80::"),
    ],
)
def test_what_a_wrong_password_counts_for(settings, seen: str, forwarded: str | None, counted: str | None) -> None:
    headers = {} if forwarded is None else {"X-Forwarded-For": forwarded}
    request = RequestFactory().get("/", headers=headers, REMOTE_ADDR=seen)
    settings.BEHIND_TLS_PROXY = forwarded is not None
    assert counted_address(request) == counted


@pytest.mark.django_db
def test_a_forged_header_gives_no_fresh_counter(settings) -> None:
    for behind_proxy, counted in ((True, "203.0.113.9"), (False, "10.0.0.2")):
        settings.BEHIND_TLS_PROXY = behind_proxy
        attempt("anna", address="10.0.0.2", X_Forwarded_For="198.51.100.1, 203.0.113.9")
        assert AccessFailureLog.objects.latest("pk").ip_address == counted
