"""The states that commands begin in, and the files that they read; each function is called in a process of its own.

As a program, `-m tests.crash.states FUNCTION ARGUMENTS` of the ready commands, which have set Django up.
"""

import datetime
import io
import json
import sys
from pathlib import Path

from django.contrib.auth.models import User
from django.core.management import call_command
from django.db import connection

from articles.files.uploads import keep_upload, request_import
from articles.models import Newspaper
from articles.warc import ArchivedPage, PageWriter
from dedup.detection.runs.requests import Wanted, request_run
from dedup.models import Pair, Profile, Worker
from dedup.review.answers import decisions
from tests.crash.subjects import story
from tests.crawlers.pages import article_page
from tests.dedup.runs.cluster_results import write_results
from tests.dedup.runs.made_up_news import made_up_news, store_archive

_PAGES = 60
_DAYS = 34  # among them those of a dense group
_ROWS = "400"


def news() -> None:
    """Store an archive with an earlier run, decisions and a rule, and articles that came after it."""
    store_archive(20_260_309, days=_DAYS)


def enough_decisions() -> None:
    """Let an editor decide on many pairs, so that a model can be learnt."""
    editor = User.objects.get(username="mara")
    for place, pair in enumerate(Pair.objects.filter(state=Pair.State.UNDECIDED).order_by("left", "right")[:120]):
        decisions.decide_pair(pair.pk, ("confirm", "reject")[place % 2], user=editor)


def file_of_articles(path: str, number: str = _ROWS) -> None:
    """Write a file for import_articles, with some rows twice and some that are rejected."""
    articles = made_up_news(1)[: int(number)]
    rows = [
        {
            "date": article.date.isoformat(),
            "headline": article.headline,
            "url": article.url,
            "content": article.content if place % 10 else "",
            "newspaper": article.newspaper,
        }
        for place, article in enumerate([*articles, *articles[:40]])
    ]
    Path(path).write_text("".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows), encoding="utf-8")


def archive_of_pages(path: str) -> None:
    """Write a WARC file with the pages of two newspapers."""
    fetched = datetime.datetime(2024, 5, 4, tzinfo=datetime.UTC)
    with Path(path).open("wb") as stream:
        writer = PageWriter(stream, "pages")
        for place in range(_PAGES):
            host = ("fjordbladet", "nordpost")[place % 2]
            page = article_page(*story(place)).encode()
            url = f"https://www.{host}.example/2024/05/story-{place}"
            writer.write(ArchivedPage(url, "text/html; charset=utf-8", page, fetched))


def outdated_texts() -> None:
    """Make every article one that an older version extracted, with another text."""
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE articles_article SET extractor_version = 0, content = content || ' Old.', byline = 'Old'"
        )


def outdated_forms() -> None:
    """Make every article one that older rules normalised."""
    with connection.cursor() as cursor:
        cursor.execute("UPDATE articles_article SET normalizer_version = 0, normalized_title = 'old'")
        cursor.execute("UPDATE articles_articleurl SET normalized_url = 'old'")


def newspaper(url: str) -> None:
    """Store the newspaper of the site at this URL."""
    Newspaper.objects.create(
        name="Fjordbladet", host="127.0.0.1", article_url_pattern=r"/2024/\d\d/", feed_urls=[f"{url}/feed"]
    )


def sample(path: str) -> None:
    """Draw a validation sample, and write a file with a label for each of its pairs."""
    drawing = ("--name=crash", "--seed=1", "--size=40", "--format=jsonl")
    written = io.StringIO()
    call_command("export", "validation", *drawing, stdout=written, stderr=io.StringIO())
    rows = [json.loads(line) for line in written.getvalue().splitlines()]
    labelled = [row | {"label": "DN"[place % 2]} for place, row in enumerate(rows)]
    Path(path).write_text("".join(f"{json.dumps(row)}\n" for row in labelled), encoding="utf-8")


def results(folder: str) -> None:
    """Leave in a folder what a run on a cluster would have found in the archive."""
    quiet = {"stdout": io.StringIO(), "stderr": io.StringIO()}
    call_command("find_duplicates", "--no-progress", **quiet)
    call_command("export_detection", folder, "--no-progress", **quiet)
    write_results(Path(folder))


def queue_run() -> None:
    """Queue a run as the page does."""
    request_run(Wanted(Profile.objects.get(is_default=True)), user=User.objects.get(username="mara"))


def upload(path: str) -> None:
    """Upload a file, and queue its import."""
    user = User.objects.create_user("boris")
    request_import(keep_upload("articles.jsonl", [Path(path).read_bytes()], newspaper="", user=user))


def half_a_minute_later() -> None:
    """Let the worker that died be seen as gone: what it did goes on by itself with the next one."""
    Worker.objects.all().delete()


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
