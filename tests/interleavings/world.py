"""What the plays begin with, and what a reader sees of it in the end, without numbers of rows."""

import itertools
from typing import Any, NamedTuple

from django.contrib.auth.models import User

from articles.grouping import by_key
from articles.models import Article
from articles.storage.ingest import store_articles
from dedup.detection.clustering.constraints import expected_implications
from dedup.detection.clustering.questions import all_questions, expected_counts
from dedup.detection.clustering.rebuild import expected_clusters
from dedup.models import Cluster, ConfirmedArticle, Decision, Membership, Pair, QuestionCount, SeparateArticles
from tests.articles.storage.test_ingest import incoming
from tests.factories import make_cluster, make_pair

_numbers = itertools.count(1)


def editors() -> tuple[User, User]:
    """Return two editors, made at the first call of a test."""
    return tuple(User.objects.get_or_create(username=name)[0] for name in ("mara", "nils"))


def articles(count: int) -> list[Article]:
    """Return new articles with texts of their own, each of another newspaper."""
    batch = [
        incoming(
            f"https://paper.example/story-number-{number}",
            headline=f"Headline number {number} of the day",
            content=f"Text number {number}, which is like no other text of the {number}th kind.",
            newspaper=f"Paper {place}",
        )
        for place, number in zip(range(count), _numbers, strict=False)
    ]
    stored = [article.article_id for article in store_articles(batch)]
    found = Article.objects.in_bulk(stored)
    return [found[pk] for pk in stored]


class Desk(NamedTuple):
    """Some articles, the pairs of each with the next, and two editors."""

    articles: list[Article]
    pairs: list[Pair]
    cluster: int
    editors: tuple[User, User]
    other: int = 0  # another cluster, or the dense group

    @property
    def ids(self) -> list[int]:
        return [article.pk for article in self.articles]


def desk(count: int = 3, *, clustered: bool = True) -> Desk:
    """Return new articles in one cluster or, if not, only some pairs of them."""
    made = articles(count)
    if clustered:
        cluster = make_cluster(*made, score=0.8)
        pairs = list(Pair.objects.among([row.pk for row in made]).order_by("left", "right"))
    else:
        cluster, pairs = None, [make_pair(*ends, verdict="similar", trigram=0.5) for ends in itertools.pairwise(made)]
    return Desk(made, pairs, cluster.pk if cluster else 0, editors())


def state_of(world: Desk) -> Any:
    """Return what decisions, pairs and clusters say about the articles of a desk, by their places."""
    place = {pk: number for number, pk in enumerate(world.ids)}
    pairs = Pair.objects.among(world.ids).order_by("left", "right")
    memberships = Membership.objects.filter(article__in=world.ids).order_by("article").values_list("article", "cluster")
    clusters = by_key((cluster, place[article]) for article, cluster in memberships)
    states = dict(Cluster.objects.in_bulk(list(clusters)))
    decisions = Decision.objects.filter(articles__overlap=world.ids)
    return (
        tuple((place[pair.left_id], place[pair.right_id], pair.state, pair.implied) for pair in pairs),
        tuple(sorted((tuple(found), states[number].state) for number, found in clusters.items())),
        tuple(
            sorted((decision.kind, decision.decided_by.username) for decision in decisions.select_related("decided_by"))
        ),
        faults(),
    )


def faults() -> tuple[str, ...]:
    """Return which of the tables that are derived from decisions are not what they should be."""
    stored = by_key(Membership.objects.order_by("article").values_list("cluster", "article"))
    implied = expected_implications()
    questions = all_questions()
    checks = {
        "clusters": sorted(map(tuple, stored.values())) == sorted(expected_clusters()),
        "tied": dict(ConfirmedArticle.objects.values_list("article", "first")) == implied.firsts,
        "separate": set(SeparateArticles.objects.values_list("one", "other")) == implied.separate,
        "questions": questions.stored == questions.expected,
        "counts": {key: number for key, number in QuestionCount.objects.values_list("tab", "number") if number}
        == {key: number for key, number in expected_counts().items() if number},
    }
    return tuple(name for name, is_right in checks.items() if not is_right)
