"""`manage.py crawl` over HTTP on loopback, when it is killed, or what it meets is broken."""

import re
import signal
from subprocess import Popen

import psycopg
import pytest
from django.db import connection
from psycopg import sql

from articles.models import Article, Newspaper
from crawlers.models import PendingLink
from crawlers.reasons import DATABASE_LOST, REASONS
from tests.crawlers.conftest import CrawlCommand, Site
from tests.crawlers.pages import FERRY, HERRING, LIBRARY, article_page, newspaper, sitemap, sitemap_index
from tests.databases import database_url


def interrupted(site: Site, crawl: CrawlCommand) -> Popen[str]:
    """Return a crawl that has been interrupted while the site keeps a page waiting."""
    process = crawl.start("--verbosity", "2")
    assert site.arrived.wait(60)
    process.send_signal(signal.SIGINT)
    assert any("shutting down gracefully" in line for line in process.stderr)
    return process


@pytest.mark.slow
def test_a_second_interrupt_does_not_wait(held_page: Site, crawl: CrawlCommand) -> None:
    process = interrupted(held_page, crawl)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)  # the page is still waiting
    assert process.returncode == 130
    held_page.held.clear()
    held_page.release.set()
    assert crawl().returncode == 0
    assert sorted(Article.objects.values_list("content", flat=True)) == sorted([FERRY, HERRING, LIBRARY])


@pytest.mark.slow
def test_an_interrupted_crawl_finishes_what_is_under_way_and_goes_on(held_page: Site, crawl: CrawlCommand) -> None:
    process = interrupted(held_page, crawl)
    held_page.held.clear()
    held_page.release.set()
    output, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Interrupted. Run the same command again to resume, or with --fresh to start over." in errors
    stored = Article.objects.count()
    assert output == f"Fjordbladet: {stored} stored, 0 known, 0 failed\n"
    assert HERRING in Article.objects.values_list("content", flat=True)
    assert crawl().returncode == 0
    assert Article.objects.count() == 3
    assert held_page.article_requests() == {f"/2024/05/{name}": 1 for name in ("ferry", "herring", "library")}
    assert not PendingLink.objects.exists()
    assert not list(crawl.states.rglob("requests.*"))


END_OTHER_CONNECTIONS = """
    SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'
"""


@pytest.mark.slow
def test_a_crawl_outlives_its_connection_to_the_database(held_page: Site, crawl: CrawlCommand) -> None:
    process = crawl.start()
    assert held_page.arrived.wait(60)
    with connection.cursor() as cursor:
        cursor.execute(END_OTHER_CONNECTIONS)
        # Beside the crawl's own, one of a process of an earlier test may just be ending.
        assert set(cursor.fetchall()) == {(True,)}
    held_page.release.set()
    output, errors = process.communicate(timeout=60)
    assert (process.returncode, output, errors) == (0, "Fjordbladet: 3 stored, 0 known, 0 failed\n", "")


@pytest.mark.slow
def test_articles_lost_with_the_database_are_an_error(held_page: Site, crawl: CrawlCommand) -> None:
    name = connection.settings_dict["NAME"]
    process = crawl.start()
    assert held_page.arrived.wait(60)
    with psycopg.connect(database_url().replace(f"/{name}?", "/postgres?"), autocommit=True) as other:
        allow = sql.SQL("ALTER DATABASE {} ALLOW_CONNECTIONS {}")
        other.execute(allow.format(sql.Identifier(name), False))
        try:
            with connection.cursor() as cursor:
                cursor.execute(END_OTHER_CONNECTIONS)
            held_page.release.set()
            output, errors = process.communicate(timeout=60)
        finally:
            other.execute(allow.format(sql.Identifier(name), True))
    stored = Article.objects.count()
    lost = 3 - stored
    assert output == (
        f"Fjordbladet: {stored} stored, 0 known, {lost} failed (database lost: {lost})\n"
        f"    database lost: {REASONS[DATABASE_LOST].meaning} {REASONS[DATABASE_LOST].remedy}\n"
    )
    assert re.search(rf"CommandError: {lost} .*database was lost; run .*again", errors.splitlines()[-1])
    assert "Traceback" not in errors
    assert process.returncode == 1
    assert crawl().summary == f"Fjordbladet: {lost} stored, {stored} known, 0 failed\n"


@pytest.mark.slow
def test_a_job_that_breaks_off_is_an_error_and_ends_no_other(three_sources: Site, crawl: CrawlCommand) -> None:
    other = Newspaper.objects.create(name="Holmavis", feed_urls=["http://127.0.0.2:1/feed"])
    crawl.states.mkdir()
    (crawl.states / str(other.pk)).write_text("where its folder would be")
    result = crawl()
    assert result.summary == "Fjordbladet: 4 stored, 0 known, 0 failed\nHolmavis: 0 stored, 0 known, 0 failed\n"
    assert result.returncode == 1
    assert result.stderr.splitlines()[-1].startswith("CommandError: ")
    assert result.stderr.splitlines()[-1].endswith(": Holmavis (feed)")


@pytest.mark.slow
def test_sitemap_indexes_are_followed_to_a_bounded_depth(site: Site, crawl: CrawlCommand) -> None:
    site.add("/2024/05/ferry", article_page("Last ferry", FERRY))
    for level in range(1, 6):
        site.add(f"/{level}.xml", sitemap_index(f"{site.url}/{level + 1}.xml", f"{site.url}/1.xml"), "application/xml")
    site.add("/2.xml", sitemap_index(f"{site.url}/3.xml", f"{site.url}/news.xml"), "application/xml")
    site.add("/news.xml", sitemap(f"{site.url}/2024/05/ferry"), "application/xml")
    newspaper(site, sitemap=["/1.xml"])
    assert crawl().summary == "Fjordbladet: 1 stored, 0 known, 1 failed (too many sitemaps: 1)\n"
    assert (site.requests["/4.xml"], site.requests["/5.xml"]) == (1, 0)


@pytest.mark.slow
def test_indexes_name_a_bounded_number_of_sitemaps(site: Site, crawl: CrawlCommand) -> None:
    site.add("/index.xml", sitemap_index(*(f"{site.url}/{number}.xml" for number in range(5))), "application/xml")
    for number in range(5):
        site.add(f"/2024/05/{number}", article_page(f"Ferry {number}", f"{FERRY} It was number {number}."))
        site.add(f"/{number}.xml", sitemap(f"{site.url}/2024/05/{number}"), "application/xml")
    newspaper(site, sitemap=["/index.xml"])
    result = crawl("--set", "SITEMAP_MAX_NUMBER=2")
    assert result.summary == "Fjordbladet: 2 stored, 0 known, 3 failed (too many sitemaps: 3)\n"
