"""Articles on several pages, or whole only in their feed: crawled once, kept in full, extracted again alike."""

import pytest

from articles.models import Article, FollowingPage
from articles.storage.reextraction import reextract
from crawlers.models import PendingLink
from tests.crawlers.conftest import CrawlCommand, Site
from tests.crawlers.pages import article_page, item, newspaper, rss_of


def told(story: str, *numbers: int) -> list[str]:
    return [
        f"Paragraph {number} on the {story} says in plain words what the people of the islands saw, heard and did then."
        for number in numbers
    ]


def page(story: str, *numbers: int, links: str = "") -> str:
    return article_page(f"The {story}", "</p><p>".join(told(story, *numbers))).replace(
        "</article>", f"</article>{links}"
    )


def entry(site: Site, story: str, *numbers: int, end: str = "") -> str:
    text = "".join(f"<p>{sentence}</p>" for sentence in told(story, *numbers)) + end
    element = 'c:encoded xmlns:c="http://purl.org/rss/1.0/modules/content/"'
    carried = f"<{element}><![CDATA[{text}]]></c:encoded>" if numbers else ""
    return item(f"{site.url}/2024/05/{story}", f"The {story}", day="Fri, 03 May 2024 08:00:00 +0200", more=carried)


def pager(*numbers: int, more: str = "") -> str:
    links = " ".join(f'<a href="?page={number}">{number}</a>' for number in numbers)
    return f'<div class="pagination">{links} {more}</div>'


def serve(site: Site) -> None:
    """Serve a story on three pages, stories of which only the feed has all, and some that are not what they seem."""
    site.add("/2024/05/storm", page("storm", 1, 2, links=pager(2, 3)))
    site.add("/2024/05/storm?page=2", page("storm", 1, 3, 4, links=pager(1, 3)))
    site.add("/2024/05/storm?page=3", page("storm", 1, 5, links=pager(1, 2)))
    site.add("/2024/05/flood", page("flood", 1, links=pager(2, more='<a href="?page=all">All on one page</a>')))
    site.add("/2024/05/flood?page=all", page("flood", 1, 2, 3, links=pager(2)))
    site.add("/2024/05/frost", page("frost", 1, 2, links=pager(2)))
    site.add("/2024/05/frost?page=2", "no", status=403)
    site.add("/2024/05/gale", page("gale", 1, 2, links=pager(2)))
    site.add("/2024/05/gale?page=2", "no", status=501)
    site.add("/2024/05/quay", page("quay", 1, 2, links='<nav><a rel="next" href="/2024/05/choir">The choir</a></nav>'))
    site.add("/2024/05/choir", page("choir", 1, 2))
    site.add("/2024/05/stub", page("stub", 1))
    site.add("/2024/05/wall", "no", status=403)
    site.add("/2024/05/teaser", "no", status=403)
    site.add("/2024/05/gone", "no", status=410)
    entries = [
        *(entry(site, story) for story in ("storm", "flood", "frost", "quay", "choir")),
        *(entry(site, story, 1, 2, 3) for story in ("gale", "wall", "gone")),
        entry(site, "stub", 1, 2, 3, 4),
        entry(site, "teaser", 1, 2, 3, end="<p>Paragraph 4 … Continue reading</p>"),
    ]
    site.add("/feed", rss_of(*entries), "application/rss+xml")


@pytest.mark.slow
def test_articles_are_stored_whole_and_extracted_again_alike(site: Site, crawl: CrawlCommand) -> None:
    serve(site)
    newspaper(site, feed=["/feed"])
    failed = "3 failed (HTTP 403: 1; HTTP 410: 1; HTTP 501: 1)"
    assert crawl().summary == f"Fjordbladet: 7 stored, 0 known, {failed}\n"

    def stored() -> dict[str, tuple[list[str], str]]:
        return {
            article.url.rpartition("/")[2]: (article.content.split("\n\n"), article.text_doubt)
            for article in Article.objects.all()
        }

    expected = {
        "storm": (told("storm", 1, 2, 3, 4, 5), ""),
        "flood": (told("flood", 1, 2, 3), ""),
        "frost": (told("frost", 1, 2), "page 2: could not be read"),
        "quay": (told("quay", 1, 2), ""),
        "choir": (told("choir", 1, 2), ""),
        "stub": (told("stub", 1, 2, 3, 4), "taken from the feed; the page has 25% of it"),
        "wall": (told("wall", 1, 2, 3), "taken from the feed; the page could not be read"),
    }
    assert stored() == expected
    waiting = dict(PendingLink.objects.values_list("url", "reason"))
    assert {url.rpartition("/")[2]: reason for url, reason in waiting.items()} == {
        "gale": "HTTP 501", "teaser": "HTTP 403", "gone": "HTTP 410"
    }  # fmt: skip
    wall = Article.objects.get(url__endswith="wall")
    assert (wall.headline, str(wall.date), wall.date_source, wall.language) == ("The wall", "2024-05-03", "feed", "en")
    pages = FollowingPage.objects.values_list("url", "number")
    assert {(url.removeprefix(site.url), number) for url, number in pages} == {
        ("/2024/05/storm?page=2", 2), ("/2024/05/storm?page=3", 3), ("/2024/05/flood?page=all", 2),
        ("/2024/05/frost?page=2", 2),
    }  # fmt: skip

    Article.objects.update(extractor_version=0, content="x", text_doubt="")
    assert [batch.failures for batch in reextract()] == [[]]
    assert stored() == expected
    # A link that waits is visited although its feed has rolled on; what the feed carried waits with it.
    site.add("/2024/05/gale", "no", status=403)
    site.add("/feed", rss_of(), "application/rss+xml")
    assert crawl().summary.startswith("Fjordbladet: 1 stored, ")
    assert Article.objects.get(url__endswith="gale").content.split("\n\n") == told("gale", 1, 2, 3)
