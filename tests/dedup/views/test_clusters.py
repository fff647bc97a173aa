"""The clusters, the page of one, and deciding on it."""

import re
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from articles.models import Article
from dedup.detection.clustering.rebuild import rebuild_clusters
from dedup.models import Cluster, Decision, Evidence, Membership, Pair
from dedup.review.answers import decisions
from tests.conftest import StoreArticle
from tests.factories import make_cluster, make_pair
from tests.pages import listed, notices, opened

pytestmark = pytest.mark.django_db
Trio = tuple[Article, Article, Article]


@pytest.fixture
def trio(store: StoreArticle) -> Trio:
    return (
        store(newspaper="Harbour Post", headline="Pier closes"),
        store(newspaper="Coast Telegraph", headline="Pier closed"),
        store(newspaper="Inland Gazette", headline="Pier is shut"),
    )


def shown(client: Client, cluster: Cluster) -> str:
    return opened(client, "cluster", cluster.pk)


def members(cluster: Cluster) -> set[int]:
    return set(Membership.objects.filter(cluster=cluster).values_list("article", flat=True))


def listed_ids(*articles: Article) -> str:
    return ",".join(str(article.pk) for article in articles)


def shown_of(*articles: Article) -> str:
    return decisions.seen_as([article.pk for article in articles])


def act(client: Client, name: str, cluster: Cluster, query: str = "", **sent: Any) -> str:
    """Decide on a cluster; return where that leads."""
    return str(client.post(reverse(f"cluster_{name}", args=[cluster.pk]) + query, sent)["Location"])


def preview(client: Client, name: str, cluster: Cluster, query: str = "", **sent: Any) -> Any:
    return client.post(reverse("cluster_preview", args=[cluster.pk, name]) + query, sent)


def test_lists_the_largest_first_and_filters(editor_client: Client, store: StoreArticle, trio: Trio) -> None:
    small, large = make_cluster(store(), store()), make_cluster(*trio)
    Cluster.objects.filter(pk=small.pk).update(state="confirmed")

    assert listed(editor_client, "clusters") == [large.pk, small.pk]
    assert listed(editor_client, "clusters", state="confirmed") == [small.pk]
    assert listed(editor_client, "clusters", size_from="3") == [large.pk]
    assert listed(editor_client, "clusters", newspaper=trio[2].newspaper_id) == [large.pk]
    assert listed(editor_client, "clusters", size_from="abc", page="zzz") == [large.pk, small.pk]


def test_shows_members_pairs_and_links_to_comparisons(editor_client: Client, visitor: Client, trio: Trio) -> None:
    cluster = make_cluster(*trio)
    page = shown(editor_client, cluster)

    for article in trio:
        assert article.headline in page
        assert article.content in page
    assert f'name="seen" value="{shown_of(*trio)}"' in page
    assert "3 different headlines." in page
    assert "a duplicate with a probability of 90%" in page
    assert "notice-warning" not in page
    assert page.count("badge-kept") == 1
    others = [article for article in trio if article.pk != cluster.kept_id]
    for article in others:
        pair = Pair.objects.filter(
            left__in=(cluster.kept_id, article.pk), right__in=(cluster.kept_id, article.pk)
        ).first()
        wanted = (
            f"/pairs/{pair.pk}/?verdict=any" if pair else f"/compare/?left={cluster.kept_id}&amp;right={article.pk}"
        )
        assert f'href="{wanted}&amp;back={cluster.pk}">Compare' in page
    assert "<form" not in shown(visitor, cluster).split("<main", 1)[1]


def test_members_are_listed_in_the_order_of_publication(editor_client: Client, store: StoreArticle) -> None:
    clocks = ("18:30:00", "07:10:05", "12:00:00")
    articles = [store(time=f"2026-03-02T{clock}+02:00") for clock in clocks]
    cluster = make_cluster(*articles)
    page = shown(editor_client, cluster)

    assert re.findall(r"2026, ([\d:]+) <span", page) == ["07:10:05", "12:00", "18:30"]
    assert cluster.kept == articles[1]


def test_names_the_passes_that_propose_a_pair(editor_client: Client, trio: Trio) -> None:
    cluster = make_cluster(*trio[:2])
    make_pair(trio[0], trio[2], trigram=0.8, exact=1.0, title=1.0)
    Evidence.objects.filter(pass_name="title").update(stale=True)
    rebuild_clusters([article.pk for article in trio])

    page = shown(editor_client, cluster)
    assert re.findall("<td>([A-Z][a-z ,A-Z]+text)</td>", page) == ["Similar text", "Same text, Similar text"]


def test_confirms_what_was_shown_and_goes_on_to_the_next_proposed_cluster(
    editor_client: Client, editor: User, store: StoreArticle, trio: Trio
) -> None:
    cluster = make_cluster(*trio)
    confirmed = act(editor_client, "confirm", cluster, seen=shown_of(*trio), note="Wire.")
    assert confirmed == f"/clusters/{cluster.pk}/"
    cluster.refresh_from_db()
    assert cluster.state == "confirmed"
    decision = Decision.objects.get()
    assert (decision.kind, decision.cluster_number, decision.note) == ("confirm_cluster", cluster.pk, "Wire.")
    assert decision.decided_by == editor
    page = shown(editor_client, cluster)
    assert notices(page) == [("success", [str(cluster.pk)])]
    assert "Weakest link" not in page
    page = opened(editor_client, "clusters")
    assert "held together by decisions" in page
    assert "weakest" not in page

    answer = editor_client.post(reverse("undo", args=[decision.pk]))
    assert answer["Location"] == f"/clusters/{cluster.pk}/"
    cluster.refresh_from_db()
    assert cluster.state == "proposed"
    second = make_cluster(store(), store())
    following = act(editor_client, "confirm", cluster, "?state=proposed", seen=shown_of(*trio))
    assert following == f"/clusters/{second.pk}/?state=proposed"


def test_a_cluster_that_changed_is_not_confirmed(editor_client: Client, trio: Trio) -> None:
    cluster = make_cluster(*trio)
    for seen, named in (
        ("", []),
        ("2-abc", [str(cluster.pk), "2", "3"]),
        (shown_of(trio[0]), [str(cluster.pk), "1", "3"]),
    ):
        assert act(editor_client, "confirm", cluster, seen=seen, note="Same wire.") == f"/clusters/{cluster.pk}/"
        page = shown(editor_client, cluster)
        assert notices(page) == [("error", named)]
        assert 'name="note" value="Same wire."' in page
    assert not Decision.objects.exists()


def test_a_cluster_of_more_than_a_thousand_articles(editor_client: Client, store: StoreArticle, trio: Trio) -> None:
    cluster = make_cluster(*trio)
    paper, values = trio[0].newspaper, {"date": trio[0].date, "headline": "Pier closes", "content": "Text."}
    many = Article.objects.bulk_create(
        Article(newspaper=paper, url=f"https://paper.example/{number}", normalizer_version=1, **values)
        for number in range(1100)
    )
    Membership.objects.bulk_create(Membership(cluster=cluster, article=article) for article in many)
    Cluster.objects.update(size=1103)
    page = shown(editor_client, cluster)
    # The three first have texts of their own, and the copies have none.
    assert page.count('<li class="member') == 100
    assert "Articles 1 to 100 of 1,103." in page
    assert "made for up to 200" in page
    last = opened(editor_client, "cluster", cluster.pk, page="12")
    assert (last.count('<li class="member'), "page=11" in last) == (3, True)
    assert "Articles 1,101 to 1,103 of 1,103." in last
    assert opened(editor_client, "cluster", cluster.pk, page="99").count('<li class="member') == 3
    seen = re.findall(r'name="seen" value="(1103-\w+)"', page)[0]
    assert act(editor_client, "confirm", cluster, seen=seen) == f"/clusters/{cluster.pk}/"
    assert len(Decision.objects.get().articles) == 1103


def test_dissolves_a_cluster_and_goes_on(editor_client: Client, editor: User, store: StoreArticle, trio: Trio) -> None:
    first, second = make_cluster(*trio), make_cluster(store(), store())
    assert f'formaction="/clusters/{first.pk}/preview/reject/"' in shown(editor_client, first)
    seen = {"seen": shown_of(*trio), "note": "A column's name."}
    assert act(editor_client, "reject", first, "?size_from=2", **seen) == f"/clusters/{second.pk}/?size_from=2"
    decision = Decision.objects.get()
    assert (decision.kind, decision.cluster_number, decision.note) == ("reject_cluster", first.pk, "A column's name.")
    assert not Cluster.objects.filter(pk=first.pk).exists()
    assert notices(shown(editor_client, second)) == [("success", [str(first.pk)])]
    seen = {"seen": shown_of(*Article.objects.filter(membership__cluster=second))}
    assert act(editor_client, "reject", second, **seen) == "/clusters/"


@pytest.fixture
def halves(store: StoreArticle) -> list[Article]:
    """Store two and three copies, which a weak pair joins."""
    two = [store(headline=f"Pier closes, {place}") for place in "AB"]
    three = [store(headline=f"Pier opens, {place}", date="2026-03-03") for place in "CDE"]
    for left, right in ((0, 1), (2, 3), (3, 4)):
        make_pair([*two, *three][left], [*two, *three][right], trigram=0.95)
    make_pair(two[1], three[0], trigram=0.62)
    rebuild_clusters()
    return [*two, *three]


def test_a_weakly_held_cluster_is_split_where_it_is_weak(editor_client: Client, halves: list[Article]) -> None:
    cluster = Cluster.objects.get()
    page = shown(editor_client, cluster)
    assert "No stronger pair connects rows 1–2 with rows 3–5." in page
    assert "decide-confirm" not in page
    assert "The weakest link, 62%, joins row 2 to row 3." in page
    assert page.count('class="tie tie-joins') == 4 + 1  # and one in the legend
    assert (page.count('class="node"'), page.count('class="node node-kept"')) == (4, 1)
    assert re.findall(r">(\d and \d)</a>", page) == ["2 and 3", "1 and 2", "3 and 4", "4 and 5"]
    ticked = opened(editor_client, "cluster", cluster.pk, tick="part")
    assert re.findall(r'value="(\d+)" form="decide" checked', ticked) == [str(halve.pk) for halve in halves[:2]]

    sent = dict(re.findall(r'name="(seen|tick)" value="([^"]+)">', page.split('id="split-here"')[1]))
    assert sent["tick"] == listed_ids(*halves[:2])
    previewed = preview(editor_client, "split", cluster, "?size_from=2", **sent)
    assert [group.size for group in previewed.context["preview"].clusters] == [3, 2]
    asked = previewed.content.decode()
    assert f'action="/clusters/{cluster.pk}/split/?size_from=2"' in asked
    assert (Decision.objects.count(), members(cluster)) == (0, {halve.pk for halve in halves})

    carried = dict(re.findall(r'type="hidden" name="(seen|tick)" value="([^"]+)"', asked))
    there = act(editor_client, "split", cluster, "?size_from=2", **carried)
    assert there == f"/clusters/{cluster.pk}/?size_from=2#members"
    assert sorted(Cluster.objects.values_list("size", flat=True)) == [2, 3]
    page = shown(editor_client, cluster)
    assert notices(page) == [("success", [str(cluster.pk)])]
    editor_client.post(reverse("undo", args=[Decision.objects.get(kind="split_cluster").pk]))
    assert Cluster.objects.get().size == 5


def test_two_clusters_are_merged_after_a_preview(editor_client: Client, store: StoreArticle, trio: Trio) -> None:
    one, other = make_cluster(*trio), make_cluster(store(headline="Quay shut"), store())
    sent = {"seen": decisions.seen_as(members(one)), "other": str(other.pk), "note": "Same wire."}
    previewed = preview(editor_client, "merge", one, **sent)
    assert "Quay shut" in previewed.content.decode()
    assert [(cluster.number, cluster.size) for cluster in previewed.context["preview"].clusters] == [(one.pk, 5)]
    assert Cluster.objects.count() == 2

    assert act(editor_client, "merge", one, **sent) == f"/clusters/{one.pk}/"
    assert (Cluster.objects.get().size, Decision.objects.get().note) == (5, "Same wire.")
    sent["seen"] = decisions.seen_as(members(one))
    for number, named in (("4711", ["4711"]), ("", []), ("x", [])):
        assert preview(editor_client, "merge", one, **{**sent, "other": number})["Location"] == f"/clusters/{one.pk}/"
        assert notices(shown(editor_client, one))[-1] == ("error", named)


def test_every_act_that_parts_a_cluster_is_previewed(editor_client: Client, trio: Trio) -> None:
    cluster = make_cluster(*trio)
    seen = {"seen": decisions.seen_as(members(cluster))}
    for name, sent, alone in (
        ("reject", seen, 3),
        ("take-out", {"article": trio[1].pk}, 1),
        ("split", {**seen, "tick": [trio[1].pk, f"{trio[2].pk},{trio[1].pk}"]}, 1),
    ):
        assert preview(editor_client, name, cluster, **sent).context["preview"].alone.size == alone
    assert preview(editor_client, "burn", cluster, **seen).status_code == 404
    assert preview(editor_client, "confirm", cluster, **seen).status_code == 404
    stale = preview(editor_client, "split", cluster, seen="3-x", tick="1")
    assert stale["Location"] == f"/clusters/{cluster.pk}/"
    assert (Decision.objects.count(), members(cluster)) == (0, {article.pk for article in trio})


def test_equal_texts_are_one_row_with_what_differs(editor_client: Client, store: StoreArticle) -> None:
    text = "The pier closes on Monday for repairs, the harbour office said."
    copies = [store(text, headline=headline, newspaper=headline) for headline in ("One", "Two", "One ")]
    other = store(f"{text} Ferries sail.", headline="Four", newspaper="Four", language="en")
    cluster = make_cluster(*copies, other)
    page = shown(editor_client, cluster)

    assert re.findall(r'<li class="member[^"]*" id="row-(\d)">', page) == ["1", "2"]
    assert "3 addresses, same text" in page
    assert re.findall(r'Also: <span lang="\w*" dir="auto">(\w+)<', page) == ["Two"]
    assert f'value="{listed_ids(*copies)}" form="decide"' in page
    assert "<ins>+2</ins> words against the kept article" in page
    assert '<h3 class="member-headline" lang="en" dir="auto">' in page
    assert "Inside row 1: 2 pairs of articles with the same text." in page
    assert re.findall(r">(\d and \d)</a>", page) == ["1 and 2"]


@pytest.mark.parametrize("action", ["cluster_confirm", "cluster_reject", "cluster_keep", "cluster_version"])
def test_a_decision_on_a_cluster_that_is_gone(editor_client: Client, editor: User, trio: Trio, action: str) -> None:
    cluster = make_cluster(*trio)
    decisions.reject_cluster(cluster.pk, shown_of(*trio), user=editor)
    seen = {"seen": shown_of(*trio), "article": trio[0].pk}
    answer = editor_client.post(reverse(action, args=[cluster.pk]) + "?size_from=2", seen, follow=True)

    assert answer.redirect_chain[0][0].startswith(f"/clusters/{cluster.pk}/?size_from=2")
    assert (answer.status_code, answer.context["may_have_existed"]) == (404, True)
    page = answer.content.decode()
    assert notices(page) == [("error", [str(cluster.pk)])]
    assert Decision.Kind.REJECT_CLUSTER.label in page
    assert Decision.objects.count() == 1


def test_long_texts_are_cut_on_the_page(editor_client: Client, store: StoreArticle) -> None:
    cluster = make_cluster(store("a" * 200, headline="Pier"), store("b" * 201, headline="Pier"))
    page = shown(editor_client, cluster)

    assert f'dir="auto">{"a" * 200}</p>' in page
    assert f'dir="auto">{"b" * 199}…</p>' in page
    assert "different headlines" not in page


def test_takes_one_out_and_keeps_the_rest_unless_that_is_one_article(
    editor_client: Client, trio: Trio, store: StoreArticle
) -> None:
    cluster = make_cluster(*trio)
    assert act(editor_client, "take_out", cluster, article=trio[2].pk) == f"/clusters/{cluster.pk}/#members"
    assert members(cluster) == {trio[0].pk, trio[1].pk}
    page = shown(editor_client, cluster)
    assert notices(page) == [("success", [])]
    assert Decision.Kind.TAKE_OUT.label in page
    assert '<h2 id="members">' in page

    first, second = store(), store()
    cluster = make_cluster(first, second)
    assert act(editor_client, "take_out", cluster, article=second.pk) == "/clusters/"
    gone = editor_client.get(reverse("cluster", args=[cluster.pk]))
    assert (gone.status_code, gone.context["may_have_existed"]) == (404, True)
    page = gone.content.decode()
    assert f"<h1>Cluster {cluster.pk} " in page
    assert Decision.Kind.TAKE_OUT.label in page
    assert 'href="/history/"' in page
    never = editor_client.get("/clusters/4711000000/")
    assert (never.status_code, never.context["may_have_existed"]) == (404, False)


def test_chooses_the_article_and_the_text_to_keep(editor_client: Client, trio: Trio) -> None:
    cluster = make_cluster(*trio)
    other, text = (article.pk for article in trio if article.pk != cluster.kept_id)
    assert act(editor_client, "keep", cluster, article=other) == f"/clusters/{cluster.pk}/#members"
    assert act(editor_client, "keep_text", cluster, article=text) == f"/clusters/{cluster.pk}/#members"
    cluster.refresh_from_db()
    assert (cluster.kept_id, cluster.kept_text_id) == (other, text)
    assert "mara chose the text of" in shown(editor_client, cluster)


@pytest.mark.parametrize("action", ["keep", "take_out"])
@pytest.mark.parametrize("article", ["", "x", "0", "99999999999999999999", "4711000000"])
def test_articles_that_are_not_in_the_cluster(editor_client: Client, trio: Trio, action: str, article: str) -> None:
    cluster = make_cluster(*trio)
    assert act(editor_client, action, cluster, article=article) == f"/clusters/{cluster.pk}/#members"
    assert "notice-error" in shown(editor_client, cluster)
    assert not Decision.objects.exists()


def test_a_contradiction_is_shown_with_its_pair_if_there_is_one(
    editor_client: Client, editor: User, trio: Trio
) -> None:
    cluster = make_cluster(*trio)
    decisions.confirm_cluster(cluster.pk, shown_of(*trio), user=editor)
    assert 'id="contradiction-title"' not in shown(editor_client, cluster)
    decisions.take_out(cluster.pk, trio[2].pk, user=editor)
    decisions.decide_pair(Pair.objects.get(left=trio[0], right=trio[2]).pk, "confirm", user=editor)

    listed_pair = r'<li><a href="([^"]+)" dir="auto">Pier closed / Pier is shut<'
    address = f"/compare/?left={trio[1].pk}&amp;right={trio[2].pk}&amp;back={cluster.pk}"
    assert re.findall(listed_pair, shown(editor_client, cluster)) == [address]
    pair = make_pair(trio[1], trio[2], trigram=0.4)
    page = shown(editor_client, cluster)
    assert re.findall(listed_pair, page) == [f"/pairs/{pair.pk}/?back={cluster.pk}"]
    assert 'id="contradiction-title"' in page


def test_a_weak_tie_is_flagged_unless_decisions_hold_the_cluster(
    editor_client: Client, store: StoreArticle, trio: Trio, editor: User
) -> None:
    strong, weak = make_cluster(store(), store(), score=0.75), make_cluster(*trio, score=0.749)
    weakest = Pair.objects.filter(left__membership__cluster=weak).order_by("pk")[0]
    page = shown(editor_client, weak)

    assert "a duplicate with a probability of 74%" in page
    assert f'href="/pairs/{weakest.pk}/?verdict=any&amp;back={weak.pk}">view this pair</a>' in page
    assert 'id="weak-title"' in page
    assert 'id="weak-title"' not in shown(editor_client, strong)
    assert listed(editor_client, "clusters", held="weak") == [weak.pk]
    assert listed(editor_client, "clusters", held="nonsense") == [weak.pk, strong.pk]
    rows = opened(editor_client, "clusters").split('class="row-item')
    assert ["weak link" in row for row in rows[1:]] == [True, False]

    decisions.confirm_cluster(weak.pk, shown_of(*trio), user=editor)
    assert 'id="weak-title"' not in shown(editor_client, weak)
    assert listed(editor_client, "clusters", held="weak") == []


def test_a_cluster_held_by_a_version_says_so(editor_client: Client, store: StoreArticle) -> None:
    first, second = store(), store()
    pair = make_pair(first, second, verdict="version", probability=0.9, trigram=0.9)
    Pair.objects.update(joins=True)  # by a profile whose versions join
    rebuild_clusters([first.pk, second.pk])
    page = shown(editor_client, Cluster.objects.get())

    assert "a new version with a probability of 90%" in page
    assert f'href="/pairs/{pair.pk}/?verdict=any&amp;back={Cluster.objects.get().pk}">view this pair</a>' in page


@pytest.mark.parametrize(
    ("verdicts", "text"),
    [
        (["template"], "1 pair in this cluster was judged to be a template"),
        (["template", "template", "similar"], "2 pairs in this cluster were judged to be templates, 1 merely similar"),
        (["similar", "similar"], "2 pairs in this cluster were judged to be merely similar"),
    ],
)
def test_pairs_inside_that_the_comparison_parts_are_shown(
    editor_client: Client, store: StoreArticle, verdicts: list[str], text: str
) -> None:
    articles = [store(headline=f"Headline {number}") for number in range(4)]
    cluster = make_cluster(*articles)
    assert "apart-title" not in shown(editor_client, cluster)
    ends = [(1, 2), (1, 3), (2, 3)]
    apart = [
        make_pair(articles[left], articles[right], verdict=verdict, probability=0.8, trigram=0.6)
        for (left, right), verdict in zip(ends, verdicts, strict=False)
    ]
    page = shown(editor_client, cluster)

    assert f'<h2 id="apart-title">{text}</h2>' in page
    section = page.split('id="apart-title"')[1].split("</section>")[0]
    assert re.findall(r"/pairs/(\d+)/", section) == [str(pair.pk) for pair in apart]
    # Lines that would be the same are one line.
    Article.objects.update(headline="Tides")
    section = shown(editor_client, cluster).split('id="apart-title"')[1].split("</section>")[0]
    assert re.findall(r"and (\d+) more pairs? with these headlines", section) == (
        [str(verdicts.count(verdicts[0]) - 1)] if verdicts.count(verdicts[0]) > 1 else []
    )
    Pair.objects.filter(pk__in=[pair.pk for pair in apart]).update(state="unsure")
    assert "apart-title" not in shown(editor_client, cluster)


def test_the_page_costs_a_fixed_number_of_queries(
    editor_client: Client, trio: Trio, store: StoreArticle, django_assert_num_queries: Any
) -> None:
    small, large = make_cluster(*trio), make_cluster(*(store() for _ in range(8)))
    # session, user with permissions and keys, cluster; articles: ids, rows, URLs, beginnings, pairs with the kept one,
    # texts to compare; kept: decision, rule; pairs inside, the weakest, contradictions, pairs left out; ties:
    # pairs, decisions, pairs shown, evidence; decisions, next, previous
    for cluster in (small, large):
        with django_assert_num_queries(22):
            shown(editor_client, cluster)
