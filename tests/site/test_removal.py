"""Removing newspapers and articles: nothing of them is left, nobody else can delete, and nothing brings them back."""

import datetime
import gzip
import json
from importlib import import_module

import pytest
from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.auth.models import User
from django.contrib.contenttypes.models import ContentType
from django.contrib.sessions.backends.db import SessionStore
from django.db import ProgrammingError, connection, transaction
from django.utils import timezone

from articles.extraction.extract import EXTRACTOR_VERSION
from articles.files.uploads import keep_upload
from articles.models import (
    Article,
    ArticlePage,
    ArticleRevision,
    ArticleURL,
    AttachedCopy,
    DeclaredURL,
    FollowingPage,
    HeadlineVariant,
    Job,
    LearntParameter,
    Newspaper,
    NewspaperAlias,
    RejectedRow,
    Removal,
    RemovedIdentity,
    RepeatedSentence,
    WhitelistedSentence,
)
from articles.querysets import executed
from articles.storage.audit_log import log_action
from articles.storage.boilerplate_marks import logged_key
from articles.storage.incoming import IncomingArticle
from articles.storage.ingest import store_articles
from articles.storage.removed import REFUSED
from crawlers.models import Crawl, CrawlSchedule, PendingLink, Recheck, SourceValidator, Trial, Visit
from dedup import models
from dedup.review.answers import decisions
from newsdedup_site.privacy.removal import RemovalError, allow_again, begin_articles, begin_newspaper, carry_out, hide
from tests.conftest import StoreArticle
from tests.factories import make_cluster, make_pair, make_run, make_series, make_user
from tests.stored_rows import columns_with

pytestmark = pytest.mark.django_db

MARK = "Zwinkelmoor"
TEXT = f"The mayor of {MARK} opened the new bridge on Monday, and many people came.\nA second paragraph follows it."
URL = f"https://gazette.example/2026/03/02/{MARK.lower()}-opens-bridge"
DAY = datetime.date(2026, 3, 2)
KEY = "6f1c0f4e-3a52-4d43-9b6e-0d7f5e2a9c1"


@pytest.fixture
def marked(store: StoreArticle) -> Article:
    """Return an article of its own newspaper whose texts, URL and headline have the mark."""
    return store(TEXT, newspaper="Selby Gazette", headline=f"{MARK} opens its bridge", url=URL, byline=f"Jo {MARK}")


def mark_everything(article: Article, others: list[Article], user: User) -> None:
    """Give an article a row in every table that can quote it."""
    newspaper, now = article.newspaper, timezone.now()
    packed = gzip.compress(f"<html>{TEXT}</html>".encode())
    page = {"url": URL, "content_type": "text/html", "body": packed}
    kept = ArticlePage.objects.create(article=article, feed_entry=packed, **page)
    FollowingPage.objects.create(article_page=kept, number=2, **page)
    number = {"extractor_version": EXTRACTOR_VERSION, "seen_at": now, "kind": "changed", "number": 1}
    ArticleRevision.objects.create(article=article, headline=MARK, content=TEXT, **number, **page)
    DeclaredURL.objects.create(article=article, url=f"{URL}/amp", key=f"{KEY}1", kind="amp")
    HeadlineVariant.objects.create(article=article, headline=f"{MARK}!", day=DAY, url=URL)
    came = {"headline": MARK, "content": TEXT, "url": URL, "date": DAY, "extra_columns": TEXT, "page": TEXT}
    AttachedCopy.objects.create(article=article, attached_at=now, seen={"urls": [[URL, "page"]]}, byline=MARK, **came)
    LearntParameter.objects.create(newspaper=newspaper, name="sid", first_url=URL, second_url=others[0].url)
    for digest in (f"{KEY}2", f"{KEY}3"):
        sentence = {"newspaper": newspaper, "digest": digest, "sentence": TEXT}
        RepeatedSentence.objects.create(
            **sentence, week=DAY, kind="boilerplate", articles=2, article_ids=[article.pk, others[0].pk]
        )
        row = WhitelistedSentence.objects.create(**sentence, whitelisted_by=user)
        log_action(row, CHANGE, "whitelisted", user=user, object_id=logged_key(newspaper.pk, digest))
    series = make_series(newspaper, f"{MARK.lower()} # opens", article)
    log_action(series, CHANGE, "made it a rule", user=user, object_id=str(series.pk))
    log_action(article, CHANGE, f"changed {URL}", user=user, object_id=str(article.pk))
    models.ArticleShingles.objects.create(article=article, newspaper=newspaper, date=DAY, shingles=b"abcd", revision=1)
    models.ArticleSentences.objects.create(article=article, revision=1, hashes=b"", marks=b"")
    models.ShingleSample.objects.create(
        count=1, articles=article.pk.to_bytes(8, "little"), hashes=b"abcd", owners=b"\0\0"
    )
    models.NewspaperMonth.objects.create(newspaper=newspaper, month=DAY, digest=1, articles=1, phrases=b"", common=MARK)
    Recheck.objects.create(article=article, due_at=now, etag="x")
    mark_crawls(newspaper, user)
    mark_results(article, others, user)


def mark_crawls(newspaper: Newspaper, user: User) -> None:
    found = [{"reason": "HTTP 500", "number": 1, "url": URL}]
    Visit.objects.create(newspaper=newspaper, spider="feed", state="finished", failures=found)
    job = Job.objects.create(kind="crawl", state="done", result={"output": f"failed: {URL}"}, error=f"at {URL}")
    Crawl.objects.create(job=job, newspaper=newspaper, why="asked", asked_by=user)
    PendingLink.objects.create(newspaper=newspaper, key=f"{KEY}4", url=URL, kind="page")
    Trial.objects.create(url=URL, found={"url": URL}, draft={"name": MARK}, results=[{"headline": URL}])


def mark_results(article: Article, others: list[Article], user: User) -> None:
    pair = make_pair(article, others[0], trigram=0.9)
    models.Pair.objects.filter(pk=pair.pk).update(reasons=[f"Both say {MARK}."])
    models.Evidence.objects.filter(pair=pair).update(details={"sentence": TEXT})
    first = decisions.decide_pair(pair.pk, "confirm", user=user, note=f"Same {MARK} story")
    models.SecondReading.objects.create(
        pair=pair, decision=first, first_kind="confirm", user=user, kind="version", note=MARK, blind=True
    )
    group = models.DenseGroup.objects.create(
        first=article, size=2, newspapers=2, first_day=DAY, last_day=DAY, pairs=1, passes=["minhash"], fingerprint="x"
    )
    for removed in (article, others[0]):
        models.CrowdedArticle.objects.create(article=removed, pass_name="minhash", near=99, run=make_run())
        models.GroupMember.objects.create(article=removed, group=group)
    sample = models.ValidationSample.objects.create(name="one", seed=1, options={}, strata=[], size=1, readers=1)
    left, right = sorted([article, others[0]], key=lambda article: article.pk)
    drawn = models.SampledPair.objects.create(
        sample=sample, position=1, left=left, right=right, stratum="all", weight=1, revision=1, settled_note=MARK
    )
    models.SampleLabel.objects.create(pair=drawn, reader="ada", label="D", note=MARK)
    models.StoredReport.objects.create(report="overview", asked={}, key="k", result=TEXT, shown={"says": MARK})
    hook = models.Webhook.objects.create(owner=user, url="https://hooks.example/", secret="x", events=[])
    models.Delivery.objects.create(
        webhook=hook, event="cluster.new", body=json.dumps({"headline": f"{MARK} opens its bridge"})
    )
    models.Lesson.objects.create(job=Job.objects.create(kind="lesson", error=f"at {URL}"), result={"example": URL})
    models.SavedView.objects.create(user=user, page="articles", name="mine", query=f"words={MARK} opens its bridge")
    row = {"date": "2026-03-02", "headline": f"{MARK} opens its bridge", "url": URL, "content": TEXT}
    lines = json.dumps(row) + "\n" + json.dumps({**row, "content": ""}) + "\n"
    kept = keep_upload("march.jsonl.gz", [gzip.compress(lines.encode())], newspaper="Selby Gazette", user=user)
    RejectedRow.objects.create(file_import=kept, line=2, reason=f"{URL} is wrong", raw=lines)
    session = SessionStore()
    session["refused_note"] = {"page": "/", "note": f"about {URL}"}
    session.save()


def test_nothing_of_a_removed_article_is_left_in_any_table(marked: Article, store: StoreArticle, mara: User) -> None:
    others = [store(newspaper="Harbour Post"), store(newspaper="Selby Gazette")]
    mark_everything(marked, others, mara)
    number = marked.pk
    assert len(columns_with(MARK)) > 40

    removal = carry_out(begin_articles([number], reason="Order of a court", user=mara))

    assert columns_with(MARK) == set()
    assert removal.state == "done"
    assert removal.counts == {"articles": 1, "pairs": 1, "evidence": 1, "tombstones": 1, "sampled pairs": 1}
    assert not Article.objects.filter(pk=number).exists()
    assert Article.objects.filter(pk__in=[other.pk for other in others]).count() == 2
    tombstone = models.Decision.objects.get()
    assert (tombstone.tombstone, tombstone.pair, tombstone.note, tombstone.decided_by) == (True, None, "", mara)
    assert (tombstone.kind, tombstone.articles) == ("confirm", [number, others[0].pk])
    reading = models.SecondReading.objects.get()
    assert (reading.pair, reading.note, reading.kind, reading.decision) == (None, "", "version", tombstone)


def test_nothing_of_a_removed_newspaper_is_left_in_any_table(marked: Article, store: StoreArticle, mara: User) -> None:
    others = [store(newspaper="Harbour Post")]
    mark_everything(marked, others, mara)
    newspaper = marked.newspaper
    NewspaperAlias.objects.create(newspaper=newspaper, alias=f"{MARK} Gazette")
    CrawlSchedule.objects.create(newspaper=newspaper, every_hours=1, due_at=timezone.now())
    SourceValidator.objects.create(newspaper=newspaper, url=f"{URL}/feed", etag=MARK)
    log_action(newspaper, CHANGE, "is crawled now", user=mara, object_id=str(newspaper.pk))

    # What somebody typed into a search of their own is not looked for, and webhooks send no texts.
    models.SavedView.objects.all().delete()
    models.Delivery.objects.all().delete()

    removal = begin_newspaper(newspaper, reason="The contract has ended", user=mara)
    hide(removal)
    assert not Article.objects.filter(headline__contains=MARK).exists()
    carry_out(removal)

    # Its name is in the log of removals, for those who must account for it.
    assert columns_with(MARK) == set()
    assert columns_with("Selby Gazette", "gazette.example") == {"articles_removal.label"}
    assert not Newspaper.objects.filter(pk=newspaper.pk).exists()
    assert Newspaper.objects.get() == others[0].newspaper
    assert Removal.objects.get().label == "Selby Gazette"


def test_clusters_and_questions_are_as_if_the_article_had_never_been_there(store: StoreArticle) -> None:
    first, second, third, gone = (store(newspaper=name) for name in ("A Post", "B Post", "C Post", "D Post"))
    cluster = make_cluster(gone, first, second, score=0.8)
    make_pair(second, third, trigram=0.3, verdict="similar", duplicate_probability=0.5)
    assert models.Cluster.objects.get().size == 3
    before = models.OpenQuestion.objects.count()

    carry_out(begin_articles([gone.pk], reason="Asked for by its author"))

    # Only the article that went had connected the others.
    assert list(models.Cluster.objects.all()) == []
    assert list(models.Membership.objects.all()) == []
    assert before == 2
    assert [item_.pair.left_id for item_ in models.OpenQuestion.objects.select_related("pair")] == [second.pk]
    assert models.Cluster.objects.filter(pk=cluster.pk).count() == 0


def test_what_editors_tied_together_stays_together(store: StoreArticle, mara: User) -> None:
    gone, *others = (store(newspaper=name) for name in ("A Post", "B Post", "C Post", "D Post"))
    cluster = make_cluster(gone, *others)
    made = decisions.confirm_cluster(
        cluster.pk, decisions.seen_as([gone.pk, *(other.pk for other in others)]), user=mara, note="Yes"
    )

    carry_out(begin_articles([gone.pk], reason="Order of a court"))

    left = models.Cluster.objects.get(pk=cluster.pk)
    assert (left.state, left.size, left.kept_id) == ("confirmed", 3, others[0].pk)
    assert list(models.Link.objects.values_list("decision", "left", "right", "kind")) == [
        (made.pk, others[0].pk, others[1].pk, "must"),
        (made.pk, others[1].pk, others[2].pk, "must"),
    ]
    assert [models.Decision.objects.get().tombstone, models.Decision.objects.get().is_undoable] == [True, True]
    decisions.undo(made.pk, user=mara)
    assert list(models.Cluster.objects.all()) == []


@pytest.mark.parametrize("says", [None, "1"])
@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM dedup_decision",
        "UPDATE dedup_decision SET note = ''",
        "UPDATE dedup_decision SET tombstone = true, note = '', pair_id = NULL",
        "DELETE FROM dedup_link",
        "UPDATE dedup_link SET kind = 'cannot'",
        "DELETE FROM articles_removal",
        "UPDATE articles_removal SET reason = 'none'",
        "UPDATE articles_removal SET state = 'running'",
        "UPDATE articles_removal SET requested_by_id = NULL",
    ],
)
def test_nobody_else_changes_what_is_only_appended(
    store: StoreArticle, mara: User, statement: str, says: str | None
) -> None:
    carry_out(begin_articles([store(newspaper="Old Post").pk], reason="Order of a court", user=mara))
    running = begin_articles([store(newspaper="Other Post").pk], reason="Order of a court", user=mara)
    pair = make_pair(store(newspaper="A Post"), store(newspaper="B Post"), trigram=0.9)
    decisions.decide_pair(pair.pk, "confirm", user=mara)
    with connection.cursor() as cursor:
        # A removal that is under way opens only what is about its own articles.
        cursor.execute("SELECT set_config('newsdedup.removal', %s, true)", [str(running.pk) if says else ""])
        with pytest.raises(ProgrammingError, match=r"Cannot (update or )?delete|is append-only"), transaction.atomic():
            cursor.execute(statement)


def incoming(url: str, newspaper: str = "") -> IncomingArticle:
    return IncomingArticle(DAY, "Again", url, "The same text comes again.", newspaper)


def test_a_removed_article_does_not_come_back_until_an_admin_allows_it(marked: Article, mara: User) -> None:
    removal = carry_out(begin_articles([marked.pk], reason="Order of a court", user=mara))
    again = [incoming(url, "Selby Gazette") for url in (URL, f"{URL}?utm_source=feed", f"{URL}/", f"{URL}-2")]
    outcomes = [(article.outcome, article.reason) for article in store_articles(again)]
    assert outcomes == [*([("rejected", REFUSED)] * 3), ("created", "")]
    allow_again(removal, user=mara)
    assert [article.outcome for article in store_articles(again[:1])] == ["created"]
    assert (Removal.objects.get().lifted_by, RemovedIdentity.objects.count()) == (mara, 0)
    with pytest.raises(RemovalError, match="allowed to come again already"):
        allow_again(Removal.objects.get())


def test_a_removed_newspaper_does_not_come_back_under_its_name_or_host(marked: Article) -> None:
    Newspaper.objects.filter(pk=marked.newspaper_id).update(host="gazette.example")
    removal = begin_newspaper(marked.newspaper, reason="The contract has ended")
    fresh = [incoming("https://gazette.example/new"), incoming("https://wire.example/new", "Selby Gazette")]
    assert [article.outcome for article in store_articles(fresh)] == ["rejected", "rejected"]
    carry_out(removal)
    assert [article.outcome for article in store_articles(fresh)] == ["rejected", "rejected"]
    assert not Newspaper.objects.exists()
    allow_again(Removal.objects.get())
    assert [article.outcome for article in store_articles(fresh)] == ["created", "created"]


def test_a_host_that_another_newspaper_has_too_is_not_refused(marked: Article, store: StoreArticle) -> None:
    other = store(newspaper="Other Gazette").newspaper
    Newspaper.objects.filter(pk__in=[marked.newspaper_id, other.pk]).update(host="gazette.example")
    carry_out(begin_newspaper(Newspaper.objects.get(pk=marked.newspaper_id), reason="The contract has ended"))
    [stored] = store_articles([incoming("https://gazette.example/new")])
    assert Article.objects.get(pk=stored.article_id).newspaper == other


def test_what_cannot_be_removed_says_why(marked: Article, store: StoreArticle) -> None:
    other = store(newspaper="Other Gazette").newspaper
    with pytest.raises(RemovalError, match="a reason is required"):
        begin_newspaper(other, reason=" \n")
    with pytest.raises(RemovalError, match="there is no article 987654321"):
        begin_articles([marked.pk, 987654321], reason="x")
    with pytest.raises(RemovalError, match="101 articles were named; name 1 to 100"):
        begin_articles(range(1, 102), reason="x")
    Newspaper.objects.filter(pk=other.pk).update(merged_into=marked.newspaper)
    other.refresh_from_db()
    with pytest.raises(RemovalError, match="is merged into Selby Gazette; undo the merge first, or remove"):
        begin_newspaper(other, reason="x")
    begin_newspaper(marked.newspaper, reason="x")
    with pytest.raises(RemovalError, match="is being removed already"):
        begin_newspaper(marked.newspaper, reason="x")
    Visit.objects.create(newspaper=marked.newspaper, spider="feed")
    with pytest.raises(RemovalError, match="a crawl of the newspaper is active"):
        carry_out(Removal.objects.get())
    assert not ArticleURL.objects.exclude(url="").filter(article__newspaper=marked.newspaper).exists()


def test_a_removal_that_was_interrupted_is_taken_up_again(
    marked: Article, store: StoreArticle, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(4):
        store(newspaper="Selby Gazette")
    removal = begin_newspaper(marked.newspaper, reason="The contract has ended")
    monkeypatch.setattr("newsdedup_site.privacy.removal.REMOVED_AT_ONCE", 2)

    def killed(articles: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        carry_out(removal, killed)
    assert Article.objects.count() == 3
    assert Removal.objects.get().counts["articles"] == 2
    done = carry_out(Removal.objects.get())
    assert (done.state, done.counts["articles"], Article.objects.count()) == ("done", 5, 0)
    assert carry_out(done) == done


def test_an_upgrade_scrubs_the_log_of_newspapers_that_were_removed_before(db: None) -> None:
    ada = make_user("ada", "admin")
    Removal.objects.create(kind="newspaper", newspaper_ids=[7], reason="asked", requested_by=ada, state="done")
    kind = ContentType.objects.get_for_model(WhitelistedSentence)
    logged = [
        LogEntry.objects.create(
            user=ada, content_type=kind, object_id=logged_key(number, "d"), object_repr="Jo Holm writes.", action_flag=1
        ).pk
        for number in (7, 77)
    ]
    executed(import_module("newsdedup_site.migrations.0006_log_of_removed_newspapers").SCRUB_SQL)
    assert [LogEntry.objects.get(pk=pk).object_repr for pk in logged] == ["removed", "Jo Holm writes."]
