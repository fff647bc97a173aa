"""A newspaper's own extraction rule: what it finds, what it leaves to the general extraction, and what is refused."""

import datetime
import gzip

import pytest

from articles.extraction.extract import extract_article
from articles.extraction.kept_pages import KeptPage, RawPage
from articles.extraction.rules import MAX_SELECTOR_CHARACTERS, ExtractionRule, rule_faults
from articles.extraction.trial import TrialError, try_rule

URL = "https://fjordbladet.example/2024/05/ferry"
FIRST = "The old ferry across the sound made its last crossing on Friday, and half the island came to see it."
SECOND = "Its captain rang the bell twice, and said that he would miss the fog more than the passengers."
OFFER = "Read the whole paper for one crown a week, on every screen that you own, wherever the wind blows. " * 12
PAGE = f"""<!doctype html><html lang="en"><head><title>Fjordbladet</title>
<meta property="og:title" content="Fjordbladet, the paper of the islands"></head><body>
<div class="offer"><p>{OFFER}</p><p>{OFFER}</p></div>
<h1>Last ferry <span class="flag">NEW</span></h1><p class="when" title="2024-05-03T07:30+02:00">Friday</p>
<span class="name">Liv Dahl</span><span class="name">Jon Berg</span>
<div class="related story"><h1>Last ferry</h1><p>{FIRST}</p><aside><p>Our letter comes every morning.</p></aside></div>
<div class="related story"><p>{SECOND}</p><p class="flag">Text and pictures: the island desk of this paper.</p></div>
</body></html>""".encode()
RULE = ExtractionRule(
    body=("article.missing", "div.story"),
    headline=("//h1",),
    day=("//p[@class='when']/@title",),
    authors=(".name",),
    drop=(".flag",),
    number=7,
)


def test_what_the_rule_finds_comes_before_all_that_the_page_says() -> None:
    assert OFFER.strip() in extract_article(PAGE, URL).text
    article = extract_article(PAGE, URL, rule=RULE)
    assert (article.headline, article.text) == ("Last ferry", f"{FIRST}\n\n{SECOND}")
    assert (article.date, article.date_source) == (datetime.date(2024, 5, 3), "rule")
    assert (str(article.time), article.byline) == ("2024-05-03T07:30+02:00", "Liv Dahl, Jon Berg")
    assert article.text_doubt == article.date_doubt == ""


def test_what_the_rule_does_not_find_is_extracted_as_on_other_pages_with_a_doubt() -> None:
    general = extract_article(PAGE, URL)
    blind = ExtractionRule(body=(".name", "main"), headline=("h6",), day=("time", ".name"), authors=("address",))
    article = extract_article(PAGE, URL, rule=blind)
    assert (article.text, article.headline, article.byline) == (general.text, general.headline, general.byline)
    assert article.text_doubt.startswith("the newspaper's own rule finds no text and no headline on the page")
    assert article.date_doubt.startswith("the newspaper's own rule finds “Liv Dahl”, which gives no day")
    words = PAGE.replace(b">Friday<", "> Published on 3. maí 2024 kl. 7 <".encode())
    article = extract_article(words, URL, rule=ExtractionRule(day=(".when",)))
    assert (article.date, article.date_source) == (datetime.date(2024, 5, 3), "rule")
    future = ExtractionRule(day=(".when",))
    page = PAGE.replace(b"Friday<", b"2044-05-03<")
    assert "“2044-05-03”" in extract_article(page, URL, today=datetime.date(2024, 5, 4), rule=future).date_doubt


SLOW = "takes too long: more than 1 second on a page of 10,000 elements"


@pytest.mark.parametrize(
    ("selector", "field", "fault"),
    [
        ("div[class=", "body", "“div[class=” is not a CSS selector"),
        ("//div[", "body", "“//div[” is not XPath (Invalid expression)."),
        ("//div[re:test(., 'x')]", "headline", "is not XPath (Undefined namespace prefix)"),
        ("(count(//p))", "headline", "gives a number"),
        ("//h1/@title", "drop", "finds attributes or texts; here it must find elements"),
        ("//h1[title()]", "headline", "is not XPath (Unregistered function)"),
        ("//*[count(" * 9 + "//*" + ") > 1]" * 9, "day", SLOW),
        ("//p[count(preceding::div[count(following::p) > 3]) > 2]", "body", SLOW),
        ("p" * (MAX_SELECTOR_CHARACTERS + 1), "body", "has 301 characters; a selector has at most 300"),
        ("//h1/@title", "headline", ""),
        ("h1 ~ div.story > p:not(.flag)", "body", ""),
        ("string(//h1)", "headline", "is not a CSS selector"),
        ("(string(//h1))", "headline", ""),
    ],
)
def test_a_selector_is_refused_with_its_fault(selector: str, field: str, fault: str) -> None:
    found = rule_faults(ExtractionRule(**{field: (selector,)}))
    assert list(found) == ([field] if fault else [])
    assert fault in "".join(found.get(field, []))


def test_a_trial_shows_both_readings_and_ends_what_takes_too_long() -> None:
    day = datetime.date(2024, 5, 4)
    pages = [KeptPage(gzip.compress(PAGE), URL, "text/html", day), KeptPage(b"broken", URL, "text/html", day)]
    second = RawPage(gzip.compress(PAGE.replace(FIRST.encode(), OFFER[:90].encode())), f"{URL}?page=2", "text/html")
    first, broken, joined = try_rule(RULE, [*pages, pages[0]._replace(following=[second])])
    assert joined.after.text == f"{FIRST}\n\n{SECOND}\n\n{OFFER[:90]}"
    assert OFFER.strip() in first.before.text
    assert (first.after.text, first.after.day) == (f"{FIRST}\n\n{SECOND}", "2024-05-03, 07:30 UTC+02:00")
    assert first.after.authors == "Liv Dahl, Jon Berg"
    assert broken.before.reason == broken.after.reason != ""
    slow = ExtractionRule(body=("//*[count(" * 9 + "//*" + ") > 1]" * 9,))
    with pytest.raises(TrialError, match="The trial took too long"):
        try_rule(slow, pages, longest=3)
