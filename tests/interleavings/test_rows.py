"""Rows that two processes want at once: limits hold, work is claimed once, and nothing is made twice."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch
from uuid import UUID

import pytest
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
from articles.storage.boilerplate_whitelist import WhitelistError, end_whitelisting, whitelist_sentence
from articles.storage.extraction_rules import RuleError, save_rule
from articles.storage.incoming import IncomingArticle, SeenURL
from articles.storage.ingest import attach_urls, newest_revision, store_articles
from articles.storage.newspaper_merges import MergeError, merge_newspapers, undo_merge
from articles.storage.revisions import Finding, SeenAgain, Version, store_revision
from crawlers.models import CrawlSchedule, Trial
from crawlers.requested import queue as crawl_queue
from crawlers.requested.schedules import queue_due, set_schedule
from crawlers.requested.trials import save_newspaper
from dedup.declarations import make_config
from dedup.detection.runs.requests import Wanted, request_run
from dedup.detection.runs.scope import Scope
from dedup.integrations import hooks, sending, tokens
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
from dedup.reports.tasks import request_report
from dedup.review import saved_views
from dedup.review.questions.asking import next_question, take_lease
from dedup.review.questions.question import Question
from dedup.review.readings import label_files
from dedup.review.rules import trials as fetches
from newsdedup_site.people.actions import PersonError, block, change
from tests.dedup.api.callers import Caller
from tests.interleavings.schedule import Ending, Play
from tests.interleavings.world import Desk, articles, desk, editors, state_of

pytestmark = pytest.mark.django_db(transaction=True)
Writer = Callable[[Any], Any]


def results(endings: list[Ending]) -> set[tuple[Any, Any]]:
    return {(ending.first, ending.second) for ending in endings}


def of_user(make: Writer, count: Callable[[User], int], refusal: type[Exception]) -> set[tuple[Any, Any]]:
    """Return what becomes of two requests of one user, who may have only one thing more; fails if there are two."""

    def prepare() -> User:
        User.objects.filter(username="ines").delete()
        user = User.objects.create_user("ines")
        user.groups.add(Group.objects.get(name="editor"))
        return user

    endings = Play(prepare, (make, make), count, (refusal,)).check()
    assert {ending.seen for ending in endings} == {1}
    return results(endings)


def make_a_token(user: User) -> str:
    return tokens.make_token(User.objects.get(pk=user.pk), "script", ["read"])[0].name


def test_a_user_with_one_token_left_makes_one() -> None:
    with patch.object(tokens, "MOST_TOKENS", 1):
        made = of_user(make_a_token, lambda user: Token.objects.filter(owner=user).count(), tokens.TokenError)
    assert made == {("script", "TokenError"), ("TokenError", "script")}


def test_a_token_is_revoked_once_and_logged_once() -> None:
    def prepare() -> Token:
        return tokens.make_token(person("ines", "editor"), "script", ["read"])[0]

    def revoke(token: Token) -> bool:
        return tokens.revoke_token(token, by=token.owner)

    def logged(token: Token) -> int:
        return LogEntry.objects.filter(object_id=str(token.owner_id), change_message__contains="was revoked").count()

    endings = Play(prepare, (revoke, revoke), logged).check()
    assert results(endings) == {(True, False), (False, True)}
    assert {ending.seen for ending in endings} == {1}


def test_a_user_with_one_webhook_left_makes_one() -> None:
    def make(user: User) -> str:
        return hooks.make_webhook(user, "https://receiver.example/", [Webhook.Event.NEW]).url

    with patch.object(hooks, "MOST_WEBHOOKS", 1):
        of_user(make, lambda user: user.webhooks.count(), hooks.WebhookError)


def test_a_user_saves_a_view_under_a_name_once() -> None:
    def save(user: User) -> str:
        return saved_views.save_view(user, "queue", "Doubtful", "tab=new&sort=doubt").name

    of_user(save, lambda user: user.saved_views.count(), saved_views.SavedViewError)


def test_a_user_with_one_fetch_left_has_one_page_fetched() -> None:
    def fetch(user: User) -> str:
        fetches._count("https://paper.example/story", user)
        return "counted"

    with patch.object(fetches, "MOST_AN_HOUR", 1):
        of_user(fetch, lambda user: PageFetch.objects.filter(user=user).count(), fetches.FetchError)


def person(name: str, role: str) -> User:
    User.objects.filter(username=name).delete()
    user = User.objects.create_user(name, is_staff=role == "admin")
    user.groups.add(Group.objects.get(name=role))
    return user


def two_admins() -> SimpleNamespace:
    return SimpleNamespace(one=person("ines", "admin"), other=person("juan", "admin"))


def demote(world: SimpleNamespace) -> list[str]:
    return change(world.other.pk, email="", role="viewer", by=world.one)


def shut_out(world: SimpleNamespace) -> int:
    return block(world.one.pk, by=world.other)


def test_of_the_last_two_admins_one_stays() -> None:
    def admins(_world: SimpleNamespace) -> int:
        return User.objects.filter(is_active=True, groups__name="admin").count()

    endings = Play(two_admins, (demote, shut_out), admins, (PersonError,)).check()
    assert {ending.seen for ending in endings} == {1}


def test_two_editors_are_asked_two_questions() -> None:
    def prepare() -> Desk:
        Lease.objects.all().delete()
        desk(2)
        return desk(2)

    def ask(editor: int) -> Writer:
        return lambda world: next_question(world.editors[editor], "new") is not None

    def asked(_world: Desk) -> int:
        return Lease.objects.values("pair", "cluster").distinct().count()

    play = Play(prepare, (ask(0), ask(1)), asked)
    endings = play.check()
    assert not play.waited
    assert results(endings) == {(True, True)}
    assert {ending.seen for ending in endings} == {2}


def test_a_lease_is_taken_by_one() -> None:
    def take(editor: int) -> Writer:
        return lambda world: take_lease(Question("pair", world.pairs[0].pk), world.editors[editor])

    endings = Play(desk, (take(0), take(1)), lambda _world: None).check()
    assert results(endings) == {(True, False), (False, True)}


def incoming(
    world: Any, content: str = "The ferry sails at nine, the harbour master said on Monday."
) -> IncomingArticle:
    return IncomingArticle(
        date=datetime.date(2026, 3, 2), headline="Ferry", url=world.url, content=content, newspaper="Harbour Post"
    )


def address() -> SimpleNamespace:
    return SimpleNamespace(url=articles(1)[0].url + "/again")


def test_an_article_that_comes_twice_at_once_is_stored_once() -> None:
    def store(world: SimpleNamespace) -> str:
        return store_articles([incoming(world)])[0].outcome

    def stored(world: SimpleNamespace) -> Any:
        return Article.objects.filter(url=world.url).count(), ArticleURL.objects.filter(url=world.url).count()

    endings = Play(address, (store, store), stored).check()
    assert results(endings) == {("created", "known"), ("known", "created")}
    assert {ending.seen for ending in endings} == {(1, 1)}


def known() -> SimpleNamespace:
    article = articles(1)[0]
    return SimpleNamespace(article=article, url=article.url + "/again")


def attach(world: SimpleNamespace) -> bool:
    return attach_urls([SeenURL(world.url, ArticleURL.Kind.PAGE)], known_as=world.article.url)


def test_a_url_that_is_attached_and_stored_at_once_belongs_to_one_article() -> None:
    def store(world: SimpleNamespace) -> str:
        return store_articles([incoming(world)])[0].outcome

    def owners(world: SimpleNamespace) -> Any:
        return ArticleURL.objects.filter(url=world.url).count(), ArticleURL.objects.filter(
            url=world.url, article=world.article
        ).count()

    endings = Play(known, (attach, store), owners).check()
    assert results(endings) == {(True, "known"), (True, "created")}
    assert {ending.seen for ending in endings} == {(1, 1), (1, 0)}


def test_every_article_up_to_the_newest_revision_is_visible() -> None:
    def store(world: SimpleNamespace) -> str:
        return store_articles([incoming(world)])[0].outcome

    def newest(world: SimpleNamespace) -> bool:
        found = newest_revision()
        later = Article.objects.filter(url=world.url).values_list("revision", flat=True).first()
        world.hidden = later is None
        world.newest = found
        return True

    def is_whole(world: SimpleNamespace) -> bool:
        return not world.hidden or Article.objects.get(url=world.url).revision > world.newest

    endings = Play(address, (store, newest), is_whole).check()
    assert {ending.seen for ending in endings} == {True}


def papers() -> SimpleNamespace:
    one, other = articles(2)
    names = [f"{article.newspaper.name} of {article.pk}" for article in (one, other)]
    made = [
        Newspaper.objects.create(name=name, host=f"{number}.example")
        for number, name in zip((one.pk, other.pk), names, strict=True)
    ]
    Article.objects.filter(pk=one.pk).update(newspaper=made[0])
    return SimpleNamespace(one=made[0], other=made[1], article=one, url=one.url + "/again")


def merge(world: SimpleNamespace) -> int:
    return merge_newspapers(world.one, world.other).articles


def of_papers(world: SimpleNamespace) -> Any:
    found = Newspaper.objects.in_bulk([world.one.pk, world.other.pk])
    return tuple(
        (found[paper.pk].merged_into_id is not None, found[paper.pk].articles.count())
        for paper in (world.one, world.other)
    )


def test_a_newspaper_is_merged_once() -> None:
    endings = Play(papers, (merge, merge), of_papers, (MergeError,)).check()
    assert results(endings) == {(1, "MergeError"), ("MergeError", 1)}


def test_an_article_that_comes_during_a_merge_is_of_the_newspaper_that_stays() -> None:
    for ending in Play(papers, (merge, store_named), of_papers, (MergeError,)).check():
        assert ending.seen == ((True, 0), (False, 2))


def store_named(world: SimpleNamespace) -> str:
    fields = fields_of(incoming(world)) | {"newspaper": world.one.name}
    return store_articles([IncomingArticle(**fields)])[0].outcome


def fields_of(article: IncomingArticle) -> dict[str, Any]:
    return {name: getattr(article, name) for name in ("date", "headline", "url", "content")}


def merged() -> SimpleNamespace:
    world = papers()
    world.merge = merge_newspapers(world.one, world.other)
    return world


def undo_merging(world: SimpleNamespace) -> int:
    return undo_merge(world.merge)


def test_a_merge_is_undone_once() -> None:
    endings = Play(merged, (undo_merging, undo_merging), of_papers, (MergeError,)).check()
    assert results(endings) == {(1, "MergeError"), ("MergeError", 1)}


def save_extraction(world: SimpleNamespace) -> int:
    return len(save_rule(world.one, ExtractionRule(body=("main",)), user=editors()[0]).body)


def test_a_rule_of_extraction_is_saved_once() -> None:
    endings = Play(
        papers, (save_extraction, save_extraction), lambda world: world.one.extraction_rules.count(), (RuleError,)
    ).check()
    assert results(endings) == {(1, "RuleError"), ("RuleError", 1)}
    assert {ending.seen for ending in endings} == {1}


def test_two_crawls_that_see_a_page_change_store_one_revision() -> None:
    def store(world: SimpleNamespace) -> bool:
        version = Version(world.article.pk, 0, False, "", "", None)  # type: ignore[arg-type]
        seen = SeenAgain(timezone.now(), None, world.article.url)
        return store_revision(version, seen, Finding(ArticleRevision.Kind.GONE, note="404"))

    endings = Play(papers, (store, store), lambda world: world.article.revisions.count()).check()
    assert results(endings) == {(True, False), (False, True)}
    assert {ending.seen for ending in endings} == {1}


DIGEST = UUID(int=7)


def sentence(*, whitelisted: bool) -> Callable[[], SimpleNamespace]:
    def prepare() -> SimpleNamespace:
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
        if whitelisted:
            whitelist_sentence(world.one.pk, DIGEST, user=editors()[0])
        return world

    return prepare


def end(world: SimpleNamespace) -> str:
    end_whitelisting(world.one.pk, DIGEST, user=editors()[0])
    return "ended"


def begin(world: SimpleNamespace) -> str:
    whitelist_sentence(world.one.pk, DIGEST, user=editors()[1])
    return "whitelisted"


def entries(world: SimpleNamespace) -> Any:
    rows = WhitelistedSentence.objects.filter(newspaper=world.one)
    return rows.count(), LogEntry.objects.filter(object_id=f"{world.one.pk} {DIGEST}").count()


@pytest.mark.parametrize(("whitelisted", "act", "said"), [(False, begin, "whitelisted"), (True, end, "ended")])
def test_a_sentence_is_whitelisted_once_and_taken_off_once(whitelisted: bool, act: Writer, said: str) -> None:
    endings = Play(sentence(whitelisted=whitelisted), (act, act), entries, (WhitelistError,)).check()
    assert results(endings) == {(said, "WhitelistError"), ("WhitelistError", said)}


def deliveries(count: int) -> Callable[[], Webhook]:
    def prepare() -> Webhook:
        Delivery.objects.all().delete()
        hook = hooks.make_webhook(person("ines", "editor"), "https://receiver.example/", [Webhook.Event.NEW])
        for _ in range(count):
            hooks.send_test(hook)
        return hook

    return prepare


def claim(_hook: Webhook) -> bool:
    return sending._claim() is not None


def attempts(hook: Webhook) -> Any:
    return tuple(sorted(hook.deliveries.values_list("attempts", flat=True)))


@pytest.mark.parametrize(("count", "tried"), [(1, (1,)), (2, (1, 1))])
def test_a_delivery_is_claimed_by_one_worker(count: int, tried: tuple[int, ...]) -> None:
    for ending in Play(deliveries(count), (claim, claim), attempts).check():
        assert ending.seen == tried


def no_requests() -> Profile:
    Job.objects.all().delete()
    return Profile.objects.get(is_default=True)


def ask_run(profile: Profile) -> bool:
    return request_run(Wanted(profile), user=editors()[0])[1]


def test_a_run_that_is_asked_for_twice_waits_once() -> None:
    endings = Play(no_requests, (ask_run, ask_run), lambda _profile: Job.objects.count()).check()
    assert results(endings) == {(True, False), (False, True)}
    assert {ending.seen for ending in endings} == {1}


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


def ask_crawl(world: SimpleNamespace) -> int:
    return len(crawl_queue.request_crawl([world.one], user=editors()[0]))


def begin_crawl(_world: SimpleNamespace) -> int:
    begun = Job.objects.filter(state=Job.State.WAITING).update(state=Job.State.RUNNING)
    return len(crawl_queue.names_of(Job.objects.earliest("pk"))) if begun else 0


def ask_other(world: SimpleNamespace) -> int:
    return len(crawl_queue.request_crawl([world.other], user=editors()[0]))


def take_back(world: SimpleNamespace) -> bool:
    return crawl_queue.take_back(world.one)


def due(_world: SimpleNamespace) -> None:
    queue_due()


def of_crawls(_world: SimpleNamespace) -> Any:
    return tuple((job.state, job.crawls.count()) for job in Job.objects.order_by("pk"))


@pytest.mark.parametrize(
    ("prepare", "one", "other", "expected"),
    [
        (crawls(), ask_crawl, ask_crawl, {(1, 0), (0, 1)}),
        (crawls(waits=True), begin_crawl, take_back, {(1, False), (0, True)}),
        (crawls(due=True), due, due, {(None, None)}),
        (crawls(due=True), due, ask_crawl, {(None, 0), (None, 1)}),
    ],
    ids=["asked twice", "begun or taken back", "due twice", "due and asked"],
)
def test_a_newspaper_waits_in_one_crawl(prepare: Any, one: Writer, other: Writer, expected: set[Any]) -> None:
    endings = Play(prepare, (one, other), of_crawls).check()
    assert results(endings) == expected
    assert all(sum(newspapers for _, newspapers in ending.seen) <= 1 for ending in endings)


def test_a_crawl_that_begins_visits_what_was_added_to_it_meanwhile() -> None:
    endings = Play(crawls(waits=True), (begin_crawl, ask_other), of_crawls).check()
    assert results(endings) == {(1, 1), (2, 1)}
    assert all(ending.seen[0] == ("running", ending.first) for ending in endings)


def schedule(world: SimpleNamespace) -> bool:
    return set_schedule(world.one, every_hours=6, daily_at=None, user=editors()[0]) is not None


def test_a_schedule_is_changed_once_and_logged_once() -> None:
    def logged(world: SimpleNamespace) -> int:
        found = LogEntry.objects.filter(object_id=str(world.one.pk), content_type__model="newspaper")
        return found.filter(change_message__contains="crawled").count()

    endings = Play(crawls(), (schedule, schedule), logged).check()
    assert {ending.seen for ending in endings} == {1}


def tried() -> Trial:
    Newspaper.objects.filter(host="tried.example").delete()
    return Trial.objects.create(url="https://tried.example/")


def save_tried(trial: Trial) -> str:
    return save_newspaper(trial, {"name": "Tried", "host": "tried.example"}, user=editors()[0]).name


def test_a_newspaper_that_was_tried_is_added_once() -> None:
    endings = Play(
        tried, (save_tried, save_tried), lambda _trial: Newspaper.objects.filter(host="tried.example").count()
    ).check()
    assert results(endings) == {("Tried", "Tried")}
    assert {ending.seen for ending in endings} == {1}


def sampled_pair() -> SampledPair:
    left, right = articles(2)
    sample = ValidationSample.objects.create(name=f"of {left.pk}", seed=1, options={}, strata=[], size=1, readers=2)
    ends = {"left": left, "right": right}
    return SampledPair.objects.create(sample=sample, position=1, **ends, stratum="all", weight=1.0, revision=1)


def import_label(label: str) -> Writer:
    def writer(pair: SampledPair) -> str:
        rows = {pair.pk: label_files._Row(2, pair.pk, label, None)}
        label_files._store(rows, "ines", 0)
        return "imported"

    return writer


def test_two_imports_of_labels_of_one_reader_leave_one_label() -> None:
    def labels(pair: SampledPair) -> tuple[str, ...]:
        return tuple(SampleLabel.objects.filter(pair=pair, reader="ines").values_list("label", flat=True))

    endings = Play(sampled_pair, (import_label("D"), import_label("T")), labels).check()
    assert [ending.seen for ending in endings] == [("T",), ("D",)]


def test_a_report_that_two_wait_for_is_counted_once() -> None:
    report = next(iter(REPORTS.values()))

    def prepare() -> None:
        StoredReport.objects.all().delete()
        Job.objects.all().delete()

    def ask(_world: None) -> str:
        options = make_config(report.options_class, {})
        return request_report(report, Scope(), options, editors()[0]).report

    def queued(_world: None) -> tuple[int, int]:
        return StoredReport.objects.count(), Job.objects.count()

    for ending in Play(prepare, (ask, ask), queued).check():
        assert ending.seen == (1, 1)


def test_a_program_decides_on_the_pair_that_it_read_and_on_no_other() -> None:
    def read() -> SimpleNamespace:
        world = desk()
        user, _ = User.objects.get_or_create(username="program")
        user.groups.add(Group.objects.get(name="editor"))
        Token.objects.all().delete()
        caller = Caller(user)
        tag = caller.get(f"/pairs/{world.pairs[0].pk}")["ETag"]
        return SimpleNamespace(world=world, caller=caller, tag=tag)

    def decide(kind: str) -> Writer:
        def writer(read: SimpleNamespace) -> int:
            address = f"/pairs/{read.world.pairs[0].pk}/decisions"
            return read.caller.post(address, {"kind": kind}, If_Match=read.tag).status_code

        return writer

    def made(read: SimpleNamespace) -> Any:
        return state_of(read.world)

    endings = Play(read, (decide("confirm"), decide("reject")), made).check()
    assert results(endings) == {(201, 412), (412, 201)}
