"""Authors in a page: those that it declares, and those that only its readers see. No network, no database."""

# ruff: noqa: E501 - a line is a case

import json

import pytest

from articles.extraction.extract import extract_article

URL = "https://www.fjordbladet.example/ferry"
TEXT = "<p>The old ferry across the sound made its last crossing on Friday, and half the island stood on the quay.</p>"
LINKED_CARD = '<a href="/winter"><div><h3>Winter</h3></div><span class="author">Somebody Else</span></a>'
CARD = '<div class="card"><h3><a href="/winter">A hard winter on the islands</a></h3><span class="author">Somebody Else</span></div>'


def byline(head: str = "", above: str = "", text: str = TEXT, below: str = "") -> str:
    source = f"<html><head>{head}</head><body><nav><a href='/author/x'>Per Nav</a></nav><h1>Last ferry</h1>{above}<article>{text}</article>{below}</body></html>"
    return extract_article(source.encode(), URL).byline


def linked(**data: object) -> str:
    return f'<script type="application/ld+json">{json.dumps({"@type": "NewsArticle"} | data)}</script>'


@pytest.mark.parametrize(
    ("head", "names"),
    [
        (linked(author=[{"name": "Liv Dahl"}, {"name": "Tom Berg"}]), "Liv Dahl, Tom Berg"),
        (linked(author={"givenName": "Liv", "familyName": "Dahl"}), "Liv Dahl"),
        (linked(creator="Liv Dahl"), "Liv Dahl"),
        # A reference to another object of the page.
        (linked(author={"@id": "#liv"}) + '<script type="application/ld+json">[{"@id": "#liv", "@type": "Person", "name": "Liv Dahl"}]</script>', "Liv Dahl"),
        ('<meta name="articleAuthor" content="Liv Dahl">', "Liv Dahl"),
        ('<meta property="article:author" content="Liv Dahl"><meta property="article:author" content="Tom Berg">', "Liv Dahl, Tom Berg"),
        ('<meta name="twitter:label1" content="Verfasst von"><meta name="twitter:data1" content="Liv Dahl">', "Liv Dahl"),
        ('<meta name="twitter:label1" content="Reading time"><meta name="twitter:data1" content="Two Minutes">', ""),
        ('<script type="application/ld+json">{"@type": "NewsArticle", "author": "Liv Dahl",}</script>', "Liv Dahl"),
        (linked() + '<script type="application/ld+json">{"@type": "WebPage", "author": {"name": "Liv Dahl"}}</script>', "Liv Dahl"),
        # An organisation, whatever its name, is not a person.
        (linked(author={"@type": "Organization", "name": "Maja Vik"}) + '<meta name="author" content="Liv Dahl">', "Liv Dahl"),
        (linked(author=[{"@type": "Organization", "name": "Maja Vik"}]), "Maja Vik"),
        (linked(author="Nordland Online") + '<meta name="author" content="Liv Dahl">', "Liv Dahl"),
        # The site is its author only if nobody is named; so are desks and agencies.
        (linked(author="Fjordbladet") + '<meta name="author" content="Liv Dahl">', "Liv Dahl"),
        (linked(author="fjordbladet.example"), "fjordbladet.example"),
        (linked(author="Fjordbladet") + '<meta name="author" content="dpa">', "dpa"),
    ],
)  # fmt: skip
def test_declared_authors(head: str, names: str) -> None:
    assert byline(head) == names


@pytest.mark.parametrize(
    ("above", "names"),
    [
        (
            '<div class="article-byline"><div><span>Liv Dahl</span> <span>Tom Berg</span></div></div>',
            "Liv Dahl, Tom Berg",
        ),
        ('<ul class="metaInfoAuthorList"><li>Von <a href="/x">Liv Dahl</a></li></ul>', "Liv Dahl"),
        ('<p class="meta">von <a href="/autoren/name/liv-dahl">Dr. Liv Dahl</a>, 3. Mai 2024</p>', "Dr. Liv Dahl"),
        ('<div data-testid="authors">By Liv Dahl and Tom Berg, 3 May 2024</div>', "Liv Dahl, Tom Berg"),
        ('<div class="author"><b>Liv Dahl</b><i>Senior Correspondent</i><a>Follow Us</a></div>', "Liv Dahl"),
        ('<div class="post-author">Posted by admin</div>', ""),
        ('<div class="author">Share This</div>', ""),
        # The card of another article comes first.
        (f'{CARD}<div class="author">Liv Dahl</div>', "Liv Dahl"),
        (f'{LINKED_CARD}<div class="author">Liv Dahl</div>', "Liv Dahl"),
        ('<form class="author">Per Form</form><figure><span class="author">Per Photo</span></figure>', ""),
    ],
)
def test_authors_that_only_readers_see(above: str, names: str) -> None:
    assert byline(above=above) == names
    # What the page declares decides, unless it names nobody.
    assert byline(linked(author="Eva Holm"), above=above) == "Eva Holm"
    assert byline(linked(author="Fjordbladet"), above=above) == (names or "Fjordbladet")


@pytest.mark.parametrize(
    "below", ['<div id="comments"><b class="author">Angry Reader</b></div>', f"<aside>{CARD}</aside>"]
)
def test_those_who_write_elsewhere_on_the_page_are_not_authors(below: str) -> None:
    assert byline(below=below) == ""


def test_a_line_of_names_is_a_byline_if_the_text_does_not_speak_of_them() -> None:
    assert byline(text=f"<p><b>Liv Dahl/Tom Berg</b></p>{TEXT}") == "Liv Dahl, Tom Berg"
    assert byline(text=f"{TEXT}<p>Liv Dahl</p>") == "Liv Dahl"
    assert byline(text=f"<p>Liv Dahl</p>{TEXT}<p>On the quay, Dahl waved to the people on the boat.</p>") == ""


@pytest.mark.parametrize(
    ("title", "headline"),
    [
        ("Last ferry to the island - Fjordbladet", "Last ferry to the island"),
        ("Last ferry to the island | fjordbladet.example", "Last ferry to the island"),
        ("Last ferry – a story in pictures", "Last ferry – a story in pictures"),
        ("Last ferry to the island | Nordland", "Last ferry to the island | Nordland"),
    ],
)
def test_the_site_is_not_part_of_the_headline(title: str, headline: str) -> None:
    head = f'<meta property="og:title" content="{title}"><meta property="og:site_name" content="Fjordbladet">'
    source = f"<html><head>{head}</head><body><h1>Last ferry</h1><article>{TEXT}</article></body></html>"
    assert extract_article(source.encode(), URL).headline == headline
    # The words that only one source adds are not part of it either, if the other source has most of it.
    longer = source.replace("<h1>Last ferry", "<h1>Last ferry to the island")
    assert extract_article(longer.encode(), URL).headline == headline.removesuffix(" | Nordland")
