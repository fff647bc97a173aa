"""Separating the text of an article from the page around it: lines, boxes, very short articles. No network."""

# ruff: noqa: E501 - a line is a case

import pytest

from articles.extraction.extract import ExtractionError, extract_article
from articles.extraction.html import Paragraph, join_paragraphs, paragraphs, parse_markup
from articles.extraction.page_chrome import is_page_chrome

URL = "https://fjordbladet.example/ferry"
SHORT = "The ferry to the northern islands is out of service until Monday noon."
FIRST = "The old ferry across the sound made its last crossing on Friday, and half the island stood on the quay."
SECOND = "Its captain rang the bell twice and said that after thirty-one years he would miss the fog most of all."
MARKET = "The mayor cut the ribbon on Thursday, and the band of the fire brigade played for an hour in the rain."
LAMP = "Engineers from the mainland brought the lamp by boat and needed two days to lift it into the tower."
BOX = (
    f"<h3>In other news</h3><p><a href='/1'>Mayor opens the new fish market in the harbour</a></p><p>{MARKET}</p>"
    f"<p><a href='/2'>Lighthouse gets a new lamp after forty years of service</a></p><p>{LAMP}</p>"
)


def text_of(body: str) -> str:
    source = f"<!doctype html><html><head><title>Ferry stops | Fjordbladet</title></head><body>{body}</body></html>"
    return extract_article(source.encode(), URL).text


@pytest.mark.parametrize(
    "body",
    [
        f"<h1>Ferry stops</h1><p>{SHORT}</p>",
        f"<div id=main><h1>Ferry stops</h1><span class=text>{SHORT}</span></div>",
        f"<div class='headline'><h2>Ferry stops</h2></div><div class='story'><p>{SHORT}</p></div>",
        f"<h1>Ferry stops</h1><div class='t'>{SHORT}<br><br>Comment now<br></div>",
        # Styles and scripts, even those that a broken template shows as text.
        f"<style>.a {{color: red; background: url(x.png)}}</style><h1>Ferry stops</h1><p>{SHORT}</p><style>b{{}}</style>",
        f"<h1>Ferry stops</h1><div>{SHORT}</div><div style='display:none'>.w a {{ color: #333; float: left }}</div>",
        f"<script>document.write('<p>{MARKET}</p>')</script><h1>Ferry stops</h1><p>{SHORT}</p>",
        f"<h1>Ferry stops</h1><p>{SHORT}</p><noscript><p>Enable JavaScript to vote in our polls here.</p></noscript>",
        # "Comment now", and comments that are longer than the article.
        f"<h1>Ferry stops</h1><p>{SHORT}</p><p>Comment now</p><a href='#c'>Comment now</a>",
        f"<h1>Ferry stops</h1><p>{SHORT}</p><section id='comments'><p>{MARKET}</p><p>{LAMP}</p></section>",
        # "In other news", by its heading or by its name.
        f"<h1>Ferry stops</h1><div class='txt'><p>{SHORT}</p></div><div class='x'>{BOX}</div>",
        f"<article><h1>Ferry stops</h1><p>{SHORT}</p><div>{BOX}</div></article>",
        f"<h1>Ferry stops</h1><div class='content'><p>{SHORT}</p></div><div class='related-posts'>{BOX}</div>",
        f"<main><h1>Ferry stops</h1><p>{SHORT}</p></main><aside><h2>Most read</h2><p>{MARKET}</p><p>{LAMP}</p></aside>",
        f"<table><tr><td><h1>Ferry stops</h1><p>{SHORT}</p></td><td>{BOX}</td></tr></table>",
        # The page marks its text.
        f"<div><h1>Ferry stops</h1><div itemprop='articleBody'><p>{SHORT}</p></div></div><div><p>{MARKET}</p><p>{LAMP}</p></div>",
        f"<div><h1>Ferry stops</h1><div class='entry-content'><p>{SHORT}</p></div></div><div><p>{MARKET}</p><p>{LAMP}</p></div>",
        # Lines of the site.
        f"<div><p>We use cookies to give you the best experience on our website.</p></div><h1>Ferry stops</h1><p>{SHORT}</p>",
        f"<article><h1>Ferry stops</h1><p>{SHORT}</p><p>© 2024 Fjordbladet. All rights reserved.</p></article>",
        f"<article><h1>Ferry stops</h1><p>By Liv Dahl</p><p>{SHORT}</p><p>Share</p><p>Tweet</p></article>",
        f"<article><h1>Ferry stops</h1><p>Published: Friday, 3 May 2024, 10:15 am</p><p>{SHORT}</p></article>",
        f"<nav><a href=/>Home</a></nav><header><p>Fjordbladet, daily since 1888</p></header><article><p>{SHORT}</p></article>",
    ],
)  # fmt: skip
def test_a_very_short_article_has_only_its_own_text(body: str) -> None:
    assert text_of(body) == SHORT


def test_a_page_with_only_boxes_has_no_article() -> None:
    with pytest.raises(ExtractionError, match="no article text"):
        text_of(f"<style>.a {{color: red}}</style><h1>Ferry stops</h1><p>Comment now</p><div>{BOX}</div>")


def line(text: str, linked: float = 0.0, *, heading: bool = False) -> Paragraph:
    return Paragraph(text, linked, heading)


@pytest.mark.parametrize(
    "text",
    [
        "Read also: The bridge that nobody wanted", "READ MORE", "Related stories", "Related: Who pays for the bridge?",
        "You may also like…", "Leggi anche su questo tema: Il ponte che nessuno voleva", "Читайте также: Мост, который никому не нужен",
        "Lire aussi : Le pont que personne ne voulait", "Lesen Sie auch", "Lea también: El puente", "関連記事", "यह भी पढ़ें: पुल",
        "In other news", "Don't miss", "DON’T MISS", "Most read",
        "Share this article", "Share on WhatsApp Tweet Email", "Comment now", "Comments (0)", "View 12 comments", "Teilen", "Compartir",
        "Advertisement", "ADVERTISEMENT - CONTINUE READING BELOW", "Werbung", "Publicité", "Реклама", "広告",
        "Sign up for our morning newsletter.", "Subscribe to our WhatsApp channel for the latest from the islands.",
        "Get the news of the day in your inbox.", "Follow us on Facebook and Instagram", "Follow Fjordbladet on X for more.",
        "Click here to download the app", "Did you like this story?", "Abonnieren Sie unseren kostenlosen Newsletter.",
        "Подпишитесь на наш канал", "This website uses cookies to improve your visit.", "Ce site utilise des cookies.",
        "Photo: Liv Dahl, Fjordbladet", "(Image credit: Fjordbladet)", "Foto: Liv Dahl", "Photo by: Liv Dahl", "Image 3 of 7",
        "© 2024 Fjordbladet", "Copyright 2024 Fjordbladet. All rights reserved.", "Tags: ferry, islands, bridge", "Filed under: Sea |",
    ],
)  # fmt: skip
def test_page_chrome_is_removed_in_many_languages(text: str) -> None:
    assert is_page_chrome(line(text))


@pytest.mark.parametrize(
    "text",
    [
        "Read more books, the teacher told the class, and you will never be alone on an island.",
        "Related industries such as boat building lost four hundred jobs in the same year.",
        "Share prices fell by a tenth after the news.",
        "Comments by the minister caused a storm on Thursday.",
        "Advertisement spending on the islands rose by 12 percent, a study says.",
        "Subscribe or go without: that was the choice that the library gave its readers.",
        "Sign up sheets for the regatta hang in the harbour office.",
        "Follow the path along the cliffs and you come to the lighthouse.",
        "Photographs of the ferry hang in every kitchen of the island.",
        "Photo finish: the red boat won by the length of an oar.",
        "Cookies are baked in the old lifeboat station on Sundays.",
        "Copyright law will change in March, the ministry announced.",
        "More than 300 people came: fishermen, bakers, and the whole school.",
        "“Don't miss the boat,” said the captain, and laughed.",
        "The Daily Mail and the Post were on board.",
        "No comment.",
        "___",
    ],
)
def test_prose_with_the_same_words_is_kept(text: str) -> None:
    assert not is_page_chrome(line(text))


def test_a_line_that_is_a_link_is_removed_unless_it_is_a_heading_or_a_url() -> None:
    assert is_page_chrome(line("Mayor opens the new fish market in the harbour", 1.0))
    assert not is_page_chrome(line("Mayor opens the new fish market in the harbour", 1.0, heading=True))
    assert not is_page_chrome(line("Mayor opens the new fish market in the harbour", 0.5))
    assert not is_page_chrome(line("https://fjordbladet.example/market", 1.0))
    assert not is_page_chrome(line("The market", 1.0))
    # "Read more" belongs to the link that follows it.
    assert is_page_chrome(line("Read more in our special edition on the fish market of the harbour", 0.6))


def test_a_list_of_links_that_is_the_article_is_kept() -> None:
    items = "".join(
        f"<li><a href='/{number}'>Harbour number {number} of the northern islands</a></li>" for number in range(3)
    )
    body = f"<article><h1>Harbours</h1><p>{FIRST}</p><ul>{items}</ul><p>{SECOND}</p></article>"
    assert text_of(body) == f"{FIRST}\n\n{SECOND}"
    listing = "".join(f"<p>{FIRST} <a href='/{number}'>Harbour {number}</a></p>" for number in range(3))
    assert text_of(f"<article>{listing}</article>").count("Harbour") == 3


def test_lists_are_lines_and_table_cells_are_separated() -> None:
    body = f"<article><p>{FIRST}</p><ul><li>The Gull, built 1951</li><li>The Tern, built 1968</li></ul><p>{SECOND}</p></article>"
    assert text_of(body) == f"{FIRST}\n\nThe Gull, built 1951\nThe Tern, built 1968\n\n{SECOND}"
    table = "<table><tr><th>Boat</th><th>Seats</th></tr><tr><td>Gull</td><td>40</td></tr></table><p>The end.</p>"
    assert join_paragraphs(paragraphs(parse_markup(table))) == "Boat Seats\nGull 40\n\nThe end."


@pytest.mark.parametrize("break_", ["<br><br>", "<br/>\n<br/>", "<br> &nbsp; <br>", "<br><br><br>"])
def test_two_line_breaks_end_a_paragraph_and_one_does_not(break_: str) -> None:
    assert text_of(f"<div class='text'>{FIRST}{break_}{SECOND}<br>The end.</div>") == f"{FIRST}\n\n{SECOND} The end."


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("قامت العبارة القديمة برحلتها الأخيرة يوم الجمعة، ووقف نصف سكان الجزيرة على الرصيف.", "وقرع القبطان الجرس مرتين وقال إنه سيفتقد الضباب."),
        ("המעבורת הישנה הפליגה ביום שישי בפעם האחרונה, וחצי מהאי עמד על הרציף.", "רב החובל צלצל בפעמון פעמיים ואמר שיתגעגע לערפל."),
        ("古い渡し船は金曜日に最後の航海を終え、島の住民の半数が岸壁に立って手を振った。", "船長は鐘を二度鳴らし、霧が恋しくなるだろうと語り、桟橋を後にした。"),
        ("这艘老渡船星期五完成了最后一次航行，岛上一半的居民站在码头上挥手告别。", "船长敲了两次钟，说他会想念三十一年来每天早晨的大雾，然后走下了船。"),
        ("เรือข้ามฟากลำเก่าแล่นเที่ยวสุดท้ายเมื่อวันศุกร์ และชาวเกาะครึ่งหนึ่งยืนอยู่บนท่าเรือ", "กัปตันสั่นระฆังสองครั้งและบอกว่าเขาจะคิดถึงหมอกยามเช้า"),
        ("낡은 나룻배가 금요일에 마지막 운항을 마쳤고 섬 주민 절반이 부두에 나와 손을 흔들었다.", "선장은 종을 두 번 울리고 안개가 그리울 것이라고 말한 뒤 배에서 내렸다."),
    ],
)  # fmt: skip
def test_every_script_keeps_its_paragraphs(first: str, second: str) -> None:
    body = f"<article><p>{first}</p><p>{second}</p><p>{first}</p></article>"
    assert text_of(body) == f"{first}\n\n{second}\n\n{first}"
    # One paragraph is long enough for an article.
    assert text_of(f"<article><p>{first}{second}</p></article>") == f"{first}{second}"


def test_an_embedded_quotation_is_text_and_a_caption_is_not() -> None:
    quote = "“We shall all miss the old lady,” wrote the mayor on Friday, “and the coffee on board.”"
    body = (
        f"<article><p>{FIRST}</p><blockquote class='twitter-tweet'><p>{quote}</p></blockquote>"
        f"<figure><figcaption>The quay on Friday</figcaption></figure><p>{SECOND}</p><p>{MARKET}</p></article>"
    )
    assert text_of(body) == f"{FIRST}\n\n{quote}\n\n{SECOND}\n\n{MARKET}"
