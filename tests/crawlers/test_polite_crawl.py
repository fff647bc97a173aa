"""What sites ask of crawlers: to wait, to leave pages alone, to keep a cookie for a moment. All in one crawl."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from itertools import pairwise

import pytest

from articles.models import Article, ArticleURL, Newspaper
from crawlers.models import PendingLink, SitePace, Visit
from tests.crawlers.conftest import CrawlCommand, Site, served
from tests.crawlers.hostile.answers import Answer, Connection, html, response
from tests.crawlers.hostile.pages import page
from tests.crawlers.pages import item, rss_of

SITES = ("busy", "hasty", "slow", "closed", "reserved", "consent")
RESERVED = {
    "noindex": html(page("noindex").replace("<head>", "<head><meta content='NOINDEX, follow' name=robots>")),
    "header": html(page("header"), "X-Robots-Tag: otherbot: nofollow", "X-Robots-Tag: newsdedup: none"),
    "mining": html(page("mining").replace("<head>", '<head><meta name="TDM-Reservation" content="1">')),
    "mining-header": html(page("mining-header"), "tdm-reservation: 1"),
    "mining-site": html(page("mining-site")),
    # These may be stored.
    "other": html(page("other"), "X-Robots-Tag: otherbot: noindex, nofollow", "tdm-reservation: 0"),
    "commented": html(page("commented").replace("<head>", "<head><!--<meta name=robots content=noindex>-->")),
}
RULES = '[{"location": "/2024/05/mining-site$", "tdm-reservation": 1}, {"location": "/2024/*", "tdm-reservation": 0}]'


@pytest.fixture
def sites() -> Iterator[dict[str, Site]]:
    with ExitStack() as stack:
        yield {name: stack.enter_context(served()) for name in SITES}


def add(site: Site, name: str, answers: dict[str, Answer]) -> None:
    """Serve articles, and a feed that lists them, for a newspaper of this name."""
    site.answers |= {f"/2024/05/{path}": answer for path, answer in answers.items()}
    feed = rss_of(*(item(f"{{url}}/2024/05/{path}", "") for path in answers))
    site.answers["/feed"] = html(feed, content_type="application/rss+xml")
    Newspaper.objects.create(name=name, feed_urls=[f"{site.url}/feed"])


def later(*headers: str, status: str) -> bytes:
    return response(b"later", "Content-Type: text/html", *headers, status=status)


def once(first: bytes, then: bytes) -> Callable[[Connection], None]:
    """Answer the first request so, and later ones otherwise."""
    answers = iter([first])
    return lambda connection: connection.send(next(answers, then))


def wall(back: str, then: bytes) -> Callable[[Connection], None]:
    """Redirect to the consent page until its cookie comes back."""
    away = f"Location: /consent?to={back}"
    return lambda connection: connection.send(
        then if "agreed=yes" in connection.cookie else later(away, status="302 F")
    )


@pytest.mark.slow
def test_what_sites_ask_for_is_done_and_said(sites: dict[str, Site], crawl: CrawlCommand) -> None:
    busy = later("Retry-After: 3600", status="503 Later")
    add(sites["busy"], "busy", {f"busy-{number}": busy for number in range(4)})
    add(sites["hasty"], "hasty", {"hasty": once(later("Retry-After: 1", status="429 No"), html(page("hasty")))})
    sites["slow"].answers["/robots.txt"] = response(b"User-agent: *\nCrawl-delay: 0.4\n", "Content-Type: text/plain")
    add(sites["slow"], "slow", {"slow-1": html(page("slow-1")), "slow-2": html(page("slow-2"))})
    add(sites["closed"], "closed", {"closed": html(page("closed"))})
    sites["closed"].answers["/robots.txt"] = later(status="503 Later")
    add(sites["reserved"], "reserved", RESERVED)
    sites["reserved"].answers["/.well-known/tdmrep.json"] = html(RULES, content_type="application/json")
    consent = {name: wall(f"/2024/05/{name}", html(page(name))) for name in ("one", "two")}
    add(sites["consent"], "consent", consent | {"never": later("Location: never", "Set-Cookie: a=b", status="302 F")})
    for name in consent:
        path = f"/consent?to=/2024/05/{name}"
        back = (f"Location: /2024/05/{name}", "Set-Cookie: agreed=yes; Path=/")
        sites["consent"].answers[path] = later(*back, status="303 F")

    crawled = crawl("--set", "RETRY_ENABLED=1", "--set", "RETRY_TIMES=1")

    waits = SitePace.objects.get(waits_until__isnull=False, site=sites["busy"].url.removeprefix("http://"))
    until = f"site asked to wait: until {waits.waits_until:%Y-%m-%d %H:%M} UTC"
    assert crawled.summary.splitlines() == [
        f"busy: 0 stored, 0 known, 4 failed ({until}: 4)",
        "closed: 0 stored, 0 known, 1 failed (robots.txt unreachable: HTTP 503: 1)",
        "consent: 2 stored, 0 known, 1 failed (too many redirects: the site asks for a cookie each time: 1)",
        "hasty: 1 stored, 0 known, 0 failed",
        "reserved: 2 stored, 0 known, 5 failed (mining reserved: 3; noindex: 2)",
        "slow: 2 stored, 0 known, 0 failed",
    ]
    assert sum(number for path, number in sites["busy"].requests.items() if "busy" in path) == 1
    assert min(after - before for before, after in pairwise(sites["slow"].times)) >= 0.4
    assert sites["reserved"].requests["/2024/05/mining-site"] == 0
    assert set(sites["closed"].requests) == {"/robots.txt"}
    assert not ArticleURL.objects.filter(url__contains="consent").exists()
    assert set(PendingLink.objects.filter(tries__gt=0).values_list("reason", flat=True)) == set()

    # The next crawl does not even ask the one that wants to be left alone. The others obey because they want to.
    for site in sites.values():
        site.requests.clear()
    again = crawl("busy", "reserved", "--fresh", "--set", "NOINDEX_OBEY=False", "--set", "TDM_OBEY=False")
    assert again.summary.splitlines() == [
        f"busy: 0 stored, 0 known, 1 failed ({until}: 1)",
        "reserved: 5 stored, 2 known, 0 failed",
    ]
    assert not sites["busy"].requests
    assert Visit.objects.filter(newspaper__name="busy", failed=4).exists()
    assert Article.objects.count() == 12
