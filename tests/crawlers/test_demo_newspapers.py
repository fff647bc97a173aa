"""The demo newspapers: what they print, what they serve, and that a crawl and a run find what the manifest says."""

import json
import re
import signal
import sys
import urllib.error
import urllib.request
from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import chain, combinations
from urllib.parse import urldefrag, urljoin

import lxml.html
import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.db import connection

from articles.grouping import by_key
from articles.models import Article, Newspaper, RepeatedSentence
from crawlers.demo.manifest import manifest, pairs
from crawlers.demo.papers import PAPERS, TROUBLES, newspapers
from crawlers.demo.scenarios import FIRST_DAY, LAST_DAY, articles, groups
from crawlers.demo.server import serving, serving_somewhere
from crawlers.demo.site import Site
from crawlers.demo.stories import load_stories
from dedup.models import Decision, Evidence, Membership, Series
from dedup.review.questions.tabs import TABS, tab_counts
from dedup.review.readings.second_readings import in_dispute
from tests.conftest import StoreArticle
from tests.crawlers.conftest import REPOSITORY, CrawlCommand

BASE_URLS = {key: f"http://127.0.0.1:{8701 + place}" for place, key in enumerate(PAPERS)}
PRIVATE = "/private/"
# Of each scenario and truth: how many pairs there are, and how many of them each pass finds.
FOUND = {
    ("syndicated", "duplicate"): {"pairs": 41, "exact": 12, "trigram": 41, "containment": 41},
    ("cropped", "duplicate"): {"pairs": 6, "trigram": 3, "containment": 6},
    ("one_letter", "duplicate"): {"pairs": 6, "title": 6, "trigram": 6, "containment": 6},
    ("next_day", "duplicate"): {"pairs": 15, "title": 5, "exact": 15, "trigram": 15, "containment": 15},
    ("outside_window", "duplicate"): {"pairs": 5, "exact": 3, "containment": 5},
    ("regional_edition", "duplicate"): {"pairs": 8, "trigram": 8, "containment": 8},
    ("many_urls", "duplicate"): {
        "pairs": 18,
        "url": 18,
        "post": 12,
        "title": 18,
        "exact": 18,
        "numbers": 6,
        "trigram": 18,
        "containment": 18,
    },
    ("title_affix", "duplicate"): {"pairs": 5, "title": 5, "exact": 3, "trigram": 5, "containment": 5},
    ("title_case", "version"): {"pairs": 5, "title": 5, "containment": 4},
    ("edited", "version"): {"pairs": 4, "title": 4, "trigram": 4, "containment": 4},
    ("edited", "duplicate"): {"pairs": 4, "trigram": 4, "containment": 4},
    ("brief", "duplicate"): {"pairs": 6, "exact": 3, "trigram": 6, "containment": 6},
    ("related_box", "unrelated"): {"pairs": 6},
    ("live", "unrelated"): {"pairs": 18},
    ("template", "template"): {"pairs": 26, "trigram": 18, "containment": 26},
    ("developing", "version"): {"pairs": 12, "trigram": 11, "containment": 12},
    ("same_event", "same_event"): {"pairs": 5},
    ("other_language", "duplicate"): {"pairs": 9, "title": 5, "trigram": 9, "containment": 9},
}


@pytest.mark.slow
def test_a_crawl_and_a_run_find_what_the_manifest_says_and_the_command_nothing_new(
    crawl: CrawlCommand, monkeypatch: pytest.MonkeyPatch
) -> None:
    requests: list[str] = []
    usual = Site.respond
    monkeypatch.setattr(Site, "respond", lambda site, path, *rest: requests.append(path) or usual(site, path, *rest))
    with serving() as base_urls:
        names = [Newspaper.objects.create(**fields).name for fields in newspapers(base_urls)]
        first = crawl(*names)
    assert first.returncode == 0, first.stderr
    ids = stored_ids(base_urls)
    # Every source names the private page, and none of the newspapers was asked for it.
    forbidden = {f"(Forbidden by robots.txt: {number})" for number in (1, 2)}
    assert {line.rpartition(" failed ")[2] for line in first.summary.splitlines()} <= forbidden
    assert [path for path in requests if path.startswith(PRIVATE)] == []
    # At the same ports, which it knows from the articles.
    process = crawl.popen([sys.executable, "manage.py", "demo_newspapers", "--crawl"], REPOSITORY)
    output, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors
    again = [line.split(",")[0] for line in output.splitlines() if line[0] != " "]
    assert again == [f"{name}: 0 stored" for name in names]

    with connection.cursor() as cursor:
        # As in a new database: by their numbers, pairs are drawn for a second reading.
        cursor.execute("ALTER SEQUENCE dedup_pair_id_seq RESTART")
    call_command("find_duplicates")
    found = defaultdict(set)
    for left, right, name in Evidence.objects.filter(stale=False).values_list("pair__left", "pair__right", "pass_name"):
        found[name].add(frozenset((ids[left], ids[right])))
    ends = {frozenset((pair.left, pair.right)): pair for pair in pairs()}
    # No two articles are alike by accident.
    assert set().union(*found.values()) - ends.keys() == set()
    counts = defaultdict(Counter)
    for pair in ends.values():
        counts[pair.scenario, pair.truth]["pairs"] += 1
    for name, keys in found.items():
        for key in keys:
            counts[ends[key].scenario, ends[key].truth][name] += 1
    assert {key: dict(counted) for key, counted in counts.items()} == FOUND
    members = by_key(Membership.objects.values_list("cluster", "article")).values()
    together = {frozenset((ids[one], ids[other])) for some in members for one, other in combinations(some, 2)}
    assert together - {key for key, pair in ends.items() if pair.truth not in {"unrelated", "same_event"}} == set()
    every_page_has_something()


def every_page_has_something() -> None:
    """Do what script/demo does next, and look at what the pages would list."""
    for command in ("find_boilerplate", "demo_review", "demo_review"):
        call_command(command)
    assert Series.objects.get().form == "exchange rates crown at # norrins"
    assert RepeatedSentence.objects.exists()
    counts = tab_counts(User.objects.create_user("demo"))
    assert {name for name in TABS if not counts[name]} == {"changes", "later", "sample"}
    assert in_dispute(is_open=True).count() == 1
    assert Counter(Decision.objects.values_list("kind", flat=True)) == {
        "confirm": 5, "template": 3, "version": 1, "reject": 1, "unsure": 1, "undo": 1, "keep": 1
    }  # fmt: skip
    assert not User.objects.get(username="anna").has_usable_password()


def stored_ids(base_urls: dict[str, str]) -> dict[int, str]:
    """Return the manifest's id of each stored article, once it is sure that the two are one to one."""
    keys = {PAPERS[key].name: key for key in PAPERS}
    listed = manifest()["articles"]
    by_address = {(article["paper"], path): article for article in listed for path in article["paths"]}
    ids = {}
    for article in Article.objects.select_related("newspaper").prefetch_related("urls"):
        key = keys[article.newspaper.name]
        addresses = {(key, urldefrag(seen.url)[0].removeprefix(base_urls[key])) for seen in article.urls.all()}
        [meant] = {by_address[address]["id"]: by_address[address] for address in addresses}.values()
        assert (article.headline, str(article.date)) == (meant["headline"], meant["date"])
        told, printed = article.content.split("\n\n"), meant["text"].split("\n\n")
        assert [sentence for sentence in told if sentence in printed] == printed, meant
        # The design of some newspapers leaves the byline in the text, and nothing else.
        assert all(len(sentence) < 40 for sentence in told if sentence not in printed), meant
        assert article.text_doubt.startswith("taken from the feed") == meant["from_feed"], meant
        ids[article.pk] = meant["id"]
    assert sorted(ids.values()) == sorted(article["id"] for article in listed)
    return ids


@pytest.mark.slow
@pytest.mark.parametrize("options", [["--no-rows"], []])
def test_the_command_serves_until_it_is_interrupted(crawl: CrawlCommand, options: list[str]) -> None:
    command = [sys.executable, "-u", "manage.py", "demo_newspapers", "--first-port", "0", *options]
    process = crawl.popen(command, REPOSITORY)
    addresses = dict(process.stdout.readline().strip().split(": ") for _ in PAPERS)
    assert list(addresses) == [paper.name for paper in PAPERS.values()]
    allowed = "Crawl them with: manage.py crawl NAME --set CRAWL_PRIVATE_ADDRESSES=127.0.0.1\n"
    assert process.stdout.readline() == allowed
    assert "Ctrl-C" in process.stdout.readline()
    status, _, body = get(addresses["Carrack Echo"])
    assert (status, b"Carrack Echo" in body) == (200, True)
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=60)
    assert (process.returncode, output, errors) == (0, "", "")
    stored = set(Newspaper.objects.values_list("name", "crawl"))
    assert stored == (set() if options else {(paper.name, False) for paper in PAPERS.values()})


@pytest.mark.django_db
def test_a_port_that_is_taken_is_named_with_the_remedy() -> None:
    with serving() as base_urls:
        port = int(base_urls["courier"].rpartition(":")[2])
        message = (
            rf"The Selby Courier cannot be served at 127.0.0.1:{port}: Address already in use; "
            r"stop the program that uses the port, or choose other ports with --first-port"
        )
        with pytest.raises(CommandError, match=message):
            call_command("demo_newspapers", first_port=port)
    assert Newspaper.objects.count() == 0


def test_other_ports_are_used_if_one_of_the_usual_is_taken() -> None:
    with serving_somewhere() as first, serving_somewhere() as second:
        assert [get(f"{base_url}/robots.txt")[0] for base_url in second.values()] == [200] * len(PAPERS)
    assert set(first.values()).isdisjoint(second.values())


@pytest.mark.django_db
def test_a_newspaper_with_articles_keeps_its_port(store: StoreArticle) -> None:
    with serving() as base_urls:
        [fields] = [newspaper for newspaper in newspapers(base_urls) if newspaper["name"] == "Carrack Echo"]
        Newspaper.objects.create(**fields)
        address = base_urls[next(key for key, paper in PAPERS.items() if paper.name == "Carrack Echo")]
        store(newspaper="Carrack Echo", url=f"{address}/2026/03/02/ferry")
        # Its port is taken, and another one would bring every article again.
        with pytest.raises(CommandError, match=f"Carrack Echo cannot be served at {address.partition('//')[2]}"):
            call_command("demo_newspapers")


@pytest.mark.parametrize("port", ["-1", "65532", "x"])
def test_a_port_that_is_none_is_refused(port: str) -> None:
    with pytest.raises(CommandError, match=f"argument --first-port: {port} is not a port from 0 to 65531"):
        call_command("demo_newspapers", f"--first-port={port}")


def test_the_manifest_is_printed_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    call_command("demo_newspapers", manifest=True)
    printed = json.loads(capsys.readouterr().out)
    assert len(printed["articles"]) == len(articles())
    assert printed["pairs"][0].keys() == {"left", "right", "scenario", "truth"}


# -- What is printed ------------------------------------------------------------------------------------------


def test_there_are_about_250_articles_in_three_weeks_and_several_languages() -> None:
    assert 230 <= len(articles()) <= 290
    assert {article.paper for article in articles()} == set(PAPERS)
    assert {FIRST_DAY <= article.date <= LAST_DAY for article in articles()} == {True}
    assert {"ar", "de", "en", "fr", "ru", "si", "zh"} <= {article.language for article in articles()}
    addresses = Counter((article["paper"], path) for article in manifest()["articles"] for path in article["paths"])
    assert [address for address, number in addresses.items() if number > 1] == []


def test_every_story_has_a_key_of_its_own_and_is_printed() -> None:
    printed = {article.headline for article in articles()}
    stories = [*load_stories().plain, *chain(*load_stories().foreign.values())]
    assert {story.headline for story in stories} <= printed
    assert len({story.key for story in stories}) == len(stories)
    assert all(re.fullmatch("[a-z0-9]+(-[a-z0-9]+)*", story.key) for story in stories)


def test_a_story_has_a_dozen_addresses() -> None:
    many = [article for group in groups() if group.scenario == "many_urls" for article in group.articles]
    stories = defaultdict(set)
    for article in many:
        stories[article.paper, article.headline] |= {*article.listed, *(path for path, _ in article.redirects)}
    assert {len(addresses) >= 11 for addresses in stories.values()} == {True}


# -- What is served -------------------------------------------------------------------------------------------


def test_the_same_address_gives_the_same_bytes() -> None:
    for key, base_url in BASE_URLS.items():
        one, other = Site(key, base_url), Site(key, base_url)
        assert one.paths == other.paths
        assert [one.respond(path) for path in one.paths] == [other.respond(path) for path in other.paths]


@pytest.fixture(scope="module")
def served() -> Iterator[dict[str, str]]:
    with serving() as base_urls:
        yield base_urls


def get(url: str) -> tuple[int, str, bytes]:
    with_cookies = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
    try:
        with with_cookies.open(url, timeout=30) as response:
            return response.status, response.headers["Content-Type"], response.read()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.headers["Content-Type"], error.read()


TROUBLED = {(article.paper, article.path): article.trouble for article in articles()}


def test_each_trouble_is_there_and_a_live_blog_grows() -> None:
    assert Counter(filter(None, TROUBLED.values())) == {name: len(papers) for name, (_, papers) in TROUBLES.items()}
    [live] = [article for article in articles() if article.trouble == "live"]
    site = Site(live.paper, BASE_URLS[live.paper])
    lengths = [len(site.respond(live.path).body) for _ in range(5)]
    assert lengths[0] < lengths[1] < lengths[2] < lengths[3] == lengths[4]


@pytest.mark.parametrize("key", PAPERS)
def test_every_link_leads_to_a_page(served: dict[str, str], key: str) -> None:
    base_url = served[key]
    waiting, seen = [f"{base_url}/"], {f"{base_url}/"}
    while waiting:
        url = waiting.pop()
        status, content_type, body = get(url)
        trouble = TROUBLED.get((key, url.removeprefix(base_url)))
        assert status == (403 if trouble == "refused" else 200), url
        if not content_type.startswith("text/html"):
            continue
        assert content_type == f"text/html; charset={'utf-8' if trouble == 'mislabelled' else PAPERS[key].charset}"
        page = lxml.html.document_fromstring(body, parser=lxml.html.HTMLParser(encoding=PAPERS[key].charset))
        links = {urldefrag(urljoin(url, link))[0] for link in page.xpath("//a/@href | //link/@href")} - seen
        assert {link.startswith(f"{base_url}/") for link in links} <= {True}
        waiting += sorted(links)
        seen |= links
    reached = {url.removeprefix(base_url) for url in seen}
    assert any(path.startswith(PRIVATE) for path in reached)
    assert {article.path for article in articles() if article.paper == key} <= reached


def test_redirects_lead_to_their_articles_and_other_addresses_nowhere(served: dict[str, str]) -> None:
    assert get(f"{served['dunmere']}/2026/03/02/no-such-story/")[:2] == (404, "text/html; charset=iso-8859-1")
    for article in articles():
        for path, _ in article.redirects:
            assert get(served[article.paper] + path)[2] == get(served[article.paper] + article.path)[2]
