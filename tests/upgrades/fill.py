"""Fill a database through the code of an earlier version; make_states runs this in a checkout of that version.

What a version does not have yet is left out: a module that it lacks, a model, a field. Prints one line for each thing
that it did.
"""

from __future__ import annotations

import datetime
import gzip
import importlib
import sys
import uuid
from collections.abc import Callable
from typing import Any

import django

django.setup()

from django.apps import apps  # noqa: E402 - the models are there only now
from django.contrib.auth.models import Group, User  # noqa: E402
from django.core.management import call_command, get_commands  # noqa: E402
from django.utils import timezone  # noqa: E402

MOMENT = datetime.datetime(2026, 3, 20, 8, 30, tzinfo=datetime.UTC)
PAGE = b"<html><title>The ferry</title><body><article><p>The ferry left late again.</p></article></body></html>"


def found(name: str, *modules: str) -> Any:
    """Return what this version has under this name, in the first of the modules that it has; None without any."""
    for module in modules:
        try:
            return getattr(importlib.import_module(module), name)
        except (ImportError, AttributeError):
            continue
    return None


def row(label: str, **values: Any) -> Any:
    """Create a row of a model unless this version lacks it; fields that it lacks are left out."""
    try:
        model = apps.get_model(label)
    except LookupError:
        return None
    fields = {field.name for field in model._meta.get_fields()}
    made = attempt(model.objects.create, **{name: value for name, value in values.items() if name in fields})
    print("row of", label)
    return made


def command(name: str, *arguments: str, **options: Any) -> None:
    if name in get_commands():
        try:
            call_command(name, *arguments, **options)
        except TypeError as error:  # an option that came later
            print("without", name, error)
            return
        print("command", name)


# ---- what people do ----


def people() -> User:
    """Create an editor, an admin, one without a role, one who is blocked; return the editor."""
    made = {}
    for name, role in (("ida", "editor"), ("ada", "admin"), ("nobody", ""), ("gone", "editor")):
        made[name] = User.objects.create(username=name, password="!", is_active=name != "gone")
        if role:
            made[name].groups.add(Group.objects.get(name=role))
    return made["ida"]


def pairs(editor: User) -> None:
    """Confirm, reject and take back; leave a note; decide on a whole cluster."""
    decide_pair = found("decide_pair", "dedup.review.answers.decisions", "dedup.review.decisions", "dedup.review")
    undo = found("undo", "dedup.review.answers.decisions", "dedup.review.decisions", "dedup.review")
    confirm_cluster = found(
        "confirm_cluster", "dedup.review.answers.decisions", "dedup.review.decisions", "dedup.review"
    )
    pair_model, cluster_model = apps.get_model("dedup.Pair"), apps.get_model("dedup.Cluster")
    waiting = list(pair_model.objects.filter(state="undecided").order_by("pk"))
    decide_pair(waiting[0].pk, "confirm", user=editor, note="The same ferry, seen from two quays.")
    decide_pair(waiting[1].pk, "reject", user=editor)
    taken_back = decide_pair(waiting[2].pk, "reject", user=editor)
    undo(taken_back.pk, user=editor, note="Не то")
    again = decide_pair(waiting[3].pk, "confirm", user=editor)
    decide_pair(waiting[3].pk, "reject", user=editor, seen=again.pk)
    undecided = {pair.pk for pair in waiting[4:]}
    for cluster in cluster_model.objects.order_by("pk"):
        articles = list(cluster.memberships.values_list("article_id", flat=True))
        inside = pair_model.objects.filter(left__in=articles, right__in=articles)
        if undecided.issuperset(inside.values_list("pk", flat=True)):
            confirm_cluster(cluster.pk, articles, user=editor)
            break
    print("decisions", apps.get_model("dedup.Decision").objects.count())


def more_answers(editor: User) -> None:
    decide_pair = found("decide_pair", "dedup.review.answers.decisions", "dedup.review.decisions", "dedup.review")
    kinds = dict(apps.get_model("dedup.Decision")._meta.get_field("kind").choices)
    waiting = apps.get_model("dedup.Pair").objects.filter(state="undecided").order_by("-pk")
    for kind in ("version", "template", "unsure"):
        if kind in kinds and (pair := waiting.first()):
            decide_pair(pair.pk, kind, user=editor)
            print("answer", kind)


def rules(editor: User) -> None:
    """Make a rule of a series, and keep a repeated sentence."""
    make_rule = found("make_rule", "dedup.review.rules.rules", "dedup.review.series_rules", "dedup.series_rules")
    if make_rule and (series := apps.get_model("dedup.Series").objects.order_by("pk").first()):
        make_rule(series.pk, user=editor)
        print("rule of a series")
    whitelist = found("whitelist_sentence", "articles.storage.boilerplate_whitelist", "articles.whitelist")
    if whitelist and (repeated := apps.get_model("articles.RepeatedSentence").objects.order_by("pk").first()):
        whitelist(repeated.newspaper_id, repeated.digest, user=editor)
        print("whitelisted sentence")


def settings_of_people(editor: User) -> None:
    profile = apps.get_model("dedup.Profile")
    default = profile.objects.get(is_default=True)
    default.settings = default.settings | {"trigram": default.settings.get("trigram", {}) | {"day_window": 4}}
    default.save()
    row("dedup.Profile", name="stricter", settings={"trigram": {"threshold": 0.9}}, nightly_at=datetime.time(2, 30))
    row("dedup.SavedView", user=editor, page="pairs", name="ferries", query="q=ferry")
    row("newsdedup_site.KeyMap", user=editor, keys={"confirm": "k"})
    hook = {"url": "https://hooks.example/newsdedup", "secret": "for-one-state", "events": ["cluster.new"]}
    row("dedup.Webhook", owner=editor, **hook)
    if make_token := found(
        "make_token", "dedup.integrations.tokens", "dedup.tokens", "dedup.tokens.actions", "dedup.tokens.making"
    ):
        make_token(editor, "archive", ["read"])
        print("token")


def model_learnt() -> None:
    dump = found("dump_model", "dedup.verdicts.model", "dedup.verdict_model")
    default = found("default_model", "dedup.verdicts.model", "dedup.verdict_model")
    if dump and default:
        row("dedup.FittedModel", content=dump(default()), decisions=60, in_use=True)


def tasks() -> None:
    task = found("find_duplicates_task", "dedup.detection.runs.tasks", "dedup.runs.tasks", "dedup.tasks")
    if task:
        task.enqueue(profile_id=apps.get_model("dedup.Profile").objects.get(is_default=True).pk)
        print("task that waits")


# ---- what crawls leave ----


def crawled(editor: User) -> None:
    """Store what a crawl leaves: an article with its page, a link that waits, a visit, and what later versions keep."""
    incoming = found("IncomingArticle", "articles.storage.incoming", "articles.incoming", "articles.ingest")
    page_copy = found("PageCopy", "articles.storage.incoming", "articles.incoming")
    store = found("store_article", "articles.storage.ingest", "articles.ingest")
    more = {}
    if page_copy:
        more["page"] = page_of(page_copy)
    url = "https://herald.example/2026/03/05/the-ferry"
    day = datetime.date(2026, 3, 5)
    stored = store(incoming(day, "The ferry", url, "The ferry left late again.", "Selby Herald", **more))
    article = apps.get_model("articles.Article").objects.get(pk=stored.article_id)
    paper = article.newspaper
    waits = f"{url}-returns"
    row("crawlers.PendingLink", newspaper=paper, url=waits, key=uuid.uuid5(uuid.NAMESPACE_URL, waits), kind="feed")
    row("crawlers.SourceValidator", newspaper=paper, url="https://herald.example/feed", etag='"7"', last_modified="")
    row("crawlers.Visit", newspaper=paper, spider="feed", state="finished", stored=1)
    row("crawlers.SitePace", site="herald.example", delay=2.5, penalty=0.0, seen_at=MOMENT)
    row("crawlers.Recheck", article=article, due_at=MOMENT)
    row("crawlers.CrawlSchedule", newspaper=paper, hours=6, due_at=MOMENT)
    row("articles.HeadlineVariant", article=article, headline="The late ferry", day=article.date, url=url)
    revision = {"number": 1, "kind": "changed", "seen_at": MOMENT, "url": url, "body": gzip.compress(PAGE, mtime=0)}
    row("articles.ArticleRevision", article=article, headline="The ferry", content="The ferry has left.", **revision)
    row("articles.ExtractionRule", newspaper=paper, body=["article p"], saved_by=editor)


def page_of(page_copy: Any) -> Any:
    """Return a copy of a page; its fields changed over the versions."""
    values = {
        "url": "https://herald.example/2026/03/05/the-ferry",
        "content": PAGE,
        "body": PAGE,
        "html": PAGE.decode(),
        "encoding": "utf-8",
        "charset": "utf-8",
        "fetched_at": MOMENT,
        "extractor": 1,
        "extractor_version": 1,
        "version": 1,
        "declared_charset": "utf-8",
        "content_type": "text/html; charset=utf-8",
    }
    return page_copy(**{name: values[name] for name in page_copy.__dataclass_fields__ if name in values})


def attempt(step: Callable[..., Any], *arguments: Any, **values: Any) -> Any:
    try:
        return step(*arguments, **values)
    except Exception as error:  # noqa: BLE001 - what a version refuses is reported, and looked at
        print("FAILED", step.__name__, type(error).__name__, str(error)[:300])
        return None


def main(articles: str) -> None:
    """Fill the database."""
    editor = people()
    command("import_articles", articles, no_progress=True)
    attempt(crawled, editor)
    newspaper = apps.get_model("articles.Newspaper")
    if any(field.name == "boilerplate_articles" for field in newspaper._meta.get_fields()):
        newspaper.objects.update(boilerplate_articles=3)
    command("find_boilerplate", no_progress=True)
    command("find_duplicates", no_progress=True)
    for step in (pairs, more_answers, rules, settings_of_people):
        attempt(step, editor)
    attempt(model_learnt)
    attempt(tasks)
    command("find_duplicates", no_progress=True, new=True)
    print("filled at", timezone.now())


main(sys.argv[1])
