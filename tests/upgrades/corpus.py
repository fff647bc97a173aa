"""The articles of every state: invented, and the same whenever they are made."""

from __future__ import annotations

import datetime
import json
import random
from collections.abc import Iterator
from pathlib import Path

PAPERS = {"Selby Herald": "herald.example", "Harbour Post": "post.example", "Московский листок": "listok.example"}
FIRST_DAY = datetime.date(2026, 3, 2)
_SYLLABLES = "ba co dri fen gol hup ja kir lom mez nu pra qui ros sti tov ul vra wex yon zig ash eth imp ort"
_RUSSIAN = "ба во гри дел жок зу ин кра лом мез ну пра рос сти тов ул фен хар цик шу щи эл юн яр"
NOTICE = "Write to the newsroom of this paper if you have seen anything that our readers should know about."
RATES = "Exchange rates of the day: one crown buys {} pennies, one florin buys {} pennies, one ducat buys {} pennies."


def articles() -> Iterator[dict[str, str]]:
    """Yield rows for import_articles: stories, copies of some, a daily column, and a notice that is repeated."""
    numbers = random.Random(16)
    papers = list(PAPERS)
    for number in range(30):
        paper = papers[number % 3]
        day = FIRST_DAY + datetime.timedelta(days=number % 9)
        text = _story(numbers, _RUSSIAN if number % 3 == 2 else _SYLLABLES)
        headline = " ".join(text.split()[:5]).capitalize()
        yield _row(paper, day, headline, f"story-{number}", text if number % 2 else f"{text}\n\n{NOTICE}")
        if number % 4 == 0:
            later = day + datetime.timedelta(days=number % 3)
            copy = text.replace(" the ", " that ", 1)
            yield _row(papers[(number + 1) % 3], later, headline, f"copy-{number}", copy)
    for week in range(6):
        day = FIRST_DAY + datetime.timedelta(days=week)
        rates = RATES.format(*(numbers.randrange(10, 99) for _ in range(3)))
        yield _row("Selby Herald", day, f"Exchange rates of {day:%d %B}", f"rates-{week}", f"{rates} {_RATES_END}")


_RATES_END = (
    "The bank on the market square publishes these rates every morning at eight, and keeps them until the evening. "
    "Coins are changed at the counter on the left, notes at the counter on the right, and nothing at noon."
)


def write_articles(path: Path) -> None:
    """Write them as JSON lines."""
    path.write_text("".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in articles()), encoding="utf-8")


def _story(numbers: random.Random, syllables: str) -> str:
    """Return four sentences of invented words, which no other story has."""
    words = iter(lambda: "".join(numbers.choices(syllables.split(), k=numbers.randrange(2, 4))), None)
    sentences = [" ".join(next(words) for _ in range(12)).capitalize() + "." for _ in range(4)]
    sentences[1] = sentences[1].replace(" ", " the ", 1)
    return " ".join(sentences)


def _row(paper: str, day: datetime.date, headline: str, slug: str, content: str) -> dict[str, str]:
    url = f"https://{PAPERS[paper]}/{day:%Y/%m/%d}/{slug}"
    return {"date": str(day), "headline": headline, "url": url, "content": content, "newspaper": paper}
