"""When the text that a feed carries becomes the article's, and what is said about it."""

import datetime

import pytest

from articles.extraction.extract import ExtractedArticle
from articles.extraction.kept_pages import FeedEntry, RawPage, extract_whole, unpacked, whole_text, with_feed_entry

DAY = datetime.date(2026, 3, 2)
SENTENCES = (
    "The harbour office closed the northern quay on Monday after a diver found cracks in three of its piles.",
    "Ferries to the outer islands leave from the fish market until the piles are replaced, which takes six weeks.",
    "Skipper Tove Holm said that she would lose two trips a day, and that nobody had asked her beforehand.",
    "The office answered that the tide tables left no other time, and that it had posted a notice in January.",
)
WHOLE = "\n\n".join(SENTENCES)
HTML = "".join(f"<p>{sentence}</p>" for sentence in SENTENCES)
OTHER = " ".join(
    f"Report number {number} about a school choir that sang in the town hall on a rainy evening." for number in range(6)
)
ENTRY = FeedEntry(HTML, "Quay closed", "Ilse Corrigan").packed()


def page(text: str, **more: object) -> ExtractedArticle:
    return ExtractedArticle(text=text, headline="Quay closed for weeks", date=DAY, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("found", "text", "doubt"),
    [
        pytest.param(page(WHOLE), WHOLE, "", id="the page has it all"),
        pytest.param(page(f"{WHOLE}\n\n{OTHER}"), f"{WHOLE}\n\n{OTHER}", "", id="the page has more"),
        pytest.param(page(SENTENCES[0]), WHOLE, "taken from the feed; the page has 25% of it", id="stub"),
        pytest.param(
            page("\n\n".join(SENTENCES[:3]), paywalled=True),
            WHOLE,
            "taken from the feed; the page has 75% of it and a paywall",
            id="paywall",
        ),
        pytest.param(
            page("\n\n".join((*SENTENCES[:3], SENTENCES[3][:60]))),
            "\n\n".join((*SENTENCES[:3], SENTENCES[3][:60])),
            "has 89% of the feed's own text",
            id="a little shorter",
        ),
        pytest.param(page(OTHER), OTHER, "the feed carries another text", id="another text"),
        pytest.param(
            page(OTHER, text_doubt="a subscription notice"),
            WHOLE,
            "taken from the feed; the page has another text",
            id="a notice",
        ),
        pytest.param(
            "no article text", WHOLE, "taken from the feed; the page has none (no article text)", id="no text"
        ),
    ],
)
def test_the_feeds_text_is_used_where_the_page_has_less(found: ExtractedArticle | str, text: str, doubt: str) -> None:
    article = with_feed_entry(found, ENTRY)
    assert isinstance(article, ExtractedArticle)
    assert (article.text, article.text_doubt, article.paywalled) == (text, doubt, False)
    # The page's own facts stay; without a page, they are the feed's.
    assert (article.headline, article.byline, article.language) == (
        ("Quay closed", "Ilse Corrigan", "en")
        if isinstance(found, str)
        else ("Quay closed for weeks", "", "en" if text == WHOLE and doubt else "")
    )


@pytest.mark.parametrize(
    "html",
    [
        "",
        "<p>Only a teaser of the article.</p>",
        f"{HTML}<p>The rest of the story […]</p>",
        f"{HTML}<p>And then it … <a href='/ferry'>Continue reading</a></p>",
        f"{HTML}<p><a href='/ferry'>Read the full story</a></p>",
        f"{HTML}<p><a href='/ferry'>Weiterlesen</a></p>",
        "<p>" * 400,
        "&&&<<<",
    ],
)
def test_a_feed_that_carries_only_the_beginning_changes_nothing(html: str) -> None:
    entry = FeedEntry(html, "Quay closed").packed()
    assert with_feed_entry("no article text", entry) == "no article text"
    stub = page(SENTENCES[0])
    assert with_feed_entry(stub, entry) is stub


def test_the_feeds_own_additions_are_no_part_of_the_text() -> None:
    tail = '<p>The post <a href="/q">Quay closed</a> appeared first on <a href="/">Fjordbladet</a>.</p>'
    script = "<script>alert(1)</script><div class='sharedaddy share'><a href='/x'>Share</a></div>"
    entry = FeedEntry(f"<p>By Ilse Corrigan</p>{HTML}{script}{tail}", "Quay closed")
    assert whole_text(entry) == (WHOLE, "Ilse Corrigan")


def test_what_was_not_packed_here_is_no_entry() -> None:
    assert unpacked(ENTRY) == FeedEntry(HTML, "Quay closed", "Ilse Corrigan")
    assert [unpacked(data) for data in (b"", b"x", ENTRY[:20])] == [None] * 3
    assert FeedEntry("<p>" + "a" * 1_000_001).packed() == b""


def test_a_page_that_could_not_be_read_leaves_the_feeds_text() -> None:
    pages = [RawPage(b"", "https://fjordbladet.example/quay", "")]
    assert extract_whole(pages, ENTRY, DAY) == with_feed_entry("could not be read", ENTRY)
