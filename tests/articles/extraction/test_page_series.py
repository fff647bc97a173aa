"""Articles on several pages: which link leads to the next page, and what of the pages is joined."""

import datetime

import pytest

from articles.extraction.extract import ExtractedArticle
from articles.extraction.kept_pages import RawPage, extract_whole
from articles.extraction.page_series import next_page, page_number

FERRY = "https://fjordbladet.example/2026/ferry-story"


@pytest.mark.parametrize(
    ("first", "url", "number"),
    [
        (FERRY, f"{FERRY}?page=2", 2),
        (FERRY, f"{FERRY}/?seite=13", 13),
        (FERRY, "http://www.fjordbladet.example/2026/ferry-story/3/", 3),
        (f"{FERRY}/", f"{FERRY}/page/2/", 2),
        (f"{FERRY}.html", f"{FERRY},2.html", 2),
        (f"{FERRY}.html", f"{FERRY}-page2.html", 2),
        (f"{FERRY}?page=1&utm_source=feed", f"{FERRY}?page=2", 2),
        (f"{FERRY}-page-1", f"{FERRY}-page-2", 2),
        ("https://a.example/?p=101", "https://a.example/?p=101&page=2", 2),
        # Other articles, lists and parts of a series.
        ("https://a.example/?p=1", "https://a.example/?p=2", 0),
        ("https://a.example/story?id=1", "https://a.example/story?id=2", 0),
        ("https://a.example/story/1", "https://a.example/story/2", 0),
        ("https://a.example/", "https://a.example/?page=2", 0),
        (f"{FERRY}-part-1", f"{FERRY}-part-2", 0),
        (FERRY, "https://other.example/2026/ferry-story?page=2", 0),
        (FERRY, f"{FERRY}?page=2&sort=new", 0),
        (FERRY, f"{FERRY}?page=1", 0),
        (FERRY, f"{FERRY}/2/3", 0),
        (FERRY, FERRY, 0),
        (FERRY, "http://[undefined]/", 0),
    ],
)
def test_a_url_is_a_page_of_the_article_or_another_article(first: str, url: str, number: int) -> None:
    assert page_number(url, first) == number


@pytest.mark.parametrize(
    ("links", "following"),
    [
        ('<link rel="next" href="?page=2">', "?page=2"),
        ('<a rel="next" href="/2026/ferry-story/2">On</a>', "/2"),
        ('<ul class="pagination"><li><a href="?page=2#top">→</a><li><a href="?page=3">3</a></ul>', "?page=2"),
        ('<p>Page 1 of 3 <a href="?seite=2">Weiter auf Seite 2</a></p>', "?seite=2"),
        ('<p><a href="?page=2&amp;utm_source=pager">Page 2 of 3</a></p>', "?page=2&utm_source=pager"),
        ('<div class="pages"><b>1</b> <a href="ferry-story-2">2</a></div>', "-2"),
        # Another article, the readers' comments, another story of the same name, a list.
        ('<link rel="next" href="/2026/school-choir">', None),
        ('<div class="post-navigation"><a rel="next" href="ferry-story-2">The ferry story</a></div>', None),
        ('<div class="post-navigation"><a rel="next" href="?page=2">2</a></div>', None),
        ('<div id="comments"><a href="?page=2">2</a></div>', None),
        ('<a rel="next" href="?page=3">3</a>', None),
        ('<a href="?page=2">What the harbour office says of the quay</a>', None),
    ],
)
def test_only_a_link_in_a_list_of_pages_leads_to_the_next_page(links: str, following: str | None) -> None:
    body = f"<html><body><h1>Ferry</h1><p>Text.</p>{links}</body></html>".encode()
    found = next_page(body, FERRY, "text/html", FERRY, 1)
    assert (found and (found.url, found.whole)) == (None if following is None else (FERRY + following, ""))


def test_a_page_with_the_whole_text_is_named_and_the_last_page_ends_the_article() -> None:
    pages = '<div class="pager"><a href="?page=2">2</a> <a href="?page=3">3</a> <a href="?page=all">All pages</a></div>'
    body = f"<p>Text.</p>{pages}".encode()
    assert next_page(body, FERRY, "text/html", FERRY, 1) == (f"{FERRY}?page=2", f"{FERRY}?page=all")
    assert next_page(body, f"{FERRY}?page=2", "text/html", FERRY, 2) == (f"{FERRY}?page=3", "")
    assert next_page(body, f"{FERRY}?page=3", "text/html", FERRY, 3) is None
    path = body.replace(b"?page=all", b"/2026/ferry-story/komplettansicht")
    assert next_page(path, FERRY, "text/html", FERRY, 1) == (f"{FERRY}?page=2", f"{FERRY}/komplettansicht")


def test_pages_are_joined_without_what_is_on_each_of_them() -> None:
    standfirst = "A storm took the northern quay in a night, and three islands wait for their bread and their letters."
    told = [
        f"Paragraph {number} of the long report tells how the crew of the ferry mended rope number {number} by hand."
        for number in range(1, 10)
    ]

    def page(number: int, texts: list[str]) -> RawPage:
        written = "".join(f"<p>{text}</p>" for text in [standfirst, *texts])
        source = f"<article><h1>The long report</h1>{written}<p>Continue on page {number + 1}</p></article>"
        return RawPage(source.encode(), f"{FERRY}?page={number}", "text/html")

    pages = [page(1, told[:3]), page(2, told[3:6]), RawPage(b"<p>x</p>", FERRY, ""), page(4, told[6:])]
    article = extract_whole(pages, b"", datetime.date(2026, 3, 2))
    assert isinstance(article, ExtractedArticle)
    assert article.text.split("\n\n") == [standfirst, *told]
    assert article.text_doubt == "page 3: no article text"
    # A page that has it all adds what the first one lacks.
    both = extract_whole([page(1, told[:3]), page(1, told)], b"", datetime.date(2026, 3, 2))
    assert isinstance(both, ExtractedArticle)
    assert (both.text.split("\n\n"), both.text_doubt) == ([standfirst, *told], "")
