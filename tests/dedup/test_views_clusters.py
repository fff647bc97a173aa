"""The clusters, the page of one, and deciding on it."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from articles.models import Article
from dedup import review
from dedup.models import Cluster, Decision, Membership, Pair
from tests.conftest import StoreArticle
from tests.factories import make_cluster, make_pair

pytestmark = pytest.mark.django_db


@pytest.fixture
def trio(store: StoreArticle) -> tuple[Article, Article, Article]:
    return (
        store(newspaper="Harbour Post", headline="Pier closes"),
        store(newspaper="Coast Telegraph", headline="Pier closed"),
        store(newspaper="Inland Gazette", headline="Pier is shut"),
    )


def shown(client: Client, cluster: Cluster) -> str:
    page = client.get(reverse("cluster", args=[cluster.pk]))
    assert page.status_code == 200
    return page.content.decode()


def members(cluster: Cluster) -> set[int]:
    return set(Membership.objects.filter(cluster=cluster).values_list("article", flat=True))


def listed(client: Client, **query: Any) -> list[int]:
    page = client.get(reverse("clusters"), query).content.decode()
    return [int(number) for number in re.findall(r'pair-link" href="/clusters/(\d+)/', page)]


def test_lists_the_largest_first_and_filters(desk: Client, store: StoreArticle, trio: tuple[Article, ...]) -> None:
    small, large = make_cluster(store(), store()), make_cluster(*trio)
    Cluster.objects.filter(pk=small.pk).update(state="confirmed")

    assert listed(desk) == [large.pk, small.pk]
    assert listed(desk, state="confirmed") == [small.pk]
    assert listed(desk, size_from="3") == [large.pk]
    assert listed(desk, newspaper=trio[2].newspaper_id) == [large.pk]
    assert listed(desk, size_from="abc", page="zzz") == [large.pk, small.pk]


def test_the_list_costs_the_same_queries_for_one_and_for_ten(
    desk: Client, store: StoreArticle, django_assert_num_queries: Any
) -> None:
    for expected in (1, 10):
        while Cluster.objects.count() < expected:
            make_cluster(store(), store())
        with django_assert_num_queries(5):  # session, user, newspapers of the form, page, count
            assert len(listed(desk)) == expected


def test_shows_members_pairs_and_links_to_comparisons(desk: Client, trio: tuple[Article, ...]) -> None:
    cluster = make_cluster(*trio)
    page = shown(desk, cluster)

    for article in trio:
        assert article.headline in page
        assert f'name="articles" value="{article.pk}"' in page
    assert page.count("Kept: stands for the cluster") == 1
    others = [article for article in trio if article.pk != cluster.kept_id]
    for article in others:
        pair = Pair.objects.filter(
            left__in=(cluster.kept_id, article.pk), right__in=(cluster.kept_id, article.pk)
        ).first()
        wanted = f"/pairs/{pair.pk}/" if pair else f"/compare/?left={cluster.kept_id}&amp;right={article.pk}"
        assert f'href="{wanted}">Compare' in page


def test_confirms_what_was_shown(desk: Client, editor: User, trio: tuple[Article, ...]) -> None:
    cluster = make_cluster(*trio)
    answer = desk.post(
        reverse("cluster_confirm", args=[cluster.pk]), {"articles": [a.pk for a in trio], "note": "Wire."}
    )

    assert answer["Location"] == f"/clusters/{cluster.pk}/"
    cluster.refresh_from_db()
    assert cluster.state == "confirmed"
    decision = Decision.objects.get()
    assert (decision.kind, decision.cluster_number, decision.decided_by, decision.note) == (
        "confirm_cluster",
        cluster.pk,
        editor,
        "Wire.",
    )
    assert f"Cluster {cluster.pk} confirmed." in shown(desk, cluster)


def test_after_a_confirmation_comes_the_next_proposed_cluster(
    desk: Client, store: StoreArticle, trio: tuple[Article, ...]
) -> None:
    first, second = make_cluster(*trio), make_cluster(store(), store())
    address = reverse("cluster_confirm", args=[first.pk])

    answer = desk.post(f"{address}?state=proposed", {"articles": [a.pk for a in trio]})
    assert answer["Location"] == f"/clusters/{second.pk}/?state=proposed"


def test_a_cluster_that_changed_is_not_confirmed(desk: Client, trio: tuple[Article, ...]) -> None:
    cluster = make_cluster(*trio)
    address = reverse("cluster_confirm", args=[cluster.pk])
    for seen in ([], [trio[0].pk], ["x"], [article.pk for article in trio] + [10**30]):
        answer = desk.post(address, {"articles": seen})
        assert answer["Location"] == f"/clusters/{cluster.pk}/"
        assert "notice-error" in shown(desk, cluster)
    assert not Decision.objects.exists()


def test_takes_one_out_and_keeps_the_rest(desk: Client, trio: tuple[Article, ...]) -> None:
    cluster = make_cluster(*trio)
    answer = desk.post(reverse("cluster_take_out", args=[cluster.pk]), {"article": trio[2].pk})

    assert answer["Location"] == f"/clusters/{cluster.pk}/"
    assert members(cluster) == {trio[0].pk, trio[1].pk}
    page = shown(desk, cluster)
    assert "The article was taken out." in page
    assert "took an article out" in page


def test_a_cluster_of_two_is_gone_when_one_is_taken_out(desk: Client, store: StoreArticle) -> None:
    first, second = store(), store()
    cluster = make_cluster(first, second)
    answer = desk.post(reverse("cluster_take_out", args=[cluster.pk]), {"article": second.pk})

    assert answer["Location"] == "/clusters/"
    gone = desk.get(reverse("cluster", args=[cluster.pk]))
    assert gone.status_code == 404
    page = gone.content.decode()
    assert f"Cluster {cluster.pk} does not exist any more" in page
    assert "took an article out" in page
    assert 'href="/history/"' in page


def test_a_cluster_that_never_was(desk: Client) -> None:
    gone = desk.get("/clusters/4711/")

    assert gone.status_code == 404
    assert "No cluster has had this number yet." in gone.content.decode()


def test_chooses_the_article_to_keep(desk: Client, trio: tuple[Article, ...]) -> None:
    cluster = make_cluster(*trio)
    other = next(article for article in trio if article.pk != cluster.kept_id)
    answer = desk.post(reverse("cluster_keep", args=[cluster.pk]), {"article": other.pk})

    assert answer["Location"] == f"/clusters/{cluster.pk}/"
    cluster.refresh_from_db()
    assert cluster.kept_id == other.pk


@pytest.mark.parametrize("action", ["cluster_keep", "cluster_take_out"])
@pytest.mark.parametrize("article", ["", "x", "0", "99999999999999999999", "4711"])
def test_articles_that_are_not_in_the_cluster(
    desk: Client, trio: tuple[Article, ...], action: str, article: str
) -> None:
    cluster = make_cluster(*trio)
    answer = desk.post(reverse(action, args=[cluster.pk]), {"article": article})

    assert answer["Location"] == f"/clusters/{cluster.pk}/"
    assert "notice-error" in shown(desk, cluster)
    assert not Decision.objects.exists()


def test_a_contradiction_is_shown(desk: Client, trio: tuple[Article, ...]) -> None:
    cluster = make_cluster(*trio)
    rejected = make_pair(trio[1], trio[2], trigram=0.4)
    Pair.objects.filter(pk=rejected.pk).update(state="rejected")
    page = shown(desk, cluster)

    assert "This cluster contradicts a decision" in page
    assert f'<li><a href="/pairs/{rejected.pk}/"' in page


def test_visitors_look_and_do_not_decide(visitor: Client, trio: tuple[Article, ...]) -> None:
    cluster = make_cluster(*trio)

    assert "<form" not in shown(visitor, cluster).split("<main", 1)[1]
    for action in ("cluster_confirm", "cluster_keep", "cluster_take_out"):
        assert visitor.post(reverse(action, args=[cluster.pk]), {"article": trio[0].pk}).status_code == 403
    assert not Decision.objects.exists()


def test_decisions_stand_on_the_page_and_can_be_undone(desk: Client, editor: User, trio: tuple[Article, ...]) -> None:
    cluster = make_cluster(*trio)
    decision = review.confirm_cluster(cluster.pk, [article.pk for article in trio], user=editor)
    assert f'action="/decisions/{decision.pk}/undo/"' in shown(desk, cluster)

    answer = desk.post(reverse("undo", args=[decision.pk]))
    assert answer["Location"] == f"/clusters/{cluster.pk}/"
    cluster.refresh_from_db()
    assert cluster.state == "proposed"


def test_the_page_costs_a_fixed_number_of_queries(
    desk: Client, trio: tuple[Article, ...], store: StoreArticle, django_assert_num_queries: Any
) -> None:
    small, large = make_cluster(*trio), make_cluster(*(store() for _ in range(8)))
    # session, user, 2 x permissions, cluster, members, URLs, lengths, pairs of the kept one, pairs, evidence,
    # rejected pairs, decisions, next, previous
    for cluster in (small, large):
        with django_assert_num_queries(15):
            shown(desk, cluster)
