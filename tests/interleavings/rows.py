"""Rows that two processes want at once: limits hold, work is claimed once, and nothing is made twice."""

import datetime
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any
from uuid import UUID

from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Group, User
from django.utils import timezone

from articles.extraction.rules import ExtractionRule
from articles.models import (
    Article,
    ArticleRevision,
    ArticleURL,
    Job,
    Newspaper,
    RepeatedSentence,
    WhitelistedSentence,
)
from articles.storage.boilerplate_marks import WhitelistError, end_whitelisting, whitelist_sentence
from articles.storage.extraction_rules import RuleError, save_rule
from articles.storage.incoming import SeenURL
from articles.storage.ingest import attach_urls, newest_revision
from articles.storage.newspaper_merges import MergeError, merge_newspapers, undo_merge
from articles.storage.revisions import SeenAgain, Version, store_revision
from crawlers.models import CrawlSchedule, Trial
from crawlers.requested import queue as crawl_queue
from crawlers.requested.queue import queue_due, set_schedule
from crawlers.requested.trials import save_newspaper
from dedup.declarations import make_config
from dedup.detection.runs.requests import Wanted, request_run
from dedup.detection.runs.scope import Scope
from dedup.integrations import tokens, webhooks
from dedup.models import (
    Delivery,
    Lease,
    PageFetch,
    Profile,
    SampledPair,
    SampleLabel,
    StoredReport,
    Token,
    ValidationSample,
    Webhook,
)
from dedup.reports import REPORTS
from dedup.reports.computing import request_report
from dedup.review import saved_views
from dedup.review.questions.tabs import Question, next_question, put_off, take_lease
from dedup.review.readings import label_files
from dedup.review.rules import trials as fetches
from newsdedup_site.people.actions import PersonError, block, change
from tests.articles.storage.test_ingest import incoming
from tests.dedup.api.callers import Caller
from tests.factories import make_user, store_article
from tests.interleavings.reviews import reject
from tests.interleavings.schedule import Play, always, either
from tests.interleavings.world import Desk, articles, desk, editors, state_of

Writer = Callable[[Any], Any]
DIGEST = UUID(int=7)


def twice(
    prepare: Callable[[], Any], writer: Writer, seen: Writer, *refusals: type[Exception], **expected: Any
) -> Play:
    """Return a play of the same writer twice."""
    return Play(prepare, (writer, writer), seen, refusals, **expected)


# ---- what a user may have only one more of, with the limits of `LIMITS` ----

LIMITS = ((tokens, "MOST_TOKENS"), (webhooks, "MOST_WEBHOOKS"), (fetches, "MOST_AN_HOUR"))


def person(name: str, role: str) -> User:
    User.objects.filter(username=name).delete()
    return make_user(name, role)


def an_editor() -> User:
    return person("ines", "editor")


def make_a_token(user: User) -> Token:
    return tokens.make_token(User.objects.get(pk=user.pk), "script", ["read"])[0]


def make_a_webhook(user: User) -> Webhook:
    return webhooks.make_webhook(user, "https://receiver.example/", [Webhook.Event.NEW])


# ---- people ----


def two_admins() -> SimpleNamespace:
    return SimpleNamespace(one=person("ines", "admin"), other=person("juan", "admin"))


def demote(world: SimpleNamespace) -> list[str]:
    return change(world.other.pk, email="", role="viewer", by=world.one)


def shut_out(world: SimpleNamespace) -> int:
    return block(world.one.pk, by=world.other)


def two_desks() -> Desk:
    Lease.objects.all().delete()
    desk(2)
    return desk(2)


def ask_next(editor: int) -> Writer:
    return lambda world: next_question(world.editors[editor], "new") is not None


def take(editor: int) -> Writer:
    return lambda world: take_lease(Question("pair", world.pairs[0].pk), world.editors[editor])


def take_card(world: Desk) -> bool:
    return take_lease(Question("cluster", world.cluster), world.editors[0])


def put_off_card(world: Desk) -> None:
    put_off(Question("cluster", world.cluster), world.editors[0])


def read_pair() -> SimpleNamespace:
    world = desk()
    user, _ = User.objects.get_or_create(username="program")
    user.groups.add(Group.objects.get(name="editor"))
    Token.objects.all().delete()
    caller = Caller(user)
    tag = caller.get(f"/pairs/{world.pairs[0].pk}")["ETag"]
    return SimpleNamespace(world=world, caller=caller, tag=tag)


def decide_on_what_was_read(kind: str) -> Writer:
    return lambda read: (
        read.caller.post(f"/pairs/{read.world.pairs[0].pk}/decisions", {"kind": kind}, If_Match=read.tag).status_code
    )


# ---- articles and newspapers ----


def known() -> SimpleNamespace:
    article = articles(1)[0]
    return SimpleNamespace(article=article, url=article.url + "/again")


def store(world: SimpleNamespace, newspaper: str = "") -> str:
    """Store an article at the URL of a world, of this newspaper or of one that nobody has stored yet."""
    return store_article(incoming(world.url, newspaper=newspaper or f"New of {world.article.pk}")).outcome


def store_named(world: SimpleNamespace) -> str:
    return store(world, world.one.name)


def attach(world: SimpleNamespace) -> bool:
    return attach_urls([SeenURL(world.url, ArticleURL.Kind.PAGE)], known_as=world.article.url)


def newest(world: SimpleNamespace) -> None:
    world.newest = newest_revision()
    world.hidden = not Article.objects.filter(url=world.url).exists()


def owners(world: SimpleNamespace) -> tuple[int, int, int]:
    """Return how many articles have the URL as their own, how many rows it has, and how many of the known article."""
    rows = ArticleURL.objects.filter(url=world.url)
    return Article.objects.filter(url=world.url).count(), rows.count(), rows.filter(article=world.article).count()


def papers() -> SimpleNamespace:
    one, other = articles(2)
    made = [
        Newspaper.objects.create(name=f"{article.newspaper.name} of {article.pk}", host=f"{article.pk}.example")
        for article in (one, other)
    ]
    Article.objects.filter(pk=one.pk).update(newspaper=made[0])
    return SimpleNamespace(one=made[0], other=made[1], article=one, url=one.url + "/again")


def merge(world: SimpleNamespace) -> int:
    return merge_newspapers(world.one, world.other).articles


def merged() -> SimpleNamespace:
    world = papers()
    world.merge = merge_newspapers(world.one, world.other)
    return world


def of_papers(world: SimpleNamespace) -> Any:
    found = Newspaper.objects.in_bulk([world.one.pk, world.other.pk])
    return tuple((paper.merged_into_id is not None, paper.articles.count()) for paper in map(found.get, sorted(found)))


def save_extraction(world: SimpleNamespace) -> int:
    return len(save_rule(world.one, ExtractionRule(body=("main",)), user=editors()[0]).body)


def store_gone(world: SimpleNamespace) -> bool:
    version = Version(world.article.pk, 0, False, "", "", None)  # type: ignore[arg-type]
    seen = SeenAgain(timezone.now(), None, world.article.url)
    return store_revision(version, seen, ArticleRevision(kind=ArticleRevision.Kind.GONE, note="404"))


def a_sentence() -> SimpleNamespace:
    world = papers()
    RepeatedSentence.objects.create(
        newspaper=world.one,
        week=datetime.date(2026, 3, 2),
        digest=DIGEST,
        sentence="Subscribe now.",
        articles=3,
        kind=RepeatedSentence._meta.get_field("kind").choices[0][0],
        article_ids=[world.article.pk],
    )
    return world


def whitelisted() -> SimpleNamespace:
    world = a_sentence()
    begin(world)
    return world


def begin(world: SimpleNamespace) -> None:
    whitelist_sentence(world.one.pk, DIGEST, user=editors()[1])


def end(world: SimpleNamespace) -> None:
    end_whitelisting(world.one.pk, DIGEST, user=editors()[0])


def entries(world: SimpleNamespace) -> Any:
    rows = WhitelistedSentence.objects.filter(newspaper=world.one)
    return rows.count(), LogEntry.objects.filter(object_id=f"{world.one.pk} {DIGEST}").count()


# ---- work that waits ----


def deliveries(count: int) -> Callable[[], Webhook]:
    def prepare() -> Webhook:
        Delivery.objects.all().delete()
        hook = make_a_webhook(an_editor())
        for _ in range(count):
            webhooks.send_test(hook)
        return hook

    return prepare


def claimed_once(count: int) -> Play:
    """Return a play in which two workers look for deliveries."""
    return twice(
        deliveries(count),
        lambda _hook: webhooks._claim() is not None,
        lambda hook: tuple(sorted(hook.deliveries.values_list("attempts", flat=True))),
        ends=always((1,) * count),
    )


def no_requests() -> Profile:
    Job.objects.all().delete()
    StoredReport.objects.all().delete()
    return Profile.objects.get(is_default=True)


def ask_run(profile: Profile) -> bool:
    return request_run(Wanted(profile), user=editors()[0])[1]


def ask_report(_profile: Profile) -> str:
    report = next(iter(REPORTS.values()))
    return request_report(report, Scope(), make_config(report.options_class, {}), editors()[0]).report


def queued(_profile: Profile) -> tuple[int, int]:
    return StoredReport.objects.count(), Job.objects.count()


def crawls(*, waits: bool = False, due: bool = False) -> Callable[[], SimpleNamespace]:
    def prepare() -> SimpleNamespace:
        Job.objects.all().delete()
        CrawlSchedule.objects.all().delete()
        world = papers()
        Newspaper.objects.filter(pk=world.one.pk).update(feed_urls=["https://paper.example/feed"])
        if waits:
            crawl_queue.request_crawl([world.one], user=editors()[0])
        if due:
            set_schedule(world.one, every_hours=1, daily_at=None, user=editors()[0])
            CrawlSchedule.objects.update(due_at=timezone.now() - datetime.timedelta(minutes=30))
        return world

    return prepare


def ask_crawl_of(name: str) -> Writer:
    return lambda world: len(crawl_queue.request_crawl([getattr(world, name)], user=editors()[0]))


def begin_crawl(_world: SimpleNamespace) -> int:
    begun = Job.objects.filter(state=Job.State.WAITING).update(state=Job.State.RUNNING)
    return len(crawl_queue.names_of(Job.objects.earliest("pk"))) if begun else 0


def queue_what_is_due(_world: SimpleNamespace) -> None:
    queue_due()


def schedule(world: SimpleNamespace) -> bool:
    return set_schedule(world.one, every_hours=6, daily_at=None, user=editors()[0]) is not None


def logged(words: str, **fields: object) -> int:
    return LogEntry.objects.filter(change_message__contains=words, **fields).count()


def crawling(prepare: Any, one: Writer, other: Writer, results: set[Any]) -> Play:
    """Return a play after which a newspaper waits in one crawl at most."""
    ends = {"ends": lambda seen: sum(newspapers for _, newspapers in seen) <= 1}
    return Play(prepare, (one, other), newspapers_of_jobs, results=results, **ends)


def newspapers_of_jobs(_world: SimpleNamespace) -> Any:
    return tuple((job.state, job.crawls.count()) for job in Job.objects.order_by("pk"))


def tried() -> Trial:
    Newspaper.objects.filter(host="tried.example").delete()
    return Trial.objects.create(url="https://tried.example/")


def save_tried(trial: Trial) -> str:
    return save_newspaper(trial, {"name": "Tried", "host": "tried.example"}, user=editors()[0]).name


def sampled_pair() -> SampledPair:
    left, right = articles(2)
    sample = ValidationSample.objects.create(name=f"of {left.pk}", seed=1, options={}, strata=[], size=1, readers=2)
    ends = {"left": left, "right": right}
    return SampledPair.objects.create(sample=sample, position=1, **ends, stratum="all", weight=1.0, revision=1)


def import_label(label: str) -> Writer:
    return lambda pair: label_files._store({pair.pk: label_files._Row(2, pair.pk, label, None)}, "ines", 0) and None


_ONE_GETS_IT = either(True, False)

PLAYS: dict[str, Play] = {
    "a user with one token left makes one": twice(
        an_editor, lambda user: make_a_token(user).name, lambda user: Token.objects.filter(owner=user).count(),
        tokens.TokenError, results=either("script", "TokenError"), ends=always(1),
    ),
    "a token is revoked once and logged once": twice(
        lambda: make_a_token(an_editor()), lambda token: tokens.revoke_token(token, by=token.owner),
        lambda token: logged("was revoked", object_id=str(token.owner_id)), results=_ONE_GETS_IT, ends=always(1),
    ),
    "a user with one webhook left makes one": twice(
        an_editor, lambda user: make_a_webhook(user).url, lambda user: user.webhooks.count(), webhooks.WebhookError,
        ends=always(1),
    ),
    "a user saves a view under a name once": twice(
        an_editor, lambda user: saved_views.save_view(user, "queue", "Doubtful", "tab=new&sort=doubt").name,
        lambda user: user.saved_views.count(), saved_views.SavedViewError, ends=always(1),
    ),
    "a user with one fetch left has one page fetched": twice(
        an_editor, lambda user: fetches._count("https://paper.example/story", user),
        lambda user: PageFetch.objects.filter(user=user).count(), fetches.FetchError, ends=always(1),
    ),
    "of the last two admins one stays": Play(
        two_admins, (demote, shut_out), lambda _: User.objects.filter(is_active=True, groups__name="admin").count(),
        (PersonError,), ends=always(1),
    ),
    "two editors are asked two questions": Play(
        two_desks, (ask_next(0), ask_next(1)), lambda _: Lease.objects.values("pair", "cluster").distinct().count(),
        results={(True, True)}, ends=always(2), waits=False,
    ),
    "a lease is taken by one": Play(desk, (take(0), take(1)), results=_ONE_GETS_IT),
    "a card is taken before its cluster goes, or not at all": Play(
        desk, (take_card, reject), state_of, results={(True, "reject_cluster"), (False, "reject_cluster")}
    ),
    "a card that is put off may go": Play(desk, (put_off_card, reject), state_of),
    "a program decides on the pair that it read and on no other": Play(
        read_pair, (decide_on_what_was_read("confirm"), decide_on_what_was_read("reject")),
        lambda read: state_of(read.world), results=either(201, 412),
    ),
    "an article that comes twice at once is stored once": twice(
        known, store, owners, results=either("created", "known"), ends=always((1, 1, 0))
    ),
    "a url that is attached and stored at once belongs to one article": Play(
        known, (attach, store), owners, results={(True, "known"), (True, "created")},
        in_turn=lambda seen: {owned[1:] for owned in seen} == {(1, 1), (1, 0)},
    ),
    "every article up to the newest revision is visible": Play(
        known, (store, newest),
        lambda world: not world.hidden or Article.objects.get(url=world.url).revision > world.newest, ends=always(True),
    ),
    "a newspaper is merged once": twice(papers, merge, of_papers, MergeError, results=either(1, "MergeError")),
    "an article that comes during a merge is of the newspaper that stays": Play(
        papers, (merge, store_named), of_papers, (MergeError,), ends=always(((True, 0), (False, 2)))
    ),
    "a merge is undone once": twice(
        merged, lambda world: undo_merge(world.merge), of_papers, MergeError, results=either(1, "MergeError")
    ),
    "a rule of extraction is saved once": twice(
        papers, save_extraction, lambda world: world.one.extraction_rules.count(), RuleError,
        results=either(1, "RuleError"), ends=always(1),
    ),
    "two crawls that see a page change store one revision": twice(
        papers, store_gone, lambda world: world.article.revisions.count(), results=_ONE_GETS_IT, ends=always(1)
    ),
    "a sentence is whitelisted once": twice(
        a_sentence, begin, entries, WhitelistError, results=either(None, "WhitelistError")
    ),
    "a sentence is taken off the list once": twice(
        whitelisted, end, entries, WhitelistError, results=either(None, "WhitelistError")
    ),
    "a delivery is claimed by one worker": claimed_once(1),
    "two deliveries are claimed once each": claimed_once(2),
    "a run that is asked for twice waits once": twice(
        no_requests, ask_run, queued, results=_ONE_GETS_IT, ends=always((0, 1))
    ),
    "a report that two wait for is counted once": twice(no_requests, ask_report, queued, ends=always((1, 1))),
    "a crawl that is asked for twice": crawling(crawls(), ask_crawl_of("one"), ask_crawl_of("one"), either(1, 0)),
    "a crawl that is begun or taken back": crawling(
        crawls(waits=True), begin_crawl, lambda world: crawl_queue.take_back(world.one), {(1, False), (0, True)}
    ),
    "a crawl that is due twice": crawling(crawls(due=True), queue_what_is_due, queue_what_is_due, {(None, None)}),
    "a crawl that is due and asked for": crawling(
        crawls(due=True), queue_what_is_due, ask_crawl_of("one"), {(None, 0), (None, 1)}
    ),
    "a crawl that begins visits what was added to it meanwhile": Play(
        crawls(waits=True), (begin_crawl, ask_crawl_of("other")), newspapers_of_jobs, results={(1, 1), (2, 1)},
        ends=lambda seen: seen[0][0] == "running",
    ),
    "a schedule is changed once and logged once": twice(
        crawls(), schedule, lambda world: logged("crawled", object_id=str(world.one.pk)), ends=always(1)
    ),
    "a newspaper that was tried is added once": twice(
        tried, save_tried, lambda _: Newspaper.objects.filter(host="tried.example").count(),
        results={("Tried", "Tried")}, ends=always(1),
    ),
    "two imports of labels of one reader leave one label": Play(
        sampled_pair, (import_label("D"), import_label("T")),
        lambda pair: tuple(SampleLabel.objects.filter(pair=pair, reader="ines").values_list("label", flat=True)),
        in_turn=always([("T",), ("D",)]),
    ),
}  # fmt: skip

# What each begins with, and the writer, which breaks off without a trace.
WRITERS: dict[str, tuple[Any, Any]] = {
    "store_articles": (papers, store_named),
    "attach_urls": (known, attach),
    "merge_newspapers": (papers, merge),
    "undo_merge": (merged, lambda world: undo_merge(world.merge)),
    "save_rule": (papers, save_extraction),
    "whitelist_sentence": (a_sentence, begin),
    "end_whitelisting": (whitelisted, end),
    "make_token": (an_editor, make_a_token),
    "change a role": (two_admins, demote),
    "block": (two_admins, shut_out),
    "request_run": (no_requests, ask_run),
    "request_crawl": (crawls(), ask_crawl_of("one")),
    "set_schedule": (crawls(), schedule),
    "save_newspaper": (tried, save_tried),
}
