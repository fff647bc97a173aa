"""Extracting text, headline, day and canonical URL from a page. No network, no database."""

import datetime
import json

import pytest

from articles.extraction.extract import ExtractionError, extract_article

URL = "https://fjordbladet.example/2024/05/ferry"
FIRST = "The old ferry across the sound made its last crossing on Friday, and half the island stood on the quay."
SECOND = (
    "Its captain, who had steered it for thirty-one years, rang the bell twice and said that he would miss the fog."
)
THIRD = "From Monday a bridge carries the traffic, and the ferry becomes a museum in the harbour of the main town."


def page(body: str = "", head: str = "") -> bytes:
    article = body or f"<article><p>{FIRST}</p><p>{SECOND}</p></article>"
    return f"<!doctype html><html><head>{head}</head><body>{article}</body></html>".encode()


def linked_data(data: object) -> str:
    return f'<script type="application/ld+json">{json.dumps(data)}</script>'


def test_the_text_is_its_paragraphs_with_blank_lines_between() -> None:
    body = f"<article><p>{FIRST}</p><div><p>  {SECOND}\n </p></div>{THIRD}<br><br>The end, for now.</article>"
    assert extract_article(page(body), URL).text == f"{FIRST}\n\n{SECOND}\n\n{THIRD}\n\nThe end, for now."


@pytest.mark.parametrize(
    "noise",
    [
        "<aside><p>Also by this author: a week among the herring boats of the north.</p></aside>",
        "<nav><p>News Sport Weather, and everything else that this paper has to offer.</p></nav>",
        "<figure><img src='a.jpg'><figcaption>The ferry on Friday. Photo: Liv Dahl, Fjordbladet.</figcaption></figure>",
        "<div class='related-stories'><p>Related: the bridge that nobody wanted, and who paid for it.</p></div>",
        "<div class='relatedArticles'><p>Related: the bridge that nobody wanted, and who paid for it.</p></div>",
        "<div id='newsletter_signup'><p>Get the morning letter from the islands, free, every day.</p></div>",
        "<ul class='social share-bar'><li>Share this, copy the link, or send it to a friend you like.</li></ul>",
        "<p class='wp-caption-text caption'>The ferry at the quay, seen from the north on Friday, before noon.</p>",
        "<section class='comments'><p>Comment now! Your view on the ferry counts, says our desk.</p></section>",
        "<style>.ferry { color: blue; margin: 0 auto; } .quay { float: left; clear: both }</style>",
        "<script>window.adverts = {slot: 'ferry', size: [300, 250], refresh: true};</script>",
    ],
)
def test_elements_marked_as_noise_are_not_in_the_text_nor_is_the_headline(noise: str) -> None:
    paragraphs = f"<h1>Last ferry</h1><p>{FIRST}</p>{noise}<p>{SECOND}</p>"
    # A frame with a noisy name keeps its article.
    for body in (f"<article>{paragraphs}</article>", f"<div class='content social-wrapper'>{paragraphs}</div>"):
        article = extract_article(page(body), URL)
        assert (article.headline, article.text) == ("Last ferry", f"{FIRST}\n\n{SECOND}")


def test_json_ld_gives_the_text_if_the_page_has_none() -> None:
    head = linked_data({"@type": "NewsArticle", "articleBody": f"{FIRST}\n\n{SECOND} Tom &amp; Liv"})
    assert extract_article(page("<div id='app'></div>", head), URL).text == f"{FIRST}\n\n{SECOND} Tom & Liv"
    head = linked_data({"@type": "NewsArticle", "articleBody": f"<p>{FIRST}</p><p>{SECOND}</p>"})
    assert extract_article(page("<div id='app'></div>", head), URL).text == f"{FIRST}\n\n{SECOND}"


LINKS = "<ul>" + "".join(f"<li><a href='/{number}'>Story number {number} of the day</a></li>" for number in range(30))


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"", "empty page"),
        (b" \n ", "empty page"),
        (b"<!-- nothing -->", "empty page"),
        (page("<style>p { color: red }</style><p>Comment now</p>"), "no article text"),
        (page("<frameset><frame src='a'></frameset>"), "no article text"),
        (page(LINKS), "no article text"),
    ],
)  # fmt: skip
def test_a_page_without_an_article_says_why(body: bytes, reason: str) -> None:
    with pytest.raises(ExtractionError) as caught:
        extract_article(body, URL)
    assert caught.value.reason == reason


@pytest.mark.parametrize(
    "data",
    [
        {"@type": "NewsArticle", "headline": "Last ferry", "datePublished": "2024-05-03T23:30:00+05:30"},
        {"@type": ["Article", "Thing"], "headline": "Last\nferry", "datePublished": "2024-05-03"},
        [{"@type": "Organization", "name": "Fjordbladet"}, {"@type": "ReportageNewsArticle",
         "headline": " Last ferry", "datePublished": "20240503T080000Z"}],
        {"@graph": [{"@type": "WebPage", "name": "Page"}, {"@type": "http://schema.org/BlogPosting",
         "headline": "Last ferry", "dateCreated": "2024/5/3"}]},
        {"@type": "WebPage", "mainEntity": {"@type": "NewsArticle", "headline": "Last ferry",
         "datePublished": "Fri, 03 May 2024 22:00:00 -0700"}},
    ],
)  # fmt: skip
def test_json_ld_comes_first(data: object) -> None:
    head = linked_data(data) + '<meta property="og:title" content="Another"><meta name="date" content="2020-01-01">'
    article = extract_article(page(head=head), URL)
    assert (article.headline, article.date, article.date_source) == ("Last ferry", datetime.date(2024, 5, 3), "json-ld")


def test_unreadable_json_ld_is_ignored() -> None:
    broken = '<script type="application/ld+json">{"@type": "NewsArticle", </script>'
    wrapped = (
        '<script type="application/ld+json"><!-- {"@type": "NewsArticle", "headline": "Last\nferry &amp; bridge",'
        ' "datePublished": 5, "url": []} --></script>'
    )
    article = extract_article(page(head=broken + wrapped), "https://fjordbladet.example/ferry")
    assert (article.headline, article.date, article.canonical_url) == ("Last ferry & bridge", None, None)


@pytest.mark.parametrize(
    ("head", "body", "headline"),
    [
        ('<meta property="og:title" content="Last &amp;amp; best"><title>No</title>', "", "Last & best"),
        (
            "<title>No</title>",
            f"<h1>Fjordbladet</h1><article><h1>Last  ferry</h1><p>{FIRST}</p></article>",
            "Last ferry",
        ),
        ("<title>Last ferry | Fjordbladet</title>", "", "Last ferry"),
        ("", "", ""),
    ],
)
def test_the_headline_falls_back(head: str, body: str, headline: str) -> None:
    assert extract_article(page(body, head), URL).headline == headline


@pytest.mark.parametrize(
    ("head", "body", "source"),
    [
        ('<meta property="article:published_time" content="2024-05-03T00:30:00+02:00">', "", "meta"),
        ('<meta itemprop="datePublished" content="2024-05-03">', "", "meta"),
        ("", f"<p>{FIRST}</p><time class='updated' datetime='2024-06-09'></time><time datetime='2024-05-03'>", "time"),
        ("", f"<time datetime='2020-01-01'></time><main><time datetime='2024-05-03T10:00'></time><p>{FIRST}", "time"),
        ("", f"<article><p>{FIRST}</p><p>{SECOND}</p></article><footer>Copyright 2019 Fjordbladet</footer>", None),
    ],
)  # fmt: skip
def test_the_date_falls_back(head: str, body: str, source: str | None) -> None:
    article = extract_article(page(body, head), "https://fjordbladet.example/ferry")
    assert (article.date, article.date_source) == (datetime.date(2024, 5, 3) if source else None, source)


@pytest.mark.parametrize(
    ("head", "canonical"),
    [
        ('<link rel="canonical" href="https://fjordbladet.example/ferry">', "https://fjordbladet.example/ferry"),
        ('<link rel="canonical" href="/ferry">', "https://fjordbladet.example/ferry"),
        ('<link rel="canonical" href="//m.fjordbladet.example/ferry">', "https://m.fjordbladet.example/ferry"),
        ('<link rel="canonical" href="/?p=7">', "https://fjordbladet.example/?p=7"),
        ('<link rel="canonical" href="">', None),
        ('<link rel="canonical" href="#">', None),
        ('<link rel="canonical" href="undefined">', None),
        ('<link rel="canonical" href="http://[undefined]/ferry">', None),
        ('<link rel="canonical" href="https://fjordbladet.example/">', None),
        ('<link rel="canonical" href="https://fjordbladet.example">', None),
        (
            '<link rel="canonical" href="/"><meta property="og:url" content="https://fjordbladet.example/ferry">',
            "https://fjordbladet.example/ferry",
        ),
        (linked_data({"@type": "Article", "mainEntityOfPage": {"@id": "https://fjordbladet.example/ferry"}}),
         "https://fjordbladet.example/ferry"),
        (linked_data({"@type": "Article", "url": "https://fjordbladet.example/ferry"}),
         "https://fjordbladet.example/ferry"),
        ("", None),
    ],
)  # fmt: skip
def test_the_canonical_url_is_the_declared_one_if_it_can_be_an_article(head: str, canonical: str | None) -> None:
    assert extract_article(page(head=head), URL).canonical_url == canonical


def test_control_characters_are_removed() -> None:
    body = f"<article><p>{FIRST}\0\x01</p><p>\x0c{SECOND}</p></article>"
    article = extract_article(page(body, linked_data({"@type": "Article", "headline": "Last\0 \ud800ferry"})), URL)
    assert (article.headline, article.text) == ("Last ferry", f"{FIRST}\n\n{SECOND}")
