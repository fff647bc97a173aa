"""A few articles with labels, and `manage.py evaluate` on them."""

import json

from django.db import connection

from articles.models import Article
from tests import commands
from tests.commands import called
from tests.conftest import StoreArticle

WIRE = (
    "The harbour authority of Port Selby said on Monday that the northern breakwater will close for six weeks while "
    "divers replace the anchor chains. Fishing boats may use the southern basin free of charge until the work is done. "
    "The harbour master, Ilse Corrigan, expects the first ferries to return before the summer regatta."
)
GLASS = (
    "A travelling exhibition of two hundred glass negatives opens in the old customs house at Carrack, where visitors "
    "can look at the fairs, regattas and floods of a century ago through restored magic lanterns."
)
TRAM = (
    "The council of Inverlea has voted to repair the tramway and to sell what is left of the depot, after a debate "
    "that lasted until midnight and in which the mayor spoke three times."
)
RAIN = "Rain is expected on the western coast from noon, with gusts that may reach sixty knots at sea."
RATES = (
    "The commercial bank of Inverlea has published its table of rates for the day. One crown of the northern islands "
    "was bought at {buy} and sold at {sell}. The dollar of the southern states stood at {dollar}. "
    "Travellers pay a fee of {fee} at every counter of the bank."
)


def row(number: int, date: str, paper: str, headline: str, content: str) -> dict[str, str]:
    return {
        "id": f"n{number}",
        "date": date,
        "newspaper": paper,
        "url": f"https://{paper.split(maxsplit=1)[0].lower()}.example/{number}",
        "headline": headline,
        "content": content,
    }


def rates(number: int, day: int) -> dict[str, str]:
    buy, fee = f"{170 + day}.{10 + 7 * day}", f"{day}.25"
    content = RATES.format(buy=buy, sell=f"{180 + day}.{20 + 3 * day}", dollar=f"{300 + 11 * day}.4", fee=fee)
    return row(number, f"2026-03-{day:02}", "Inland Courier", f"Exchange rates of {day} March", content)


ARTICLES = [
    row(1, "2026-03-02", "Harbour Post", "Northern breakwater to close", WIRE),
    row(2, "2026-03-03", "Inland Courier", "Breakwater at Port Selby closes", WIRE),
    row(3, "2026-03-02", "Harbour Post", "Glass negatives on show", GLASS),
    row(4, "2026-03-04", "Inland Courier", "Tramway to be repaired", TRAM),
    *(rates(4 + day, day) for day in range(2, 8)),
]
LABELS = [
    {"a": "n1", "b": "n2", "label": "D", "weight": 3, "stratum": "cross", "days": 1},
    {"a": "n6", "b": "n7", "label": "T", "weight": 5, "stratum": "same", "days": 1},
    {"a": "n7", "b": "n8", "label": "T", "weight": 5, "stratum": "same", "days": 1},
    {"a": "n3", "b": "n4", "label": "D", "weight": 1, "stratum": "cross", "days": 2},
    {"a": "n1", "b": "n4", "label": "V", "weight": 9, "stratum": "cross", "days": 2},
    {"a": "n2", "b": "n20", "label": "N", "weight": 2, "stratum": "same", "days": 8},
]


def store_and_run(store: StoreArticle) -> dict[str, Article]:
    """Store the articles, and run; return them by their ids."""
    names = ("newspaper", "date", "headline", "url")
    articles = {
        given["id"]: store(given["content"], external_id=given["id"], **{name: given[name] for name in names})
        for given in ARTICLES
    }
    called("find_duplicates", "--no-progress", "--workers=1")
    return articles


def evaluate(*options: str) -> tuple[str, str]:
    """Return what the command writes to stdout and to stderr."""
    return called("evaluate", "--no-progress", "--workers=1", *options)


def measured(*options: str) -> dict:
    return json.loads(evaluate("--format=json", *options)[0])


def schemas() -> list[str]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT nspname FROM pg_namespace WHERE nspname LIKE 'newsdedup%' ORDER BY 1")
        return [name for (name,) in cursor]


def refused(*options: str) -> str:
    return commands.refused("evaluate", "--no-progress", "--workers=1", *options)
