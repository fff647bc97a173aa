"""Which clusters are rebuilt, which articles are noted for it, and what follows for the questions."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import transaction

from articles.models import Article
from articles.storage.ingest import newest_revision
from dedup.detection.clustering import rebuild
from dedup.detection.clustering.constraints import Constraints, KnownConstraints, constraints_in_force
from dedup.detection.clustering.rebuild import (
    Rebuilt,
    changed_since_rebuilt,
    contradictions,
    renew_questions,
    update_clusters,
)
from dedup.detection.judging.judge import JudgedRow
from dedup.detection.runs.judging import store_rows
from dedup.models import ChangedArticle, Cluster, OpenQuestion, Pair, Profile, Watermark
from dedup.review.answers import decisions
from tests.conftest import StoreArticle
from tests.factories import make_cluster, make_pair

pytestmark = pytest.mark.django_db


@pytest.fixture
def articles(store: StoreArticle) -> list[Article]:
    """Return four articles, two and two of them in a cluster, of which all were built."""
    made = [store() for _ in range(4)]
    make_cluster(*made[:2])
    make_cluster(*made[2:])
    renew_questions(update_clusters(only_changed=False))
    return made


def pair(left: Article, right: Article) -> Pair:
    return Pair.objects.get(left=left, right=right)


def test_nothing_is_rebuilt_while_nothing_changes(articles: list[Article]) -> None:
    assert changed_since_rebuilt() == set()
    assert update_clusters(only_changed=True) == Rebuilt(set(), [])
    # All clusters, if all are asked for.
    assert update_clusters(only_changed=False).articles is None
    marks = dict(Watermark.objects.values_list("name", "revision"))
    assert marks == {"clusters": newest_revision(), "joins": 0}  # the questions are to be renewed


def test_before_clusters_were_built_all_are(store: StoreArticle) -> None:
    make_pair(store(), store(), trigram=0.9)
    assert changed_since_rebuilt() is None
    assert update_clusters(only_changed=True).articles is None
    assert Cluster.objects.count() == 1
    assert changed_since_rebuilt() == set()


def test_the_clusters_of_changed_articles_are_rebuilt_and_of_those_stored_again(articles: list[Article]) -> None:
    a, b, c, d = articles
    Pair.objects.filter(left=a).update(joins=False, verdict="similar")
    Pair.objects.filter(left=c).update(joins=False, verdict="similar")
    ChangedArticle.objects.create(article=b.pk)
    ChangedArticle.objects.create(article=b.pk)
    assert changed_since_rebuilt() == {b.pk}
    rebuilt = update_clusters(only_changed=True)
    assert rebuilt.articles == {a.pk, b.pk}
    assert set(Cluster.objects.get().memberships.values_list("article", flat=True)) == {c.pk, d.pk}
    assert not ChangedArticle.objects.exists()
    renew_questions(rebuilt)
    Article.objects.filter(pk=d.pk).update(content="Another text, which is stored again.")
    assert changed_since_rebuilt() == {d.pk}
    assert update_clusters(only_changed=True).articles == {c.pk, d.pk}
    assert not Cluster.objects.exists()


def test_with_very_many_changed_articles_all_clusters_are_rebuilt(
    articles: list[Article], monkeypatch: pytest.MonkeyPatch
) -> None:
    a, b, c, d = articles
    monkeypatch.setattr(rebuild, "FEW", 2)
    for article, expected in ((a, {a.pk, b.pk}), (b, {a.pk, b.pk}), (c, None)):
        ChangedArticle.objects.create(article=article.pk)
        with transaction.atomic():
            assert update_clusters(only_changed=True).articles == expected
            transaction.set_rollback(True)
    ChangedArticle.objects.all().delete()
    Article.objects.filter(pk__in=[a.pk, b.pk, d.pk]).update(content="Another text.")
    assert update_clusters(only_changed=True).articles is None


def test_what_all_clusters_rest_on_has_all_of_them_rebuilt(articles: list[Article]) -> None:
    profile = Profile.objects.filter(is_default=True)
    for values in ({"keep_rule": "agency"}, {"same_as": "updates"}, {"asked_from": 0.3}):
        profile.update(**values)
        assert changed_since_rebuilt() is None
        assert update_clusters(only_changed=True).articles is None
        assert changed_since_rebuilt() == set()
    # An agency counts where a rule asks for it.
    Article.objects.filter(pk=articles[0].pk).update(agency="Reuters")
    assert changed_since_rebuilt() is None or articles[0].pk in changed_since_rebuilt()
    update_clusters(only_changed=True)
    assert pair(*articles[:2]).left.membership.cluster.kept == articles[0]
    profile.update(name="Another name")
    assert changed_since_rebuilt() == set()


def test_questions_are_renewed_with_the_clusters_and_all_of_them_after_a_process_was_killed(
    articles: list[Article], store: StoreArticle
) -> None:
    lost = make_pair(store(), store(), verdict="version", duplicate_probability=0.4, trigram=0.9)
    update_clusters(only_changed=False)
    OpenQuestion.objects.all().delete()
    ChangedArticle.objects.create(article=articles[0].pk)
    # The questions were not renewed after all clusters had been built, so all of them are due.
    rebuilt = update_clusters(only_changed=True)
    assert rebuilt.articles is None
    renew_questions(rebuilt)
    assert OpenQuestion.objects.filter(pair=lost).exists()
    assert Watermark.objects.get(name="questions").revision == newest_revision()

    OpenQuestion.objects.all().delete()
    renew_questions(update_clusters(only_changed=True))  # nothing has changed
    assert not OpenQuestion.objects.exists()
    ChangedArticle.objects.create(article=articles[0].pk)
    rebuilt = update_clusters(only_changed=True)
    assert not Watermark.objects.filter(name="questions").exists()
    renew_questions(rebuilt)
    assert [question.pair for question in OpenQuestion.objects.all()] == [pair(*articles[:2])]


def test_a_verdict_that_changes_is_noted_and_one_that_is_the_same_is_not(articles: list[Article]) -> None:
    a, b, c, d = articles
    Pair.objects.filter(left=a).update(left_matched=1.0, right_matched=1.0)
    same = pair(a, b)
    row = JudgedRow(same.pk, "duplicate", same.probability, same.duplicate_probability, '["By words."]', True, 1.0, 1.0)

    def judge(**values: Any) -> set[int] | None:
        with transaction.atomic():
            store_rows([row._replace(**values)], {same.pk: 17})
            changed = changed_since_rebuilt()
            transaction.set_rollback(True)
        return changed

    assert judge() == set()
    for values in (
        {"joins": False},
        {"verdict": "version"},
        {"probability": 0.3},
        {"duplicate_probability": 0.3},
        {"left_matched": 0.5},
        {"right_matched": 0.5},
        {"left_matched": None},
    ):
        assert judge(**values) == {a.pk, b.pk}, values
    assert judge(id=pair(c, d).pk, probability=0.3) == {c.pk, d.pk}
    Watermark.objects.filter(name="clusters").delete()
    with transaction.atomic():
        store_rows([row._replace(joins=False)], {same.pk: 17})
    assert not ChangedArticle.objects.exists()
    columns = ("verdict", "probability", "reasons", "joins", "left_matched", "input_digest")
    stored = Pair.objects.values_list(*columns).get(pk=same.pk)
    assert stored == ("duplicate", same.probability, ["By words."], False, 1.0, 17)


def test_contradictions_are_cannot_links_inside_what_must_links_tie(
    articles: list[Article], store: StoreArticle, editor: User
) -> None:
    a, b, c, d = articles
    for left, right in ((a, c), (b, c), (c, store())):
        make_pair(left, right, verdict="similar", trigram=0.5)
    for left, right in ((a, b), (b, c)):
        decisions.decide_pair(pair(left, right).pk, "confirm", user=editor)
    assert contradictions() == 0
    decisions.decide_pair(pair(c, d).pk, "reject", user=editor)
    assert contradictions() == 0
    made = decisions.decide_pair(pair(a, c).pk, "reject", user=editor)
    assert contradictions() == 1
    ChangedArticle.objects.create(article=a.pk)
    assert update_clusters(only_changed=True).contradictions == [(a.pk, c.pk)]
    decisions.undo(made.pk, user=editor)
    assert contradictions() == 0


def test_constraints_that_are_read_once_are_those_that_are_in_force(articles: list[Article], editor: User) -> None:
    a, b, c, d = articles
    for left, right in ((a, c), (a, d), (b, c), (b, d)):
        make_pair(left, right, verdict="similar", trigram=0.5)
    for left, right, kind in (
        (a, b, "confirm"),
        (a, c, "reject"),
        (a, d, "template"),
        (b, c, "unsure"),
        (b, d, "version"),
    ):
        decisions.decide_pair(pair(left, right).pk, kind, user=editor)
    decisions.take_out(pair(c, d).left.membership.cluster_id, c.pk, user=editor)
    parted = [(a.pk, c.pk), (a.pk, d.pk), (b.pk, d.pk), (c.pk, d.pk)]  # versions too, unless the profile joins them
    assert constraints_in_force() == Constraints(must=[(a.pk, b.pk)], cannot=parted, stay=[])
    known = KnownConstraints()
    for some in ([a.pk], [c.pk, d.pk], [], [a.pk, b.pk, c.pk, d.pk], [0]):
        assert known.on(some) == constraints_in_force(some)
    assert constraints_in_force([b.pk]).must == [(a.pk, b.pk)]
    assert constraints_in_force([d.pk]).cannot == parted[1:]
    Profile.objects.filter(is_default=True).update(same_as="updates")
    assert constraints_in_force([d.pk]) == Constraints([], [(a.pk, d.pk), (c.pk, d.pk)], stay=[(b.pk, d.pk)])
