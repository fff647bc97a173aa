"""Later versions: what changes, goes and comes back is kept next to the article, which stays as it was stored."""

import datetime
import json

import pytest
from django.utils import timezone

from articles.models import Article, ArticlePage, ArticleRevision, Newspaper
from crawlers import rechecks
from crawlers.models import Recheck, Visit
from tests.commands import called
from tests.crawlers.conftest import CrawlCommand, Site
from tests.crawlers.pages import BRIDGE, FERRY, HERRING, LIBRARY, article_page, fed, newspaper, sitemap

HOUR = datetime.timedelta(hours=1)


def again(crawl: CrawlCommand) -> dict[str, int]:
    """Make every article due, crawl, and return what the last visit counted."""
    now = timezone.now()
    for pk in Article.objects.values_list("pk", flat=True):
        Recheck.objects.update_or_create(pk=pk, defaults={"due_at": now})
    crawled = crawl("--spider", "revision")
    assert crawled.returncode == 0, crawled.stderr
    visit = Visit.objects.filter(spider="revision").latest("id")
    return {name: getattr(visit, name) for name in ("rechecked", "changed", "gone", "failed")}


def kinds(article: Article) -> list[tuple[int, str, str]]:
    return list(article.revisions.values_list("number", "kind", "headline"))


def test_versions_are_kept_next_to_an_article_that_stays_as_it_was(site: Site, crawl: CrawlCommand) -> None:
    texts = {"ferry": FERRY, "herring": HERRING, "library": LIBRARY, "bridge": BRIDGE}
    for name, text in texts.items():
        site.add(f"/2024/05/{name}", article_page(name, text))
    site.pages["/2024/05/bridge"].etag = '"1"'
    fed(site, *(f"/2024/05/{name}" for name in texts))
    crawl()
    stored = {item_.headline: item_ for item_ in Article.objects.all()}
    first = list(Article.objects.order_by("id").values())
    assert crawl("--spider", "revision").returncode != 0  # 0 days: nothing is fetched again
    Newspaper.objects.update(revision_days=3)

    crawl("--spider", "revision")
    assert not Recheck.objects.exists()  # nothing is due in the first hour

    longer = f"{FERRY} {LIBRARY}"
    site.add("/2024/05/ferry", article_page("ferry, for good", longer))
    site.add("/2024/05/herring", "gone", status=410)
    site.add("/2024/05/library", article_page("library", LIBRARY).replace("<nav>", "<nav>1,204 readers"))
    assert again(crawl) == {"rechecked": 4, "changed": 1, "gone": 1, "failed": 0}
    assert again(crawl) == {"rechecked": 4, "changed": 0, "gone": 0, "failed": 0}
    site.add("/2024/05/herring", article_page("herring", HERRING))
    site.add("/2024/05/ferry", "down", status=503)
    assert again(crawl) == {"rechecked": 3, "changed": 1, "gone": 0, "failed": 1}

    ferry, herring = stored["ferry"], stored["herring"]
    assert kinds(ferry) == [(1, "changed", "ferry, for good")]
    assert ferry.revisions.get().content == longer
    assert kinds(herring) == [(1, "gone", ""), (2, "back", "herring")]
    assert herring.revisions.get(number=1).note == "HTTP 410"
    assert not ArticleRevision.objects.exclude(article__in=[ferry, herring]).exists()
    assert list(Article.objects.order_by("id").values()) == first
    assert Recheck.objects.get(pk=stored["bridge"].pk).etag == '"1"'
    rows = [json.loads(line) for line in called("export_revisions")[0].splitlines()]
    assert [(row["headline"], row["number"], row["kind"]) for row in rows if row["article"] == ferry.pk] == [
        ("ferry", 0, "first"),
        ("ferry, for good", 1, "changed"),
    ]
    assert {row["article"] for row in rows} == {ferry.pk, herring.pk}
    ArticleRevision.objects.filter(article=ferry).update(extractor_version=0, content="as an older version read it")
    called("reextract")
    assert ferry.revisions.get().content == longer
    # After the days are over, nothing is fetched.
    asked = sum(site.article_requests().values())
    ArticlePage.objects.update(fetched_at=timezone.now() - datetime.timedelta(days=4))
    assert again(crawl) == {"rechecked": 0, "changed": 0, "gone": 0, "failed": 0}
    assert sum(site.article_requests().values()) == asked


@pytest.mark.slow
def test_what_a_feed_or_sitemap_says_has_changed_is_fetched_at_once(site: Site, crawl: CrawlCommand) -> None:
    for name, text in (("ferry", FERRY), ("herring", HERRING), ("library", LIBRARY)):
        site.add(f"/2024/05/{name}", article_page(name, text))
    paper = newspaper(site, feed=["/feed"], sitemap=["/sitemap.xml"])

    def list_with(moment: str) -> None:
        entry = f"<entry><link href='{site.url}/2024/05/ferry'/><updated>{moment}</updated></entry>"
        site.add("/feed", f"<feed xmlns='http://www.w3.org/2005/Atom'>{entry}</feed>", "application/atom+xml")
        listed = sitemap(f"{site.url}/2024/05/herring", f"{site.url}/2024/05/library")
        listed = listed.replace("</loc></url>", f"</loc><lastmod>{moment}</lastmod></url>", 1)
        site.add("/sitemap.xml", listed, "application/xml")

    list_with("2024-05-03T08:00:00Z")
    crawl()
    for name in ("ferry", "herring", "library"):
        site.add(f"/2024/05/{name}", article_page(name, BRIDGE))
    crawl()
    assert not Recheck.objects.exists()  # its newspaper keeps no versions

    paper.revision_days = 1
    paper.save()
    crawl()
    assert not Recheck.objects.exists()  # what the listings say is older than the visits
    changed = timezone.now().replace(microsecond=0)
    list_with(changed.isoformat())
    ArticlePage.objects.update(fetched_at=changed - datetime.timedelta(minutes=1))
    crawl()
    found = ArticleRevision.objects.values_list("article__headline", "updated_at", "content")
    assert sorted(found) == [("ferry", changed, BRIDGE), ("herring", changed, BRIDGE)]
    crawl()
    assert site.article_requests() == {"/2024/05/ferry": 2, "/2024/05/herring": 2, "/2024/05/library": 1}


def test_articles_that_rest_are_fetched_ever_more_rarely() -> None:
    start = datetime.datetime(2024, 5, 3, 8, tzinfo=datetime.UTC)
    now, gaps = start + HOUR, []
    for _ in range(5):
        due = rechecks.next_due(now, start)
        gaps.append((due - now) / HOUR)
        now = due
    assert gaps == [1, 2, 4, 8, 16]
    assert rechecks.next_due(now, now) - now == HOUR  # what has just changed
