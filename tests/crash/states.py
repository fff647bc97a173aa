"""The states that commands begin in, and the files that they read; each function is called in a process of its own.

As a program: `python -m tests.crash.states FUNCTION ARGUMENTS`.
"""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from random import Random

import django

_PAGES = 60
_DAYS = 34  # among them those of a dense group
_ROWS = "400"
# Letters of words that no stop list knows.
_LETTERS = "abdeghiklmnoprstuw"


def news() -> None:
    """Store an archive with an earlier run, decisions and a rule, and articles that came after it."""
    from tests.dedup.runs.made_up_archive import store_archive  # noqa: PLC0415 - Django is ready now

    store_archive(20_260_309, days=_DAYS)


def enough_decisions() -> None:
    """Let an editor decide on many pairs, so that a model can be learnt."""
    from django.contrib.auth.models import User  # noqa: PLC0415

    from dedup.models import Pair  # noqa: PLC0415
    from dedup.review.answers import decisions  # noqa: PLC0415

    editor = User.objects.get(username="mara")
    for place, pair in enumerate(Pair.objects.filter(state=Pair.State.UNDECIDED).order_by("left", "right")[:120]):
        decisions.decide_pair(pair.pk, ("confirm", "reject")[place % 2], user=editor)


def file_of_articles(path: str, number: str = _ROWS) -> None:
    """Write a file for import_articles, with some rows twice and some that are rejected."""
    from tests.dedup.runs.made_up_news import made_up_news  # noqa: PLC0415

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


def story(place: int) -> tuple[str, str]:
    """Return the headline and the text of an invented article."""
    dice = Random(place)

    def sentence() -> str:
        words = ["".join(dice.choices(_LETTERS, k=dice.randint(3, 8))) for _ in range(14)]
        return f"{' '.join(words).capitalize()}."

    return sentence()[:40], " ".join(sentence() for _ in range(6))


def archive_of_pages(path: str) -> None:
    """Write a WARC file with the pages of two newspapers."""
    import datetime  # noqa: PLC0415

    from articles.warc import ArchivedPage, PageWriter  # noqa: PLC0415
    from tests.crawlers.pages import article_page  # noqa: PLC0415

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
    from django.db import connection  # noqa: PLC0415

    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE articles_article SET extractor_version = 0, content = content || ' Old.', byline = 'Old'"
        )


def outdated_forms() -> None:
    """Make every article one that older rules normalised."""
    from django.db import connection  # noqa: PLC0415

    with connection.cursor() as cursor:
        cursor.execute("UPDATE articles_article SET normalizer_version = 0, normalized_title = 'old'")
        cursor.execute("UPDATE articles_articleurl SET normalized_url = 'old'")


def newspaper(url: str) -> None:
    """Store the newspaper of the site at this URL."""
    from articles.models import Newspaper  # noqa: PLC0415

    Newspaper.objects.create(
        name="Fjordbladet", host="127.0.0.1", article_url_pattern=r"/2024/\d\d/", feed_urls=[f"{url}/feed"]
    )


def sample(path: str) -> None:
    """Draw a validation sample, and write a file with a label for each of its pairs."""
    from django.core.management import call_command  # noqa: PLC0415

    drawing = ("--name=crash", "--seed=1", "--size=40", "--format=jsonl")
    written = io.StringIO()
    call_command("export", "validation", *drawing, stdout=written, stderr=io.StringIO())
    rows = [json.loads(line) for line in written.getvalue().splitlines()]
    labelled = [row | {"label": "DN"[place % 2]} for place, row in enumerate(rows)]
    Path(path).write_text("".join(f"{json.dumps(row)}\n" for row in labelled), encoding="utf-8")


def results(folder: str) -> None:
    """Leave in a folder what a run on a cluster would have found in the archive."""
    from django.core.management import call_command  # noqa: PLC0415

    from tests.dedup.runs.cluster_results import write_results  # noqa: PLC0415

    quiet = {"stdout": io.StringIO(), "stderr": io.StringIO()}
    call_command("find_duplicates", "--no-progress", **quiet)
    call_command("export_detection", folder, "--no-progress", **quiet)
    write_results(Path(folder))


def queue_run() -> None:
    """Queue a run as the page does."""
    from django.contrib.auth.models import User  # noqa: PLC0415

    from dedup.detection.runs.requests import Wanted, request_run  # noqa: PLC0415
    from dedup.models import Profile  # noqa: PLC0415

    request_run(Wanted(Profile.objects.get(is_default=True)), user=User.objects.get(username="mara"))


def upload(path: str) -> None:
    """Upload a file, and queue its import."""
    from django.contrib.auth.models import User  # noqa: PLC0415

    from articles.files.uploads import keep_upload, request_import  # noqa: PLC0415

    user = User.objects.create_user("boris")
    request_import(keep_upload("articles.jsonl", [Path(path).read_bytes()], newspaper="", user=user))


def half_a_minute_later() -> None:
    """Let the worker that died be seen as gone: what it did goes on by itself with the next one."""
    from dedup.models import Worker  # noqa: PLC0415

    Worker.objects.all().delete()


def main(function: str, *arguments: str) -> None:
    """Call a function of this module."""
    if not django.apps.apps.ready:
        django.setup()
    globals()[function](*arguments)


if __name__ == "__main__":
    main(*sys.argv[1:])
