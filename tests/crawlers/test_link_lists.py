"""`manage.py crawl --urls`: a list of URLs, from a file of any of these forms."""

import gzip
import io
from pathlib import Path

import pytest

from articles.files.records import UnreadableFileError
from articles.models import Article, ArticleURL, Newspaper
from crawlers.listings.lists import ListedURL, read_list, save_list
from crawlers.models import PendingLink
from tests.crawlers.conftest import CrawlCommand, Site
from tests.crawlers.pages import BRIDGE, FERRY, HERRING, LIBRARY, article_page


@pytest.mark.django_db(transaction=True)
def test_a_list_is_visited_and_visited_again_to_the_same_end(site: Site, crawl: CrawlCommand, tmp_path: Path) -> None:
    undated = f"<html><body><div><p>{HERRING}</p><p>{LIBRARY}</p></div></body></html>"
    site.add("/2024/05/ferry", article_page("Last ferry", FERRY))
    site.add("/herring", undated)
    site.add("/2024/05/bridge", article_page("Bridge closed", BRIDGE))
    site.redirect("/s/1", "/2024/05/bridge")
    Newspaper.objects.create(name="Fjordbladet", host="127.0.0.1", feed_urls=[f"{site.url}/feed"])
    site.feed("/2024/05/ferry")
    rows = (
        ("/2024/05/ferry", "", ""),
        ("/2024/05/ferry", "", ""),
        ("/herring", "2024-05-03", "Herring are back"),
        ("/s/1", "", ""),
        ("/gone", "", ""),
    )
    lines = "".join(f"{number},{site.url}{path},{day},{title}\n" for number, (path, day, title) in enumerate(rows))
    listed = tmp_path / "linked.csv"
    listed.write_text(f"stories_id,url,publish_date,title\n{lines}6,mailto:x@y.example,,\n", encoding="utf-8")

    first = crawl("--urls", str(listed))

    assert first.returncode == 0, first.stderr
    assert first.summary.splitlines() == [
        f"{listed}: 5 URLs (4 to visit of 1 newspapers, 0 known, 0 refused earlier, 1 repeated), 1 rows without a URL",
        "Fjordbladet: 3 stored, 0 known, 1 failed (HTTP 404: 1)",
    ]
    assert '    line 7: "mailto:x@y.example" is not a web address' in first.stdout
    stored = Article.objects.order_by("headline").values_list("headline", "date__day", "newspaper__name", "date_source")
    assert list(stored) == [
        ("Bridge closed", 3, "Fjordbladet", "meta"),
        ("Herring are back", 3, "Fjordbladet", "feed"),
        ("Last ferry", 3, "Fjordbladet", "meta"),
    ]
    assert set(ArticleURL.objects.filter(article__headline="Last ferry").values_list("kind", flat=True)) == {"import"}
    assert site.requests["/feed"] == 0
    assert PendingLink.objects.get().reason == "HTTP 404"
    assert crawl("--urls", str(listed)).stdout.splitlines()[0] == (
        f"{listed}: 5 URLs (0 to visit of 0 newspapers, 3 known, 1 refused earlier, 1 repeated), 1 rows without a URL"
    )
    assert crawl("--urls", str(tmp_path / "none.txt")).stderr.endswith("No such file or directory; check the path\n")


@pytest.mark.django_db
def test_parameters_that_a_newspaper_keeps_distinguish_the_urls_of_a_list() -> None:
    Newspaper.objects.create(name="Fjordbladet", host="f.example", kept_url_parameters=["utm_source"])
    urls = (f"https://{host}/story?utm_source={ref}" for host in ("f.example", "g.example") for ref in (1, 2))
    saved = save_list([ListedURL(line=1, url=url) for url in urls])
    assert (saved.urls, saved.new, saved.repeated) == (4, 3, 1)


PLAIN = "https://f.example/a\n\n# mine\n<https://f.example/b>  \nhttps://f.example/c\t2024-05-03\nsoon\n"
URLS = [("https://f.example/a", None), ("https://f.example/b", None), ("https://f.example/c", "2024-05-03"), ("", None)]


@pytest.mark.parametrize(
    "data",
    [
        PLAIN.encode(),
        b"\xef\xbb\xbf" + PLAIN.replace("\n", "\r\n").encode(),
        gzip.compress(PLAIN.encode(), mtime=0),  # the time in it would give each run another test
        b"Date;Story URL\n;https://f.example/a\n;https://f.example/b\n2024-05-03;https://f.example/c\n;soon\n",
        (
            b'{"link": "https://f.example/a"}\n{"url": "https://f.example/b", "date": null}\n'
            b'{"url": "https://f.example/c", "published_at": "2024-05-03T10:00:00Z"}\n{"title": 1}\n'
        ),
    ],
)
def test_lists_of_every_form_are_read_alike(data: bytes) -> None:
    rows = list(read_list(io.BytesIO(data)))
    assert [(row.url, str(row.published.day) if row.published else None) for row in rows] == URLS
    assert [bool(row.fault) for row in rows] == [False, False, False, True]


def test_hostile_lists_are_read_in_bounded_memory() -> None:
    long = list(read_list(io.BytesIO(b"https://f.example/" + b"x" * 1_000_000 + b"\nhttps://f.example/a\n")))
    assert [(row.line, bool(row.fault)) for row in long] == [(1, True), (2, False)]
    with pytest.raises(UnreadableFileError, match="breaks off after line"):
        list(read_list(io.BytesIO(gzip.compress(PLAIN.encode() * 5_000)[:-40])))
