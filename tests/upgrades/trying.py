"""Filling an empty database, as each earlier state was, upgrading a state and using it, in `manage.py shell`.

`main` prints one JSON object: `faults`, a list of sentences, and `pairs`, what a run finds.
"""

import datetime
import gzip
import json
import os
import random
import sys
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

from django.contrib.auth.models import Group, User
from django.core.management import call_command
from django.db import connection
from django.test import Client

from articles.models import Article, ArticleRevision, ExtractionRule, HeadlineVariant, Newspaper, RepeatedSentence
from articles.storage.boilerplate_marks import whitelist_sentence
from articles.storage.incoming import IncomingArticle, PageCopy
from crawlers.models import CrawlSchedule, PendingLink, Recheck, SitePace, SourceValidator, Visit
from dedup.detection.runs.requests import Wanted, request_run
from dedup.detection.verdicts.model import default_model, dump_model
from dedup.integrations.tokens import make_token
from dedup.models import Cluster, DetectionRun, Evidence, FittedModel, Pair, Profile, SavedView, Series, Webhook
from dedup.review.answers.decisions import confirm_cluster, decide_pair, seen_as, undo
from dedup.review.rules.rules import make_rule
from newsdedup_site.doctor.examining import examine
from newsdedup_site.models import KeyMap
from tests.commands import called
from tests.factories import store_article
from tests.upgrades.states import all_rows, differences

PAGES = ("/", "/queue/", "/clusters/", "/articles/", "/runs/", "/history/", "/reports/", "/crawls/", "/people/")
# The settings of the default profile after the first migrate.
NEW_SETTINGS = {"containment": {"enabled": True}}
# What people decided, and what follows from it: no run may change it.
DECIDED = "SELECT id, state FROM dedup_pair WHERE state <> 'undecided' ORDER BY id"


def try_state() -> dict[str, Any]:
    """Upgrade the database of DATABASE_URL, and use it."""
    url = os.environ["DATABASE_URL"]
    before = all_rows(url)
    called("migrate", verbosity=0)
    after = all_rows(url)
    faults = differences(before, after)
    decided = _decided()
    called("check", databases=["default"])
    called("renormalize", no_progress=True)
    called("find_duplicates", no_progress=True)
    tables = ("dedup_decision", "dedup_link", "auth_user", "articles_articlepage")
    faults += differences({table: after.get(table, {}) for table in tables}, all_rows(url))
    if not decided.items() <= (now := _decided()).items():
        faults.append(f"Decided pairs were {decided} and are {now}")
    return {"faults": faults + _doctor() + _pages(), "pairs": _pairs()}


def import_afresh(*, in_test: bool = False) -> dict[str, Any]:
    """Import the articles of the states into an empty database, as each of them did."""
    if not in_test:
        called("migrate", verbosity=0)
    with tempfile.TemporaryDirectory() as folder:
        write_articles(Path(folder, "articles.jsonl"))
        called("import_articles", str(Path(folder, "articles.jsonl")), no_progress=True)
    store_article(
        IncomingArticle(datetime.date(2026, 3, 5), "The ferry", FERRY, "The ferry left late again.", "Selby Herald")
    )
    called("find_duplicates", no_progress=True)
    faults = [] if Profile.objects.get(is_default=True).settings == NEW_SETTINGS else ["NEW_SETTINGS are out of date"]
    return {"faults": faults + _doctor() + _pages(), "pairs": _pairs()}


def _decided() -> dict[int, str]:
    with connection.cursor() as cursor:
        cursor.execute(DECIDED)
        return dict(cursor.fetchall())


def _doctor() -> list[str]:
    return [f"doctor: {finding}" for finding in examine(sample=None) if finding.found.faults]


def _pages() -> list[str]:
    admin = User.objects.create(username="who-looks", password="!")
    admin.groups.add(Group.objects.get(name="admin"))
    client = Client(raise_request_exception=False, SERVER_NAME="localhost")
    client.force_login(admin, backend="newsdedup_site.access.backend.RightsBackend")
    first = [
        f"/{name}/{model.objects.earliest('pk').pk}/"
        for name, model in (("pairs", Pair), ("clusters", Cluster), ("articles", Article))
    ]
    answers = {path: client.get(path, follow=True).status_code for path in (*PAGES, *first)}
    return [f"{path} answers {status}" for path, status in answers.items() if status != 200]


def _pairs() -> list[list[Any]]:
    """Return what a run with the settings of a new installation finds, by what names articles to people."""
    Profile.objects.create(name="as in a new installation", settings=NEW_SETTINGS)
    called("find_duplicates", no_progress=True, profile="as in a new installation")
    run = DetectionRun.objects.latest("pk")
    ends = [f"pair__{end}__{field}" for end in ("left", "right") for field in ("newspaper__name", "date", "headline")]
    rows = Evidence.objects.filter(run=run).values_list(*ends, "pass_name", "score")
    return sorted([*sorted([_name(row[:3]), _name(row[3:6])]), row[6], round(row[7], 6)] for row in rows)


def _name(row: tuple[Any, ...]) -> str:
    return " | ".join(map(str, row))


def main(name: str) -> None:
    """Try a state, or an import into an empty database if that is called fresh, and print the result."""
    # Migrations and commands print what they have done.
    with redirect_stdout(sys.stderr):
        result = import_afresh() if name == "fresh" else try_state()
    json.dump(result, sys.stdout, ensure_ascii=False, default=str)


PAPERS = {"Selby Herald": "herald.example", "Harbour Post": "post.example", "Московский листок": "listok.example"}
FIRST_DAY = datetime.date(2026, 3, 2)
MOMENT = datetime.datetime(2026, 3, 20, 8, 30, tzinfo=datetime.UTC)
PAGE = b"<html><title>The ferry</title><body><article><p>The ferry left late again.</p></article></body></html>"
FERRY = "https://herald.example/2026/03/05/the-ferry"
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


def write_articles(path: Path | str) -> None:
    Path(path).write_text("".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in articles()), encoding="utf-8")


def _story(numbers: random.Random, syllables: str) -> str:
    """Return four sentences of invented words, which no other story has."""
    words = iter(lambda: "".join(numbers.choices(syllables.split(), k=numbers.randrange(2, 4))), None)
    sentences = [" ".join(next(words) for _ in range(12)).capitalize() + "." for _ in range(4)]
    sentences[1] = sentences[1].replace(" ", " the ", 1)
    return " ".join(sentences)


def _row(paper: str, day: datetime.date, headline: str, slug: str, content: str) -> dict[str, str]:
    url = f"https://{PAPERS[paper]}/{day:%Y/%m/%d}/{slug}"
    return {"date": str(day), "headline": headline, "url": url, "content": content, "newspaper": paper}


# ---- what people do ----


def people() -> User:
    """Create an editor, an admin, one without a role, one who is blocked; return the editor."""
    made = {}
    for name, role in (("ida", "editor"), ("ada", "admin"), ("nobody", ""), ("gone", "editor")):
        made[name] = User.objects.create(username=name, password="!", is_active=name != "gone")
        made[name].groups.add(*Group.objects.filter(name=role))
    return made["ida"]


def answers(editor: User) -> None:
    """Confirm, reject and take back; leave a note; decide on a whole cluster; give every other answer."""
    waiting = list(Pair.objects.filter(state="undecided").order_by("pk"))
    decide_pair(waiting[0].pk, "confirm", user=editor, note="The same ferry, seen from two quays.")
    decide_pair(waiting[1].pk, "reject", user=editor)
    taken_back = decide_pair(waiting[2].pk, "reject", user=editor)
    undo(taken_back.pk, user=editor, note="Не то")
    again = decide_pair(waiting[3].pk, "confirm", user=editor)
    decide_pair(waiting[3].pk, "reject", user=editor, seen=again.pk)
    undecided = {pair.pk for pair in waiting[4:]}
    for cluster in Cluster.objects.order_by("pk"):
        articles_of_it = list(cluster.memberships.values_list("article_id", flat=True))
        if undecided.issuperset(Pair.objects.among(articles_of_it).values_list("pk", flat=True)):
            confirm_cluster(cluster.pk, seen_as(articles_of_it), user=editor)
            break
    for kind in ("version", "template", "unsure"):
        decide_pair(Pair.objects.filter(state="undecided").latest("pk").pk, kind, user=editor)


def rules_and_settings(editor: User) -> None:
    make_rule(Series.objects.earliest("pk").pk, user=editor)
    repeated = RepeatedSentence.objects.earliest("pk")
    whitelist_sentence(repeated.newspaper_id, repeated.digest, user=editor)
    default = Profile.objects.get(is_default=True)
    default.settings |= {"trigram": default.settings.get("trigram", {}) | {"day_window": 4}}
    default.save()
    Profile.objects.create(name="stricter", settings={"trigram": {"threshold": 0.9}}, nightly_at=datetime.time(2, 30))
    SavedView.objects.create(user=editor, page="pairs", name="ferries", query="q=ferry")
    KeyMap.objects.create(user=editor, keys={"confirm": "k"})
    hook = {"url": "https://hooks.example/newsdedup", "secret": "for-one-state", "events": ["cluster.new"]}
    Webhook.objects.create(owner=editor, **hook)
    make_token(editor, "archive", ["read"])
    FittedModel.objects.create(content=dump_model(default_model()), decisions=60, in_use=True)


def crawled(editor: User) -> None:
    """Store what a crawl leaves: an article with its page, a link that waits, a visit, versions, a rule."""
    page = PageCopy(FERRY, "text/html; charset=utf-8", PAGE, 1)
    day = datetime.date(2026, 3, 5)
    stored = store_article(
        IncomingArticle(day, "The ferry", FERRY, "The ferry left late again.", "Selby Herald", page=page)
    )
    article = Article.objects.get(pk=stored.article_id)
    paper, waits = article.newspaper, f"{FERRY}-returns"
    key = uuid.uuid5(uuid.NAMESPACE_URL, waits)
    PendingLink.objects.create(newspaper=paper, url=waits, key=key, kind="feed")
    SourceValidator.objects.create(newspaper=paper, url="https://herald.example/feed", etag='"7"', last_modified="")
    Visit.objects.create(newspaper=paper, spider="feed", state="finished", stored=1)
    SitePace.objects.create(site="herald.example", delay=2.5, penalty=0.0, seen_at=MOMENT)
    Recheck.objects.create(article=article, due_at=MOMENT)
    CrawlSchedule.objects.create(newspaper=paper, every_hours=6, due_at=MOMENT)
    HeadlineVariant.objects.create(article=article, headline="The late ferry", day=article.date, url=FERRY)
    revision = {"number": 1, "kind": "changed", "seen_at": MOMENT, "url": FERRY, "body": gzip.compress(PAGE, mtime=0)}
    ArticleRevision.objects.create(article=article, headline="The ferry", content="The ferry has left.", **revision)
    ExtractionRule.objects.create(newspaper=paper, body=["article p"], saved_by=editor)


def fill_database(articles: str) -> None:
    """Fill the database; a run waits for a worker in the end."""
    editor = people()
    call_command("import_articles", articles, no_progress=True)
    crawled(editor)
    Newspaper.objects.update(boilerplate_articles=3)
    call_command("find_boilerplate", no_progress=True)
    call_command("find_duplicates", no_progress=True)
    answers(editor)
    rules_and_settings(editor)
    call_command("find_duplicates", no_progress=True, new=True)
    request_run(Wanted(Profile.objects.get(is_default=True)), user=editor)
