"""Rows that tests of the pages look at: users with a role, pairs with evidence, clusters."""

from typing import Any

from django.contrib.auth.models import Group, User
from django.test import Client
from django.utils import timezone

from articles.models import Article, Collection, Job, Newspaper
from articles.storage.incoming import IncomingArticle
from articles.storage.ingest import Stored, store_articles
from dedup.detection.clustering.questions import update_questions
from dedup.detection.clustering.rebuild import rebuild_clusters
from dedup.detection.verdicts.model import default_model, dump_model
from dedup.models import (
    Cluster,
    DetectionRun,
    Evidence,
    FittedModel,
    HeadlineForm,
    Lesson,
    Membership,
    Pair,
    Profile,
    Series,
)
from dedup.research.lessons import directions

PASSWORD = "a-long-passphrase"  # noqa: S105 - of users that live as long as a test


def make_collection(kind: str, name: str, *newspapers: Newspaper) -> Collection:
    """Return a collection of these newspapers."""
    made, _ = Collection.objects.get_or_create(kind=kind, name=name)
    made.newspapers.add(*newspapers)
    return made


def store_article(incoming: IncomingArticle) -> Stored:
    """Store one article that can be stored; return whether it is new, and its number."""
    [stored] = store_articles([incoming])
    assert stored.outcome != "rejected", stored.reason
    return stored


def attach_copy(article: Article) -> None:
    """Let another address of an article arrive, and be attached to it."""
    Newspaper.objects.filter(pk=article.newspaper_id).update(attach=Newspaper.Attach.ADDRESS)
    again = {name: getattr(article, name) for name in ("date", "headline", "content")}
    copy = IncomingArticle(url=f"{article.url}/amp", newspaper=article.newspaper.name, **again)
    assert store_article(copy).outcome != "created"


def make_user(name: str, *groups: str, **fields: Any) -> User:
    """Return a user with this name, in these groups."""
    user = User.objects.create_user(name, password=PASSWORD, **fields)
    user.groups.add(*Group.objects.filter(name__in=groups))
    return user


def client_of(user: User) -> Client:
    """Return the browser of a user who is logged in."""
    client = Client()
    client.force_login(user)
    return client


def make_run(**fields: Any) -> DetectionRun:
    """Return a finished run of the default profile."""
    values: dict[str, Any] = {
        "profile": Profile.objects.get(is_default=True),
        "profile_name": "default",
        "config": {"trigram": {"enabled": True, "threshold": 0.6}},
        "scope": {"since": None, "until": None, "newspapers": None},
        "state": DetectionRun.State.DONE,
        "counts": {},
        "finished_at": timezone.now(),
    }
    return DetectionRun.objects.create(**{**values, **fields})


def make_pair(
    first: Article,
    second: Article,
    *,
    verdict: str = "duplicate",
    probability: float | None = None,
    duplicate_probability: float = 0.01,
    matched: tuple[float, float] = (1.0, 1.0),
    **scores: float,
) -> Pair:
    """Return the pair of two articles, with the score that each of these passes gave it (trigram=0.8).

    The verdict, "" for none, is as probable as the best score is high, unless told; only duplicates join.
    `duplicate_probability`: of any other verdict. `matched`: the share of the first one's words that the second one
    has, and the other way round.
    """
    left, right = sorted((first, second), key=lambda article: article.pk)
    left_matched, right_matched = matched if left == first else matched[::-1]
    best_score = max(scores.values(), default=0.0)
    probability = best_score if probability is None else probability
    pair = Pair.objects.create(
        left=left,
        right=right,
        best_score=best_score,
        verdict=verdict,
        probability=probability if verdict else None,
        duplicate_probability=(probability if verdict == "duplicate" else duplicate_probability) if verdict else None,
        joins=verdict == "duplicate",
        left_matched=left_matched,
        right_matched=right_matched,
        days_apart=abs((left.date - right.date).days),
        same_newspaper=left.newspaper_id == right.newspaper_id,
    )
    run = DetectionRun.objects.first() or make_run()
    for name, score in scores.items():
        Evidence.objects.create(pair=pair, pass_name=name, score=score, run=run)
    together = Membership.objects.filter(cluster__memberships__article__in=[left, right])
    update_questions({left.pk, right.pk, *together.values_list("article", flat=True)})
    return pair


def make_lesson(*changed: Pair, old: str = "version", new: str = "similar") -> Lesson:
    """Return a lesson whose model would change these pairs, and has been tested on none that was drawn at random."""
    rows = [
        {
            "pair": pair.pk,
            "old": old,
            "new": new,
            "state": pair.state,
            "old_duplicate_probability": 0.4,
            "new_duplicate_probability": 0.1,
            "left": str(pair.left),
            "right": str(pair.right),
        }
        for pair in changed
    ]
    result = {
        "decisions": 63,
        "left_out": 0,
        "learnt_from": {"D": 14, "V": 43, "T": 1, "E": 4, "N": 1},
        "adjusted": "nothing",
        "tested": 20,
        "right_before": 10,
        "right_after": 10,
        "drawn": 0,
        "compared": 3_100,
        "judged": 3_100,
        "changed": 3_033,
        "counts": [{"old": old, "new": new, "pairs": 3_033}],
        "moves": directions({(old, new): 3_033}),
        "examples": rows,
        "to_answer": rows,
        "support": {"new_right": 0, "old_right": 0, "neither": 0},
    }
    model = FittedModel.objects.create(content=dump_model(default_model()), decisions=63)
    job = Job.objects.create(kind="lesson", title="Learning", state=Job.State.DONE, finished_at=timezone.now())
    return Lesson.objects.create(job=job, result=result, model=model)


def make_series(newspaper: Newspaper, form: str, *articles: Article) -> Series:
    """Return the series of these articles of a newspaper, whose headlines have this form."""
    HeadlineForm.objects.bulk_create(
        HeadlineForm(article=article, newspaper=newspaper, date=article.date, form=form, revision=article.revision)
        for article in articles
    )
    days = sorted({article.date for article in articles})
    return Series.objects.create(
        newspaper=newspaper,
        form=form,
        headline=articles[-1].headline,
        articles=len(articles),
        days=len(days),
        first_day=days[0],
        last_day=days[-1],
    )


def clusters() -> list[list[int]]:
    """Return the articles of each cluster, ascending, by the numbers of the clusters."""
    return [sorted(cluster.memberships.values_list("article", flat=True)) for cluster in Cluster.objects.order_by("pk")]


def make_cluster(*articles: Article, score: float = 0.9) -> Cluster:
    """Return the cluster of these articles, each held to the first by a pair."""
    for article in articles[1:]:
        make_pair(articles[0], article, trigram=score)
    update_questions(rebuild_clusters([article.pk for article in articles]).articles)
    return Cluster.objects.get(memberships__article=articles[0])
