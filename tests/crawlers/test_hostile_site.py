"""A site where everything is bad: nothing is lost, nothing crashes, every refusal is counted and explained."""

from collections import Counter
from contextlib import ExitStack
from html import escape

import pytest

from articles.models import Article, ArticleURL, Newspaper
from crawlers.models import PendingLink, Visit
from crawlers.reasons import find_reason
from tests.crawlers.conftest import CrawlCommand, Site, served
from tests.crawlers.hostile.answers import html
from tests.crawlers.hostile.pages import PAGES, STORED, TARGETS, page
from tests.crawlers.hostile.sources import FEEDS, ROBOTS, SECTIONS, SITEMAPS, SourceKind, rss
from tests.crawlers.pages import PATTERN, item, rss_of

BOUNDS = [
    part
    for bound in ("DOWNLOAD_TIMEOUT=1", "DOWNLOAD_MAXSIZE=2000000", "SITEMAP_MAXSIZE=4000000", "FEED_MAX_ENTRIES=100")
    for part in ("--set", bound)
]


def test_every_bad_page_is_counted_with_its_reason_and_the_good_ones_are_stored(
    site: Site, crawl: CrawlCommand
) -> None:
    site.answers = {f"/2024/05/{kind.name}": kind.answer for kind in PAGES} | TARGETS
    listed = rss_of(*(item(f"{{url}}/2024/05/{escape(kind.name)}", "", day=kind.day) for kind in PAGES))
    site.answers["/feed"] = html(listed, content_type="application/rss+xml")
    Newspaper.objects.create(name="Fjordbladet", feed_urls=[f"{site.url}/feed"], article_url_pattern=PATTERN)

    crawled = crawl(*BOUNDS)

    reasons = {row.url.rpartition("/")[2]: row.reason for row in PendingLink.objects.all()}
    headlines = set(Article.objects.values_list("headline", flat=True))
    outcomes = {kind.name: (reasons.get(kind.name, STORED), kind.outcome) for kind in PAGES}
    assert {name: outcome for name, outcome in outcomes.items() if outcome[0] != outcome[1]} == {}
    stored = [kind for kind in PAGES if kind.outcome == STORED]
    assert Article.objects.count() == len(stored), headlines
    assert not ArticleURL.objects.filter(url__contains="agency.example").exists()
    assert "Traceback" not in crawled.stderr
    visit = Visit.objects.get()
    counted = {failure["reason"]: failure["number"] for failure in visit.failures}
    assert counted == Counter(kind.outcome for kind in PAGES if kind.outcome != STORED)
    assert visit.stored + visit.known + visit.failed == len(PAGES)
    assert crawled.summary == (
        f"Fjordbladet: {visit.stored} stored, {visit.known} known, {visit.failed} failed "
        f"({'; '.join(f'{reason}: {number}' for reason, number in sorted(counted.items()))})\n"
    )
    # Each is explained by an entry of its own, at the end of the output.
    explained = [line.strip().partition(": ")[0] for line in crawled.stdout.splitlines()[1:]]
    assert explained == sorted({reason.partition(": ")[0] for reason in counted})
    assert {reason for reason in counted if find_reason(reason).name == "no article"} == set()

    # Days that cannot be, or differ, are noted.
    dated = [f"{site.url}/2024/05/{kind.name}" for kind in PAGES if kind.day]
    rows = Article.objects.filter(url__in=dated).values_list("url", "date", "date_source", "date_doubt")
    assert {url.rpartition("/")[2]: (str(day), source, doubt) for url, day, source, doubt in rows} == {
        "day-from-the-feed": ("2024-05-09", "feed", ""),
        "year-2099-and-feed": ("2024-05-09", "feed", "a meta element says 2099-01-01, which is impossible"),
        "days-apart": ("2024-05-03", "meta", "the page says 2024-05-03, the feed 2024-05-20"),
    }


@pytest.mark.slow
@pytest.mark.parametrize(
    ("field", "kinds"), [("feed_urls", FEEDS), ("sitemap_urls", SITEMAPS), ("section_urls", SECTIONS)]
)
def test_every_bad_source_is_counted_and_what_it_names_is_stored(
    site: Site, crawl: CrawlCommand, field: str, kinds: list[SourceKind]
) -> None:
    """One newspaper for each source, so that each has counts of its own."""
    for kind in kinds:
        site.answers[f"/{kind.name}"] = kind.answer
        site.answers[f"/2024/05/{kind.name}"] = html(page(kind.name))
        Newspaper.objects.create(name=kind.name, article_url_pattern=PATTERN, **{field: [f"{site.url}/{kind.name}"]})

    crawled = crawl(*BOUNDS)

    assert "Traceback" not in crawled.stderr
    visits = {visit.newspaper.name: visit for visit in Visit.objects.select_related("newspaper")}
    counted = {
        name: (visit.stored, {failure["reason"]: failure["number"] for failure in visit.failures})
        for name, visit in visits.items()
    }
    expected = {kind.name: (int(kind.finds), kind.counted) for kind in kinds}
    assert {name: (counted[name], expected[name]) for name in expected if counted[name] != expected[name]} == {}
    assert set(ArticleURL.objects.values_list("url", flat=True)) == {
        f"{site.url}/2024/05/{kind.name}" for kind in kinds if kind.finds
    }
    assert not Article.objects.filter(content__contains="root:").exists()


@pytest.mark.slow
def test_a_robots_txt_stops_a_crawl_by_forbidding_and_for_now_if_it_cannot_be_had(crawl: CrawlCommand) -> None:
    """By RFC 9309, nothing may be fetched while the server has errors; whatever else it answers forbids nothing."""
    stopped = {"fault": "HTTP 500", "silent": "no answer in time", "no-http": "not HTTP"}
    with ExitStack() as stack:
        for name, answer in ROBOTS.items():
            site = stack.enter_context(served())
            site.answers = {
                "/robots.txt": answer,
                "/feed": html(rss(name), content_type="application/rss+xml"),
                f"/2024/05/{name}": html(page(name)),
            }
            Newspaper.objects.create(name=name, feed_urls=[f"{site.url}/feed"])
        # All at once: on a busy machine, a site that answers must not seem as silent as the one that does not.
        crawled = crawl(*BOUNDS, "--set", "DOWNLOAD_TIMEOUT=6")
    assert crawled.summary.splitlines() == [
        f"{name}: 0 stored, 0 known, 1 failed (robots.txt unreachable: {stopped[name]}: 1)"
        if name in stopped
        else f"{name}: 1 stored, 0 known, 0 failed"
        for name in sorted(ROBOTS)
    ]
    assert "Traceback" not in crawled.stderr
