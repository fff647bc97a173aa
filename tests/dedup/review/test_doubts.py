"""The tab "Nearly certain" has no question with a doubt, whichever doubt the pages know."""

import re
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.test import Client

from articles.models import Article, ArticleRevision
from dedup.detection.clustering.doubts import ARTICLE_DOUBTS, CLUSTER_DOUBTS, PAIR_DOUBTS
from dedup.detection.clustering.questions import update_questions
from dedup.detection.verdicts.reasons import is_clear
from dedup.models import Cluster, Membership, OpenQuestion, Pair
from dedup.review.answers import batches, decisions
from dedup.review.questions.tabs import tab_named
from tests.conftest import StoreArticle
from tests.factories import make_cluster, make_pair

pytestmark = pytest.mark.django_db

TEXT = "The ferry pier closes in May for repairs that take the whole summer."
CLEAR = ["The texts are the same, word for word.", "The headlines are the same."]
CHANGED = "1 name replaced: east coast → west coast."


def a_pair(store: StoreArticle) -> Pair:
    make_cluster(*(store(TEXT, newspaper=name) for name in "AB"), score=0.95)
    pair = Pair.objects.latest("pk")
    Pair.objects.filter(pk=pair.pk).update(reasons=CLEAR)
    return pair


def revise(pair: Pair) -> None:
    values = {"number": 1, "kind": "gone", "seen_at": pair.found_at, "url": pair.left.url, "body": b""}
    ArticleRevision.objects.create(article=pair.left, **values)


def part(pair: Pair) -> None:
    Membership.objects.filter(article=pair.right).delete()
    Cluster.objects.filter(kept=pair.left).delete()


def last_pair_of(cluster: Cluster) -> Pair:
    *_, second, third = cluster.memberships.order_by("article").values_list("article", flat=True)
    return Pair.objects.get(left=second, right=third)


# How each doubt of a pair, and of a cluster, comes about.
OF_PAIRS: dict[str, Callable[[Pair, User], object]] = {
    "verdict": lambda pair, _: Pair.objects.filter(pk=pair.pk).update(verdict="version"),
    "reasons": lambda pair, _: Pair.objects.filter(pk=pair.pk).update(reasons=[*CLEAR, CHANGED]),
    "longer": lambda pair, _: Pair.objects.filter(pk=pair.pk).update(right_matched=0.4),
    "revised": lambda pair, _: revise(pair),
    "apart": lambda pair, _: part(pair),
}
OF_CLUSTERS: dict[str, Callable[[Cluster, User], object]] = {
    "contradiction": lambda _, user: contradict(user),
    "no_copies": lambda cluster, _: Pair.objects.filter(pk=last_pair_of(cluster).pk).update(verdict="version"),
    "unlike": lambda cluster, _: Pair.objects.filter(left=cluster.kept).update(left_matched=0.3, right_matched=0.4),
    "weak": lambda *_: Cluster.objects.update(lowest_score=0.74),
    "pairs": lambda cluster, _: Pair.objects.filter(pk=last_pair_of(cluster).pk).update(reasons=[CHANGED]),
    "articles": lambda cluster, _: Article.objects.filter(pk=cluster.kept_id).update(date_doubt="two days"),
}


def contradict(user: User) -> None:
    """Decide that the first and the last are the same as the second, and not the same."""
    pairs = list(Pair.objects.order_by("left", "right"))
    for pair, kind in zip(pairs, ("confirm", "reject", "confirm"), strict=True):
        decisions.decide_pair(pair.pk, kind, user=user)


def certain() -> int:
    update_questions(None)
    return OpenQuestion.objects.filter(certain=True).count()


def test_every_doubt_is_tried_here() -> None:
    assert list(OF_PAIRS) == [doubt.name for doubt in PAIR_DOUBTS]
    assert list(OF_CLUSTERS) == [doubt.name for doubt in CLUSTER_DOUBTS]


@pytest.mark.parametrize("name", OF_PAIRS)
def test_a_pair_in_doubt_is_not_nearly_certain_and_its_page_says_why(
    name: str, store: StoreArticle, editor: User, editor_client: Client
) -> None:
    pair = a_pair(store)
    assert (certain(), "Look closer" in shown(editor_client, pair)) == (1, False)
    OF_PAIRS[name](pair, editor)
    assert certain() == 0
    [doubt] = [own_doubt for own_doubt in PAIR_DOUBTS if own_doubt.name == name]
    if name != "verdict":  # which the page begins with
        said = {"reasons": CHANGED, "apart": "Judged duplicates, but not in one cluster"}
        assert said.get(name, doubt.title) in shown(editor_client, pair)


@pytest.mark.parametrize("field", ARTICLE_DOUBTS)
def test_a_pair_with_an_uncertain_article_is_not_nearly_certain(
    field: str, store: StoreArticle, editor_client: Client
) -> None:
    pair = a_pair(store)
    Article.objects.filter(pk=pair.right_id).update(**{field: field == "paywalled" or "half is missing"})
    said = f'<span class="doubt">{ARTICLE_DOUBTS[field]}</span>'
    assert (certain(), said in shown(editor_client, pair)) == (0, True)


@pytest.mark.parametrize("name", OF_CLUSTERS)
def test_a_cluster_in_doubt_is_not_nearly_certain_and_its_card_says_why(
    name: str, store: StoreArticle, editor: User, editor_client: Client
) -> None:
    texts = (TEXT, TEXT, TEXT.replace("May", "June"))
    first, *others = (store(text, newspaper=name) for name, text in zip("ABC", texts, strict=True))
    make_pair(*others, trigram=0.95)
    cluster = make_cluster(first, *others, score=0.95)
    Pair.objects.update(reasons=CLEAR)
    card = f"/clusters/{cluster.pk}/card/?tab=informative"
    assert (certain(), "Look inside before" in editor_client.get(card).content.decode()) == (1, False)
    OF_CLUSTERS[name](cluster, editor)
    assert certain() == 0
    [doubt] = [own_doubt for own_doubt in CLUSTER_DOUBTS if own_doubt.name == name]
    if name != "contradiction":  # a decided cluster has no card
        page = editor_client.get(card).content.decode()
        assert doubt.title in page
        first = page.partition('class="btn decide-confirm"')[2]
        assert "Look inside" in first.partition("</a>")[0]


def shown(client: Client, pair: Pair) -> str:
    return client.get(f"/pairs/{pair.pk}/").content.decode()


def test_a_batch_from_the_tab_has_nothing_in_doubt(store: StoreArticle, editor: User) -> None:
    clear, doubted = a_pair(store), a_pair(store)
    Pair.objects.filter(pk=doubted.pk).update(reasons=[CHANGED])
    update_questions(None)
    rows = tab_named("certain").matching(editor, None)
    batch = batches.begin("confirm", pairs=[row.pair_id for row in rows], sample=20, user=editor)
    assert [item.pair_id for item in batch.items.all()] == [clear.pk]


WORD_FOR_WORD = "8 of the shorter article's 9 sentences appear word for word in the longer one"
SPELLINGS = "29 of 31 sentences are shared; the other 2 differ only in"


@pytest.mark.parametrize(
    ("reason", "clear"),
    [
        ("All 5 sentences of the shorter article appear word for word in the longer one.", True),
        ("The single sentence of the shorter article appears word for word in the longer one.", True),
        (f"{WORD_FOR_WORD}, and 1 more with changes.", True),
        (f"{WORD_FOR_WORD}; 1 is only in the shorter one.", False),
        ("All 3 sentences of the shorter article appear reworded in the longer one.", False),
        (f"{SPELLINGS} spellings.", True),
        (f"{SPELLINGS} names and spellings.", False),
        ("The longer article adds 13 words.", True),
        ("The longer article has 300 words of its own.", False),
        ("Published 1 day apart by two newspapers.", True),
        ("The headlines differ only in numbers or dates.", False),
        ("Whatever a later version of newsdedup may say.", False),
    ],
)
def test_a_reason_is_a_doubt_unless_it_is_known_to_be_none(reason: str, clear: bool, store: StoreArticle) -> None:
    assert is_clear(reason) == clear
    pair = a_pair(store)
    Pair.objects.filter(pk=pair.pk).update(reasons=[reason])
    assert certain() == clear


@pytest.mark.parametrize(
    "name", ["clusters/card.html", "pairs/pair.html", "pairs/_judgement.html", "pairs/_comparison.html"]
)
def test_what_warns_on_the_page_of_a_question_comes_from_the_list_of_doubts(name: str) -> None:
    around = [*pairwise(["", *Path("templates", name).read_text().splitlines()])]
    warns = re.compile(r'notice-warning|class="[^"]*\b(?:doubt|warning|weak)\b')
    assert [line for before, line in around if warns.search(line) and "doubts" not in before + line] == []
