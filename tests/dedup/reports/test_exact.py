"""`manage.py report exact`: exact repeats, counted by hand, by brute force and through the command."""

import datetime
import json
import random
import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import pytest

from articles.grouping import by_key
from articles.storage.incoming import IncomingArticle
from dedup.declarations import Settings
from dedup.detection.runs.scope import Scope
from dedup.reports.exact import ExactCopies, ExactReport, Groups
from tests.articles.rows import json_lines, row
from tests.commands import called
from tests.conftest import StoreArticle

pytestmark = pytest.mark.django_db
FERRY = "The ferry to Little Skerry sails again."


def test_stored_articles_are_counted_as_they_are_and_in_normal_form(store: StoreArticle) -> None:
    store(FERRY, headline="Ferry sails")
    store("The FERRY to Little Skerry sails again!", headline="Ferry sails")
    store(FERRY, headline="Skerry cheers", newspaper="Inland Courier", date="2026-03-05")
    store("Rain from noon.", headline="", date="2026-03-05")
    assert ExactReport().result(Scope(), Settings()) == {
        "exact": ExactCopies(4, Groups(1, 2), Groups(1, 2), Groups(0, 0), any=3, same_day=1, other_day=0),
        "normalised": ExactCopies(4, Groups(1, 2), Groups(1, 3), Groups(1, 2), any=3, same_day=1, other_day=0),
    }

    out, _ = called("report", "exact")
    lines = [" ".join(line.split()) for line in out.splitlines() if line.strip(" ─")]
    assert re.search(r"3 of 4 articles \(75\.00%\).*\b3 \(75\.00%\)", lines[0])
    assert lines[lines.index("As stored") :][:6] == [
        "As stored",
        "Repeated Groups Articles Share",
        "the same headline 1 2 50.00%",
        "the same text 1 2 50.00%",
        "the same headline and text 0 0 0.00%",
        "any of these 3 75.00%",
    ]


def test_a_file_is_counted_row_by_row_also_where_a_url_comes_twice(tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    file.write_bytes(json_lines(row(1), row(1), row(2, headline="<b>Ferry</b> number 1"), row(3, date="someday")))

    out, err = called("report", "exact", file, "--format", "json")

    assert json.loads(out)["exact"] == {
        "articles": 3, "any": 3, "same_day": 2, "other_day": 0, "headline": {"groups": 1, "articles": 3},
        "text": {"groups": 1, "articles": 2}, "both": {"groups": 1, "articles": 2},
    }  # fmt: skip
    assert re.fullmatch(r"Rows without an article.*: 1; .*import.*\n", err)


def brute_force(articles: Sequence[IncomingArticle]) -> ExactCopies:
    def groups(keys: list[object]) -> tuple[Groups, set[int]]:
        counts = Counter(key for key in keys if key)
        again = {place for place, key in enumerate(keys) if counts[key] > 1}
        return Groups(sum(count > 1 for count in counts.values()), len(again)), again

    headline, headlines = groups([article.headline for article in articles])
    text, texts = groups([article.content for article in articles])
    both, _ = groups([(article.headline, article.content) if article.headline else None for article in articles])
    of_the_day = {
        later
        for later, article in enumerate(articles)
        for earlier in articles[:later]
        if (article.newspaper, article.date) == (earlier.newspaper, earlier.date)
        and (article.content == earlier.content or (article.headline and article.headline == earlier.headline))
    }
    in_order = sorted(range(len(articles)), key=lambda place: (articles[place].date, place))
    named = ((place, articles[place]) for place in in_order if articles[place].headline)
    by_copy = by_key(((article.newspaper, article.headline, article.content), place) for place, article in named)
    later_copies = {later for places in by_copy.values() for _, later in pairwise(places)}
    return ExactCopies(
        len(articles), headline, text, both, len(headlines | texts), len(of_the_day), len(later_copies - of_the_day)
    )


@pytest.mark.parametrize("seed", range(5))
def test_agrees_with_brute_force(seed: int) -> None:
    print(f"seed {seed}")
    dice = random.Random(seed)
    articles = [
        IncomingArticle(
            date=datetime.date(2026, 3, dice.randint(1, 3)),
            headline=dice.choice(["", "one", "two", "three", "four"]),
            url=f"https://paper.example/{number}",
            content=dice.choice(["red", "green", "blue", "yellow", "white"]),
            newspaper=dice.choice(["Harbour Post", "Inland Courier"]),
        )
        for number in range(40)
    ]

    assert ExactReport().result_of(articles, Settings())["exact"] == brute_force(articles)
