"""The rules of politeness, without a crawl."""

import asyncio
import datetime
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from protego import Protego

from crawlers import models, visits
from crawlers.faults import RefusedError
from crawlers.fetching.pacing import Bounds, SitePace, Sites, next_delay, retry_after
from crawlers.fetching.robots import fault_of_status, forbids_index, meta_elements, pause_of, read_rules, reserved_by
from crawlers.fetching.sites import is_front_page, same_site, shared_site, site_of

NOW = datetime.datetime(2026, 5, 3, 12, 0, tzinfo=datetime.UTC)
BOUNDS = Bounds(least=0.5, start=1.0, most=30.0, slow_down=2.0, longest_wait=60.0, adapts=True, remembers=False)
NAMES = {"robots", "newsdedup"}


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("120", 120.0),
        (" 0 ", 0.0),
        ("9" * 400, 7 * 86_400.0),
        ("Sun, 03 May 2026 12:05:00 GMT", 300.0),
        ("Sunday, 03-May-26 12:05:00 GMT", 300.0),
        ("Sun, 03 May 2026 14:05:00 +0200", 300.0),
        ("Sun May  3 12:05:00 2026", 300.0),
        ("Sun, 03 May 2020 12:05:00 GMT", 0.0),
        ("Sun, 03 May 2099 12:05:00 GMT", 7 * 86_400.0),
        ("-5", None),
        ("soon", None),
        ("", None),
        ("1.5", None),
        ("²", None),
    ],
)
def test_retry_after_is_a_number_of_seconds_or_a_date(value: str, seconds: float | None) -> None:
    assert retry_after(value, NOW) == seconds


def test_the_pause_follows_the_answers_and_grows_when_the_site_asks_for_less() -> None:
    assert next_delay(BOUNDS, 1.0, 0.2, 200) == 0.6
    assert next_delay(BOUNDS, 0.5, 0.01, 200) == 0.5, "never below DOWNLOAD_DELAY"
    assert next_delay(BOUNDS, 1.0, 8.0, 200) == 8.0, "at once, if the site is slow"
    assert next_delay(BOUNDS, 1.0, 90.0, 200) == 30.0
    assert next_delay(BOUNDS, 4.0, 0.01, 404) == 4.0, "an error is no sign of speed"
    pace = SitePace(models.SitePace(site="fjord.example", delay=1.0, penalty=0.0), began=100.0, ended=101.0)
    assert pace.free_at(BOUNDS) == 101.0
    for expected in (2.0, 4.0, 8.0, 16.0, 32.0, 60.0, 60.0):
        pace.answered(BOUNDS, 429, 0.1, None)
        assert pace.row.penalty == expected
    assert pace.free_at(BOUNDS) == 161.0
    pace.answered(BOUNDS, 200, 0.1, None)
    assert pace.row.penalty == 48.0
    for _ in range(100):
        pace.answered(BOUNDS, 200, 0.1, None)
    assert pace.row.penalty == 0.0


def test_robots_txt_names_a_pause_and_its_status_may_forbid_everything() -> None:
    rules = "User-agent: *\nCrawl-delay: {}\n\nUser-agent: otherbot\nCrawl-delay: 99\n"
    assert pause_of(Protego.parse(rules.format(3)), "newsdedup/1.0") == 3.0
    assert pause_of(Protego.parse(rules.format("often")), "newsdedup/1.0") == 0.0
    assert pause_of(Protego.parse(rules.format(-4)), "newsdedup/1.0") == 0.0
    assert pause_of(Protego.parse("User-agent: newsdedup\nRequest-rate: 1/10s\n"), "newsdedup/1.0") == 10.0
    assert pause_of(Protego.parse(""), "newsdedup/1.0") == 0.0
    assert [fault_of_status(status) for status in (200, 304, 401, 403, 404, 410)] == [""] * 6
    assert fault_of_status(503) == "robots.txt unreachable: HTTP 503"
    assert fault_of_status(429) == "robots.txt unreachable: HTTP 429"


@pytest.mark.parametrize(
    ("headers", "html", "forbidden"),
    [
        ([], "<meta name='robots' content='index, follow'>", False),
        ([], "<META CONTENT=none NAME=ROBOTS>", True),
        ([], "<meta name='newsdedup' content='noarchive,noindex'>", True),
        ([], "<meta name='googlebot' content='noindex'>", False),
        ([], "<script>'<meta name=robots content=noindex>'</script>", False),
        ([], "<meta name='description' content='a > b'><meta name='robots' content='&#110;oindex'>", True),
        (["noindex"], "", True),
        (["nofollow, NOINDEX"], "", True),
        (["otherbot: noindex, nofollow"], "", False),
        (["otherbot: noindex, newsdedup: none"], "", True),
        (["unavailable_after: 25 Jun 2030 15:00:00 PST", "max-snippet:-1, noindex"], "", True),
        (["noimageindex, notranslate"], "", False),
    ],
)
def test_noindex_is_for_all_crawlers_or_for_this_one(headers: list[str], html: str, forbidden: bool) -> None:
    assert forbids_index(headers, list(meta_elements(html)), NAMES) is forbidden


@pytest.mark.parametrize("piece", ["<meta ", "<!--", '<meta "', "<script ", "a=", "<meta name='", "=" * 9])
def test_a_page_of_one_thing_takes_no_time(piece: str) -> None:
    began = datetime.datetime.now(datetime.UTC)
    assert list(meta_elements(piece * (200_000 // len(piece)))) == []
    assert (datetime.datetime.now(datetime.UTC) - began).total_seconds() < 1


def test_the_longest_location_decides_whether_mining_is_reserved() -> None:
    rules = read_rules(
        b'[{"location": "/", "tdm-reservation": 1}, {"location": "/free/*.html$", "tdm-reservation": 0},'
        b' {"location": "/a[1]?x", "tdm-reservation": "0"}, {"location": 5}, 7, {"tdm-reservation": 1}]'
    )
    paths = ("/story", "/free/a/b.html", "/free/a.html?x=1", "/a[1]?x=2")
    assert [reserved_by(rules, path) for path in paths] == [True, False, True, False]
    assert reserved_by([], "/story") is False
    assert read_rules(b"<html>") == read_rules(b"[" * 100_000) == []


def test_hosts_of_one_owner_are_one_site() -> None:
    hosts = ("https://www.fjordbladet.example/1", "http://news.fjordbladet.example:8080/", "https://m.harbour.co.uk/")
    assert [shared_site(url) for url in hosts] == ["fjordbladet.example", "fjordbladet.example", "harbour.co.uk"]
    assert shared_site("https://one.blogspot.com/") != shared_site("https://two.blogspot.com/")
    addresses = ("http://127.0.0.1:8001/a", "http://127.0.0.1:8002/a", "http://localhost:9/a", "http://[::1]:7/")
    assert [shared_site(url) for url in addresses] == ["127.0.0.1:8001", "127.0.0.1:8002", "localhost:9", "::1:7"]


def test_one_request_at_a_time_is_made_to_a_site_and_an_interrupt_ends_the_wait() -> None:
    bounds, sites = replace(BOUNDS, least=0.0, start=0.0, slow_down=0.0), Sites()
    under_way: list[str] = []
    most: dict[str, int] = {}

    async def ask(url: str) -> None:
        site = url.split("/")[2].partition(".")[2]
        async with sites.turn(url, bounds) as pace:
            under_way.append(site)
            most[site] = max(most.get(site, 0), under_way.count(site))
            most["all"] = max(most.get("all", 0), len(under_way))
            await asyncio.sleep(0)
            under_way.remove(site)
            pace.answered(bounds, 503 if "busy" in url else 200, 0.0, 30.0 if "busy" in url else None)

    async def run() -> str:
        hosts = ("www.harbour.example", "m.harbour.example", "www.fjord.example")
        await asyncio.gather(*(ask(f"https://{host}/{number}") for host in hosts for number in range(3)))
        await ask("https://www.fjord.example/busy")
        waiting = asyncio.create_task(ask("https://m.fjord.example/"))
        await asyncio.sleep(0)
        sites.stop_waiting()
        with pytest.raises(RefusedError) as refused:
            await waiting
        return str(refused.value)

    began = time.monotonic()
    with ThreadPoolExecutor(1) as pool:  # the browser of other tests leaves a loop in this thread
        said = pool.submit(asyncio.run, run()).result()
    assert most == {"harbour.example": 1, "fjord.example": 1, "all": 2}
    assert said.startswith("site asked to wait: until 20")
    assert time.monotonic() - began < 20


@pytest.mark.django_db
def test_the_pace_of_a_site_is_remembered_and_halved_each_day(monkeypatch: pytest.MonkeyPatch) -> None:
    def remember(site: str, delay: float, penalty: float = 0.0) -> None:
        visits.remember([models.SitePace(site=site, delay=delay, penalty=penalty, waits_until=until)])

    until = NOW + datetime.timedelta(days=1)
    monkeypatch.setattr(visits.timezone, "now", lambda: NOW)
    remember("fjord.example", 8.0, 4.0)
    remember("harbour.example", 1.0)
    remember("fjord.example", 6.0, 2.0)
    monkeypatch.setattr(visits.timezone, "now", lambda: until)
    known = visits.remembered("fjord.example")
    assert known is not None
    assert (known.delay, known.penalty, known.waits_until) == (3.0, 1.0, until)
    assert visits.remembered("new.example") is None
    monkeypatch.setattr(visits.timezone, "now", lambda: NOW + datetime.timedelta(days=91))
    remember("fjord.example", 1.0)
    assert visits.remembered("harbour.example") is None


# -- Which URLs belong to one site ------------------------------------------------------------------------------


def test_the_site_of_a_url_is_its_host_without_www() -> None:
    assert site_of("https://www.Fjordbladet.example/a") == "fjordbladet.example"
    assert site_of(" http://fjordbladet.example:8080/a") == "fjordbladet.example:8080"
    wrong = ("ftp://a.example/a", "file:///etc/hostname", "/a", "http://[undefined]/", "http://a.example:port/")
    assert [site_of(url) for url in wrong] == [""] * len(wrong)


@pytest.mark.parametrize(
    ("left", "right", "same"),
    [
        ("https://fjordbladet.example/a", "http://www.fjordbladet.example/b", True),
        ("https://fjordbladet.example/a", "https://sport.fjordbladet.example/b", True),
        ("https://fjordbladet.example/a", "https://notfjordbladet.example/b", False),
        ("http://127.0.0.1:8001/a", "http://127.0.0.1:8002/a", False),
        ("mailto:desk@fjordbladet.example", "mailto:desk@fjordbladet.example", False),
    ],
)
def test_a_host_and_its_subdomain_are_one_site(left: str, right: str, *, same: bool) -> None:
    assert same_site(left, right) is same_site(right, left) is same


def test_the_front_page_has_no_path_and_no_query() -> None:
    endings = ("", "/", "/?p=12", "/a")
    assert [is_front_page(f"https://fjordbladet.example{end}") for end in endings] == [True, True, False, False]
