"""Rows for every kind of page, with texts that a page must escape."""

from typing import Any

from django.contrib.auth.models import User
from django.utils import timezone

from articles.models import ArticlePage, ArticleRevision, FileImport, Job, Newspaper
from articles.storage.newspaper_merges import merge_newspapers
from crawlers.models import Crawl, Trial, Visit
from dedup.detection.runs.requests import Wanted, request_run
from dedup.integrations.tokens import make_token, scopes_of
from dedup.integrations.webhooks import make_webhook
from dedup.models import Batch, Pair, Profile, ProfileRule, SavedView, SecondReading
from dedup.research.sampling import Plan, draw
from dedup.review.answers.decisions import decide_pair
from tests.conftest import StoreArticle
from tests.factories import make_cluster, make_pair, make_run, make_series, make_user
from tests.fuzz.values import MARKER

ROLES = ("viewer", "editor", "admin", "superuser")


def people() -> dict[str, User]:
    flags: dict[str, Any] = {"superuser": {"is_staff": True, "is_superuser": True}}
    groups = {role: [role] for role in ROLES if role != "superuser"}
    return {
        role: make_user(f"a-{role}", *groups.get(role, ()), first_name=MARKER[:30], **flags.get(role, {}))
        for role in ROLES
    }


def make_rows(store: StoreArticle, users: dict[str, User]) -> None:
    ada = users["superuser"]
    text = f"The ferry sails again {MARKER} after forty days, says the captain on the bridge of the ship. " * 3
    papers = ("Harbour Post", 2), (f"Coast {MARKER}", 2), ("Harbour Post", 3), ("Third", 4)
    articles = [
        store(f"{text}{n}", headline=f"Ferry {MARKER} {n}", newspaper=name, byline=MARKER, date=f"2026-03-0{day}")
        for n, (name, day) in enumerate(papers)
    ]
    make_cluster(*articles[:3])
    waiting = make_pair(articles[2], articles[3], trigram=0.7, verdict="similar")
    decided = decide_pair(Pair.objects.first().pk, "confirm", user=users["editor"], note=MARKER)  # type: ignore[union-attr]
    newspaper = Newspaper.objects.get(name="Harbour Post")
    make_series(newspaper, "ferry #", articles[0], articles[2])
    profile = Profile.objects.get(is_default=True)
    make_run()
    request_run(Wanted(profile), user=ada)
    ArticlePage.objects.create(article=articles[0], url=articles[0].url, body=b"")
    ArticleRevision.objects.create(
        article=articles[0], number=1, kind="changed", headline=MARKER, content=text + "changed",
        url=articles[0].url, seen_at=timezone.now(), updated_at=timezone.now(),
    )  # fmt: skip
    make_token(ada, f"a program {MARKER}"[:40], scopes_of(ada))
    make_webhook(ada, "https://receiver.example/", ["cluster.new"])
    failure = {"reason": MARKER, "number": 1, "url": f"http://x.example/{MARKER}"}
    Visit.objects.create(newspaper=newspaper, spider="feed", failures=[failure])
    draw(Plan(size=4, by=()), seed=1, name="spring", user=ada)
    FileImport.objects.create(name=f"{MARKER}.jsonl", size=0, preview={}, uploaded_by=ada)
    SavedView.objects.create(user=ada, page="queue", name=MARKER, query="sort=date")
    Trial.objects.create(url="http://paper.example/")
    job = Job.objects.create(
        kind="crawl", title="Crawl", state="done", finished_at=timezone.now(), result={"output": MARKER}
    )
    Crawl.objects.create(job=job, newspaper=newspaper, why="asked", asked_by=ada)
    ProfileRule.objects.create(profile=profile, newspaper=newspaper, left_out=True)
    answer = {"first_kind": "confirm", "user": users["admin"], "kind": "reject", "note": MARKER, "blind": True}
    SecondReading.objects.create(pair=waiting, decision=decided, **answer)
    merge_newspapers(Newspaper.objects.get(name="Third"), newspaper, user=ada)
    Batch.objects.create(kind="confirm", query="verdict=duplicate", seed=1, size=1, drawn=1, made_by=ada, after=0)
    Job.objects.create(kind="reextraction", title="Extract again", requested_by=ada)
