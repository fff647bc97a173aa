"""Which text of a page is the article, and what is said if that is doubtful."""

import json

import pytest

from articles.extraction.extract import ExtractedArticle, extract_article

URL = "https://fjordbladet.example/news/ferry-quay"
SENTENCES = [
    "The ferry quay at Vestby will be closed for repairs from Monday until the end of the month.",
    "Passengers are asked to use the northern pier, where a second boat will call every half hour.",
    "The harbour master said that the old piles had been damaged by the storms of the last two winters.",
    "Divers found cracks in eleven of them, and three can no longer carry the weight of a loaded lorry.",
    "The council will pay for the work from the fund that it set up after the flood four years ago.",
    "Shopkeepers at the quay fear for their trade, because most of their customers come off the boat.",
    "A petition for a footbridge has been signed by more than nine hundred people in the two villages.",
    "The ferry company promised to refund all season tickets for the days on which no boat can call.",
]
HEADLINE = "Ferry quay at Vestby closed for repairs"
ADVERTISEMENT = (
    "Subscribe now for unlimited digital access. Cancel any time. Already a subscriber? Log in to your account."
)
OTHER = " ".join(
    "A baker in Nesodden has won the prize for the best rye bread of the county with a recipe of her grandmother."
    for _ in range(3)
)


def extract(body: str, head: str = "") -> ExtractedArticle:
    page = f"<html lang=en><head><title>{HEADLINE}</title>{head}</head><body>{body}</body></html>"
    return extract_article(page.encode(), URL)


def in_wrappers() -> str:
    """Return an article whose paragraphs are in wrappers with an outer class that differs from one to the next."""
    inner = "<div class='Wide-k3'><div class='Text-q9'><p>{}</p></div></div>"
    teaser = f"<div class='Grid-2'><a href='/bread'><h2>Baker wins prize</h2><p>{OTHER[:110]}</p></a></div>"
    sections = [f"<div class='x{n % 3}'>{inner.format(text)}</div>{teaser}" for n, text in enumerate(SENTENCES)]
    return f"<main><article><div><h1>{HEADLINE}</h1></div>{''.join(sections)}</article></main>"


CHROME = f"""<h1>{HEADLINE}</h1><div class=onetrust-consent>We and our 900 partners store cookies on your device.</div>
<article><p>Article content</p><p>Stand: 22.04.2026, 06:00 Uhr</p><p>{SENTENCES[0]}</p>
<p>4 min read</p><p>Lesezeit: 3 Minuten</p>
<div class=embed><p>An dieser Stelle finden Sie einen externen Inhalt von Filmhaus, der den Artikel ergänzt.</p>
<p>Ich bin damit einverstanden, dass mir externe Inhalte angezeigt werden. Damit können personenbezogene Daten an
Drittplattformen übermittelt werden.</p></div><p>Von Kari Nordmann</p>
{"".join(f"<p>{sentence}</p>" for sentence in SENTENCES[1:])}</article>"""
NUMBERED = "".join(
    f"<div class=w{n}><div class=t-{'abcdefgh'[n]}><p>{sentence}</p></div></div>"
    for n, sentence in enumerate(SENTENCES)
)
NEXT_ARTICLE = (
    f"<div class=story><h1>{HEADLINE}</h1><div>{''.join(f'<p>{sentence}</p>' for sentence in SENTENCES)}</div></div>"
    f"<div class=story><h1>Baker wins prize</h1><div><p>{OTHER}</p><p>{OTHER}</p></div></div>"
)
UTILITY_CLASSES = (
    f"<h1>{HEADLINE}</h1><div class='prose mt-4'>{''.join(f'<p class=mb-4>{text}</p>' for text in SENTENCES)}</div>"
    f"<div class='grid'><div class='card'><a href=/x><h3>Bread</h3><p>{OTHER}</p></a></div></div>"
)


BODIES = {
    "wrappers": in_wrappers(),
    "a second article": f"{in_wrappers()}<article><h1>Baker wins prize</h1><p>{OTHER}</p><p>{OTHER}</p></article>",
    "paywall": f"<div><h1>{HEADLINE}</h1></div><div class='paywall'>{''.join(f'<p>{p}</p>' for p in SENTENCES)}</div>",
    "utility classes": UTILITY_CLASSES,
    "the next article": NEXT_ARTICLE,
    "shadow root": f"<h1>{HEADLINE}</h1><template shadowrootmode=open>{'<br><br>'.join(SENTENCES)}</template>",
    "lines": CHROME,
    "numbered": f"<main><article><h1>{HEADLINE}</h1>{NUMBERED}</article></main>",
}


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_the_whole_article_is_found(body: str) -> None:
    article = extract(body)
    assert article.text.split("\n\n") == SENTENCES
    assert article.text_doubt == ""


def test_a_doubt_says_what_speaks_against_the_text() -> None:
    declared = json.dumps({"@type": "NewsArticle", "headline": HEADLINE, "articleBody": " ".join(SENTENCES[:4])})
    head = f'<script type="application/ld+json">{declared}</script>'

    notice = extract(f"<h1>{HEADLINE}</h1><div class=offer><p>{ADVERTISEMENT}</p></div>")
    assert notice.text_doubt == "the text looks like a subscription, login or cookie notice"
    # The declared text is the article where the page shows only a notice.
    assert extract(f"<h1>{HEADLINE}</h1><div><p>{ADVERTISEMENT}</p></div>", head).text == " ".join(SENTENCES[:4])

    other = extract(f"<main><article><p>{OTHER}</p><p>{OTHER}</p></article></main>", head)
    assert other.text_doubt == "the text differs from the one that the page declares in JSON-LD"

    described = f"<meta name=description content='{SENTENCES[2]}'>"
    other = extract(f"<main><article>{f'<p>{OTHER}</p>' * 4}</article></main>", described)
    assert other.text_doubt == "the text has little in common with the headline"


@pytest.mark.parametrize("words", [len(SENTENCES[0].split()), 800])
def test_a_short_article_is_paywalled_only_if_more_of_it_is_locked(words: int) -> None:
    declared = {"@type": "NewsArticle", "headline": HEADLINE, "isAccessibleForFree": False, "wordCount": words}
    head = f'<script type="application/ld+json">{json.dumps(declared)}</script>'
    assert extract(f"<article><h1>{HEADLINE}</h1><p>{SENTENCES[0]}</p></article>", head).paywalled is (words == 800)


def test_a_text_that_was_sent_or_a_menu_that_sells_subscriptions_is_no_paywall() -> None:
    text = "".join(f"<p>{sentence}</p>" for sentence in SENTENCES)
    menu = "<header><nav>Already a subscriber? Log in to keep reading</nav></header>"
    assert extract(f"<article><h1>{HEADLINE}</h1><div class='paywall'>{text}</div></article>").paywalled is False
    assert extract(f"{menu}<article><h1>{HEADLINE}</h1>{text}</article>").paywalled is False
